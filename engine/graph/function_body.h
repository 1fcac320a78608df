// Operators that ONNX defines by other operators.
#ifndef RULERUN_ENGINE_GRAPH_FUNCTION_BODY_H_
#define RULERUN_ENGINE_GRAPH_FUNCTION_BODY_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace rulerun {

// Replaces a node by the function body that ONNX's schema has for it in the graph's opset, with ONNX Runtime's names
// (inventory-fp32.md 1.3); its constants become initializers. Gives the indices of the new nodes, or std::nullopt,
// with nothing changed, where ONNX has no such body. The new nodes' versions and types come with the next Resolve.
Result<std::optional<std::vector<NodeIndex>>> InlineFunctionBody(Graph& graph, NodeIndex node);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_FUNCTION_BODY_H_
