#include "kernels/geometry.h"

#include <algorithm>
#include <limits>

#include "engine/base/codes.h"

namespace rulerun {
namespace {

// Larger sizes are refused, so that no product of two of them leaves int64.
constexpr int64_t kLargest = int64_t{1} << 31;

Error Bad(std::string message) { return Error{Code::kNodeFails, std::move(message), "", ""}; }

Status CheckRange(std::span<const int64_t> values, int64_t least, const std::string& what) {
  for (const int64_t value : values) {
    if (value < least || value > kLargest) return Bad(what + " has a value out of range: " + std::to_string(value));
  }
  return {};
}

// `values`, or `count` times `fallback` where it is empty.
Result<std::vector<int64_t>> Filled(const std::vector<int64_t>& values, size_t count, int64_t fallback,
                                    const std::string& what) {
  if (values.empty()) return std::vector<int64_t>(count, fallback);
  if (values.size() != count) {
    return Bad(what + " has " + std::to_string(values.size()) + " values for " + std::to_string(count) +
               " spatial axes");
  }
  return values;
}

Result<std::vector<Window>> FillWindows(const WindowAttributes& attributes, std::span<const int64_t> spatial,
                                        std::span<const int64_t> kernel) {
  const size_t rank = spatial.size();
  RULERUN_ASSIGN(std::vector<int64_t> sizes, Filled(attributes.kernel, rank, 1, "kernel_shape"));
  if (!kernel.empty()) {
    if (kernel.size() != rank) return Bad("the weights have another number of spatial axes than the input");
    if (!attributes.kernel.empty() && !std::equal(sizes.begin(), sizes.end(), kernel.begin())) {
      return Bad("kernel_shape differs from the shape of the weights");
    }
    sizes.assign(kernel.begin(), kernel.end());
  }
  RULERUN_ASSIGN(const std::vector<int64_t> strides, Filled(attributes.strides, rank, 1, "strides"));
  RULERUN_ASSIGN(const std::vector<int64_t> dilations, Filled(attributes.dilations, rank, 1, "dilations"));
  RULERUN_ASSIGN(const std::vector<int64_t> pads, Filled(attributes.pads, 2 * rank, 0, "pads"));
  RULERUN_RETURN_IF_ERROR(CheckRange(spatial, 0, "the input's shape"));
  RULERUN_RETURN_IF_ERROR(CheckRange(sizes, 1, "kernel_shape"));
  RULERUN_RETURN_IF_ERROR(CheckRange(strides, 1, "strides"));
  RULERUN_RETURN_IF_ERROR(CheckRange(dilations, 1, "dilations"));
  RULERUN_RETURN_IF_ERROR(CheckRange(pads, -kLargest, "pads"));
  std::vector<Window> windows(rank);
  for (size_t i = 0; i < rank; ++i) {
    windows[i] = {spatial[i], 0, sizes[i], strides[i], dilations[i], pads[i], pads[i + rank]};
  }
  return windows;
}

void PadSame(Window& window, AutoPad auto_pad) {
  window.out = (window.in + window.stride - 1) / window.stride;
  const int64_t reach = (window.kernel - 1) * window.dilation + 1;
  const int64_t total = std::max<int64_t>(0, (window.out - 1) * window.stride + reach - window.in);
  const int64_t less = total / 2;
  window.pad_begin = auto_pad == AutoPad::kSameUpper ? less : total - less;
  window.pad_end = total - window.pad_begin;
}

Status CountOutputs(Window& window, bool ceil_mode) {
  const int64_t reach = (window.kernel - 1) * window.dilation + 1;
  const int64_t room = window.in + window.pad_begin + window.pad_end - reach;
  if (room < 0) {
    if (window.in == 0) return {};
    if (-room >= window.stride) {
      return Bad("a window of " + std::to_string(reach) + " does not fit in an axis of " + std::to_string(window.in) +
                 " with its padding");
    }
    // ONNX Runtime's integer division lets the one window hang over by less than a stride.
    window.out = 1;
    window.pad_end -= room;
    return {};
  }
  window.out = room / window.stride + 1;
  if (ceil_mode && room % window.stride != 0) {
    ++window.out;
    // The last window must start inside the input or its left padding.
    if ((window.out - 1) * window.stride >= window.in + window.pad_begin) --window.out;
  }
  return {};
}

}  // namespace

Result<WindowAttributes> ReadWindowAttributes(const AttributeMap& attributes) {
  WindowAttributes read;
  read.kernel = IntsOr(attributes, "kernel_shape", {});
  read.strides = IntsOr(attributes, "strides", {});
  read.dilations = IntsOr(attributes, "dilations", {});
  read.pads = IntsOr(attributes, "pads", {});
  read.ceil_mode = IntOr(attributes, "ceil_mode", 0) != 0;
  const std::string auto_pad = StringOr(attributes, "auto_pad", "NOTSET");
  if (auto_pad == "VALID") {
    read.auto_pad = AutoPad::kValid;
  } else if (auto_pad == "SAME_UPPER") {
    read.auto_pad = AutoPad::kSameUpper;
  } else if (auto_pad == "SAME_LOWER") {
    read.auto_pad = AutoPad::kSameLower;
  } else if (auto_pad != "NOTSET" && !auto_pad.empty()) {
    return Bad("auto_pad is '" + auto_pad + "', not NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  }
  return read;
}

Result<std::vector<Window>> ResolveWindows(const WindowAttributes& attributes, std::span<const int64_t> spatial,
                                           std::span<const int64_t> kernel) {
  RULERUN_ASSIGN(std::vector<Window> windows, FillWindows(attributes, spatial, kernel));
  for (Window& window : windows) {
    if (attributes.auto_pad == AutoPad::kSameUpper || attributes.auto_pad == AutoPad::kSameLower) {
      PadSame(window, attributes.auto_pad);
      continue;
    }
    if (attributes.auto_pad == AutoPad::kValid) window.pad_begin = window.pad_end = 0;
    RULERUN_RETURN_IF_ERROR(CountOutputs(window, attributes.ceil_mode));
  }
  return windows;
}

Result<std::vector<Window>> ResolveTransposedWindows(const WindowAttributes& attributes,
                                                     std::span<const int64_t> spatial, std::span<const int64_t> kernel,
                                                     std::span<const int64_t> output_padding,
                                                     std::span<const int64_t> output_shape) {
  RULERUN_ASSIGN(std::vector<Window> windows, FillWindows(attributes, spatial, kernel));
  const size_t rank = windows.size();
  if (!output_padding.empty() && output_padding.size() != rank) return Bad("output_padding has the wrong length");
  if (!output_shape.empty() && output_shape.size() != rank && output_shape.size() != rank + 2) {
    return Bad("output_shape has the wrong length");
  }
  RULERUN_RETURN_IF_ERROR(CheckRange(output_padding, 0, "output_padding"));
  RULERUN_RETURN_IF_ERROR(CheckRange(output_shape, 0, "output_shape"));
  const bool same = attributes.auto_pad == AutoPad::kSameUpper || attributes.auto_pad == AutoPad::kSameLower;
  for (size_t i = 0; i < rank; ++i) {
    Window& window = windows[i];
    window.out = spatial[i];
    const int64_t extra = output_padding.empty() ? 0 : output_padding[i];
    const int64_t full = (window.out - 1) * window.stride + (window.kernel - 1) * window.dilation + 1 + extra;
    if (attributes.auto_pad == AutoPad::kValid) window.pad_begin = window.pad_end = 0;
    if (!output_shape.empty() || same) {
      window.in = output_shape.empty() ? window.out * window.stride : output_shape[output_shape.size() - rank + i];
      const int64_t total = std::max<int64_t>(0, full - window.in);
      // The standard's rule: SAME_UPPER puts the odd one at the end, everything else at the begin.
      window.pad_begin = attributes.auto_pad == AutoPad::kSameUpper ? total / 2 : total - total / 2;
      window.pad_end = total - window.pad_begin;
    } else {
      window.in = full - window.pad_begin - window.pad_end;
    }
    if (window.in < 0 || spatial[i] == 0) window.in = 0;
  }
  return windows;
}

Dims OutputDims(Dims leading, std::span<const Window> windows) {
  for (const Window& window : windows) leading.push_back(window.out);
  return leading;
}

}  // namespace rulerun
