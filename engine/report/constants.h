// The constants of a model by what they are for.
#ifndef RULERUN_ENGINE_REPORT_CONSTANTS_H_
#define RULERUN_ENGINE_REPORT_CONSTANTS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/graph.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {

// "operator.input" -> role, as rules/words/roles.yaml lists them.
using RoleWords = std::map<std::string, std::string>;
Result<RoleWords> ReadRoleWords(const std::string& path);

struct ConstantGroup {
  std::string role;
  std::set<std::string> types;
  int count = 0;
  std::vector<std::string> shapes;  // "16x3x3x3", "scalar"; one per constant
};

// Initializers of the main graph by the first node that reads them, in the order of their first members. Scales and
// zero points of activations form one group, the last. What a DQ reads takes its role from the DQ's own reader.
std::vector<ConstantGroup> GroupConstants(const Graph& graph, const RuleSet& rules, const RoleWords& words);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_CONSTANTS_H_
