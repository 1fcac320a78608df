// Convolutions and poolings.
#include <algorithm>

#include "engine/passes/layout/filter_layout.h"
#include "engine/passes/layout/nchwc_graph.h"

namespace rulerun {
namespace {

const std::vector<int64_t>* Ints(const Node& node, std::string_view name) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : std::get_if<std::vector<int64_t>>(&found->second);
}

}  // namespace

// A spatial size that comes out as it went in, or halved by a stride of 2, keeps its source.
Nchwc::SizeSource Nchwc::SizesBehind(const Node& node, const SizeSource& input, const Tensor* filter) const {
  SizeSource result = SizeSource::Of(node.output(0));
  result.dims[0] = input.dims[0];
  const std::vector<int64_t>* pads = Ints(node, "pads");
  const std::vector<int64_t>* strides = Ints(node, "strides");
  const std::vector<int64_t>* dilations = Ints(node, "dilations");
  const std::vector<int64_t>* kernel = Ints(node, "kernel_shape");
  const auto wrong = [](const std::vector<int64_t>* list, size_t size) {
    return list != nullptr && list->size() != size;
  };
  if (wrong(pads, 4) || wrong(strides, 2) || wrong(dilations, 2)) return result;
  if (filter == nullptr && (kernel == nullptr || kernel->size() != 2)) return result;
  const std::string auto_pad = StringOr(node.attributes, "auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (auto_pad != "NOTSET") {
    if (!same && auto_pad != "VALID") return result;
    pads = nullptr;
  }
  for (size_t i = 0; i < 2; ++i) {
    if (dilations != nullptr && (*dilations)[i] != 1) continue;
    const int64_t stride = strides == nullptr ? 1 : (*strides)[i];
    if (stride != 1 && stride != 2) continue;
    const int64_t padding = pads == nullptr ? 0 : (*pads)[i] + (*pads)[i + 2];
    const int64_t size = filter != nullptr ? filter->dims()[2 + i] : (*kernel)[i];
    if (!same && padding + 1 != size) continue;
    result.dims[2 + i] = input.dims[2 + i];
    result.shifts[i] = input.shifts[i] + stride - 1;
  }
  return result;
}

// --- Conv

std::optional<Nchwc::FilterPlan> Nchwc::PlanFilter(const Tensor& filter, int64_t group) const {
  const int64_t outputs = filter.dims()[0];
  const int64_t inputs = filter.dims()[1];
  FilterPlan plan;
  plan.group = group;
  if (group > 1) {
    if (outputs % table_.channel_alignment != 0) return std::nullopt;
    if (inputs == 1 && outputs == group) {  // depthwise
      plan.block_inputs = false;
      plan.group = RoundUp(outputs, block_);
    } else if (inputs % block_ != 0 || outputs % group != 0 || (outputs / group) % block_ != 0) {
      return std::nullopt;
    }
  } else if (inputs < block_) {  // reads the plain layout
    plan.block_inputs = false;
    plan.reorder_input = false;
  } else if (inputs % table_.channel_alignment != 0) {
    return std::nullopt;
  }
  return plan;
}

ValueId Nchwc::ReorderFilter(ValueId filter, bool block_inputs) {
  const auto [known, added] = filters_.try_emplace({filter, block_inputs}, kNoValue);
  if (added) {
    known->second =
        edit_.AddConstant("reorder", BlockedFilter(*edit_.graph().LocalConstant(filter), block_, block_inputs));
  }
  return known->second;
}

ValueId Nchwc::PadBias(ValueId bias) {
  const Tensor* constant = edit_.graph().LocalConstant(bias);
  if (constant->count() % block_ == 0) return bias;
  const auto [known, added] = biases_.try_emplace(bias, kNoValue);
  if (added) {
    known->second =
        edit_.AddConstant("reorder", PaddedVector(constant->data<float>(), constant->count(), block_, 0.0F, 1));
  }
  return known->second;
}

void Nchwc::Convolve(NodeIndex index, const NchwcRow& row) {
  const Node& node = edit_.node(index);
  Blocked* sum = nullptr;
  if (row.sum && node.input(*row.sum) != kNoValue) {
    sum = Find(node.input(*row.sum));
    if (sum == nullptr) return;
  }
  const Graph& graph = edit_.graph();
  const Tensor* weights = graph.LocalConstant(node.input(1));
  if (weights == nullptr || weights->type() != DataType::kFloat || weights->rank() != 4) return;
  const Tensor filter = *weights;
  const auto plan = PlanFilter(filter, IntOr(node.attributes, "group", 1));
  if (!plan) return;
  const bool has_bias = node.inputs.size() >= 3;
  if (has_bias &&
      (graph.LocalConstant(node.input(2)) == nullptr || FloatVector(node.input(2), filter.dims()[0]) == nullptr)) {
    return;
  }
  std::vector<ValueId> inputs = node.inputs;
  inputs[1] = ReorderFilter(node.input(1), plan->block_inputs);
  if (has_bias) inputs[2] = PadBias(node.input(2));
  if (sum != nullptr) {
    inputs[*row.sum] = sum->value;
    --sum->remaining;
  }
  AttributeMap attributes = node.attributes;
  if (plan->group != IntOr(attributes, "group", 1)) attributes["group"] = plan->group;
  const NodeIndex made = AddBlocked(index, table_.conv, "_nchwc", std::move(inputs), std::move(attributes));
  SizeSource sizes = SizeSource::Of(node.output(0));
  if (plan->reorder_input) sizes = ReadBlocked(index, made, node.input(0), &filter);
  SetBlocked(index, made, filter.dims()[0], sizes);
  Remove(index);
}

// --- pooling

void Nchwc::Pool(NodeIndex index, const NchwcRow& row) {
  const Node& node = edit_.node(index);
  if (node.outputs.size() > 1) return;  // indices
  if (row.not_padded_ceil && IntOr(node.attributes, "ceil_mode", 0) == 1 &&
      IntOr(node.attributes, "count_include_pad", 0) != 0) {
    return;
  }
  const auto& shape = edit_.ShapeOf(node.input(0));
  if (edit_.TypeOf(node.input(0)) != DataType::kFloat || !shape || shape->size() != 4) return;
  if (!(*shape)[1].known() || (*shape)[1].size % block_ != 0) return;
  const int64_t channels = (*shape)[1].size;
  const NodeIndex made = AddBlocked(index, row.becomes, "_nchwc", node.inputs, node.attributes);
  const SizeSource sizes = ReadBlocked(index, made, node.input(0), nullptr);
  SetBlocked(index, made, channels, sizes);
  Remove(index);
}

}  // namespace rulerun
