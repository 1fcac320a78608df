// Changes of size and of the place of the channels.
#include <cmath>

#include "engine/passes/layout/nchwc_graph.h"
#include "engine/passes/layout/permutation.h"
#include "engine/passes/layout/quantized.h"

namespace rulerun {
namespace {

constexpr int kSizesSince = 11;  // version that brought `sizes` and the attributes for coordinates

}  // namespace

void Nchwc::Transpose(NodeIndex index, const NchwcRow& /*row*/) {
  const Node& node = edit_.node(index);
  const auto perm = PermOf(node);
  if (!perm || perm->size() != 4) return;
  const Graph& graph = edit_.graph();
  if (*perm == ChannelsLastToFirst(4) && !graph.ProducesGraphOutput(node) && graph.OutputEdgeCount(node) == 1) {
    last_transpose_ = index;
    last_transposed_ = node.output(0);
  }
  Blocked* input = Find(node.input(0));
  if (*perm != ChannelsFirstToLast(4) || input == nullptr || HasInputEdge(node)) return;
  const ValueId output = node.output(0);
  CutOutputs(index);
  edit_.graph().SetOutput(index, 0, kNoValue);
  AddReorder(table_.reorder_output, input->value, output,
             {{"channels", input->channels}, {"channels_last", int64_t{1}}});
  --input->remaining;
  Remove(index);
}

bool Nchwc::ModeFits(const Node& node, bool nearest) const {
  if (node.since_version < kSizesSince) return true;
  const std::string coordinates = StringOr(node.attributes, "coordinate_transformation_mode", "");
  if (nearest) return coordinates == "asymmetric" && StringOr(node.attributes, "nearest_mode", "") == "floor";
  return coordinates == "asymmetric" || coordinates == "align_corners" || coordinates == "half_pixel";
}

// Whole-numbered factors, from constant scales, or constant sizes and a known shape; those of batch and channels are 1.
std::optional<std::vector<int64_t>> Nchwc::ScalesOf(const Node& node) const {
  const bool later = node.since_version >= kSizesSince;
  const bool by_sizes = later && node.inputs.size() >= 4;
  const Tensor* constant = edit_.graph().Constant(node.input(by_sizes ? 3 : later ? 2 : 1));
  if (constant == nullptr || constant->dims() != Dims{4}) return std::nullopt;
  if (constant->type() != (by_sizes ? DataType::kInt64 : DataType::kFloat)) return std::nullopt;
  const auto input = edit_.SizesOf(node.input(0));
  if (by_sizes && (!input || input->size() != 4)) return std::nullopt;
  std::vector<int64_t> scales;
  for (size_t i = 0; i < 4; ++i) {
    if (by_sizes) {
      const int64_t wanted = constant->data<int64_t>()[i];
      if ((*input)[i] <= 0 || wanted % (*input)[i] != 0) return std::nullopt;
      scales.push_back(wanted / (*input)[i]);
    } else {
      const float scale = constant->data<float>()[i];
      if (!(scale >= 1.0F && scale < 1e9F) || std::floor(scale) != scale) return std::nullopt;
      scales.push_back(static_cast<int64_t>(scale));
    }
  }
  if (scales[0] != 1 || scales[1] != 1) return std::nullopt;
  return scales;
}

void Nchwc::Resize(NodeIndex index, const NchwcRow& /*row*/) {
  const Node& node = edit_.node(index);
  Blocked* input = Find(node.input(0));
  if (input == nullptr) return;
  const std::string mode = StringOr(node.attributes, "mode", "nearest");
  const bool nearest = mode == "nearest";
  if ((!nearest && mode != "linear") || !ModeFits(node, nearest)) return;
  const auto scales = ScalesOf(node);
  if (!scales) return;
  AttributeMap attributes = {{"scales", *scales}};
  if (!nearest) {
    attributes["mode"] = mode;
    const auto coordinates = node.attributes.find("coordinate_transformation_mode");
    if (coordinates != node.attributes.end()) attributes.insert(*coordinates);
  }
  const NodeIndex made = AddBlocked(index, table_.upsample, "_nchwc", {input->value}, std::move(attributes));
  --input->remaining;
  SetBlocked(index, made, input->channels, SizeSource::Of(node.output(0)));
  Remove(index);
}

}  // namespace rulerun
