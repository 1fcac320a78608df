// Resize and Upsample: every output is a weighted sum over the taps of its axes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/ops/op.h"
#include "kernels/ops/resize_axis.h"
#include "kernels/ops/strided_copy.h"

namespace rulerun {
namespace {

// Taps over all axes but the last, for one row of the output; offsets are in elements.
struct RowTap {
  int64_t offset;
  float weight;
};

// False where the row lies outside the input.
bool RowTaps(const std::vector<ResizeTable>& tables, const std::vector<int64_t>& strides, const Dims& out, int64_t row,
             std::vector<RowTap>& taps) {
  taps.assign(1, {0, 1.0f});
  std::vector<RowTap> next;
  std::vector<int64_t> index(out.size() - 1);
  for (size_t a = out.size() - 1; a-- > 0; row /= out[a]) index[a] = row % out[a];
  for (size_t a = 0; a + 1 < out.size(); ++a) {
    const ResizeTable& table = tables[a];
    const ResizeTap* first = &table.taps[static_cast<size_t>(index[a]) * table.taps_per_output];
    if (first->index < 0) return false;
    if (table.taps_per_output == 1) {
      for (RowTap& tap : taps) tap.offset += first->index * strides[a];
      continue;
    }
    next.clear();
    for (const RowTap& tap : taps) {
      for (size_t t = 0; t < table.taps_per_output; ++t) {
        next.push_back({tap.offset + first[t].index * strides[a], tap.weight * first[t].weight});
      }
    }
    taps.swap(next);
  }
  return true;
}

template <typename T>
T FromSum(double sum) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::clamp(sum, static_cast<double>(std::numeric_limits<T>::min()),
                                     static_cast<double>(std::numeric_limits<T>::max())));
  } else {
    return static_cast<T>(sum);
  }
}

// `by_line`: the taps along the last axis are summed up before those of the other axes, as ONNX Runtime does it where
// it is cubic; else all weights are multiplied first.
template <typename T>
void Interpolate(const T* x, const std::vector<int64_t>& strides, const std::vector<ResizeTable>& tables, bool by_line,
                 T* y, const Dims& out, T outside, ThreadPool& pool) {
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const ResizeTable& inner = tables.back();
  const int64_t width = out.back();
  const int64_t rows = Product(out, 0, static_cast<int64_t>(out.size()) - 1);
  pool.ParallelFor(rows, std::max<int64_t>(1, 2048 / width), [&](int64_t begin, int64_t end) {
    std::vector<RowTap> row_taps;
    for (int64_t row = begin; row < end; ++row) {
      T* to = y + row * width;
      if (!RowTaps(tables, strides, out, row, row_taps)) {
        std::fill(to, to + width, outside);
        continue;
      }
      const ResizeTap* taps = inner.taps.data();
      for (int64_t i = 0; i < width; ++i, taps += inner.taps_per_output) {
        if (taps->index < 0) {
          to[i] = outside;
          continue;
        }
        Sum sum = 0;
        for (const RowTap& row_tap : row_taps) {
          Sum line = 0;  // within a row
          for (size_t t = 0; t < inner.taps_per_output; ++t) {
            const auto value = static_cast<Sum>(x[row_tap.offset + taps[t].index]);
            if (by_line) {
              line += static_cast<Sum>(taps[t].weight) * value;
            } else {
              sum += static_cast<Sum>(taps[t].weight * row_tap.weight) * value;
            }
          }
          if (by_line) sum += line * static_cast<Sum>(row_tap.weight);
        }
        to[i] = FromSum<T>(static_cast<double>(sum));
      }
    }
  });
}

// One tap per axis: elements are copied, so any type will do.
template <typename T>
void CopyNearest(const T* x, const std::vector<int64_t>& strides, const std::vector<ResizeTable>& tables, T* y,
                 const Dims& out, const T& outside, ThreadPool& pool) {
  const int64_t width = out.back();
  const int64_t rows = Product(out, 0, static_cast<int64_t>(out.size()) - 1);
  pool.ParallelFor(rows, std::max<int64_t>(1, 8192 / width), [&](int64_t begin, int64_t end) {
    std::vector<RowTap> row_taps;
    for (int64_t row = begin; row < end; ++row) {
      const bool inside = RowTaps(tables, strides, out, row, row_taps);
      const T* from = x + row_taps[0].offset;
      const ResizeTap* taps = tables.back().taps.data();
      for (int64_t i = 0; i < width; ++i) {
        y[row * width + i] = inside && taps[i].index >= 0 ? from[taps[i].index] : outside;
      }
    }
  });
}

struct Request {
  std::vector<float> scales, roi;
  std::vector<int64_t> sizes;
};

