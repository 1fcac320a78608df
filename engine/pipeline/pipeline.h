// Runs the pipeline of a rule set over a model.
#ifndef RULERUN_ENGINE_PIPELINE_PIPELINE_H_
#define RULERUN_ENGINE_PIPELINE_PIPELINE_H_

#include <cstdint>

#include "engine/base/result.h"
#include "engine/graph/model.h"
#include "engine/pipeline/trace.h"
#include "engine/ruleset/ruleset.h"
#include "engine/ruleset/target.h"
#include "kernels/kernel.h"

namespace rulerun {

// Rewrites the model's graph up to the target's level. `trace` may be nullptr. Fails with ErrorKind::kRefused where
// ONNX Runtime refuses the model; the graph is then half rewritten. After `most_changes` applications of rules and
// visits of passes that changed something, the graph stays as it is: so a wrong result can be bisected.
Status RunPipeline(Model& model, const RuleSet& rules, const Target& target, const KernelRegistry& kernels,
                   Trace* trace, int64_t most_changes = INT64_MAX);

// Gives every node without origins its own name, or "operator#index", as its origin.
void MarkOrigins(Graph& graph);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PIPELINE_PIPELINE_H_
