// Type and shape inference, schema defaults and clean-up: what ONNX Runtime calls Resolve
// (shared/ort130/inventory-qdq.md 0.2, inventory-fp32.md 0.7).
#ifndef RULERUN_ENGINE_GRAPH_RESOLVE_H_
#define RULERUN_ENGINE_GRAPH_RESOLVE_H_

#include "engine/base/result.h"
#include "engine/graph/graph.h"
#include "engine/graph/schema.h"

namespace rulerun {

// Sets since_version of every node from the graph's opsets, adds schema default attributes, infers the types and
// shapes of all values with ONNX's own functions (constants and ONNX's data propagation included), drops unused
// initializers. Subgraphs too. Fails where a node breaks its schema: unknown operator, too few or many inputs, a type
// its schema does not allow, shapes that contradict each other; the error names the node.
Status Resolve(Graph& graph, const ExternalSchemas& schemas);

// For one node whose inputs have types: the defaults, and types and shapes of its outputs (those known stay).
Status ResolveNode(Graph& graph, NodeIndex node, const ExternalSchemas& schemas);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_RESOLVE_H_
