#include "engine/passes/result_size.h"

#include <limits>

namespace rulerun {
namespace {

constexpr int64_t kTooLarge = std::numeric_limits<int64_t>::max();
constexpr int64_t kStringBytes = 32;  // of an empty one in memory

int64_t Times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kTooLarge : product;
}

int64_t Plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kTooLarge : sum;
}

int64_t CountOf(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count = Times(count, dim);
  return count;
}

// std::nullopt for types whose elements have no fixed size.
std::optional<int64_t> BytesOf(DataType type, int64_t count) {
  if (type == DataType::kString) return Times(count, kStringBytes);
  const int bits = BitWidth(type);
  if (bits == 0 || type == DataType::kComplex64 || type == DataType::kComplex128) return std::nullopt;
  const int64_t total = Times(count, bits);
  return total == kTooLarge ? kTooLarge : Plus(total, 7) / 8;
}

std::optional<int64_t> BytesOf(const Graph& graph, ValueId id) {
  if (id == kNoValue) return std::nullopt;
  const ValueType& type = graph.TypeOf(id);
  const auto dims = Static(type.shape);
  return dims ? BytesOf(type.element, CountOf(*dims)) : std::nullopt;
}

// The first result holds elements of the input, further ones indices into it.
std::optional<int64_t> AtMostInput(const Graph& graph, const Node& node) {
  std::optional<int64_t> total = BytesOf(graph, node.input(0));
  if (!total) return std::nullopt;
  const int64_t count = CountOf(*Static(graph.TypeOf(node.input(0)).shape));
  const bool first = node.output(0) != kNoValue;
  int64_t sum = first ? *total : 0;
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) sum = Plus(sum, Times(count, int64_t{sizeof(int64_t)}));
  }
  return sum;
}

std::optional<int64_t> InputIsShape(const Graph& graph, const Node& node) {
  const Tensor* shape = graph.Constant(node.input(0));
  if (shape == nullptr || shape->type() != DataType::kInt64) return std::nullopt;
  int64_t count = 1;
  for (const int64_t dim : shape->values<int64_t>()) {
    if (dim < 0) return std::nullopt;
    count = Times(count, dim);
  }
  const auto value = node.attributes.find("value");
  const Tensor* fill = value == node.attributes.end() ? nullptr : std::get_if<Tensor>(&value->second);
  return BytesOf(fill == nullptr ? DataType::kFloat : fill->type(), count);
}

std::optional<int64_t> AsInferred(const Graph& graph, const Node& node) {
  int64_t sum = 0;
  for (const ValueId output : node.outputs) {
    if (output == kNoValue) continue;
    const auto bytes = BytesOf(graph, output);
    if (!bytes) return std::nullopt;
    sum = Plus(sum, *bytes);
  }
  return sum;
}

}  // namespace

Result<ResultSize> ResultSize::Read(const Table& table) {
  RULERUN_ASSIGN(const Table sizes, table.Sub("sizes"));
  ResultSize result;
  for (const std::string& op : sizes.yaml().Keys()) {
    RULERUN_ASSIGN(const std::string way, sizes.Text(op));
    if (way == "as-input") {
      result.ways_[op] = Way::kAsInput;
    } else if (way == "at-most-input") {
      result.ways_[op] = Way::kAtMostInput;
    } else if (way == "input-is-shape") {
      result.ways_[op] = Way::kInputIsShape;
    } else {
      return sizes.Wrong(op, "as-input, at-most-input or input-is-shape");
    }
  }
  return result;
}

std::optional<int64_t> ResultSize::Of(const Graph& graph, const Node& node) const {
  const auto way = ways_.find(node.Op());
  if (way == ways_.end()) return AsInferred(graph, node);
  switch (way->second) {
    case Way::kAsInput:
      return BytesOf(graph, node.input(0));
    case Way::kAtMostInput:
      return AtMostInput(graph, node);
    case Way::kInputIsShape:
      break;
  }
  const auto bytes = InputIsShape(graph, node);
  return bytes ? bytes : AsInferred(graph, node);
}

}  // namespace rulerun
