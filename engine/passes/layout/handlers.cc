#include "engine/passes/layout/handlers.h"

#include <algorithm>

namespace rulerun {
namespace {

std::optional<int64_t> IntAttribute(const Node& node, std::string_view name) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return std::nullopt;
  const auto* number = std::get_if<int64_t>(&found->second);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

bool PushData(const Push& push) {
  push.transposer.TransposeInputs(push.node, push.slots, push.inverse);
  push.TransposeBack(push.perm);
  return true;
}

// The row's permutation, type and provider fit.
bool Fits(const Push& push, const HandlerRow& row) {
  const bool assigned = !push.provider.empty() && push.target().provider == push.provider;
  if (row.assigned && !assigned) return false;
  if (row.rank && *row.rank != push.perm.size()) return false;
  if (row.any_perm) return true;
  const size_t rank = push.perm.size();
  return (row.to_channels_first && push.perm == ChannelsLastToFirst(rank)) ||
         (row.to_channels_last && push.perm == ChannelsFirstToLast(rank));
}

}  // namespace

const std::vector<HandlerKind>& HandlerKinds() {
  static const std::vector<HandlerKind> kKinds = {
      {"simple", PushSimple},
      {"broadcast", PushBroadcast},
      {"axis", PushAxis},
      {"soft-max", PushSoftMax},
      {"quantize", PushQuantize},
      {"channels-last-flag", PushChannelsLastFlag},
      {"replace", [](const Push& push, const HandlerRow& row) { return Fits(push, row) && PushReplace(push, row); }},
      {"reduce", PushReduce},
      {"arg", PushArg},
      {"squeeze", PushSqueeze},
      {"unsqueeze", PushUnsqueeze},
      {"slice", PushSlice},
      {"gather", PushGather},
      {"pad", PushPad},
      {"tile", PushTile},
      {"resize", [](const Push& push, const HandlerRow& row) { return Fits(push, row) && PushResize(push, row); }},
      {"shape", PushShape, false},
      {"transpose", PushTranspose, false},
      {"reshape", PushReshape, false},
  };
  return kKinds;
}

bool PushSimple(const Push& push, const HandlerRow& row) {
  const auto& inputs = push.target().inputs;
  const bool others = std::any_of(inputs.begin() + 1, inputs.end(), [](ValueId id) { return id != kNoValue; });
  return !(row.alone && others) && PushData(push);
}

bool PushBroadcast(const Push& push, const HandlerRow& /*row*/) {
  if (!push.transposer.UnsqueezeInputs(push.node, push.slots, push.perm.size())) return false;
  return PushData(push);
}

bool PushAxis(const Push& push, const HandlerRow& row) {
  std::optional<int64_t> axis = IntAttribute(push.target(), "axis");
  if (!axis) axis = row.axis;
  if (!axis || !NormalizeAxis(*axis, push.perm.size())) return false;
  PushData(push);
  push.edit().SetAttribute(push.node, "axis", push.perm[static_cast<size_t>(*axis)]);
  return true;
}

bool PushSoftMax(const Push& push, const HandlerRow& row) {
  if (push.transposer.opset() >= row.two_sides_before) return PushAxis(push, row);
  // All axes from `axis` on are taken together: none may change sides.
  int64_t axis = IntOr(push.target().attributes, "axis", row.two_sides_axis);
  if (!NormalizeAxis(axis, push.perm.size())) return false;
  for (size_t i = 0; i < push.perm.size(); ++i) {
    if ((static_cast<int64_t>(i) < axis) != (push.perm[i] < axis)) return false;
  }
  return PushData(push);
}

bool PushQuantize(const Push& push, const HandlerRow& row) {
  const bool scalar = push.edit().RankOf(push.target().input(1)) == size_t{0};
  if (push.transposer.opset() >= row.axis_since && !scalar) {
    int64_t axis = IntOr(push.target().attributes, "axis", row.axis.value_or(1));
    if (!NormalizeAxis(axis, push.perm.size())) return false;
    push.edit().SetAttribute(push.node, "axis", push.perm[static_cast<size_t>(axis)]);
  }
  push.TransposeFirst();
  push.TransposeBack(push.perm);
  return true;
}

bool PushChannelsLastFlag(const Push& push, const HandlerRow& /*row*/) {
  const int64_t last = IntOr(push.target().attributes, "channels_last", 0);
  const Perm to_first = ChannelsLastToFirst(push.perm.size());
  if (push.perm.size() < 2 || (last != 0 ? push.inverse : push.perm) != to_first) return false;
  push.edit().SetAttribute(push.node, "channels_last", int64_t{1} - last);
  push.TransposeFirst();
  push.TransposeBack(push.perm);
  return true;
}

bool PushReplace(const Push& push, const HandlerRow& row) {
  const Node& old = push.target();
  if (old.outputs.size() == 2 && old.outputs[1] != kNoValue) return false;  // indices, which would change
  const DataType type = push.edit().TypeOf(old.output(0));
  if (!row.types.empty() && std::find(row.types.begin(), row.types.end(), type) == row.types.end()) return false;
  const NodeIndex added = push.edit().ReplaceNode(push.node, row.becomes);
  for (const std::string& name : row.drop_attributes) push.edit().ClearAttribute(added, name);
  push.transposer.TransposeInput(added, 0, push.inverse);
  push.transposer.TransposeOutputs(added, push.perm);
  return true;
}

}  // namespace rulerun
