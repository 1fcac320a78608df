// What a rule set that extends another one makes of it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/ruleset/ruleset.h"

namespace rulerun {
namespace {

namespace fs = std::filesystem;

class Extends : public testing::Test {
 protected:
  void SetUp() override {
    // Tests run in parallel: a folder each.
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::path(testing::TempDir()) / ("rulerun_extends_" + test);
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "base");
    Write("base.yaml", R"(
ruleset: base
platforms: {p: {f: 1}, q: {f: 2}}
options: {o: {key: k, default: 0}}
pipeline:
  - {rules: base/a.yaml, only: [One, Two]}
  - stages: [{rules: base/a.yaml, only: Three}]
  - {pass: something}
)");
    Write("base/a.yaml", R"(
stage: A
rules:
  - {rule: One, match: y = Relu(x), where: [{static: [x]}], replace: y = x, faults: [{id: F1, effect: run-error}]}
  - {rule: Two, match: y = Abs(x), replace: y = x}
  - {rule: Three, match: y = Neg(x), replace: y = x}
)");
  }

  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  std::shared_ptr<const RuleSet> Derive(const std::string& text) {
    Write("derived.yaml", "ruleset: derived\nextends: base\n" + text);
    auto rules = ReadRuleSet((folder_ / "derived.yaml").string());
    EXPECT_TRUE(rules.ok()) << ToString(rules.error());
    return rules.ok() ? std::move(rules).value() : nullptr;
  }

  static std::vector<std::string> Names(const RuleSet& rules) {
    std::vector<std::string> names;
    for (const auto& [key, file] : rules.files) {
      for (const auto& rule : file.rules) names.push_back(rule->name);
    }
    return names;
  }

