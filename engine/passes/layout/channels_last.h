// The pass `channels-last`: convolutions that have a kernel for channels-last data use it, with Transposes round them,
// which are then pushed together (shared/ort130/inventory-qdq.md, 7.2).
#ifndef RULERUN_ENGINE_PASSES_LAYOUT_CHANNELS_LAST_H_
#define RULERUN_ENGINE_PASSES_LAYOUT_CHANNELS_LAST_H_

#include "engine/passes/pass.h"

namespace rulerun {

// `modified` tells of changes to the outermost graph only: as in ONNX Runtime, a change inside a subgraph alone asks
// for no further round.
Result<PassResult> RunChannelsLast(const PassScope& scope);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_LAYOUT_CHANNELS_LAST_H_
