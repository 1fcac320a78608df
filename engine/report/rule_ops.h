// Which rules of a rule set speak of an operator.
#ifndef RULERUN_ENGINE_REPORT_RULE_OPS_H_
#define RULERUN_ENGINE_REPORT_RULE_OPS_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/ruleset/ruleset.h"

namespace rulerun {

// What the rule set has for an operator between dequantizing and quantizing.
struct OpRules {
  std::vector<const Rule*> units;            // in the order of the files
  const Unsupported* unsupported = nullptr;  // the entry that lists it, or nullptr
  Level first_level = Level::kDisabled;      // from which level on the first of `units` is tried

  // "replace", "drop-qdq", "drop-dq", joined with ", " where it is in several; "unsupported"; "not listed".
  std::string Group() const;
};

// The rule of a file by its name; nullptr where there is none.
const Rule* RuleOf(const RuleSet& rules, const std::string& file, std::string_view rule);

OpRules RulesFor(const RuleSet& rules, std::string_view op);

// Whether the operator is in the set, "Q" or "DQ" for the quantizers.
bool IsInOpSet(const RuleSet& rules, std::string_view set, std::string_view op);
bool IsQuantizer(const RuleSet& rules, std::string_view op);  // in either

// Whether the rule's text speaks of quantizing or dequantizing.
bool MentionsQuantizers(const RuleSet& rules, const Rule& rule);

// The reason of an `unsupported` entry, with the operator's name filled in.
std::string ReasonText(const Unsupported& unsupported, std::string_view op);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_RULE_OPS_H_
