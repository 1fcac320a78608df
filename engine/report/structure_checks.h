// The checks that a rule's text asks for without naming them: what a match can be refused by beside its conditions.
#ifndef RULERUN_ENGINE_REPORT_STRUCTURE_CHECKS_H_
#define RULERUN_ENGINE_REPORT_STRUCTURE_CHECKS_H_

#include <string>
#include <vector>

#include "engine/ruleset/ruleset.h"

namespace rulerun {

struct StructureCheck {
  std::string check;  // "types", "shape", ...: the name by which a refusal quotes it
  std::string what;   // "types of the operands", "attribute group"
  Location where;     // where a refusal by it points to
  bool exact = true;  // of the checks of this name in the rule, the one at `where`; false: there is only one
};

// Those of one rule: attributes and shapes that it writes down, element types, versions, uses of interior values, and
// a unit's operands. Left out is what cannot refuse: an attribute that every version of the operator has, a version
// list that names all versions that opsets 7 to 26 have, types that the operator's schema guarantees.
std::vector<StructureCheck> StructureChecks(const RuleSet& rules, const RuleFile& file, const Rule& rule);

// Those that every unit of a group has in common ("between", "private", ...); tested once per file and group.
std::vector<StructureCheck> UnitChecks(const RuleFile& file, Group group);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_STRUCTURE_CHECKS_H_
