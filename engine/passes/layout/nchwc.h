// The pass `nchwc`: float convolutions, poolings and what lies between them work on data whose channels come in blocks
// (shared/ort130/inventory-qdq.md, 7.1).
#ifndef RULERUN_ENGINE_PASSES_LAYOUT_NCHWC_H_
#define RULERUN_ENGINE_PASSES_LAYOUT_NCHWC_H_

#include "engine/passes/pass.h"

namespace rulerun {

// Does nothing where the platform's block size is below 2.
Result<PassResult> RunNchwc(const PassScope& scope);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_LAYOUT_NCHWC_H_
