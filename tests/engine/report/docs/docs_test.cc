// Pages for rules: what they say, and that every rule has one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "engine/report/docs/rule_docs.h"
#include "engine/report/docs/sentences.h"

namespace rulerun {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

namespace fs = std::filesystem;
using RuleSetPtr = std::shared_ptr<const RuleSet>;
using Files = std::map<std::string, std::string>;

RuleSetPtr Read(const std::string& path) {
  const auto rules = ReadRuleSet(path);
  EXPECT_TRUE(rules.ok()) << ToString(rules.error());
  return rules.ok() ? *rules : nullptr;
}

RuleSetPtr Shipped(const std::string& id) { return Read(std::string(RULERUN_SOURCE_DIR) + "/rules/" + id + ".yaml"); }

Files Pages(const DocumentedRules& documented) {
  const auto files = DocumentRules(documented, KernelRegistry::Default());
  EXPECT_TRUE(files.ok()) << ToString(files.error());
  return files.ok() ? *files : Files{};
}

// The shipped ones, each with those it extends.
std::vector<DocumentedRules> All() {
  const RuleSetPtr ort130 = Shipped("ort130");
  const RuleSetPtr safe = Shipped("ort130-safe");
  const RuleSetPtr npu = Shipped("npu-example");
  const std::string root = std::string(RULERUN_SOURCE_DIR) + "/docs/rules/";
  return {{ort130, {}, {safe}, root + "ort130"},
          {safe, {ort130}, {npu}, root + "ort130-safe"},
          {npu, {safe, ort130}, {}, root + "npu-example"}};
}

TEST(Docs, EveryRuleHasAPageAndEveryLinkLeadsSomewhere) {
  std::map<std::string, Files> pages;
  for (const DocumentedRules& documented : All()) pages[documented.rules->id] = Pages(documented);
  const std::regex link(R"(\]\(([^)]*)\))");
  for (const DocumentedRules& documented : All()) {
    const std::string& id = documented.rules->id;
    const std::string& index = pages[id]["README.md"];
    for (const auto& [path, file] : documented.rules->files) {
      for (const auto& rule : file.rules) EXPECT_THAT(index, HasSubstr(PageName(rule->name) + ".md)")) << id;
    }
    for (const auto& [name, text] : pages[id]) {
      if (!name.ends_with(".md")) continue;
      for (auto it = std::sregex_iterator(text.begin(), text.end(), link); it != std::sregex_iterator(); ++it) {
        const fs::path target = (fs::path(id) / (*it)[1].str()).lexically_normal();
        const std::string folder = target.begin()->string();
        if (folder == "..") {
          EXPECT_TRUE(fs::exists((fs::path(documented.folder) / (*it)[1].str()).lexically_normal()))
              << name << ": " << (*it)[1];
        } else {
          EXPECT_THAT(pages[folder], Contains(Key(target.filename().string()))) << name;
        }
      }
    }
  }
}

TEST(Docs, NoPageKnowsWhereItWasWritten) {
  for (const DocumentedRules& documented : All()) {
    for (const auto& [name, text] : Pages(documented)) {
      EXPECT_THAT(text, Not(HasSubstr(RULERUN_SOURCE_DIR))) << name;
    }
  }
}

class Pack : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::path(testing::TempDir()) / ("rulerun_docs_" + test);
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    Write("base.yaml", R"(ruleset: base
version: 1
describes: two rules | and a "pipe"
platforms: {one: {fast: true}, two: {fast: false}}
options: {pick: {key: session.pick, default: 0}}
ops: {sets: {Q: [QuantizeLinear], DQ: [DequantizeLinear]}, copy: Identity}
pipeline:
  - {rules: a.yaml, level: extended, ep: [cpu], if: {fact: fast}, unless: {option: pick}}
)");
    Write("a.yaml", R"(rules:
  - rule: pair
    summary: two <b>negations</b> | are none
    match: |
      [in] t = Neg(x)
      [out] y = Neg(t)
    where:
      - {internal: [y]}
      - any: [{rank: {x: 1}}, [{rank: {x: 2}}, {type: {x: [float, double]}}]]
      - if: {static: [x]}
        then: [{not: {scalar: [x]}}]
    replace: y = x
    source: a_file.cc
    faults: [{id: F1, effect: wrong-numbers, note: loses a sign, when: {rank: {x: 7}}}]
    tests:
      - becomes: |
          g (float[4] x) => (float[4] z) { a = Neg(x)  y = Neg(a)  z = Abs(y) }
        into: |
          g (float[4] x) => (float[4] z) { z = Abs(x) }
      - refused: internal
        graph: |
          g (float[4] x) => (float[4] y) { a = Neg(x)  y = Neg(a) }
      - no-match: |
          g (float[4] x) => (float[4] y) { y = Neg(x) }
  - rule: other
    match: y = Abs(x)
    replace: y = x
)");
    Write("more.yaml", R"(ruleset: more
extends: base
rules:
  - override: pair
    where+: [{min_rank: {x: 1}}]
    closes: [F1]
)");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  std::string File(const std::string& name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

TEST_F(Pack, APageSaysWhatTheRuleSays) {
  const RuleSetPtr base = Read(File("base.yaml"));
  ASSERT_NE(base, nullptr);
  const RuleSetPtr more = Read(File("more.yaml"));
  ASSERT_NE(more, nullptr);
  const Files files = Pages({base, {}, {more}, File("pages/base")});
  const std::string& page = files.at("pair.md");
  for (const char* text : {
           "two \\<b\\>negations\\</b\\> \\| are none",
           "from level `extended` on, execution provider `cpu`, if platform fact `fast` is set, unless option `pick` "
           "is "
           "set; on `one`",
           "[a.yaml](../../a.yaml)",
           "| source | `a_file.cc` |",
           "| overridden by | [more](../more/pair.md): adds 1 to `where`; closes the faults `F1` |",
           "1. `y` must be no graph output; `internal`",
           "2. One of these holds: `any`\n   - `x` must have that rank: `1`; `rank`\n   - all of\n",
           "     - `x` must have one of these types: `float`, `double`; `type`",
           "3. If this holds: `if`\n   - `x` must have a static shape; `static`\n\n   then this as well:\n\n"
           "   - This does not hold: `not`\n     - `x` must be a scalar; `scalar`",
           "![the firing test, before and after](pair.svg)",
           "near miss, refused by <code>internal</code>",
           "**F1**: wrong-numbers, loses a sign, when",
       }) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  EXPECT_THAT(files.at("pair.svg"), HasSubstr(">Neg<"));
  EXPECT_THAT(
      files.at("README.md"),
      HasSubstr("- rules of `a.yaml`, from level `extended` on, for `cpu`, if platform fact `fast` is set, unless "
                "option `pick` is set\n"));
  EXPECT_THAT(files.at("README.md"), HasSubstr("| `one` | `fast 1` |\n| `two` | `fast 0` |\n"));
  EXPECT_THAT(files.at("README.md"), HasSubstr("| `pick` | `session.pick` | 0 |\n"));
  EXPECT_THAT(files, Contains(Key("other.md")));
  EXPECT_THAT(files, Not(Contains(Key("other.svg"))));  // it has no test
}

TEST_F(Pack, ADerivedRuleSetHasPagesForWhatItChanges) {
  const RuleSetPtr base = Read(File("base.yaml"));
  const RuleSetPtr more = Read(File("more.yaml"));
  ASSERT_NE(more, nullptr);
  const Files files = Pages({more, {base}, {}, File("pages/more")});
  EXPECT_THAT(files.at("pair.md"), HasSubstr("| changes | [that of base](../base/pair.md): adds 1 to `where`"));
  EXPECT_THAT(files.at("pair.md"), Not(HasSubstr("Known faults")));
  EXPECT_THAT(files, Not(Contains(Key("other.md"))));
  EXPECT_THAT(files.at("README.md"), HasSubstr("[other](../base/other.md)"));
}

TEST_F(Pack, ARuleThatFailsItsTestIsAnError) {
  Write("a.yaml", R"(rules:
  - rule: never
    match: y = Neg(x)
    where: [{rank: {x: 9}}]
    replace: y = x
    tests: [{becomes: "g (float[4] x) => (float[4] y) { y = Neg(x) }", into: "g (float[4] x) => (float[4] y) { y = Neg(x) }"}]
)");
  const RuleSetPtr rules = Read(File("base.yaml"));
  ASSERT_NE(rules, nullptr);
  const auto files = DocumentRules({rules, {}, {}, File("pages")}, KernelRegistry::Default());
  ASSERT_FALSE(files.ok());
  EXPECT_THAT(ToString(files.error()), HasSubstr("does not fire in its own test"));
}

TEST(Docs, TextStaysText) {
  EXPECT_EQ(Code("a|b"), "`a\\|b`");
  EXPECT_EQ(Code("a`b"), "`` a`b ``");
  EXPECT_EQ(Plain("<i> [x](y) *"), "\\<i\\> \\[x\\](y) \\*");
  EXPECT_EQ(PageName("a/../b c"), "a_.._b_c");
}

}  // namespace
}  // namespace rulerun
