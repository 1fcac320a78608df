// GridSample: an image read at the places that a grid names, between its pixels, over two or three axes.
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

enum class Mode { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

struct Attributes {
  Mode mode = Mode::kLinear;
  Padding padding = Padding::kZeros;
  bool align_corners = false;
};

// The pixels along one axis that a place is made from. A pixel outside, where padding is zero, has index -1.
template <typename T>
struct Taps {
  size_t count = 0;
  std::array<int64_t, 4> index{};
  std::array<T, 4> weight{};
};

// From [-1, 1] to pixels.
template <typename T>
T ToPixels(T place, int64_t size, bool align_corners) {
  const auto length = static_cast<T>(size);
  return align_corners ? (place + 1) / 2 * (length - 1) : ((place + 1) * length - 1) / 2;
}

template <typename T>
T Reflect(T at, T low, T high) {
  const T range = high - low;
  if (range <= 0) return low;
  const bool below = at < low;
  if (!below && at <= high) return at;
  const T beyond = below ? low - at : at - high;
  const T turns = std::floor(beyond / range);
  const T rest = beyond - turns * range;
  const bool back = std::fmod(turns, T{2}) != 0;
  return below != back ? low + rest : high - rest;
}

template <typename T>
int64_t Pixel(T at, int64_t size, const Attributes& attributes) {
  const auto last = static_cast<T>(size - 1);
  if (at >= 0 && at <= last) return static_cast<int64_t>(at);
  if (attributes.padding == Padding::kZeros || std::isnan(at)) return -1;
  if (attributes.padding == Padding::kReflection) {
    const T edge = attributes.align_corners ? T{0} : T{0.5};
    at = std::trunc(Reflect(at, -edge, last + edge));
  }
  return static_cast<int64_t>(std::clamp(at, T{0}, last));
}

template <typename T>
std::array<T, 4> CubicWeights(T part) {
  const T a = -0.75;
  const auto outer = [=](T d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  const auto inner = [=](T d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  return {outer(part + 1), inner(part), inner(1 - part), outer(2 - part)};
}

template <typename T>
Taps<T> MakeTaps(T place, int64_t size, const Attributes& attributes) {
  const T at = ToPixels(place, size, attributes.align_corners);
  if (attributes.mode == Mode::kNearest) return {1, {Pixel(std::nearbyint(at), size, attributes)}, {1}};
  Taps<T> taps;
  const T low = std::floor(at), part = at - low;
  if (attributes.mode == Mode::kLinear) {
    taps.count = 2;
    taps.weight = {low + 1 - at, part};
  } else {
    taps.count = 4;
    taps.weight = CubicWeights(part);
  }
  const T first = attributes.mode == Mode::kLinear ? low : low - 1;
  for (size_t k = 0; k < taps.count; ++k) taps.index[k] = Pixel(first + static_cast<T>(k), size, attributes);
  return taps;
}

// The sum along axis `axis` and those behind it; `offset` counts the pixels of the axes before.
template <typename T>
T Interpolate(const T* image, const std::vector<Taps<T>>& taps, const Dims& sizes, size_t axis, int64_t offset) {
  if (axis == taps.size()) return image[offset];
  T sum = 0;
  for (size_t k = 0; k < taps[axis].count; ++k) {
    if (taps[axis].index[k] < 0) continue;
    const int64_t next = offset * sizes[axis] + taps[axis].index[k];
    sum += taps[axis].weight[k] * Interpolate(image, taps, sizes, axis + 1, next);
  }
  return sum;
}

template <typename T>
void Run(const Attributes& attributes, const Tensor& x, const Tensor& grid, Tensor& y, ThreadPool& pool) {
  const Dims sizes(x.dims().begin() + 2, x.dims().end());
  const auto axes = static_cast<int64_t>(sizes.size());
  const int64_t channels = x.dims()[1], in = Product(sizes, 0, axes), out = Product(y.dims(), 2, y.rank());
  pool.ParallelFor(x.dims()[0] * out, 64, [&](int64_t begin, int64_t end) {
    std::vector<Taps<T>> taps(sizes.size());
    for (int64_t item = begin; item < end; ++item) {
      const T* place = grid.data<T>() + item * axes;  // the last axis first
      for (size_t a = 0; a < sizes.size(); ++a) {
        taps[a] = MakeTaps(place[sizes.size() - 1 - a], sizes[a], attributes);
      }
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t plane = item / out * channels + c;
        y.mutable_data<T>()[plane * out + item % out] = Interpolate(x.data<T>() + plane * in, taps, sizes, 0, 0);
      }
    }
  });
}

Result<Attributes> ReadAttributes(const AttributeMap& given) {
  Attributes attributes;
  attributes.align_corners = IntOr(given, "align_corners", 0) != 0;
  const std::string mode = StringOr(given, "mode", "linear");
  if (mode == "nearest") {
    attributes.mode = Mode::kNearest;
  } else if (mode == "cubic" || mode == "bicubic") {
    attributes.mode = Mode::kCubic;
  } else if (mode != "linear" && mode != "bilinear") {
    return Invalid("unknown mode '" + mode + "'");
  }
  const std::string padding = StringOr(given, "padding_mode", "zeros");
  if (padding == "border") {
    attributes.padding = Padding::kBorder;
  } else if (padding == "reflection") {
    attributes.padding = Padding::kReflection;
  } else if (padding != "zeros") {
    return Invalid("unknown padding_mode '" + padding + "'");
  }
  return attributes;
}

Result<std::unique_ptr<Kernel>> MakeGridSample(const KernelRequest& request) {
  RULERUN_ASSIGN(const Attributes attributes, ReadAttributes(*request.attributes));
  return MakeKernel([attributes](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const Tensor* grid, Required(context, 1));
    if (x->rank() < 4 || x->rank() > 5 || grid->rank() != x->rank() || grid->dims()[0] != x->dims()[0] ||
        grid->dims().back() != x->rank() - 2 || grid->type() != x->type()) {
      return Invalid("an input of shape " + DimsText(x->dims()) + " and a grid of shape " + DimsText(grid->dims()) +
                     " do not fit each other");
    }
    Dims dims = {x->dims()[0], x->dims()[1]};
    dims.insert(dims.end(), grid->dims().begin() + 1, grid->dims().end() - 1);
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), dims));
    if (x->count() == 0 && y->count() > 0) return Invalid("there are no pixels to read");
    return Dispatch<float, double>(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      Run<T>(attributes, *x, *grid, *y, context.pool());
      return {};
    });
  });
}

}  // namespace

void Register_ops_grid_sample(KernelRegistry& registry) {
  AddOp(registry, "GridSample", {}, {FloatTypes(), FloatTypes()}, MakeGridSample);
}

}  // namespace rulerun
