// Shapes of operators that ONNX does not define, as their schemas write them down.
#ifndef RULERUN_ENGINE_GRAPH_FORMAL_SHAPES_H_
#define RULERUN_ENGINE_GRAPH_FORMAL_SHAPES_H_

#include <optional>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/graph/schema.h"

namespace rulerun {

// Whether the schema writes a shape for any output.
bool HasOutputShapes(const OpSchema& schema);

// The shape of each output of the node; std::nullopt where the schema writes none, or where a dimension of it belongs
// to an input that is absent, of unknown rank, or of another rank than written.
std::vector<std::optional<Shape>> OutputShapes(const Graph& graph, const Node& node, const OpSchema& schema);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_FORMAL_SHAPES_H_
