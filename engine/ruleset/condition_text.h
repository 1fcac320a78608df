// Conditions written back in a line, as in a rule file.
#ifndef RULERUN_ENGINE_RULESET_CONDITION_TEXT_H_
#define RULERUN_ENGINE_RULESET_CONDITION_TEXT_H_

#include <string>

#include "engine/ruleset/rule.h"

namespace rulerun {

// "close: {of: [b.scale, implied], atol: 1.0e-6}"
std::string Text(const Condition& condition);
// Several, with commas between them.
std::string Text(const Conditions& conditions);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_CONDITION_TEXT_H_
