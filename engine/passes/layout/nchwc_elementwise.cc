// What lies between convolutions: sums, products, activations, normalization, concatenation.
#include <algorithm>
#include <cmath>

#include "engine/passes/layout/filter_layout.h"
#include "engine/passes/layout/nchwc_graph.h"
#include "engine/passes/tools.h"

namespace rulerun {

// --- two or more blocked values

bool Nchwc::SameShapes(const Node& node, const std::vector<Blocked*>& inputs) const {
  const auto& first = edit_.ShapeOf(node.input(0));
  for (size_t n = 1; n < inputs.size(); ++n) {
    const auto& other = edit_.ShapeOf(node.input(n));
    for (size_t dim = 0; dim < 4; ++dim) {
      if (inputs[0]->sizes.SameAs(inputs[n]->sizes, dim)) continue;
      if (!first || !other || first->size() != 4 || other->size() != 4) return false;
      if (!(*first)[dim].Equals((*other)[dim]) || (*first)[dim].size == 0) return false;
    }
  }
  return true;
}

void Nchwc::UseBlockedInputs(NodeIndex index, const std::vector<Blocked*>& inputs) {
  for (size_t n = 0; n < inputs.size(); ++n) {
    edit_.SetInput(index, n, inputs[n]->value);
    --inputs[n]->remaining;
  }
}

// A convolution whose result is only read by the sum at hand can add the other input itself.
bool Nchwc::TakeInSum(NodeIndex index, const std::vector<Blocked*>& inputs) {
  if (inputs.size() != 2) return false;
  for (size_t n = 0; n < 2; ++n) {
    if (!CanTakeIn(*inputs[n]) || edit_.node(inputs[n]->node).inputs.size() >= 4) continue;
    edit_.SetInput(inputs[n]->node, 3, inputs[1 - n]->value);
    TakeIn(index, *inputs[n]);
    return true;
  }
  return false;
}

void Nchwc::Combine(NodeIndex index, bool adds) {
  const std::vector<Blocked*> inputs = FindAll(edit_.node(index));
  if (inputs.empty()) return;
  const int64_t channels = inputs[0]->channels;
  if (std::any_of(inputs.begin(), inputs.end(), [&](const Blocked* input) { return input->channels != channels; })) {
    return;
  }
  if (SameShapes(edit_.node(index), inputs)) {
    UseBlockedInputs(index, inputs);
    if (adds && TakeInSum(index, inputs)) return;
    SetBlocked(index, index, channels, SizeSource(inputs[0]->sizes));
  } else if (adds) {
    AddReshaped(index, inputs);
  }
}

NodeIndex Nchwc::AddReshape(ValueId input, ValueId output, bool split) {
  const std::string base = ParseOpName(table_.reshape).op_type;
  ValueId& shape = split ? split_shape_ : joined_shape_;
  if (shape == kNoValue) {
    std::vector<int64_t> sizes = {0, -1, 0, 0};
    if (split) sizes.push_back(block_);
    shape = edit_.AddConstant(base, Tensor::Vector(sizes));
  }
  return edit_.AddNamedNode(table_.reshape, edit_.graph().UniqueNodeName(base), base, {input, shape}, {output}, {});
}

// Shapes that may differ are added in their true, five-dimensional form, where broadcasting means the same.
void Nchwc::AddReshaped(NodeIndex index, const std::vector<Blocked*>& inputs) {
  Graph& graph = edit_.graph();
  const auto new_value = [&] {
    return graph.AddValue(graph.UniqueValueName("reshape"), {DataType::kFloat, std::nullopt, ""});
  };
  for (size_t n = 0; n < inputs.size(); ++n) {
    const ValueId reshaped = new_value();
    AddReshape(inputs[n]->value, reshaped, true);
    edit_.SetInput(index, n, reshaped);
    --inputs[n]->remaining;
  }
  const ValueId sum = new_value();
  const int64_t channels = inputs[0]->channels;
  const NodeIndex joined = AddReshape(sum, kNoValue, false);
  SetBlocked(index, joined, channels, SizeSource::Of(edit_.Output(index)));
  graph.SetOutput(index, 0, sum);
}

void Nchwc::Add(NodeIndex index, const NchwcRow& /*row*/) { Combine(index, true); }

void Nchwc::Multiply(NodeIndex index, const NchwcRow& /*row*/) {
  const Node& node = edit_.node(index);
  if (node.inputs.size() != 2 || node.outputs.size() != 1) return;
  Blocked* first = Find(node.input(0));
  Blocked* second = Find(node.input(1));
  if (first != nullptr && second != nullptr) return Combine(index, false);
  Blocked* input = first != nullptr ? first : second;
  if (input == nullptr) return;
  const Tensor* scale = edit_.graph().Constant(node.input(first != nullptr ? 1 : 0));
  if (scale == nullptr || scale->type() != DataType::kFloat) return;
  const int64_t channels = input->channels;
  if (scale->dims() != Dims{channels, 1, 1} && scale->dims() != Dims{1, channels, 1, 1}) return;
  const ValueId filter = edit_.AddConstant("mul_scale", PaddedVector(scale->data<float>(), channels, block_, 1.0F, 4));
  const NodeIndex made =
      AddBlocked(index, table_.conv, "_mul_nchwc", {input->value, filter}, {{"group", RoundUp(channels, block_)}});
  --input->remaining;
  SetBlocked(index, made, channels, SizeSource(input->sizes));
  Remove(index);
}

void Nchwc::Concatenate(NodeIndex index, const NchwcRow& /*row*/) {
  const Node& node = edit_.node(index);
  if (IntOr(node.attributes, "axis", 0) != 1) return;
  const std::vector<Blocked*> inputs = FindAll(node);
  if (inputs.empty()) return;
  int64_t channels = 0;
  for (const Blocked* input : inputs) {
    if (input->channels % block_ != 0) return;
    channels += input->channels;
  }
  UseBlockedInputs(index, inputs);
  SizeSource sizes = inputs[0]->sizes;
  sizes.dims[1] = edit_.Output(index);
  SetBlocked(index, index, channels, sizes);
}

// --- activations

// Conv -> gate, and the product of both, become an activation of the convolution.
bool Nchwc::TakeInGate(NodeIndex index, const NchwcRow& row, Blocked& input) {
  const Node& gate = edit_.node(index);
  const Graph& graph = edit_.graph();
  if (!row.gate || graph.OutputEdgeCount(gate) != 1) return false;
  for (const auto& [name, wanted] : row.gate->attributes) {
    const auto fallback = std::find_if(row.parameters.begin(), row.parameters.end(),
                                       [&, &named = name](const auto& parameter) { return parameter.first == named; });
    const float value = FloatOr(gate.attributes, name, fallback == row.parameters.end() ? 0.0F : fallback->second);
    if (!std::isfinite(value) || std::abs(value - wanted) > 1e-6F) return false;
  }
  Node& conv = edit_.node(input.node);
  if (!IsConv(conv) || input.uses != 2 || conv.attributes.contains("activation")) return false;
  const Node* product = nullptr;
  for (const Use& use : graph.value(gate.input(0)).uses) {
    if (use.node == index) continue;
    const Node& reader = edit_.node(use.node);
    if (reader.Op() != row.gate->multiply || reader.provider != gate.provider || reader.inputs.size() != 2)
      return false;
    const auto reads = [&](ValueId id) { return reader.inputs[0] == id || reader.inputs[1] == id; };
    if (!reads(gate.input(0)) || !reads(gate.output(0))) return false;
    product = &reader;
  }
  if (product == nullptr || graph.ProducesGraphOutput(gate) || graph.ProducesGraphOutput(*product)) return false;
  edit_.SetAttribute(input.node, "activation", row.gate->activation);
  input.remaining -= 2;
  AddOrigins(gate.origins, conv.origins);
  CutOutputs(index);
  Remove(index);
  TakeIn(product->index, Blocked(input));
  return true;
}

void Nchwc::Activate(NodeIndex index, const NchwcRow& row) {
  const Node& node = edit_.node(index);
  Blocked* input = Find(node.input(0));
  if (input == nullptr || TakeInGate(index, row, *input)) return;
  --input->remaining;
  if (!row.fuse || !CanTakeIn(*input)) {
    edit_.SetInput(index, 0, input->value);
    return SetBlocked(index, index, input->channels, SizeSource(input->sizes));
  }
  edit_.SetAttribute(input->node, "activation", node.op_type);
  if (!row.parameters.empty()) {
    std::vector<float> parameters;
    for (const auto& [name, fallback] : row.parameters) {
      parameters.push_back(FloatOr(node.attributes, name, fallback));
    }
    edit_.SetAttribute(input->node, "activation_params", std::move(parameters));
  }
  TakeIn(index, Blocked(*input));
}

// --- normalization

void Nchwc::Normalize(NodeIndex index, const NchwcRow& /*row*/) {
  const Node& node = edit_.node(index);
  Blocked* input = Find(node.input(0));
  if (node.outputs.size() > 1 || input == nullptr || IntOr(node.attributes, "spatial", 1) != 1) return;
  const auto epsilon = node.attributes.find("epsilon");
  if (epsilon == node.attributes.end() || !std::holds_alternative<float>(epsilon->second)) return;
  const int64_t channels = input->channels;
  std::array<const float*, 4> parameters{};  // scale, bias, mean, variance
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor* constant = FloatVector(node.input(i + 1), channels);
    if (constant == nullptr) return;
    parameters[i] = constant->data<float>();
  }
  std::vector<float> scale;
  std::vector<float> bias;
  for (int64_t c = 0; c < channels; ++c) {
    const float deviation = std::sqrt(parameters[3][c] + std::get<float>(epsilon->second));
    scale.push_back(parameters[0][c] / deviation);
    bias.push_back(parameters[1][c] - parameters[2][c] * scale.back());
  }
  const ValueId filter = edit_.AddConstant("bn_scale", PaddedVector(scale.data(), channels, block_, 0.0F, 4));
  const ValueId shift = edit_.AddConstant("bn_B", PaddedVector(bias.data(), channels, block_, 0.0F, 1));
  const NodeIndex made = AddBlocked(index, table_.conv, "_bn_nchwc", {input->value, filter, shift},
                                    {{"group", RoundUp(channels, block_)}});
  --input->remaining;
  SetBlocked(index, made, channels, SizeSource(input->sizes));
  Remove(index);
}

}  // namespace rulerun
