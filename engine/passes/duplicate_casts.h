// Takes casts out that another cast undoes or overrides. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_PASSES_DUPLICATE_CASTS_H_
#define RULERUN_ENGINE_PASSES_DUPLICATE_CASTS_H_

#include <string>

#include "engine/graph/graph.h"
#include "engine/passes/pass.h"
#include "engine/passes/table.h"

namespace rulerun {

// Runs over the graph and its subgraphs. A narrowing cast whose name begins with `harmless` counts as one that loses
// nothing: it stands where a float16 node was made to run in float.
void RemoveDuplicateCasts(Graph& graph, const OpNames& casts, const std::string& harmless, PassResult& result);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_DUPLICATE_CASTS_H_
