#include "kernels/ops/resize_axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

template <typename E, size_t N>
Status Lookup(const AttributeMap& attributes, const char* name, const char* fallback,
              const std::array<std::pair<std::string_view, E>, N>& table, E& out) {
  const std::string text = StringOr(attributes, name, fallback);
  for (const auto& [spelling, value] : table) {
    if (spelling == text) {
      out = value;
      return {};
    }
  }
  return Invalid("unknown " + std::string(name) + " '" + text + "'");
}

constexpr std::array<std::pair<std::string_view, ResizeMode>, 4> kModes = {{
    {"nearest", ResizeMode::kNearest},
    {"linear", ResizeMode::kLinear},
    {"bilinear", ResizeMode::kLinear},
    {"cubic", ResizeMode::kCubic},
}};
constexpr std::array<std::pair<std::string_view, ResizeCoordinates>, 7> kCoordinates = {{
    {"half_pixel", ResizeCoordinates::kHalfPixel},
    {"half_pixel_symmetric", ResizeCoordinates::kHalfPixelSymmetric},
    {"pytorch_half_pixel", ResizeCoordinates::kPytorchHalfPixel},
    {"asymmetric", ResizeCoordinates::kAsymmetric},
    {"align_corners", ResizeCoordinates::kAlignCorners},
    {"tf_half_pixel_for_nn", ResizeCoordinates::kTfHalfPixelForNn},
    {"tf_crop_and_resize", ResizeCoordinates::kTfCropAndResize},
}};
constexpr std::array<std::pair<std::string_view, ResizeRounding>, 4> kRoundings = {{
    {"round_prefer_floor", ResizeRounding::kPreferFloor},
    {"round_prefer_ceil", ResizeRounding::kPreferCeil},
    {"floor", ResizeRounding::kFloor},
    {"ceil", ResizeRounding::kCeil},
}};
constexpr std::array<std::pair<std::string_view, ResizeAspect>, 3> kAspects = {{
    {"stretch", ResizeAspect::kStretch},
    {"not_larger", ResizeAspect::kNotLarger},
    {"not_smaller", ResizeAspect::kNotSmaller},
}};

// Where output position `o` lies in the input, in float32 as ONNX Runtime computes it.
float SourceOf(ResizeCoordinates coordinates, const ResizeAxis& axis, int64_t o) {
  const auto x = static_cast<float>(o);
  const auto in = static_cast<float>(axis.in), out = static_cast<float>(axis.out);
  switch (coordinates) {
    case ResizeCoordinates::kHalfPixel:
      return (x + 0.5f) / axis.scale - 0.5f;
    case ResizeCoordinates::kHalfPixelSymmetric: {
      const float adjustment = out / (axis.scale * in);
      const float offset = in / 2 * (1 - adjustment);
      return offset + (x + 0.5f) / axis.scale - 0.5f;
    }
    case ResizeCoordinates::kPytorchHalfPixel:
      return axis.out > 1 ? (x + 0.5f) / axis.scale - 0.5f : 0.0f;
    case ResizeCoordinates::kAsymmetric:
      return x / axis.scale;
    case ResizeCoordinates::kAlignCorners:
      return axis.out == 1 ? 0.0f : x * (in - 1) / (out - 1);
    case ResizeCoordinates::kTfHalfPixelForNn:
      return (x + 0.5f) / axis.scale;
    case ResizeCoordinates::kTfCropAndResize:
      return axis.out > 1 ? axis.roi_start * (in - 1) + x * (axis.roi_end - axis.roi_start) * (in - 1) / (out - 1)
                          : 0.5f * (axis.roi_start + axis.roi_end) * (in - 1);
  }
  return x;
}

int64_t RoundSource(ResizeRounding rounding, float x, bool shrinks) {
  switch (rounding) {
    case ResizeRounding::kPreferFloor:
      return static_cast<int64_t>(x == std::floor(x) + 0.5f ? std::floor(x) : std::round(x));
    case ResizeRounding::kPreferCeil:
      return static_cast<int64_t>(std::floor(x + 0.5f));
    case ResizeRounding::kFloor:
      return static_cast<int64_t>(std::floor(x));
    case ResizeRounding::kCeil:
      return static_cast<int64_t>(std::ceil(x));
    case ResizeRounding::kSimple:
      return static_cast<int64_t>(shrinks ? std::ceil(x) : std::trunc(x));
  }
  return 0;
}

void LinearTaps(float x, int64_t in, std::vector<ResizeTap>& taps) {
  x = std::clamp(x, 0.0f, static_cast<float>(in - 1));
  const int64_t low = std::min(static_cast<int64_t>(x), in - 1), high = std::min(low + 1, in - 1);
  const bool same = low == high;
  taps.push_back({low, same ? 0.5f : std::abs(x - static_cast<float>(high))});
  taps.push_back({high, same ? 0.5f : std::abs(x - static_cast<float>(low))});
}

