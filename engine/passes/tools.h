// What several passes need. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_PASSES_TOOLS_H_
#define RULERUN_ENGINE_PASSES_TOOLS_H_

#include <string>
#include <utility>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/graph/node_name.h"
#include "engine/passes/pass.h"

namespace rulerun {

// Whether the stage looks at nodes of that provider.
bool Serves(const PassScope& scope, const std::string& provider);

// No graph output, exactly `edges` reads of its outputs, none of them by a subgraph.
bool Lone(const Graph& graph, const Node& node, int edges);

// Rank 0, or one dimension of size 1.
bool IsScalar(const Graph& graph, ValueId id);

// Adds origins that are not there yet.
void AddOrigins(const std::vector<std::string>& more, std::vector<std::string>& origins);

// The operator with the types of its inputs, for an event: "Sum(float16, float16)".
std::string Described(const Graph& graph, const Node& node);

// Removes the node, unless something else reads it, and then what only fed the nodes removed: stops at graph outputs
// and at what others read (inventory-fp32.md 0.4, prune_up). Adds the names of removed nodes to `removed`.
void PruneUp(Graph& graph, NodeIndex start, std::vector<std::string>& removed);

// Finds anew what subgraphs read of the graphs around them, innermost first. To be called after a pass that changed
// subgraphs: within the pass the graphs around them go by what was true at its start, as in ONNX Runtime.
void RefreshOuterReads(Graph& graph);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_TOOLS_H_