  fs::path folder_;
};

TEST_F(Extends, AStageMayNameSeveralFiles) {
  Write("base/more.yaml", R"(
types: {T: [float]}
rules:
  - {rule: Four, match: y = Exp(T x), replace: y = x}
  - {rule: Five, like: Three}
)");
  Write("base.yaml", "ruleset: base\npipeline: [{rules: [base/a.yaml, base/more.yaml]}]\n");
  const auto rules = Derive("rules: [{disable: Two}]\n");
  ASSERT_NE(rules, nullptr);
  EXPECT_EQ(Names(*rules), (std::vector<std::string>{"One", "Three", "Four", "Five"}));
}

TEST_F(Extends, NothingChangesNothing) {
  const auto rules = Derive("");
  ASSERT_NE(rules, nullptr);
  EXPECT_EQ(rules->id, "derived");
  EXPECT_EQ(Names(*rules), (std::vector<std::string>{"One", "Two", "Three"}));
}

TEST_F(Extends, OverrideReplacesKeysAndAppendsThoseWithPlus) {
  const auto rules = Derive(R"(
rules:
  - override: [One, Two]
    where+: [{scalar: [x]}]
    replace: y = Identity(x)
    closes: [F1]
)");
  ASSERT_NE(rules, nullptr);
  const Rule* one = rules->FindRule("One");
  EXPECT_EQ(one->conditions.size(), 2U);
  EXPECT_EQ(one->conditions[1].predicate->name, "scalar");
  EXPECT_EQ(one->conditions[1].where.ToString(), (folder_ / "derived.yaml").string() + ":6:15");
  EXPECT_TRUE(one->faults.empty());
  EXPECT_EQ(one->rewrite.statements[0].kind, Statement::Kind::kCall);
  EXPECT_EQ(rules->FindRule("Two")->conditions.size(), 1U);
}

TEST_F(Extends, OverrideTakesAKeyAway) {
  const auto rules = Derive("rules: [{override: One, where: null}]\n");
  ASSERT_NE(rules, nullptr);
  EXPECT_TRUE(rules->FindRule("One")->conditions.empty());
}

TEST_F(Extends, DisableTakesRulesOutOfThePipelineToo) {
  const auto rules = Derive("rules: [{disable: Two}, {disable: [Three]}]\n");
  ASSERT_NE(rules, nullptr);
  EXPECT_EQ(Names(*rules), std::vector<std::string>{"One"});
  EXPECT_EQ(rules->pipeline[0].only, std::vector<std::string>{"One"});
  EXPECT_TRUE(rules->pipeline[1].stages.empty());
}

TEST_F(Extends, DisableStageByPassFileOrName) {
  EXPECT_EQ(Derive("rules: [{disable: {stage: something}}]\n")->pipeline.size(), 2U);
  EXPECT_TRUE(Derive("rules: [{disable: {stage: A}}]\n")->files.empty());
  EXPECT_TRUE(Derive("rules: [{disable: {stage: base/a.yaml}}]\n")->files.empty());
  EXPECT_TRUE(Derive("rules: [{disable: {group: rules}}]\n")->files.at("base/a.yaml").rules.empty());
}

TEST_F(Extends, InsertFindsItsPlace) {
  const auto rules = Derive(R"(
rules:
  - insert: {before: Two}
    ep: [cpu]
    rules: [{rule: New, match: y = Exp(x), replace: y = x}]
  - insert: {after: Three}
    rules: [{rule: Last, like: One, match: y = Log(x)}]
)");
  ASSERT_NE(rules, nullptr);
  EXPECT_EQ(Names(*rules), (std::vector<std::string>{"One", "New", "Two", "Three", "Last"}));
  EXPECT_EQ(rules->pipeline[0].only, (std::vector<std::string>{"One", "New", "Two"}));
  EXPECT_EQ(rules->pipeline[1].stages[0].only, (std::vector<std::string>{"Three", "Last"}));
  EXPECT_EQ(rules->FindRule("New")->providers, std::vector<std::string>{"cpu"});
  EXPECT_EQ(rules->FindRule("Last")->conditions.size(), 1U);  // One's
}

TEST_F(Extends, MapsMergeByKey) {
  const auto rules =
      Derive("platforms: {q: {f: 3}, r: {f: 4}}\noptions: {n: {key: n, default: 1}}\nsets: {s: [int8]}\n");
  ASSERT_NE(rules, nullptr);
  EXPECT_EQ(rules->platforms.size(), 3U);
  EXPECT_EQ(rules->platforms.at("q").facts.at("f"), 3);
  EXPECT_EQ(rules->options.size(), 2U);
  EXPECT_TRUE(rules->files.at("base/a.yaml").sets.at("s").Has(DataType::kInt8));
}

TEST_F(Extends, ChainsAndSearch) {
  Write("middle.yaml", "ruleset: middle\nextends: base\nrules: [{disable: Two}]\n");
  fs::create_directories(folder_ / "elsewhere");
  Write("elsewhere/last.yaml", "ruleset: last\nextends: middle\nrules: [{disable: Three}]\n");
  const auto rules = ReadRuleSet((folder_ / "elsewhere" / "last.yaml").string(), {folder_.string()});
  ASSERT_TRUE(rules.ok()) << ToString(rules.error());
  EXPECT_EQ((*rules)->extends, (std::vector<std::string>{"middle", "base"}));
  EXPECT_EQ(Names(**rules), std::vector<std::string>{"One"});
}

TEST_F(Extends, ANewPipelineDropsFilesItDoesNotName) {
  Write("base/b.yaml", "rules: [{rule: B, match: y = Relu(x), replace: y = x}]\n");
  const auto rules = Derive("pipeline: [{rules: base/b.yaml}]\n");
  ASSERT_NE(rules, nullptr);
  EXPECT_EQ(Names(*rules), std::vector<std::string>{"B"});
}

TEST_F(Extends, AFileElsewhereOfTheSameNameIsAnother) {
  fs::create_directories(folder_ / "sub" / "base");
  Write("sub/base/a.yaml", "rules: [{rule: Other, match: y = Exp(x), replace: y = x}]\n");
  Write("sub/d.yaml", "ruleset: d\nextends: ../base.yaml\npipeline: [{rules: base/a.yaml}, {rules: ../base/a.yaml}]\n");
  const auto rules = ReadRuleSet((folder_ / "sub" / "d.yaml").string());
  ASSERT_TRUE(rules.ok()) << ToString(rules.error());
  EXPECT_EQ((*rules)->files.size(), 2U);
  EXPECT_EQ((*rules)->files.at((*rules)->pipeline[0].file).rules[0]->name, "Other");
  EXPECT_EQ((*rules)->files.at((*rules)->pipeline[1].file).rules[0]->name, "One");
}

}  // namespace
}  // namespace rulerun
