// Checks of a rule set that is read and typed: names, operators, and what nothing reaches. Internal to engine/ruleset.
#ifndef RULERUN_ENGINE_RULESET_CHECKS_H_
#define RULERUN_ENGINE_RULESET_CHECKS_H_

#include "engine/ruleset/diagnostics.h"
#include "engine/ruleset/rule.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {

// check_names.cc: every name that conditions, compute lines and rewrites use is declared, and declared ones are used.
void CheckNames(const Rule& rule, const RuleFile& file, const RuleSet& rules, Diagnostics& errors);

// check_lines.cc: the lines of a pattern hang together.
void CheckLines(const Rule& rule, Diagnostics& errors);

// check_rewrite.cc: a rewrite writes each result once, and leaves none without a producer.
void CheckRewrites(const Rule& rule, Diagnostics& errors);

// check_operators.cc: operators, attributes and operand counts against the schemas.
void CheckOperators(const Rule& rule, const RuleSet& rules, Diagnostics& errors);
void CheckOperators(const RuleFile& file, const RuleSet& rules, Diagnostics& errors);

// check_reach.cc: rule names are unique, and some stage of the pipeline names each rule.
void CheckReach(const RuleSet& rules, Diagnostics& errors);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_CHECKS_H_
