#include "engine/passes/layout/handlers.h"

namespace rulerun {
namespace {

std::optional<Axes> AxesAttribute(const Node& node, std::string_view name) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return std::nullopt;
  const auto* axes = std::get_if<std::vector<int64_t>>(&found->second);
  return axes == nullptr ? std::nullopt : std::optional(*axes);
}

bool PushData(const Push& push, const Perm& behind) {
  push.TransposeFirst();
  push.TransposeBack(behind);
  return true;
}

bool ReduceByAttribute(const Push& push) {
  const bool keeps = IntOr(push.target().attributes, "keepdims", 1) != 0;
  auto axes = AxesAttribute(push.target(), "axes");
  if (!axes) return PushData(push, keeps ? push.perm : Perm{});
  if (!NormalizeAxes(*axes, push.perm.size())) return false;
  const Axes renamed = MapAxesSorted(*axes, push.perm);
  push.edit().SetAttribute(push.node, "axes", renamed);
  return PushData(push, keeps ? push.perm : SqueezePerm(renamed, push.perm));
}

}  // namespace

bool PushReduce(const Push& push, const HandlerRow& row) {
  if (push.transposer.opset() < row.input_since) return ReduceByAttribute(push);
  const Node& node = push.target();
  const bool keeps = IntOr(node.attributes, "keepdims", 1) != 0;
  const Tensor* constant = push.edit().graph().Constant(node.input(1));
  if (node.input(1) == kNoValue || (constant != nullptr && constant->count() == 0)) {
    // All axes, or none.
    push.TransposeFirst();
    if (keeps || IntOr(node.attributes, "noop_with_empty_axes", 0) != 0) push.TransposeBack(push.perm);
    return true;
  }
  auto axes = Int64s(constant);
  if (!axes || !NormalizeAxes(*axes, push.perm.size())) return false;
  const Axes renamed = MapAxesSorted(*axes, push.perm);
  push.transposer.ReplaceConstant(push.node, 1, renamed);
  return PushData(push, keeps ? push.perm : SqueezePerm(renamed, push.perm));
}

bool PushArg(const Push& push, const HandlerRow& row) {
  int64_t axis = IntOr(push.target().attributes, "axis", row.axis.value_or(0));
  if (!NormalizeAxis(axis, push.perm.size())) return false;
  const bool keeps = IntOr(push.target().attributes, "keepdims", 1) != 0;
  const int64_t renamed = push.perm[static_cast<size_t>(axis)];
  push.edit().SetAttribute(push.node, "axis", renamed);
  return PushData(push, keeps ? push.perm : SqueezePerm({renamed}, push.perm));
}

bool PushSqueeze(const Push& push, const HandlerRow& /*row*/) {
  // Without axes the rank of the result is not known.
  auto axes = AxesOf(push.edit(), push.table(), push.target());
  if (!axes || !NormalizeAxes(*axes, push.perm.size())) return false;
  const Axes renamed = MapAxesSorted(*axes, push.perm);
  if (push.transposer.opset() < push.table().axes_input_since) {
    push.edit().SetAttribute(push.node, "axes", renamed);
  } else {
    push.transposer.ReplaceConstant(push.node, 1, renamed);
  }
  return PushData(push, SqueezePerm(renamed, push.perm));
}

bool PushUnsqueeze(const Push& push, const HandlerRow& /*row*/) {
  // The axes count in the result and stay; the Transpose behind makes up for it.
  auto axes = AxesOf(push.edit(), push.table(), push.target());
  if (!axes || !NormalizeAxes(*axes, push.perm.size() + axes->size())) return false;
  push.transposer.PushBehindUnsqueeze(push.node, *axes, push.perm);
  return true;
}

bool PushSlice(const Push& push, const HandlerRow& row) {
  const Node& node = push.target();
  const size_t rank = push.perm.size();
  const bool by_attribute = push.transposer.opset() < row.input_since;
  const size_t axes_slot = 3;
  const Tensor* constant = push.edit().graph().Constant(node.input(axes_slot));
  DataType type = DataType::kInt64;
  std::optional<Axes> axes;
  std::optional<int64_t> count;  // of ranges, where the axes are left out
  if (by_attribute) {
    axes = AxesAttribute(node, "axes");
    if (!axes) count = static_cast<int64_t>(IntsOr(node.attributes, "starts", {}).size());
  } else if (node.input(axes_slot) != kNoValue) {
    axes = Int64s(constant, true);
    if (axes) type = constant->type();
  } else if (const auto starts = push.edit().SizesOf(node.input(1)); starts && starts->size() == 1) {
    count = starts->front();
    type = push.edit().TypeOf(node.input(1));
  }
  if (count && *count >= 0 && *count <= static_cast<int64_t>(rank)) {
    axes = Axes();
    for (int64_t i = 0; i < *count; ++i) axes->push_back(i);
  }
  if (!axes || !NormalizeAxes(*axes, rank)) return false;
  const Axes renamed = MapAxes(*axes, push.perm);  // in the order of starts and ends
  if (by_attribute) {
    push.edit().SetAttribute(push.node, "axes", renamed);
  } else {
    Tensor tensor(type == DataType::kInt32 ? type : DataType::kInt64, {static_cast<int64_t>(renamed.size())});
    for (size_t i = 0; i < renamed.size(); ++i) SetInt(tensor, static_cast<int64_t>(i), renamed[i]);
    push.transposer.ReplaceConstant(push.node, axes_slot, std::move(tensor));
  }
  return PushData(push, push.perm);
}

bool PushGather(const Push& push, const HandlerRow& row) {
  // One index of rank 0 takes the axis away.
  int64_t axis = IntOr(push.target().attributes, "axis", row.axis.value_or(0));
  if (!NormalizeAxis(axis, push.perm.size())) return false;
  const Tensor* index = push.edit().graph().Constant(push.target().input(1));
  if (index == nullptr || index->rank() != 0) return false;
  const int64_t renamed = push.perm[static_cast<size_t>(axis)];
  push.edit().SetAttribute(push.node, "axis", renamed);
  return PushData(push, SqueezePerm({renamed}, push.perm));
}

}  // namespace rulerun
