// The named tensor functions of `compute`, one C++ function each.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "engine/graph/schema.h"
#include "engine/match/compute.h"
#include "engine/match/pack_nbits.h"

namespace rulerun {
namespace {

using Operands = std::vector<Computed>;
using Results = std::vector<Computed>;

bool Known(const Computed& value) { return value.state == Computed::State::kKnown; }

// Writes `number` into a tensor of any number type, rounding as a conversion from float does.
void SetNumber(Tensor& tensor, int64_t index, double number) {
  switch (tensor.type()) {
    case DataType::kFloat:
      tensor.mutable_data<float>()[index] = static_cast<float>(number);
      return;
    case DataType::kDouble:
      tensor.mutable_data<double>()[index] = number;
      return;
    case DataType::kFloat16:
      tensor.mutable_data<uint16_t>()[index] = FloatToHalf(static_cast<float>(number));
      return;
    case DataType::kBfloat16:
      tensor.mutable_data<uint16_t>()[index] = FloatToBfloat(static_cast<float>(number));
      return;
    default:
      SetInt(tensor, index, static_cast<int64_t>(number));
  }
}

bool SameElement(const Tensor& a, int64_t i, const Tensor& b, int64_t j) {
  if (a.type() == DataType::kString) return a.strings()[static_cast<size_t>(i)] == b.strings()[static_cast<size_t>(j)];
  if (IsInteger(a.type())) return ElementAsInt(a, i) == ElementAsInt(b, j);
  return ElementAsDouble(a, i) == ElementAsDouble(b, j);
}

void SetElement(Tensor& tensor, int64_t i, const Tensor& from, int64_t j) {
  if (tensor.type() == DataType::kString) {
    tensor.mutable_strings()[static_cast<size_t>(i)] = from.strings()[static_cast<size_t>(j)];
  } else if (IsInteger(tensor.type())) {
    SetInt(tensor, i, ElementAsInt(from, j));
  } else {
    SetNumber(tensor, i, ElementAsDouble(from, j));
  }
}

// TypeMin, TypeMax: the end of an integer type, with the type and shape of the operand.
Results TypeEnd(const Operands& operands, bool min) {
  if (!Known(operands[0])) return {operands[0]};
  const Tensor& like = operands[0].tensor;
  const auto range = RangeOf(like.type());
  if (!range) return {Computed::Unknown()};
  return {Computed::Known(Filled(like.type(), like.dims(), static_cast<double>(min ? range->min : range->max)))};
}

// FillLike(t, v): the shape and type of t, every element v.
Results FillLike(const Operands& operands) {
  if (!Known(operands[0])) return {operands[0]};
  if (!Known(operands[1])) return {operands[1]};
  if (operands[1].tensor.count() != 1) return {Computed::Unknown()};
  const Tensor& like = operands[0].tensor;
  return {Computed::Known(Filled(like.type(), like.dims(), ElementAsDouble(operands[1].tensor, 0)))};
}

// RoundHalfAway(x): std::round, in x's own type.
Results RoundHalfAway(const Operands& operands) {
  if (!Known(operands[0])) return {operands[0]};
  const Tensor& x = operands[0].tensor;
  Tensor rounded(x.type(), x.dims());
  for (int64_t i = 0; i < x.count(); ++i) SetNumber(rounded, i, std::round(ElementAsDouble(x, i)));
  return {Computed::Known(rounded)};
}

// Product(a?, b?, ..): float32, left to right; operands that are absent do not count.
Results Product(const Operands& operands) {
  float product = 1.0f;
  for (const Computed& operand : operands) {
    if (operand.state == Computed::State::kAbsent) continue;
    if (!Known(operand) || operand.tensor.count() != 1) return {Computed::Unknown()};
    product *= static_cast<float>(ElementAsDouble(operand.tensor, 0));
  }
  return {Computed::Known(Tensor::Scalar<float>(product))};
}

// Either(a?, b?, ..): the first that is there, known or not.
Results Either(const Operands& operands) {
  const auto there = std::find_if(operands.begin(), operands.end(),
                                  [](const Computed& operand) { return operand.state != Computed::State::kAbsent; });
  return {there == operands.end() ? Computed::Absent() : *there};
}

// ShapeOf<unknown = n>(x): the dimensions of a value of the graph, n for those that are not known.
Results ShapeOf(const Binding& binding, const Call& call) {
  const auto operands = binding.Operands(call.operands.front().name);
  if (!operands || operands->empty()) return {Computed::Unknown()};
  if (!operands->front().present()) return {Computed::Absent()};
  const auto& shape = binding.graph().TypeOf(operands->front().value).shape;
  if (!shape) return {Computed::Unknown()};
  std::vector<int64_t> sizes;
  for (const Dim& dim : *shape) {
    if (!dim.known() && call.attributes.empty()) return {Computed::Unknown()};
    sizes.push_back(dim.known() ? dim.size : call.attributes.front().values.front().integer);
  }
  return {Computed::Known(Tensor::Vector<int64_t>(sizes))};
}

// Initial(x): the value of an initializer, which a graph input may override.
Results Initial(const Binding& binding, const Call& call) {
  const auto operands = binding.Operands(call.operands.front().name);
  if (!operands || operands->empty()) return {Computed::Unknown()};
  if (!operands->front().present()) return {Computed::Absent()};
  const auto& initializer = binding.graph().value(operands->front().value).initializer;
  return {initializer ? Computed::Known(*initializer) : Computed::Unknown()};
}

// ScalarLike(x, v): the number in the element type of any value of the graph.
Results ScalarLike(const Binding& binding, const Call& call, const Operands& operands) {
  const auto like = binding.Operands(call.operands.front().name);
  if (!like || like->empty() || !Known(operands[1])) return {Computed::Unknown()};
  if (!like->front().present()) return {Computed::Absent()};
  const DataType type = binding.graph().TypeOf(like->front().value).element;
  if (type == DataType::kUndefined || operands[1].tensor.count() != 1) return {Computed::Unknown()};
  return {Computed::Known(Filled(type, {}, ElementAsDouble(operands[1].tensor, 0)))};
}

// Matched(label): 1 where the pattern has a node of that label, 0 where it counts as not there.
Results Matched(const Binding& binding, const Call& call) {
  const bool bound = binding.NodeOf(call.operands.front().name) != nullptr;
  return {Computed::Known(Tensor::Scalar<int64_t>(bound ? 1 : 0))};
}

// MulAlongAxis<axis = a>(W, f): W with block i along axis multiplied by f[i]; every product rounded once.
Results MulAlongAxis(const Call& call, const Operands& operands) {
  if (!Known(operands[0])) return {operands[0]};
  if (!Known(operands[1])) return {operands[1]};
  int64_t axis = 0;
  for (const AttrPattern& attribute : call.attributes) axis = attribute.values.front().integer;
  const Tensor& w = operands[0].tensor;
  const Tensor& f = operands[1].tensor;
  if (axis < 0) axis += w.rank();
  if (axis < 0 || axis >= w.rank() || w.type() != f.type()) return {Computed::Unknown()};
  const auto place = static_cast<size_t>(axis);
  const int64_t size = w.dims()[place];
  if (f.count() != 1 && f.count() != size) return {Computed::Unknown()};
  const int64_t inner = ElementCount(std::span(w.dims()).subspan(place + 1)).value_or(0);
  Tensor scaled(w.type(), w.dims());
  for (int64_t i = 0; i < w.count(); ++i) {
    const int64_t block = f.count() == 1 ? 0 : i / inner % size;
    if (w.type() == DataType::kDouble) {
      scaled.mutable_data<double>()[i] = w.data<double>()[i] * f.data<double>()[block];
    } else {
      const float product = static_cast<float>(ElementAsDouble(w, i)) * static_cast<float>(ElementAsDouble(f, block));
      SetNumber(scaled, i, static_cast<double>(product));
    }
  }
  return {Computed::Known(scaled)};
}

// AsymmetricInt8(lo, hi): scale (float) and zero point (int8) that cover [lo, hi] and 0 with 256 steps
// (inventory-qdq.md 4.3, step 7).
Results AsymmetricInt8(const Operands& operands) {
  if (!Known(operands[0]) || !Known(operands[1])) return {Computed::Unknown(), Computed::Unknown()};
  const float lo = std::min(static_cast<float>(ElementAsDouble(operands[0].tensor, 0)), 0.0f);
  const float hi = std::max(static_cast<float>(ElementAsDouble(operands[1].tensor, 0)), 0.0f);
  const float scale = hi == lo ? 1.0f : (hi - lo) / 255.0f;
  const float zero = std::clamp(-128.0f - lo / scale, -128.0f, 127.0f);
  return {Computed::Known(Tensor::Scalar<float>(scale)),
          Computed::Known(Tensor::Scalar<int8_t>(static_cast<int8_t>(std::nearbyint(zero))))};
}

// PackNBits<default_block = b>(w, scale, zero?): weight, scales, zero points, bits, block size; w is read through a DQ,
// whose block_size wins.
Results PackNBitsOf(const Binding& binding, const Call& call, const Operands& operands) {
  Results unknown(5, Computed::Unknown());
  const auto bound = binding.values.find(call.operands.front().name);
  if (bound == binding.values.end() || bound->second.items.front().quantizer == kNoNode) return unknown;
  if (!Known(operands[0]) || !Known(operands[1])) return unknown;
  if (operands.size() > 2 && operands[2].state == Computed::State::kUnknown) return unknown;
  int64_t wanted = 0;
  for (const AttrPattern& attribute : call.attributes) {
    const Computed value = binding.ConstantOf(attribute.values.front().text);
    if (Known(value)) wanted = ElementAsInt(value.tensor, 0);
  }
  const Node& dq = *binding.graph().node(bound->second.items.front().quantizer);
  const Tensor* zero = operands.size() > 2 && Known(operands[2]) ? &operands[2].tensor : nullptr;
  auto packed = PackNBits(operands[0].tensor, operands[1].tensor, zero, IntOr(dq.attributes, "block_size", 0), wanted);
  if (!packed) return unknown;
  return {Computed::Known(packed->weight), Computed::Known(packed->scales),
          packed->zeros ? Computed::Known(*packed->zeros) : Computed::Absent(),
          Computed::Known(Tensor::Scalar<int64_t>(packed->bits)),
          Computed::Known(Tensor::Scalar<int64_t>(packed->block_size))};
}

// Lookup(x, keys, values, otherwise): for each element of x the value beside the last key that equals it.
Results Lookup(const Operands& operands) {
  for (const Computed& operand : operands) {
    if (!Known(operand)) return {operand};
  }
  const auto& [x, keys, values, otherwise] =
      std::tie(operands[0].tensor, operands[1].tensor, operands[2].tensor, operands[3].tensor);
  if (x.type() != keys.type() || values.type() != otherwise.type() || keys.count() != values.count() ||
      otherwise.count() != 1) {
    return {Computed::Unknown()};
  }
  Tensor found(values.type(), x.dims());
  for (int64_t i = 0; i < x.count(); ++i) {
    int64_t key = keys.count() - 1;
    while (key >= 0 && !SameElement(x, i, keys, key)) --key;
    SetElement(found, i, key < 0 ? otherwise : values, std::max<int64_t>(key, 0));
  }
  return {Computed::Known(found)};
}

// PackBits<bits = n>(x): every row of small integers as bytes, the first of a byte in its lowest bits; a row begins
// with a byte.
Results PackBits(const Call& call, const Operands& operands) {
  if (!Known(operands[0])) return {operands[0]};
  const Tensor& x = operands[0].tensor;
  int64_t bits = 8;
  for (const AttrPattern& attribute : call.attributes) bits = attribute.values.front().integer;
  if (!IsInteger(x.type()) || x.rank() == 0 || bits < 1 || bits > 8 || 8 % bits != 0) return {Computed::Unknown()};
  const int64_t per_byte = 8 / bits;
  const int64_t row = x.dims().back();
  Dims dims = x.dims();
  dims.back() = (row + per_byte - 1) / per_byte;
  Tensor packed(DataType::kUint8, dims);
  for (int64_t i = 0; i < x.count(); ++i) {
    const int64_t column = i % row;
    const int64_t code = ElementAsInt(x, i) & ((1 << bits) - 1);
    uint8_t& byte = packed.mutable_data<uint8_t>()[i / row * dims.back() + column / per_byte];
    byte = static_cast<uint8_t>(byte | code << (bits * (column % per_byte)));
  }
  return {Computed::Known(packed)};
}

Results ClipBoundsOf(const Binding& binding, const Call& call) {
  const Node* node = binding.NodeOf(call.operands.front().name);
  if (node == nullptr) return {Computed::Absent(), Computed::Absent()};
  const Bounds bounds = ClipBounds(binding.scope(), *node);
  return {bounds.min, bounds.max};
}

// One bound that stands in an input: constant, or constant behind a DQ.
Computed BoundFromInput(const MatchScope& scope, ValueId id) {
  const Graph& graph = *scope.graph;
  if (const Tensor* constant = graph.Constant(id)) {
    const bool usable = constant->type() == DataType::kFloat || constant->type() == DataType::kFloat16;
    if (!usable || constant->count() != 1) return Computed::Unknown();
    return Computed::Known(Tensor::Scalar<float>(static_cast<float>(ElementAsDouble(*constant, 0))));
  }
  const Node* producer = graph.Producer(id);
  const auto set = scope.rules->vocabulary.op_sets.find("DQ");
  if (producer == nullptr || set == scope.rules->vocabulary.op_sets.end()) return Computed::Unknown();
  if (std::find(set->second.begin(), set->second.end(), producer->Op()) == set->second.end()) {
    return Computed::Unknown();
  }
  const Tensor* x = graph.Constant(producer->input(0));
  const Tensor* scale = graph.Constant(producer->input(1));
  const Tensor* zero = graph.Constant(producer->input(2));
  if (x == nullptr || scale == nullptr || zero == nullptr) return Computed::Unknown();
  if (x->count() != 1 || scale->count() != 1 || zero->count() != 1) return Computed::Unknown();
  if (scale->type() != DataType::kFloat && scale->type() != DataType::kFloat16) return Computed::Unknown();
  const auto difference = static_cast<float>(ElementAsInt(*x, 0) - ElementAsInt(*zero, 0));
  return Computed::Known(Tensor::Scalar<float>(static_cast<float>(ElementAsDouble(*scale, 0)) * difference));
}

}  // namespace

Tensor Filled(DataType type, const Dims& dims, double number) {
  Tensor tensor(type, dims);
  for (int64_t i = 0; i < tensor.count(); ++i) SetNumber(tensor, i, number);
  return tensor;
}

Bounds ClipBounds(const MatchScope& scope, const Node& clip) {
  const Graph& graph = *scope.graph;
  const OpSchema* schema =
      FindSchema(scope.rules->schemas, clip.domain, clip.op_type, std::max(graph.Opset(clip.domain), 1));
  if (schema == nullptr) return {Computed::Absent(), Computed::Absent()};
  constexpr float kMax = std::numeric_limits<float>::max();
  const auto bound = [&](std::string_view name, float fallback) {
    if (schema->attributes.count(name) > 0) {
      return Computed::Known(Tensor::Scalar<float>(FloatOr(clip.attributes, name, fallback)));
    }
    for (size_t slot = 0; slot < schema->inputs.size(); ++slot) {
      if (schema->inputs[slot].name != name) continue;
      if (clip.input(slot) == kNoValue) return Computed::Known(Tensor::Scalar<float>(fallback));
      return BoundFromInput(scope, clip.input(slot));
    }
    return Computed::Absent();
  };
  return {bound("min", -kMax), bound("max", kMax)};
}

std::vector<Computed> CallTensorFunction(const Binding& binding, const Call& call,
                                         const std::vector<Computed>& operands) {
  const std::string& name = call.ops.front();
  if (name == "TypeMin") return TypeEnd(operands, true);
  if (name == "TypeMax") return TypeEnd(operands, false);
  if (name == "FillLike") return FillLike(operands);
  if (name == "RoundHalfAway") return RoundHalfAway(operands);
  if (name == "Product") return Product(operands);
  if (name == "Either") return Either(operands);
  if (name == "ShapeOf") return ShapeOf(binding, call);
  if (name == "Initial") return Initial(binding, call);
  if (name == "ScalarLike") return ScalarLike(binding, call, operands);
  if (name == "Matched") return Matched(binding, call);
  if (name == "MulAlongAxis") return MulAlongAxis(call, operands);
  if (name == "AsymmetricInt8") return AsymmetricInt8(operands);
  if (name == "PackNBits") return PackNBitsOf(binding, call, operands);
  if (name == "Lookup") return Lookup(operands);
  if (name == "PackBits") return PackBits(call, operands);
  if (name == "ClipBounds") return ClipBoundsOf(binding, call);
  return {Computed::Unknown(), Computed::Unknown(), Computed::Unknown(), Computed::Unknown(), Computed::Unknown()};
}

}  // namespace rulerun
