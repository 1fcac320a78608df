// What to change so that a rule fires, and what would come next.
#ifndef RULERUN_ENGINE_REPORT_ADVICE_H_
#define RULERUN_ENGINE_REPORT_ADVICE_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/model.h"
#include "engine/pipeline/trace.h"
#include "engine/report/reasons.h"
#include "engine/ruleset/ruleset.h"
#include "engine/ruleset/target.h"
#include "kernels/kernel.h"

namespace rulerun {

// One change, in the imperative: "set 'b_scale' (b.scale) to ..., which is 0.125". From the table of predicates.
std::string AdviceFor(const Refusal& refusal);
// For nodes that no rule refused: "quantize it: ...". "" where nothing in the model helps.
std::string AdviceFor(const Reason& reason);

// What follows if one condition after the other is made to hold.
struct WhatIf {
  enum class Kind {
    kFires,        // the rule fires: only numbers of constants, or the target, have to change
    kNothingElse,  // no other condition is in the way now, but the change touches more than numbers
    kStopsAt,      // at a check that cannot be taken to hold: what comes behind it is not known
    kError,        // ONNX Runtime then refuses the model
  };
  Kind kind = Kind::kStopsAt;
  std::vector<Refusal> conditions;  // to be made to hold, in this order; the first is the refusal itself
  std::string into;                 // kFires, kNothingElse: operators that the rule makes
  std::string error;                // kError
};
std::string_view Name(WhatIf::Kind kind);  // "fires", "nothing-else", "stops-at", "error"

// Rewrites copies of the model, each time with one condition more taken to hold at the node. `refused`: an entry of a
// trace of the model for the same target.
Result<WhatIf> AskWhatIf(const Model& model, const RuleSet& rules, const Target& target, const KernelRegistry& kernels,
                         const TraceEntry& refused);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_ADVICE_H_
