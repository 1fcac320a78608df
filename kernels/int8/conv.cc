#include "kernels/int8/conv.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/codes.h"
#include "kernels/int8/params.h"

namespace rulerun::int8 {
namespace {

// M == group and one channel a group.
bool IsDepthwise(int64_t group, const Dims& w) { return w[0] == group && w[1] == 1; }

bool IsTrivial(const Window& axis) {
  return axis.kernel == 1 && axis.stride == 1 && axis.pad_begin == 0 && axis.pad_end == 0;
}

// Two neighbouring axes over which nothing slides are one.
void MergeIfTrivial(Window& outer, Window& inner) {
  if (!IsTrivial(outer) || !IsTrivial(inner)) return;
  inner.in *= outer.in;
  inner.out *= outer.out;
  outer.in = outer.out = 1;
}

}  // namespace

Result<ConvAttributes> ReadConvAttributes(const AttributeMap& attributes, std::string_view op) {
  ConvAttributes read;
  RULERUN_ASSIGN(read.window, ReadWindowAttributes(attributes));
  read.group = IntOr(attributes, "group", 1);
  read.channels_last = IntOr(attributes, "channels_last", 0) != 0;
  if (read.group < 1) return OpError(op, "group " + std::to_string(read.group) + " is not positive");
  return read;
}

Result<ConvShape> ResolveConv(const ConvAttributes& attributes, const Dims& x, const Dims& w, std::string_view op) {
  const size_t rank = x.size();
  if (rank < 3 || w.size() != rank) {
    return OpError(op, "x" + ToText(x) + " and w" + ToText(w) + " must have the same rank, at least 3");
  }
  if (rank > 5) {
    return Error{Code::kKernelLimit, std::string(op) + ": more than 3 spatial axes: x" + ToText(x), "", ""};
  }
  ConvShape shape;
  shape.batch = x[0];
  shape.channels = attributes.channels_last ? x.back() : x[1];
  shape.out_channels = w[0];
  shape.group = attributes.group;
  shape.channels_last = attributes.channels_last;
  const bool divides = shape.channels % shape.group == 0 && shape.out_channels % shape.group == 0;
  if (!divides || w[1] != shape.channels / shape.group) {
    return OpError(
        op, "x" + ToText(x) + ", w" + ToText(w) + " and group " + std::to_string(shape.group) + " do not fit together");
  }
  const auto spatial = std::span(x).subspan(attributes.channels_last ? 1 : 2, rank - 2);
  if (!ElementCount(spatial).has_value()) return OpError(op, "x" + ToText(x) + " is too large");
  RULERUN_ASSIGN(const std::vector<Window> windows,
                 ResolveWindows(attributes.window, spatial, std::span(w).subspan(2)));
  shape.axes.fill(Window{1, 1, 1, 1, 1, 0, 0});
  shape.out = {shape.batch};
  if (!shape.channels_last) shape.out.push_back(shape.out_channels);
  for (size_t i = 0; i < windows.size(); ++i) {
    shape.axes[3 - windows.size() + i] = windows[i];
    shape.out.push_back(windows[i].out);
  }
  if (shape.channels_last) shape.out.push_back(shape.out_channels);
  if (!ElementCount(shape.out).has_value()) return OpError(op, "the output's shape is too large: " + ToText(shape.out));
  if (ElementCount(shape.out) != 0) {
    MergeIfTrivial(shape.axes[1], shape.axes[2]);
    MergeIfTrivial(shape.axes[0], shape.axes[1]);
    MergeIfTrivial(shape.axes[1], shape.axes[2]);
  }
  return shape;
}

namespace {

// Two taps' weights a lane; see DepthwiseBlock.
void PackDepthwise(const Tensor& w, std::span<const int32_t> zero_points, std::vector<int32_t>* pairs,
                   std::vector<int32_t>* sums) {
  const int64_t channels = w.dims()[0];
  const int64_t taps = w.count() / channels;
  pairs->assign(static_cast<size_t>((taps + 1) / 2 * channels), 0);
  sums->assign(static_cast<size_t>(channels), 0);
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const uint8_t byte = w.data<uint8_t>()[c * taps + tap];
      const int32_t raw = w.type() == DataType::kInt8 ? static_cast<int8_t>(byte) : byte;
      const int32_t weight = raw - zero_points[static_cast<size_t>(c)];
      const uint32_t half = static_cast<uint16_t>(weight);
      int32_t& pair = (*pairs)[static_cast<size_t>(tap / 2 * channels + c)];
      pair = static_cast<int32_t>(static_cast<uint32_t>(pair) | (tap % 2 == 0 ? half : half << 16));
      (*sums)[static_cast<size_t>(c)] = WrapAdd((*sums)[static_cast<size_t>(c)], weight);
    }
  }
}

}  // namespace