// Fills `axes` from scales or sizes; the output's shape comes with it.
Result<std::vector<ResizeAxis>> ResolveSizes(const ResizeAttributes& attributes, const Dims& dims, Request request) {
  std::vector<int64_t> named = attributes.axes;
  if (named.empty()) {
    for (size_t i = 0; i < dims.size(); ++i) named.push_back(static_cast<int64_t>(i));
  }
  RULERUN_ASSIGN(named, ResolveAxes(named, static_cast<int64_t>(dims.size())));
  const bool by_size = request.scales.empty();
  const size_t given = by_size ? request.sizes.size() : request.scales.size();
  if (given != named.size()) return Invalid("scales or sizes do not have one value per axis");
  std::vector<ResizeAxis> axes(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) axes[i].in = axes[i].out = dims[i];
  float common = 0;
  for (size_t i = 0; i < named.size(); ++i) {
    ResizeAxis& axis = axes[static_cast<size_t>(named[i])];
    if (by_size && (request.sizes[i] < 0 || (axis.in == 0 && request.sizes[i] != 0)))
      return Invalid("a size is out of range");
    axis.scale = by_size ? (axis.in == 0 ? 1.0f : static_cast<float>(request.sizes[i]) / static_cast<float>(axis.in))
                         : request.scales[i];
    if (!(axis.scale > 0) && !(by_size && axis.scale == 0)) return Invalid("a scale is not positive");
    const double size = std::floor(static_cast<double>(static_cast<float>(axis.in) * axis.scale));
    if (!(size < 0x1p31)) return Invalid("a scale is out of range");
    axis.out = by_size ? request.sizes[i] : static_cast<int64_t>(size);
    const bool larger = attributes.aspect == ResizeAspect::kNotLarger ? axis.scale < common : axis.scale > common;
    if (i == 0 || larger) common = axis.scale;
    if (request.roi.size() == 2 * named.size()) {
      axis.roi_start = request.roi[i];
      axis.roi_end = request.roi[i + named.size()];
    }
  }
  if (!by_size || attributes.aspect == ResizeAspect::kStretch) return axes;
  for (const int64_t name : named) {
    ResizeAxis& axis = axes[static_cast<size_t>(name)];
    axis.scale = common;
    axis.out = static_cast<int64_t>(std::round(common * static_cast<float>(axis.in)));
  }
  return axes;
}

Status RunResize(KernelContext& context, const ResizeAttributes& attributes, Request request) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  if (x->rank() == 0) return Invalid("a scalar cannot be resized");
  RULERUN_ASSIGN(const std::vector<ResizeAxis> axes, ResolveSizes(attributes, x->dims(), std::move(request)));
  Dims dims;
  for (const ResizeAxis& axis : axes) dims.push_back(axis.out);
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), dims));
  if (y->count() == 0) return {};
  std::vector<ResizeTable> tables;
  for (const ResizeAxis& axis : axes) tables.push_back(MakeResizeTable(attributes, axis));
  const std::vector<int64_t> strides = DenseStrides(x->dims());
  const float outside = attributes.extrapolation_value;
  if (attributes.mode == ResizeMode::kNearest) {
    return DispatchNumber(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      CopyNearest(x->data<T>(), strides, tables, y->mutable_data<T>(), dims, FromSum<T>(static_cast<double>(outside)),
                  context.pool());
      return {};
    });
  }
  const bool by_line = attributes.mode == ResizeMode::kCubic && !attributes.antialias;
  return Dispatch<float, double, int8_t, uint8_t, int32_t>(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
    Interpolate(x->data<T>(), strides, tables, by_line, y->mutable_data<T>(), dims,
                FromSum<T>(static_cast<double>(outside)), context.pool());
    return {};
  });
}

std::vector<float> ToFloats(const Tensor& tensor) {
  std::vector<float> all;
  for (const double value : ToDoubles(tensor)) all.push_back(static_cast<float>(value));
  return all;
}

// Resize since version 11: X, roi, scales, sizes. Before: X, scales.
Result<std::unique_ptr<Kernel>> MakeResize(const KernelRequest& request) {
  const bool old = request.since_version < 11;
  RULERUN_ASSIGN(const ResizeAttributes attributes, ReadResizeAttributes(*request.attributes, old));
  return MakeKernel([=](KernelContext& context) -> Status {
    Request sizes;
    if (old) {
      RULERUN_ASSIGN(const Tensor* scales, Required(context, 1));
      sizes.scales = ToFloats(*scales);
      return RunResize(context, attributes, std::move(sizes));
    }
    if (const Tensor* roi = context.Input(1)) sizes.roi = ToFloats(*roi);
    if (const Tensor* scales = context.Input(2)) sizes.scales = ToFloats(*scales);
    if (const Tensor* given = context.Input(3)) sizes.sizes = ToInts(*given);
    if (!sizes.scales.empty()) sizes.sizes.clear();
    return RunResize(context, attributes, std::move(sizes));
  });
}

Result<std::unique_ptr<Kernel>> MakeUpsample(const KernelRequest& request) {
  RULERUN_ASSIGN(const ResizeAttributes attributes, ReadResizeAttributes(*request.attributes, true));
  Request fixed;
  fixed.scales = FloatsOr(*request.attributes, "scales", {});
  return MakeKernel([=](KernelContext& context) -> Status {
    Request sizes = fixed;
    if (const Tensor* scales = context.Input(1)) sizes.scales = ToFloats(*scales);
    return RunResize(context, attributes, std::move(sizes));
  });
}

}  // namespace

void Register_ops_resize(KernelRegistry& registry) {
  AddOp(registry, "Resize", {10, kLatest}, {NumberTypes()}, MakeResize);
  AddOp(registry, "Upsample", {7, kLatest}, {NumberTypes()}, MakeUpsample);
}

}  // namespace rulerun
