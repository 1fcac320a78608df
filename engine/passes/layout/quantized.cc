#include "engine/passes/layout/quantized.h"

#include <algorithm>
#include <cstring>

namespace rulerun {
namespace {

// Element types that a Q can be told to make.
bool CanBeQuantizedTo(DataType type) {
  switch (type) {
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kInt16:
    case DataType::kUint16:
    case DataType::kFloat8E4M3FN:
    case DataType::kFloat8E4M3FNUZ:
    case DataType::kFloat8E5M2:
    case DataType::kFloat8E5M2FNUZ:
      return true;
    default:
      return false;
  }
}

constexpr int kSaturateSince = 19;   // opsets of ai.onnx that brought the attributes of Q and DQ
constexpr int kBlockSizeSince = 21;  // and output_dtype

bool HasAttribute(const Editor& edit, const std::string& domain, int since) {
  return !domain.empty() || edit.graph().Opset(domain) >= since;
}

std::optional<int64_t> IntOf(const Node& node, std::string_view name) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return std::nullopt;
  const auto* number = std::get_if<int64_t>(&found->second);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

// What a new pair is made with.
struct PairParameters {
  std::string domain;
  std::vector<ValueId> inputs;  // data (left out), scale, zero point where there is one
  int64_t axis = 1;
  std::optional<int64_t> block_size;
  std::optional<int64_t> output_dtype;
  std::optional<int64_t> saturate;
};

PairParameters ParametersOf(const Node& node, int64_t axis) {
  PairParameters parameters;
  parameters.domain = node.domain;
  parameters.inputs = {kNoValue, node.input(1)};
  if (node.inputs.size() > 2) parameters.inputs.push_back(node.inputs[2]);
  parameters.axis = axis;
  parameters.block_size = IntOf(node, "block_size");
  parameters.saturate = IntOf(node, "saturate");
  return parameters;
}

struct Pair {
  NodeIndex q;
  NodeIndex dq;
};

// Q and DQ, connected with each other; the Q's data is left out.
Pair AddPair(Editor& edit, const TransposeTable& table, PairParameters parameters) {
  const auto set = [](AttributeMap& map, const char* name, std::optional<int64_t> value, int64_t usual) {
    if (value && *value != usual) map[name] = *value;
  };
  const bool blocks = HasAttribute(edit, parameters.domain, kBlockSizeSince);
  AttributeMap of_dq;
  set(of_dq, "axis", parameters.axis, 1);
  if (blocks) set(of_dq, "block_size", parameters.block_size, 0);
  AttributeMap of_q = of_dq;
  if (HasAttribute(edit, parameters.domain, kSaturateSince)) set(of_q, "saturate", parameters.saturate, 1);
  if (blocks) set(of_q, "output_dtype", parameters.output_dtype, 0);
  Pair pair{};
  pair.q = edit.AddNode(table.QuantizeIn(parameters.domain), parameters.inputs, std::move(of_q));
  parameters.inputs[0] = edit.Output(pair.q);
  pair.dq = edit.AddNode(table.DequantizeIn(parameters.domain), std::move(parameters.inputs), std::move(of_dq));
  return pair;
}

// A constant is all zero bytes, an omitted one counts as zero.
bool SameZeroPoint(const Graph& graph, ValueId a, ValueId b) {
  if (a == b) return true;
  const Tensor* one = graph.Constant(a);
  const Tensor* other = graph.Constant(b);
  if ((a != kNoValue && one == nullptr) || (b != kNoValue && other == nullptr)) return false;
  if (one != nullptr && other != nullptr) {
    return std::ranges::equal(one->raw_span(), other->raw_span());
  }
  const auto bytes = (one != nullptr ? one : other)->raw_span();
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

bool SameScale(const Graph& graph, ValueId a, ValueId b) {
  if (a == b) return true;
  const Tensor* one = graph.Constant(a);
  const Tensor* other = graph.Constant(b);
  return one != nullptr && other != nullptr && std::ranges::equal(one->raw_span(), other->raw_span());
}

bool SameParameters(const Editor& edit, const Node& dq, const Node& q) {
  if (dq.domain != q.domain) return false;
  const DataType from = edit.TypeOf(dq.input(0));
  if (from == DataType::kUndefined || from != edit.TypeOf(q.output(0))) return false;
  return SameScale(edit.graph(), dq.input(1), q.input(1)) && SameZeroPoint(edit.graph(), dq.input(2), q.input(2));
}

// The axis of a Q or DQ behind the Transpose or Unsqueeze that follows `dq`.
std::optional<int64_t> AxisBehind(const Editor& edit, const TransposeTable& table, const Node& dq, const Node& next,
                                  const Quantization& quantization) {
  if (quantization.mode != Quantization::Mode::kPerAxis) return quantization.axis;
  if (table.IsTranspose(&next)) {
    const auto perm = PermOf(next);
    if (!perm) return std::nullopt;
    return Inverse(*perm)[static_cast<size_t>(quantization.axis)];
  }
  auto axes = AxesOf(edit, table, next);
  const auto rank = edit.RankOf(dq.output(0));
  if (!axes || !rank || !NormalizeAxes(*axes, *rank + axes->size())) return std::nullopt;
  return UnsqueezedAxis(*axes, quantization.axis);
}

}  // namespace

std::optional<Perm> PermOf(const Node& node) {
  const auto found = node.attributes.find("perm");
  if (found == node.attributes.end()) return std::nullopt;
  const auto* perm = std::get_if<std::vector<int64_t>>(&found->second);
  if (perm == nullptr || !IsPermutation(*perm)) return std::nullopt;
  return *perm;
}

std::optional<Axes> AxesOf(const Editor& edit, const TransposeTable& table, const Node& node) {
  if (edit.graph().Opset("") >= table.axes_input_since) return Int64s(edit.graph().Constant(node.input(1)));
  const auto found = node.attributes.find("axes");
  if (found == node.attributes.end()) return std::nullopt;
  const auto* axes = std::get_if<std::vector<int64_t>>(&found->second);
  return axes == nullptr ? std::nullopt : std::optional(*axes);
}

std::optional<Quantization> QuantizationOf(const Editor& edit, NodeIndex index) {
  const Node& node = edit.node(index);
  const auto scale = edit.SizesOf(node.input(1));
  if (!scale) return std::nullopt;
  Quantization result;
  if (scale->empty() || (scale->size() == 1 && scale->front() == 1)) return result;
  result.axis = IntOr(node.attributes, "axis", 1);
  const auto rank = edit.RankOf(node.input(0));
  if (!rank || !NormalizeAxis(result.axis, *rank)) return std::nullopt;
  const bool blocked = IntOr(node.attributes, "block_size", 0) != 0;
  result.mode = blocked ? Quantization::Mode::kBlocked : Quantization::Mode::kPerAxis;
  return result;
}

void DequantizeToPass::SetTransposed(ValueId data, const Perm& inverse) {
  if (quantization_.mode == Quantization::Mode::kPerAxis) {
    quantization_.axis = inverse[static_cast<size_t>(quantization_.axis)];
  }
  SetData(data);
}

void DequantizeToPass::SetUnsqueezed(ValueId data, const Axes& axes) {
  if (quantization_.mode == Quantization::Mode::kPerAxis) quantization_.axis = UnsqueezedAxis(axes, quantization_.axis);
  SetData(data);
}

void DequantizeToPass::SetData(ValueId data) {
  edit_.SetInput(node_, 0, data);
  // ONNX Runtime writes the attribute below opset 13 too, and so saves a model that it cannot load.
  if (!edit_.KnowsAttribute(node_, "axis")) edit_.graph().node(node_)->defaulted.emplace_back("axis");
  edit_.SetAttribute(node_, "axis", quantization_.axis);
  edit_.SetShape(edit_.Output(node_), edit_.ShapeOf(data));
}

bool IsDequantizedConstant(Editor& edit, const TransposeTable& table, ValueId value) {
  const Node* dq = edit.graph().Producer(value);
  if (!table.IsDequantize(dq) || edit.graph().Constant(dq->input(0)) == nullptr) return false;
  const auto quantization = QuantizationOf(edit, dq->index);
  if (!quantization || !quantization->supported()) return false;
  return edit.ReadersOf(dq->input(0)).all && edit.OnlyReader(dq->index).has_value();
}

std::optional<DequantizeToPass> DequantizeOfConstant(Editor& edit, const TransposeTable& table, ValueId value) {
  if (!IsDequantizedConstant(edit, table, value)) return std::nullopt;
  const Node* dq = edit.graph().Producer(value);
  if (edit.graph().LocalConstant(dq->input(0)) == nullptr) return std::nullopt;
  return DequantizeToPass(edit, dq->index, *QuantizationOf(edit, dq->index));
}

bool MakeUnitBehind(Editor& edit, const TransposeTable& table, NodeIndex dq_index) {
  const auto next = edit.OnlyReader(dq_index);
  if (!next) return false;
  const Node& dq = edit.node(dq_index);
  const auto quantization = QuantizationOf(edit, dq_index);
  if (!quantization || !quantization->supported()) return false;
  const auto axis = AxisBehind(edit, table, dq, edit.node(*next), *quantization);
  if (!axis) return false;
  PairParameters parameters = ParametersOf(dq, *axis);
  if (dq.inputs.size() <= 2) {
    // Without a zero point the Q's type is uint8 unless it is told another.
    const DataType type = edit.TypeOf(dq.input(0));
    if (type != DataType::kUndefined && type != DataType::kUint8) {
      const bool tells = dq.domain.empty() && edit.graph().Opset("") >= kBlockSizeSince && CanBeQuantizedTo(type);
      if (!tells) return false;
      parameters.output_dtype = static_cast<int64_t>(type);
    }
  }
  const Pair pair = AddPair(edit, table, std::move(parameters));
  const ValueId result = edit.Output(*next);
  const std::optional<Shape> shape = edit.ShapeOf(result);
  edit.CopyType(dq.input(0), edit.Output(pair.q));
  edit.SetShape(edit.Output(pair.q), shape);
  edit.MoveOutput(*next, 0, pair.dq, 0);  // it may be a graph output
  edit.SetInput(pair.q, 0, edit.Output(*next));
  edit.CopyType(result, edit.Output(*next));
  return true;
}

bool MakeUnitBefore(Editor& edit, const TransposeTable& table, NodeIndex transpose) {
  const ValueId input = edit.node(transpose).input(0);
  const auto q = edit.OnlyReader(transpose);
  if (!q || !table.IsQuantize(edit.graph().node(*q))) return false;
  const Node* producer = edit.graph().Producer(input);
  if (producer == nullptr || table.IsDequantize(producer)) return false;
  if (edit.ReadersOf(input).nodes.size() != 1) return false;
  const auto quantization = QuantizationOf(edit, *q);
  if (!quantization || !quantization->supported()) return false;
  int64_t axis = quantization->axis;
  if (quantization->mode == Quantization::Mode::kPerAxis) {
    const auto perm = PermOf(edit.node(transpose));
    if (!perm) return false;
    axis = (*perm)[static_cast<size_t>(axis)];
  }
  PairParameters parameters = ParametersOf(edit.node(*q), axis);
  parameters.output_dtype = IntOf(edit.node(*q), "output_dtype");
  const Pair pair = AddPair(edit, table, std::move(parameters));
  edit.CopyType(edit.Output(*q), edit.Output(pair.q));
  edit.SetShape(edit.Output(pair.q), std::optional<Shape>(edit.ShapeOf(input)));
  const NodeIndex source = producer->index;
  const auto slot = static_cast<size_t>(edit.graph().value(input).producer_slot);
  edit.MoveOutput(source, slot, pair.dq, 0);
  edit.SetInput(pair.q, 0, edit.Output(source, slot));
  edit.CopyType(input, edit.Output(source, slot));
  return true;
}

bool RemoveEmptyPair(Editor& edit, const TransposeTable& table, NodeIndex q) {
  Graph& graph = edit.graph();
  const Node* dq = graph.Producer(edit.node(q).input(0));
  if (!table.IsDequantize(dq) || !edit.OnlyReader(dq->index) || !SameParameters(edit, *dq, edit.node(q))) return false;
  const ValueId data = dq->input(0);
  const ValueId result = edit.Output(q);
  const Readers readers = edit.ReadersOf(result);
  if (readers.all && readers.nodes.size() == 1) {
    edit.ReplaceReads(readers.nodes, result, data);
  } else if (readers.nodes.empty() && graph.value(result).graph_output) {
    const Node* producer = graph.Producer(data);
    const Readers others = edit.ReadersOf(data);
    if (producer == nullptr || !others.all || others.nodes.size() != 1) return false;
    edit.SetInput(dq->index, 0, kNoValue);
    edit.MoveOutput(q, 0, producer->index, static_cast<size_t>(graph.value(data).producer_slot));
  } else {
    return false;
  }
  const NodeIndex first = dq->index;
  edit.RemoveNode(q);
  edit.RemoveNode(first);
  return true;
}

}  // namespace rulerun
