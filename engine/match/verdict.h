// What came of trying a rule at a node.
#ifndef RULERUN_ENGINE_MATCH_VERDICT_H_
#define RULERUN_ENGINE_MATCH_VERDICT_H_

#include <string>
#include <vector>

#include "engine/ruleset/location.h"

namespace rulerun {

// Why a rule did not fire: the first check that failed.
struct Refusal {
  std::string check;    // predicate or builtin check: "close", "single-use"
  std::string message;  // a sentence with the model's names, what was wanted and what is
  Location where;       // of the condition, or of the rule's text
  // The parts of the message, for conditions: what it speaks of, in the model's names; what would hold; what is.
  std::vector<std::string> args;
  std::string wanted;
  std::string actual;
};

// Three values: unknown satisfies nothing, under `not` neither (language.md 3 and 12).
enum class Truth { kFalse, kTrue, kUnknown };
inline Truth ToTruth(bool value) { return value ? Truth::kTrue : Truth::kFalse; }
inline Truth Not(Truth truth) {
  if (truth == Truth::kUnknown) return truth;
  return truth == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
}

}  // namespace rulerun

#endif  // RULERUN_ENGINE_MATCH_VERDICT_H_
