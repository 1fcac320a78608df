#include "engine/graph/formal_shapes.h"

#include <algorithm>
#include <map>
#include <string>

namespace rulerun {
namespace {

// What the names of dimensions stand for: one dimension, or any number for `D...`.
using Dimensions = std::map<std::string, Shape>;

size_t RestCount(const FormalShape& formal, size_t rank) {
  const bool has_rest = std::any_of(formal.begin(), formal.end(), [](const auto& dim) { return dim.front().rest; });
  return has_rest && rank + 1 >= formal.size() ? rank + 1 - formal.size() : 0;
}

// `3 * H` stands for a third of the size; a dimension without a size has no part that could be named.
Dim Part(const Dim& dim, int64_t factor) {
  if (factor == 1) return dim;
  Dim part;
  if (dim.known() && dim.size % factor == 0) part.size = dim.size / factor;
  return part;
}

// The first shape that binds a name counts; one of another rank binds nothing.
void Bind(const FormalShape& formal, const Shape& shape, Dimensions& known) {
  const size_t rest = RestCount(formal, shape.size());
  size_t rank = 0;
  for (const auto& dim : formal) rank += dim.front().rest ? rest : 1;
  if (rank != shape.size()) return;
  size_t at = 0;
  for (const auto& alternatives : formal) {
    const FormalDim& dim = alternatives.front();
    const size_t count = dim.rest ? rest : 1;
    if (dim.kind == FormalDim::Kind::kName) {
      Shape part;
      for (size_t i = 0; i < count; ++i) part.push_back(Part(shape[at + i], dim.number));
      known.emplace(dim.name, std::move(part));
    }
    at += count;
  }
}

std::optional<int64_t> AttributeSize(const Node& node, const FormalDim& dim) {
  const auto found = node.attributes.find(dim.name);
  if (found == node.attributes.end()) return std::nullopt;
  if (const auto* size = std::get_if<int64_t>(&found->second); size != nullptr && !dim.listed) return *size;
  const auto* sizes = std::get_if<std::vector<int64_t>>(&found->second);
  const auto element = static_cast<size_t>(dim.number);
  if (sizes == nullptr || !dim.listed || element >= sizes->size()) return std::nullopt;
  return (*sizes)[element];
}

std::optional<Shape> Find(const Node& node, const FormalDim& dim, const Dimensions& known) {
  switch (dim.kind) {
    case FormalDim::Kind::kAny:
      return Shape{Dim{}};
    case FormalDim::Kind::kSize:
      return ToShape({dim.number});
    case FormalDim::Kind::kName: {
      const auto found = known.find(dim.name);
      return found == known.end() ? std::nullopt : std::optional(found->second);
    }
    case FormalDim::Kind::kAttribute:
      break;
  }
  const auto size = AttributeSize(node, dim);
  return size && *size >= 0 ? std::optional(ToShape({*size})) : std::nullopt;
}

std::optional<Shape> Build(const Node& node, const FormalShape& formal, const Dimensions& known) {
  Shape shape;
  for (const auto& alternatives : formal) {
    std::optional<Shape> dims;
    for (const FormalDim& dim : alternatives) {
      dims = Find(node, dim, known);
      if (dims) break;
    }
    if (!dims) return std::nullopt;
    shape.insert(shape.end(), dims->begin(), dims->end());
  }
  return shape;
}

}  // namespace

bool HasOutputShapes(const OpSchema& schema) {
  return std::any_of(schema.outputs.begin(), schema.outputs.end(),
                     [](const FormalParameter& output) { return output.shape.has_value(); });
}

std::vector<std::optional<Shape>> OutputShapes(const Graph& graph, const Node& node, const OpSchema& schema) {
  Dimensions known;
  for (size_t slot = 0; slot < std::min(node.inputs.size(), schema.inputs.size()); ++slot) {
    const auto& formal = schema.inputs[slot].shape;
    if (!formal || node.inputs[slot] == kNoValue) continue;
    if (const auto& shape = graph.TypeOf(node.inputs[slot]).shape) Bind(*formal, *shape, known);
  }
  std::vector<std::optional<Shape>> shapes(node.outputs.size());
  for (size_t slot = 0; slot < std::min(node.outputs.size(), schema.outputs.size()); ++slot) {
    if (const auto& formal = schema.outputs[slot].shape) shapes[slot] = Build(node, *formal, known);
  }
  return shapes;
}

}  // namespace rulerun
