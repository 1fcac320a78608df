// The rules of a rule set as a list, and what the kernels lack for them.
#ifndef RULERUN_ENGINE_REPORT_RULE_LIST_H_
#define RULERUN_ENGINE_REPORT_RULE_LIST_H_

#include <string>
#include <vector>

#include "engine/ruleset/ruleset.h"
#include "kernels/kernel.h"

namespace rulerun {

struct ListedRule {
  std::string name;
  std::string group;  // of the four groups, "rules" for others, "pass" for passes
  std::string file;   // of rules
  std::string level;  // from which on it is applied, "" if no stage names it
  std::string place;  // file:line:column
  size_t tests = 0;
};

// Rules by file, then passes.
std::vector<ListedRule> ListRules(const RuleSet& rules);

// An operator that a rewrite builds and that no kernel runs.
struct MissingKernel {
  std::string op;
  std::string rule;
  Location where;  // of the rule
};
std::vector<MissingKernel> ReplacementsWithoutKernel(const RuleSet& rules, const KernelRegistry& kernels);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_RULE_LIST_H_
