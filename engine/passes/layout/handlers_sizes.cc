#include <algorithm>

#include "engine/passes/layout/handlers.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

// The order of two numbers per axis, all first ones and then all second ones.
std::vector<int64_t> Twice(const Perm& perm) {
  std::vector<int64_t> order = perm;
  for (const int64_t axis : perm) order.push_back(axis + static_cast<int64_t>(perm.size()));
  return order;
}

bool PushData(const Push& push) {
  push.TransposeFirst();
  push.TransposeBack(push.perm);
  return true;
}

}  // namespace

bool PushPad(const Push& push, const HandlerRow& row) {
  const std::vector<int64_t> order = Twice(push.inverse);
  if (push.transposer.opset() >= row.input_since) {
    push.transposer.PickInput(push.node, 1, order);
    return PushData(push);
  }
  const std::vector<int64_t> pads = IntsOr(push.target().attributes, "pads", {});
  if (pads.size() != order.size()) return false;
  push.edit().SetAttribute(push.node, "pads", Permuted(pads, order));
  return PushData(push);
}

bool PushTile(const Push& push, const HandlerRow& /*row*/) {
  const ValueId repeats = push.target().input(1);
  if (repeats == kNoValue) return false;
  const Tensor* constant = push.edit().graph().Constant(repeats);
  if (constant == nullptr) {
    push.transposer.PickInput(push.node, 1, push.inverse);
    return PushData(push);
  }
  const auto counts = Int64s(constant);
  if (!counts || counts->size() != push.perm.size()) return false;
  push.transposer.ReplaceConstant(push.node, 1, Permuted(*counts, push.inverse));
  return PushData(push);
}

bool PushResize(const Push& push, const HandlerRow& row) {
  const bool first_is_scales = push.transposer.opset() < row.input_since;  // later on: the region of interest
  const size_t count = push.target().inputs.size();
  for (size_t slot = 1; slot < count; ++slot) {
    if (push.target().input(slot) == kNoValue) continue;
    push.transposer.PickInput(push.node, slot, slot == 1 && !first_is_scales ? Twice(push.inverse) : push.inverse);
  }
  return PushData(push);
}

// The sizes are taken in front of the Transpose, and then put into its order.
bool PushShape(const Push& push, const HandlerRow& row) {
  push.TransposeFirst();
  const auto rank = static_cast<int64_t>(push.perm.size());
  std::vector<int64_t> order = push.perm;
  if (push.transposer.opset() >= row.range_since) {
    const auto clamped = [&](int64_t axis) { return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank); };
    const int64_t start = clamped(IntOr(push.target().attributes, "start", 0));
    const int64_t end = clamped(IntOr(push.target().attributes, "end", rank));
    order =
        start < end ? std::vector<int64_t>(push.perm.begin() + start, push.perm.begin() + end) : std::vector<int64_t>();
    push.edit().ClearAttribute(push.node, "start");
    push.edit().ClearAttribute(push.node, "end");
  }
  Editor& edit = push.edit();
  const std::vector<std::string> sources = edit.sources();
  std::vector<std::string> both = sources;
  AddOrigins(push.target().origins, both);
  edit.SetSources(std::move(both));
  const ValueId indices = edit.AddConstant(push.table().constant, Tensor::Vector(order));
  const NodeIndex gather = edit.AddNode(push.table().gather, {kNoValue, indices}, {{"axis", int64_t{0}}});
  edit.SetSources(sources);
  const ValueId output = edit.Output(push.node);
  edit.MoveOutput(push.node, 0, gather, 0);
  const ValueId fresh = edit.Output(push.node);
  edit.SetInput(gather, 0, fresh);
  edit.CopyType(output, fresh);
  edit.SetShape(fresh, Shape{Dim{rank, ""}});
  return true;
}

}  // namespace rulerun