Result<ConvWeights> ConvWeights::Pack(const ConvAttributes& attributes, const Tensor& w,
                                      std::span<const int32_t> w_zero_points) {
  ConvWeights packed;
  packed.is_signed_ = w.type() == DataType::kInt8;
  const Dims& dims = w.dims();
  const int64_t group = attributes.group;
  if (IsDepthwise(group, dims)) {
    PackDepthwise(w, w_zero_points, &packed.depthwise_, &packed.depthwise_sums_);
    return packed;
  }
  const int64_t channels = dims[1];
  const int64_t taps = ElementCount(std::span(dims).subspan(2)).value_or(0);
  const int64_t width = dims.back();
  const std::vector<int64_t>& dilations = attributes.window.dilations;
  packed.merged_rows_ = group == 1 && (width == 1 || dilations.empty() || dilations.back() == 1);
  std::vector<int64_t> runs;
  if (channels > 0 && packed.merged_rows_) {
    runs.assign(static_cast<size_t>(taps / width), width * channels);
  } else if (channels > 0) {
    runs.assign(static_cast<size_t>(taps), channels);
  }
  std::vector<int64_t> k_offsets;  // K runs through taps, and in a tap through channels
  k_offsets.reserve(static_cast<size_t>(channels == 0 ? 0 : taps * channels));
  for (int64_t tap = 0; channels > 0 && tap < taps; ++tap) {
    for (int64_t c = 0; c < channels; ++c) k_offsets.push_back(c * taps + tap);
  }
  const GemmCode& code = CurrentGemmCode();
  MatrixSource source{nullptr, packed.is_signed_, k_offsets, dims[0] / group, channels * taps};
  for (int64_t g = 0; g < group; ++g) {
    source.data = w.data<uint8_t>() + g * source.columns * source.column_stride;
    RULERUN_ASSIGN(PackedMatrix matrix, PackedMatrix::Pack(code, source, runs));
    packed.matrices_.push_back(std::move(matrix));
  }
  return packed;
}

Result<ConvWeights> ConvWeights::PackConstant(const ConvAttributes& attributes, const KernelRequest& request,
                                              size_t w_slot, size_t zero_point_slot, std::string_view op) {
  const Tensor* w = Constant(request, w_slot);
  if (w == nullptr || !IsEightBit(w->type()) || w->rank() < 3 || w->count() == 0) return ConvWeights();
  if (w->dims()[0] % attributes.group != 0) return ConvWeights();  // Run will say so
  // Only the depthwise form has the zero points in it.
  if (!IsDepthwise(attributes.group, w->dims())) return Pack(attributes, *w, {});
  if (!IsFixed(request, zero_point_slot)) return ConvWeights();
  RULERUN_ASSIGN(const std::vector<int32_t> zero_points,
                 ReadZeroPoints(Constant(request, zero_point_slot), w->type(), w->dims()[0], op, "w_zero_point"));
  return Pack(attributes, *w, zero_points);
}

}  // namespace rulerun::int8
