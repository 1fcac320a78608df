// Conditions as one line of text.
#ifndef RULERUN_ENGINE_REPORT_CONDITION_TEXT_H_
#define RULERUN_ENGINE_REPORT_CONDITION_TEXT_H_

#include <functional>
#include <string>

#include "engine/ruleset/rule.h"

namespace rulerun {

// "constant W, b", "rank x: 2", "not (scalar x)". Two conditions with the same text ask the same.
std::string ConditionText(const Condition& condition);
// The same with every name of a value, node, capture or dimension run through `rename`.
std::string ConditionText(const Condition& condition, const std::function<std::string(const std::string&)>& rename);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_CONDITION_TEXT_H_
