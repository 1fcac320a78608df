// The pass `transpose-optimizer`: pushes Transposes towards others until they cancel
// (shared/ort130/inventory-qdq.md, 4.7).
#ifndef RULERUN_ENGINE_PASSES_LAYOUT_TRANSPOSE_OPTIMIZER_H_
#define RULERUN_ENGINE_PASSES_LAYOUT_TRANSPOSE_OPTIMIZER_H_

#include <string>
#include <vector>

#include "engine/passes/layout/editor.h"
#include "engine/passes/layout/transpose_table.h"
#include "engine/passes/pass.h"

namespace rulerun {

Result<PassResult> RunTransposeOptimizer(const PassScope& scope);

// One graph without its subgraphs. Changes nodes that nobody runs or `provider` does; with a provider the table's
// `always_push` counts. Events are added to `events`. The value is whether anything changed.
bool OptimizeTransposes(Editor& edit, const TransposeTable& table, const std::string& provider,
                        std::vector<PassEvent>& events);

// The graphs below `graph`, those of each node in topological order; not `graph` itself.
std::vector<Graph*> SubgraphsInOrder(const Graph& graph);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_LAYOUT_TRANSPOSE_OPTIMIZER_H_