// Keys' kernel (1981) at distance `d`.
float Cubic(float a, float d) {
  d = std::abs(d);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

void Normalize(std::vector<ResizeTap>& taps, size_t first) {
  float sum = 0;
  for (size_t i = first; i < taps.size(); ++i) sum += taps[i].weight;
  if (sum == 0) return;
  for (size_t i = first; i < taps.size(); ++i) taps[i].weight /= sum;
}

void CubicTaps(const ResizeAttributes& attributes, float x, int64_t in, std::vector<ResizeTap>& taps) {
  const size_t first = taps.size();
  const auto base = static_cast<int64_t>(std::floor(x));
  const float s = x - static_cast<float>(base);
  for (int64_t k = -1; k <= 2; ++k) {
    const int64_t index = base + k;
    const bool outside = index < 0 || index >= in;
    const float weight = Cubic(attributes.cubic_a, static_cast<float>(k) - s);
    taps.push_back({std::clamp<int64_t>(index, 0, in - 1), outside && attributes.exclude_outside ? 0.0f : weight});
  }
  if (attributes.exclude_outside) Normalize(taps, first);
}

// The filter is widened where the axis shrinks.
void AntialiasTaps(const ResizeAttributes& attributes, const ResizeAxis& axis, float x, size_t per_output,
                   std::vector<ResizeTap>& taps) {
  const bool cubic = attributes.mode == ResizeMode::kCubic;
  const float shrink = std::min(axis.scale, 1.0f);
  const float support = (cubic ? 2.0f : 1.0f) / shrink;
  const size_t first = taps.size();
  auto index = static_cast<int64_t>(std::floor(x)) + static_cast<int64_t>(std::floor(-support)) + 1;
  for (size_t i = 0; i < per_output; ++i, ++index) {
    const float distance = (static_cast<float>(index) - x) * shrink;
    const float weight = cubic ? Cubic(attributes.cubic_a, distance) : std::max(0.0f, 1 - std::abs(distance));
    const bool outside = index < 0 || index >= axis.in;
    taps.push_back({std::clamp<int64_t>(index, 0, axis.in - 1), outside && attributes.exclude_outside ? 0.0f : weight});
  }
  Normalize(taps, first);
}

size_t TapsPerOutput(const ResizeAttributes& attributes, const ResizeAxis& axis) {
  if (attributes.mode == ResizeMode::kNearest) return 1;
  const bool cubic = attributes.mode == ResizeMode::kCubic;
  if (!attributes.antialias) return cubic ? 4 : 2;
  const float support = (cubic ? 2.0f : 1.0f) / std::min(axis.scale, 1.0f);
  // Wider filters than this come from axes that shrink to nothing.
  constexpr float kWidest = 65536;
  return static_cast<size_t>(2 * std::ceil(std::min(support, kWidest)));
}

}  // namespace

Result<ResizeAttributes> ReadResizeAttributes(const AttributeMap& attributes, bool old) {
  ResizeAttributes read;
  RULERUN_RETURN_IF_ERROR(Lookup(attributes, "mode", "nearest", kModes, read.mode));
  if (old) {
    read.coordinates = ResizeCoordinates::kAsymmetric;
    read.rounding = ResizeRounding::kSimple;
    return read;
  }
  RULERUN_RETURN_IF_ERROR(
      Lookup(attributes, "coordinate_transformation_mode", "half_pixel", kCoordinates, read.coordinates));
  RULERUN_RETURN_IF_ERROR(Lookup(attributes, "nearest_mode", "round_prefer_floor", kRoundings, read.rounding));
  RULERUN_RETURN_IF_ERROR(Lookup(attributes, "keep_aspect_ratio_policy", "stretch", kAspects, read.aspect));
  read.cubic_a = FloatOr(attributes, "cubic_coeff_a", -0.75f);
  read.exclude_outside = IntOr(attributes, "exclude_outside", 0) != 0;
  read.antialias = IntOr(attributes, "antialias", 0) != 0;
  read.extrapolation_value = FloatOr(attributes, "extrapolation_value", 0);
  read.axes = IntsOr(attributes, "axes", {});
  return read;
}

ResizeTable MakeResizeTable(const ResizeAttributes& attributes, const ResizeAxis& axis) {
  ResizeTable table;
  const bool crops = attributes.coordinates == ResizeCoordinates::kTfCropAndResize;
  if (axis.scale == 1 && axis.in == axis.out && !crops) {
    for (int64_t o = 0; o < axis.out; ++o) table.taps.push_back({o, 1.0f});
    return table;
  }
  table.taps_per_output = TapsPerOutput(attributes, axis);
  for (int64_t o = 0; o < axis.out; ++o) {
    const float x = SourceOf(attributes.coordinates, axis, o);
    const size_t first = table.taps.size();
    if (attributes.mode == ResizeMode::kNearest) {
      const int64_t index = RoundSource(attributes.rounding, x, axis.scale < 1);
      table.taps.push_back({std::clamp<int64_t>(index, 0, axis.in - 1), 1.0f});
    } else if (attributes.antialias) {
      AntialiasTaps(attributes, axis, x, table.taps_per_output, table.taps);
    } else if (attributes.mode == ResizeMode::kLinear) {
      LinearTaps(x, axis.in, table.taps);
    } else {
      CubicTaps(attributes, x, axis.in, table.taps);
    }
    if (crops && (x < 0 || x > static_cast<float>(axis.in - 1))) table.taps[first].index = -1;
  }
  return table;
}

}  // namespace rulerun
