// One axis of a resize: which input positions make up each output position, with which weights.
#ifndef RULERUN_KERNELS_OPS_RESIZE_AXIS_H_
#define RULERUN_KERNELS_OPS_RESIZE_AXIS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/attribute.h"

namespace rulerun {

enum class ResizeMode { kNearest, kLinear, kCubic };
enum class ResizeCoordinates {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAsymmetric,
  kAlignCorners,
  kTfHalfPixelForNn,
  kTfCropAndResize,
};
// kSimple is that of Upsample and of Resize's version 10: up when the axis shrinks, down when it grows.
enum class ResizeRounding { kPreferFloor, kPreferCeil, kFloor, kCeil, kSimple };
enum class ResizeAspect { kStretch, kNotLarger, kNotSmaller };

struct ResizeAttributes {
  ResizeMode mode = ResizeMode::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  ResizeRounding rounding = ResizeRounding::kPreferFloor;
  ResizeAspect aspect = ResizeAspect::kStretch;
  float cubic_a = -0.75f;
  bool exclude_outside = false;
  bool antialias = false;
  float extrapolation_value = 0;
  std::vector<int64_t> axes;
};

// `old`: Upsample, and Resize before version 11.
Result<ResizeAttributes> ReadResizeAttributes(const AttributeMap& attributes, bool old);

struct ResizeAxis {
  int64_t in = 1, out = 1;
  float scale = 1;
  float roi_start = 0, roi_end = 1;
};

struct ResizeTap {
  int64_t index;
  float weight;
};

// The taps of every output position; equally many for each, `taps_per_output`. An output outside the input, which gets
// the extrapolation value, has index -1 in its first tap.
struct ResizeTable {
  size_t taps_per_output = 1;
  std::vector<ResizeTap> taps;
};
ResizeTable MakeResizeTable(const ResizeAttributes& attributes, const ResizeAxis& axis);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_RESIZE_AXIS_H_
