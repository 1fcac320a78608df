// The tests that the shipped rules carry.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "engine/report/rule_tests.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> ShippedRuleSets() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(RULERUN_SOURCE_DIR) / "rules")) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class ShippedRules : public ::testing::TestWithParam<std::string> {};

TEST_P(ShippedRules, TheirTestsPass) {
  const auto rules = ReadRuleSet(GetParam());
  ASSERT_TRUE(rules.ok()) << ToString(rules.error());
  const auto results = RunRuleTests(**rules, KernelRegistry::Default());
  EXPECT_FALSE(results.empty());
  for (const RuleTestResult& result : results) {
    EXPECT_TRUE(result.ok) << result.place << ": " << result.rule << ", " << result.kind << ":\n" << result.message;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShippedRules, ::testing::ValuesIn(ShippedRuleSets()), [](const auto& test) {
  std::string name = fs::path(test.param).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace rulerun
