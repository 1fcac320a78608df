// What every rule and pass did to a model: how often it fired and refused, where, and how its conditions came out.
#ifndef RULERUN_ENGINE_REPORT_RULE_USE_H_
#define RULERUN_ENGINE_REPORT_RULE_USE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/pipeline/trace.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {

// A condition of the rule's `where`. Asked in order, so that those behind the first that did not hold were not asked.
struct ConditionUse {
  std::string text;   // as written
  std::string place;  // file:line:column
  int held = 0;
  int refused = 0;  // later rounds that say the same again do not count
};

struct RuleUse {
  std::string rule;  // or pass
  std::string stage;
  std::string group;  // "replace", ..., "rules", "pass"
  std::string place;
  int fired = 0;
  int refused = 0;                       // later rounds that say the same again do not count
  std::vector<std::string> fired_at;     // original nodes, the first that each match concerns
  std::vector<std::string> refused_at;   // likewise
  std::map<std::string, int> checks;     // of the matcher itself and of cases -> how often it refused
  std::vector<ConditionUse> conditions;  // in file order
};

// Those that said anything, in the order in which they first did.
std::vector<RuleUse> UseOfRules(const Trace& trace, const RuleSet& rules);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_RULE_USE_H_
