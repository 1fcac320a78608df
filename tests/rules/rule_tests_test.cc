// The tests that rules carry: the shipped ones, and those in tests/data/language, which show what the language means.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "engine/report/rule_tests.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> RuleSets() {
  std::vector<std::string> paths;
  for (const std::string folder : {"rules", "tests/data/language"}) {
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

INSTANTIATE_TEST_SUITE_P(All, RuleSetTest, ::testing::ValuesIn(RuleSets()), [](const auto& test) {
  std::string name = fs::path(test.param).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace rulerun
