// Puts one branch of a conditional node in its place. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_PASSES_INLINE_BRANCH_H_
#define RULERUN_ENGINE_PASSES_INLINE_BRANCH_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace rulerun {

// Moves initializers and nodes of the subgraph in attribute `branch` of `node` into `graph`, named
// "_if_<branch>_<name>" as ONNX Runtime does, and removes the node. Gives the names of the new nodes, or why it cannot
// be done.
Result<std::vector<std::string>> InlineBranch(Graph& graph, NodeIndex node, std::string_view branch);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_INLINE_BRANCH_H_
