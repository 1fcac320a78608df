// Runs the tests that rules carry.
#ifndef RULERUN_ENGINE_REPORT_RULE_TESTS_H_
#define RULERUN_ENGINE_REPORT_RULE_TESTS_H_

#include <string>
#include <vector>

#include "engine/report/rule_coverage.h"
#include "engine/ruleset/ruleset.h"
#include "kernels/kernel.h"

namespace rulerun {

struct RuleTestResult {
  std::string file;  // of the rule, as the manifest names it
  std::string rule;
  std::string kind;   // "becomes", "refused types", "no-match", "error"
  std::string place;  // file:line:column of the test
  bool ok = false;
  std::string message;  // what was expected and what came, "" where ok
};

// Every test of every rule, in the order of the files. A test sees its rule alone, on all nodes of its graph, which are
// on provider "cpu"; ai.onnx is 21, the platform the first by name. A test may say otherwise (`given`).
// `coverage`: learns what the tests have seen; nullptr: nobody asks.
std::vector<RuleTestResult> RunRuleTests(const RuleSet& rules, const KernelRegistry& kernels,
                                         RuleCoverage* coverage = nullptr);
// Of one rule of `file`.
std::vector<RuleTestResult> RunRuleTests(const RuleSet& rules, const RuleFile& file, const Rule& rule,
                                         const KernelRegistry& kernels, RuleCoverage* coverage = nullptr);

// Rules without a single test.
std::vector<const Rule*> UntestedRules(const RuleSet& rules);

// As schemas/rule-tests.schema.json describes.
std::string ToJson(const RuleSet& rules, const std::vector<RuleTestResult>& results, const RuleCoverage& coverage);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_RULE_TESTS_H_
