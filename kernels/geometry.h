// Windows that slide over spatial axes: what convolutions and pools have in common.
#ifndef RULERUN_KERNELS_GEOMETRY_H_
#define RULERUN_KERNELS_GEOMETRY_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/attribute.h"
#include "engine/graph/tensor.h"

namespace rulerun {

enum class AutoPad { kNotSet, kValid, kSameUpper, kSameLower };

// The attributes kernel_shape, strides, dilations, pads, auto_pad and ceil_mode as a node gives them; lists may be
// empty.
struct WindowAttributes {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads;  // begins of all axes, then ends
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
};
Result<WindowAttributes> ReadWindowAttributes(const AttributeMap& attributes);

// One spatial axis, everything resolved. Output position o reads input o * stride - pad_begin + k * dilation for
// k in [0, kernel), where that lies in [0, in).
struct Window {
  int64_t in = 0;
  int64_t out = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;

  int64_t Start(int64_t o) const { return o * stride - pad_begin; }
  // The range of k whose input lies inside, for a window that starts at `start`.
  int64_t FirstInside(int64_t start) const { return start >= 0 ? 0 : (-start + dilation - 1) / dilation; }
  int64_t EndInside(int64_t start) const {
    const int64_t room = in - start;
    const int64_t end = room <= 0 ? 0 : (room + dilation - 1) / dilation;
    return end < kernel ? end : kernel;
  }
};

// `spatial`: input sizes of the spatial axes. `kernel`: sizes of the weights' spatial axes, or empty to use the
// attribute; where both are given they must agree.
Result<std::vector<Window>> ResolveWindows(const WindowAttributes& attributes, std::span<const int64_t> spatial,
                                           std::span<const int64_t> kernel = {});

// The same for a transposed convolution: the windows of the convolution it is the gradient of, so that `in` is the
// size of its *output* and `out` that of its input. `output_padding` and `output_shape` may be empty.
Result<std::vector<Window>> ResolveTransposedWindows(const WindowAttributes& attributes,
                                                     std::span<const int64_t> spatial, std::span<const int64_t> kernel,
                                                     std::span<const int64_t> output_padding,
                                                     std::span<const int64_t> output_shape);

// Sizes of the outputs of `windows`, behind `leading`.
Dims OutputDims(Dims leading, std::span<const Window> windows);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_GEOMETRY_H_
