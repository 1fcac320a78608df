// Shapes of the 8-bit pools: any of 1 to 3 spatial axes, as three.
#ifndef RULERUN_KERNELS_INT8_POOL_SHAPE_H_
#define RULERUN_KERNELS_INT8_POOL_SHAPE_H_

#include <array>
#include <string_view>

#include "engine/base/result.h"
#include "kernels/geometry.h"

namespace rulerun::int8 {

struct PoolShape {
  int64_t batch = 0;
  int64_t channels = 0;
  std::array<Window, 3> axes;  // depth, height, width; leading ones trivial
  Dims out;

  int64_t InPixels() const { return axes[0].in * axes[1].in * axes[2].in; }
  int64_t OutPixels() const { return axes[0].out * axes[1].out * axes[2].out; }
  int64_t Taps() const;  // as many as int64 holds, at most
};
Result<PoolShape> ResolvePool(const WindowAttributes& attributes, const Dims& x, bool channels_last,
                              std::string_view op);

// The part of a window that lies inside the image, for output pixel `index`.
struct PoolRange {
  PoolRange(const PoolShape& shape, int64_t index) {
    for (size_t i = 3; i-- > 0;) {
      const Window& axis = shape.axes[i];
      start[i] = axis.Start(index % axis.out);
      index /= axis.out;
      first[i] = axis.FirstInside(start[i]);
      end[i] = axis.EndInside(start[i]);
    }
  }
  int64_t Count() const {
    int64_t count = 1;
    for (size_t i = 0; i < 3; ++i) count *= end[i] > first[i] ? end[i] - first[i] : 0;
    return count;
  }
  // Calls body(input pixel) for the elements inside, in order of depth, height, width.
  template <typename Body>
  void ForEachPixel(const PoolShape& shape, const Body& body) const {
    const auto& [depth, height, width] = shape.axes;
    for (int64_t d = first[0]; d < end[0]; ++d) {
      for (int64_t h = first[1]; h < end[1]; ++h) {
        const int64_t row = (start[0] + d * depth.dilation) * height.in + start[1] + h * height.dilation;
        for (int64_t w = first[2]; w < end[2]; ++w) body(row * width.in + start[2] + w * width.dilation);
      }
    }
  }

  std::array<int64_t, 3> start;
  std::array<int64_t, 3> first;  // taps
  std::array<int64_t, 3> end;
};

}  // namespace rulerun::int8

#endif  // RULERUN_KERNELS_INT8_POOL_SHAPE_H_
