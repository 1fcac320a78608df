// The tests that rules carry: the shipped ones, and those in tests/data/language, which show what the language means.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "engine/report/check/analyses.h"
#include "engine/report/rule_tests.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> RuleSets(const std::vector<std::string>& folders) {
  std::vector<std::string> paths;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::directory_iterator(fs::path(RULERUN_SOURCE_DIR) / folder)) {
      if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class RuleSetTest : public ::testing::TestWithParam<std::string> {};

TEST_P(RuleSetTest, TheirTestsPass) {
  const auto rules = ReadRuleSet(GetParam());
  ASSERT_TRUE(rules.ok()) << ToString(rules.error());
  const auto results = RunRuleTests(**rules, KernelRegistry::Default());
  EXPECT_FALSE(results.empty());
  for (const RuleTestResult& result : results) {
    EXPECT_TRUE(result.ok) << result.place << ": " << result.rule << ", " << result.kind << ":\n" << result.message;
  }
}

std::string NameOf(const ::testing::TestParamInfo<std::string>& test) {
  std::string name = fs::path(test.param).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, RuleSetTest, ::testing::ValuesIn(RuleSets({"rules", "tests/data/language"})), NameOf);

class ShippedRuleSet : public ::testing::TestWithParam<std::string> {};

// Each condition and check is seen to hold, and seen to refuse, or `uncovered` says why no test can show it.
TEST_P(ShippedRuleSet, TestsCoverTheConditions) {
  const auto rules = ReadRuleSet(GetParam());
  ASSERT_TRUE(rules.ok()) << ToString(rules.error());
  RuleCoverage coverage(**rules);
  RunRuleTests(**rules, KernelRegistry::Default(), &coverage);
  for (const CoverItem& item : coverage.items()) {
    for (const bool side : {true, false}) {
      if (!item.Missing(side)) continue;
      ADD_FAILURE() << item.where.ToString() << ": rule '" << item.rule() << "', " << item.what << ": never seen to "
                    << (side ? "hold" : "refuse");
    }
  }
  for (const IdleExcuse& excuse : coverage.IdleExcuses()) {
    ADD_FAILURE() << excuse.where.ToString() << ": rule '" << excuse.rule << "': needless excuse: " << excuse.what;
  }
}

TEST_P(ShippedRuleSet, HasTestsForEveryRule) {
  const auto rules = ReadRuleSet(GetParam());
  ASSERT_TRUE(rules.ok()) << ToString(rules.error());
  for (const Rule* rule : UntestedRules(**rules)) ADD_FAILURE() << rule->where.ToString() << ": " << rule->name;
}

TEST_P(ShippedRuleSet, HasNoWarnings) {
  const auto rules = ReadRuleSet(GetParam());
  ASSERT_TRUE(rules.ok()) << ToString(rules.error());
  for (const Finding& finding : FindAll(**rules, KernelRegistry::Default())) {
    EXPECT_EQ(finding.severity, Severity::kNote)
        << finding.where.ToString() << ": " << Name(finding.code) << ": " << finding.message << "\n"
        << finding.witness;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedRuleSet, ::testing::ValuesIn(RuleSets({"rules"})), NameOf);

}  // namespace
}  // namespace rulerun
