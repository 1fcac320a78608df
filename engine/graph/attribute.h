// Attribute values of a node.
#ifndef RULERUN_ENGINE_GRAPH_ATTRIBUTE_H_
#define RULERUN_ENGINE_GRAPH_ATTRIBUTE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engine/graph/tensor.h"

namespace rulerun {

class Graph;

// An attribute of a kind that nothing here looks into (sparse tensors, types, lists of tensors), kept as the bytes of
// its onnx.AttributeProto.
struct OpaqueAttribute {
  std::string bytes;
};

// A subgraph is owned by the attribute of the node that runs it.
using GraphRef = std::shared_ptr<Graph>;

using Attribute = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                               std::vector<std::string>, Tensor, GraphRef, std::vector<GraphRef>, OpaqueAttribute>;
using AttributeMap = std::map<std::string, Attribute, std::less<>>;

// Equal kind and value; floats by bits, tensors by content; graphs and opaque ones are never equal.
bool SameAttribute(const Attribute& a, const Attribute& b);

// The attribute as T, or `fallback` where it is absent or of another kind.
int64_t IntOr(const AttributeMap& attributes, std::string_view name, int64_t fallback);
float FloatOr(const AttributeMap& attributes, std::string_view name, float fallback);
std::string StringOr(const AttributeMap& attributes, std::string_view name, std::string_view fallback);
std::vector<int64_t> IntsOr(const AttributeMap& attributes, std::string_view name, std::vector<int64_t> fallback);

// As in ONNX text: 1, 0.5, "text", [1, 2], or a short word for tensors and graphs.
std::string ToString(const Attribute& attribute);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_ATTRIBUTE_H_
