// MaxPool, AveragePool, LpPool and their global forms, over one to three spatial axes.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/geometry.h"
#include "kernels/ops/op.h"

namespace rulerun {
namespace {

constexpr int64_t kGrain = 16384;  // elements read that are worth a thread

struct Job {
  std::array<Window, 3> axes;  // leading ones of size 1 for 1-D and 2-D pools
  int64_t planes = 1;          // batch times channels
  int64_t in_size = 1, out_size = 1;
  Dims dims;  // of the output
};

Result<Job> MakeJob(const WindowAttributes& attributes, const Tensor& x) {
  if (x.rank() < 3 || x.rank() > 5) {
    return Unsupported("pooling of shape " + DimsText(x.dims()) + "; one to three spatial axes have a kernel");
  }
  if (attributes.kernel.empty()) return Invalid("kernel_shape is missing");
  RULERUN_ASSIGN(const std::vector<Window> windows, ResolveWindows(attributes, std::span(x.dims()).subspan(2)));
  Job job;
  job.axes.fill({1, 1, 1, 1, 1, 0, 0});
  std::copy(windows.begin(), windows.end(), job.axes.end() - static_cast<std::ptrdiff_t>(windows.size()));
  job.planes = x.dims()[0] * x.dims()[1];
  job.in_size = Product(x.dims(), 2, x.rank());
  job.dims = OutputDims({x.dims()[0], x.dims()[1]}, windows);
  job.out_size = ElementCount(std::span(job.dims).subspan(2)).value_or(0);
  return job;
}

// The elements of the input under one output position.
struct Cover {
  std::array<int64_t, 3> start, first, end;

  Cover(const Job& job, std::array<int64_t, 3> position) {
    for (size_t i = 0; i < 3; ++i) {
      start[i] = job.axes[i].Start(position[i]);
      first[i] = job.axes[i].FirstInside(start[i]);
      end[i] = std::max(first[i], job.axes[i].EndInside(start[i]));
    }
  }
  int64_t count() const { return (end[0] - first[0]) * (end[1] - first[1]) * (end[2] - first[2]); }

  // f(offset in the plane), in ascending order.
  template <typename F>
  void ForEach(const Job& job, F f) const {
    const auto& [depth, height, across] = job.axes;
    for (int64_t d = first[0]; d < end[0]; ++d) {
      for (int64_t h = first[1]; h < end[1]; ++h) {
        const int64_t row =
            ((start[0] + d * depth.dilation) * height.in + start[1] + h * height.dilation) * across.in + start[2];
        for (int64_t w = first[2]; w < end[2]; ++w) f(row + w * across.dilation);
      }
    }
  }
};

// f(plane, output offset, cover) for every output element.
template <typename F>
void ForEachOutput(const Job& job, ThreadPool& pool, F f) {
  const int64_t taps = job.axes[0].kernel * job.axes[1].kernel * job.axes[2].kernel;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, job.out_size * taps));
  pool.ParallelFor(job.planes, grain, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      int64_t output = plane * job.out_size;
      for (int64_t d = 0; d < job.axes[0].out; ++d) {
        for (int64_t h = 0; h < job.axes[1].out; ++h) {
          for (int64_t w = 0; w < job.axes[2].out; ++w) f(plane, output++, Cover(job, {d, h, w}));
        }
      }
    }
  });
}

template <typename T>
constexpr T Lowest() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}

// The position within its plane, counted with the first spatial axis fastest.
int64_t ColumnMajor(const Job& job, int64_t offset) {
  const auto& [depth, height, across] = job.axes;
  const int64_t w = offset % across.in, h = offset / across.in % height.in, d = offset / (across.in * height.in);
  return d + depth.in * (h + height.in * w);
}

// Without indices and dilation: the maximum of whole rows first, then along them, tap by tap, so that inner loops run
// over contiguous outputs.
template <typename T>
void MaxRows(const Job& job, const T* x, T* y, ThreadPool& pool) {
  // No structured binding: clang 14 cannot capture one.
  const auto& depth = std::get<0>(job.axes);
  const auto& height = std::get<1>(job.axes);
  const auto& across = std::get<2>(job.axes);
  const int64_t out_rows = depth.out * height.out;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, across.in * depth.kernel * height.kernel));
  pool.ParallelFor(job.planes * out_rows, grain, [&](int64_t begin, int64_t end) {
    std::vector<T> column(static_cast<size_t>(across.in));
    for (int64_t item = begin; item < end; ++item) {
      const T* plane = x + item / out_rows * job.in_size;
      const int64_t d0 = depth.Start(item % out_rows / height.out), h0 = height.Start(item % height.out);
      std::fill(column.begin(), column.end(), Lowest<T>());
      for (int64_t kd = depth.FirstInside(d0); kd < depth.EndInside(d0); ++kd) {
        for (int64_t kh = height.FirstInside(h0); kh < height.EndInside(h0); ++kh) {
          const T* row = plane + ((d0 + kd * depth.dilation) * height.in + h0 + kh * height.dilation) * across.in;
          for (size_t i = 0; i < column.size(); ++i) column[i] = row[i] > column[i] ? row[i] : column[i];
        }
      }
      T* to = y + item * across.out;
      for (int64_t w = 0; w < across.out; ++w) {
        const int64_t start = across.Start(w);
        const int64_t stop = across.EndInside(start);
        T best = Lowest<T>();
        for (int64_t k = across.FirstInside(start); k < stop; ++k) {
          const T value = column[static_cast<size_t>(start + k * across.dilation)];
          if (value > best) best = value;
        }
        to[w] = best;
      }
    }
  });
}

template <typename T>
Status RunMax(const Job& job, const Tensor& x, bool column_major, KernelContext& context) {
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x.type(), job.dims));
  const T* from = x.data<T>();
  T* to = y->mutable_data<T>();
  if (!context.Wanted(1)) {
    if (y->count() != 0) MaxRows(job, from, to, context.pool());
    return {};
  }
  RULERUN_ASSIGN(Tensor * indices, context.Output(1, DataType::kInt64, job.dims));
  if (y->count() == 0) return {};
  int64_t* index = indices->mutable_data<int64_t>();
  ForEachOutput(job, context.pool(), [&](int64_t plane, int64_t output, const Cover& cover) {
    const T* source = from + plane * job.in_size;
    T best = Lowest<T>();
    int64_t where = -1;
    cover.ForEach(job, [&](int64_t offset) {
      if (where < 0 || source[offset] > best) {
        best = source[offset];
        where = offset;
      }
    });
    to[output] = best;
    index[output] = plane * job.in_size + (column_major && where >= 0 ? ColumnMajor(job, where) : where);
  });
  return {};
}

Result<std::unique_ptr<Kernel>> MakeMaxPool(const KernelRequest& request) {
  RULERUN_ASSIGN(const WindowAttributes attributes, ReadWindowAttributes(*request.attributes));
  const bool column_major = IntOr(*request.attributes, "storage_order", 0) != 0;
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const Job job, MakeJob(attributes, *x));
    return Dispatch<float, double, int8_t, uint8_t>(
        x->type(), [&]<typename T>(TypeTag<T>) { return RunMax<T>(job, *x, column_major, context); });
  });
}

// What an average divides by at one output position when padding counts: the window within the padded input, which a
// window cut off by ceil_mode leaves.
int64_t PaddedCount(const Job& job, const Cover& cover) {
  int64_t count = 1;
  for (size_t i = 0; i < 3; ++i) {
    const Window& axis = job.axes[i];
    const int64_t room = axis.in + axis.pad_end - cover.start[i];
    count *= std::min(axis.kernel, (room + axis.dilation - 1) / axis.dilation);
  }
  return std::max<int64_t>(count, 1);
}

// ONNX Runtime's order for whole planes: four partial sums, halves added, then the rest.
template <typename T>
T Average(const T* x, int64_t count) {
  std::array<T, 4> lanes{};
  const int64_t whole = count / 4 * 4;
  for (int64_t i = 0; i < whole; i += 4) {
    for (size_t k = 0; k < 4; ++k) lanes[k] += x[i + static_cast<int64_t>(k)];
  }
  T sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
  for (int64_t i = whole; i < count; ++i) sum += x[i];
  return sum / static_cast<T>(count);
}

// One window that covers a whole plane.
bool IsGlobal(const Job& job) {
  return std::all_of(job.axes.begin(), job.axes.end(), [](const Window& axis) {
    return axis.out == 1 && axis.kernel == axis.in && axis.dilation == 1 && axis.pad_begin == 0 && axis.pad_end == 0;
  });
}

// How to average: whether padding counts, and whether sums are those of MLAS.
struct AverageAttributes {
  WindowAttributes window;
  bool count_padding = false;
  bool mlas = false;
};

// MLAS adds up small windows with a step of 1 or 2 column by column, all others row by row.
bool ColumnsFirst(const Job& job, const Tensor& x) {
  return x.rank() > 3 && job.axes[2].stride <= 2 &&
         std::all_of(job.axes.begin(), job.axes.end(), [](const Window& axis) { return axis.kernel <= 32; });
}

template <typename T>
T SumOfColumns(const Job& job, const Cover& cover, const T* plane) {
  const auto& [depth, height, across] = job.axes;
  T sum = 0;
  for (int64_t w = cover.first[2]; w < cover.end[2]; ++w) {
    T column = 0;
    for (int64_t d = cover.first[0]; d < cover.end[0]; ++d) {
      for (int64_t h = cover.first[1]; h < cover.end[1]; ++h) {
        const int64_t row = (cover.start[0] + d * depth.dilation) * height.in + cover.start[1] + h * height.dilation;
        column += plane[row * across.in + cover.start[2] + w * across.dilation];
      }
    }
    sum += column;
  }
  return sum;
}

template <typename T>
Status RunAverage(const Job& job, const Tensor& x, const AverageAttributes& attributes, KernelContext& context) {
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x.type(), job.dims));
  if (y->count() == 0) return {};
  const T* from = x.data<T>();
  T* to = y->mutable_data<T>();
  if (attributes.mlas && IsGlobal(job)) {
    for (int64_t i = 0; i < job.planes; ++i) to[i] = Average(from + i * job.in_size, job.in_size);
    return {};
  }
  const bool columns_first = attributes.mlas && ColumnsFirst(job, x);
  ForEachOutput(job, context.pool(), [&](int64_t plane, int64_t output, const Cover& cover) {
    const T* source = from + plane * job.in_size;
    T sum = 0;
    if (columns_first) {
      sum = SumOfColumns(job, cover, source);
    } else {
      cover.ForEach(job, [&](int64_t offset) { sum += source[offset]; });
    }
    const int64_t count = attributes.count_padding ? PaddedCount(job, cover) : cover.count();
    to[output] = count == 0 ? T{0} : sum / static_cast<T>(count);
  });
  return {};
}

// Since version 19 ONNX Runtime no longer asks MLAS; before, it did not where its count would be wrong.
Result<std::unique_ptr<Kernel>> MakeAveragePool(const KernelRequest& request) {
  AverageAttributes attributes;
  RULERUN_ASSIGN(attributes.window, ReadWindowAttributes(*request.attributes));
  attributes.count_padding = IntOr(*request.attributes, "count_include_pad", 0) != 0;
  attributes.mlas = request.since_version < 19 && !(attributes.count_padding && attributes.window.ceil_mode);
  return MakeKernel([attributes](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const Job job, MakeJob(attributes.window, *x));
    return Dispatch<float, double>(x->type(),
                                   [&]<typename T>(TypeTag<T>) { return RunAverage<T>(job, *x, attributes, context); });
  });
}

template <typename T>
T PowerOf(T value, T p) {
  return p == 1 ? std::abs(value) : p == 2 ? value * value : std::pow(std::abs(value), p);
}

template <typename T>
T RootOf(T sum, T p) {
  return p == 1 ? sum : p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
}

// `p` was a float before version 2.
double ReadP(const AttributeMap& attributes) {
  const auto found = attributes.find("p");
  if (found != attributes.end() && std::holds_alternative<float>(found->second)) return std::get<float>(found->second);
  return static_cast<double>(IntOr(attributes, "p", 2));
}

Result<std::unique_ptr<Kernel>> MakeLpPool(const KernelRequest& request) {
  RULERUN_ASSIGN(const WindowAttributes attributes, ReadWindowAttributes(*request.attributes));
  const double p = ReadP(*request.attributes);
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const Job job, MakeJob(attributes, *x));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), job.dims));
    if (y->count() == 0) return {};
    return Dispatch<float, double>(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      const T* from = x->data<T>();
      T* to = y->mutable_data<T>();
      ForEachOutput(job, context.pool(), [&](int64_t plane, int64_t output, const Cover& cover) {
        T sum = 0;
        cover.ForEach(job, [&](int64_t i) { sum += PowerOf(from[plane * job.in_size + i], static_cast<T>(p)); });
        to[output] = RootOf(sum, static_cast<T>(p));
      });
      return {};
    });
  });
}

// The global forms: reduce(plane, count) -> value, on every plane.
template <typename T, typename F>
Status RunGlobal(KernelContext& context, F reduce) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  if (x->rank() < 2) return Invalid("a global pool needs a batch and a channel axis");
  Dims dims(x->dims().size(), 1);
  std::copy(x->dims().begin(), x->dims().begin() + 2, dims.begin());
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), dims));
  const int64_t size = Product(x->dims(), 2, x->rank());
  const T* from = x->data<T>();
  T* to = y->mutable_data<T>();
  context.pool().ParallelFor(y->count(), std::max<int64_t>(1, kGrain / std::max<int64_t>(size, 1)),
                             [&](int64_t begin, int64_t end) {
                               for (int64_t i = begin; i < end; ++i) to[i] = reduce(from + i * size, size);
                             });
  return {};
}

template <typename T>
T Maximum(const T* x, int64_t count) {
  T best = Lowest<T>();
  for (int64_t i = 0; i < count; ++i) best = x[i] > best ? x[i] : best;
  return best;
}

template <typename... Ts, typename F>
Status DispatchGlobal(KernelContext& context, F reduce) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  return Dispatch<Ts...>(x->type(), [&]<typename T>(TypeTag<T>) { return RunGlobal<T>(context, reduce); });
}

Status GlobalAverage(KernelContext& context) {
  return DispatchGlobal<float, double>(context, [](auto* x, int64_t n) { return Average(x, n); });
}

Status GlobalMax(KernelContext& context) {
  return DispatchGlobal<float, double, int8_t, uint8_t>(context, [](auto* x, int64_t n) { return Maximum(x, n); });
}

Result<std::unique_ptr<Kernel>> MakeGlobalLpPool(const KernelRequest& request) {
  const double p = ReadP(*request.attributes);
  return MakeKernel([p](KernelContext& context) -> Status {
    return DispatchGlobal<float, double>(context, [p](auto* x, int64_t count) {
      using T = std::remove_cvref_t<decltype(*x)>;
      T sum = 0;
      for (int64_t i = 0; i < count; ++i) sum += PowerOf(x[i], static_cast<T>(p));
      return RootOf(sum, static_cast<T>(p));
    });
  });
}

}  // namespace

void Register_ops_pool(KernelRegistry& registry) {
  const Types comparable = {DataType::kFloat, DataType::kDouble, DataType::kInt8, DataType::kUint8};
  AddOp(registry, "MaxPool", {1, kLatest}, {comparable}, MakeMaxPool);
  AddOp(registry, "GlobalMaxPool", {1, kLatest}, {comparable}, Stateless(GlobalMax));
  AddOp(registry, "AveragePool", {1, kLatest}, {FloatTypes()}, MakeAveragePool);
  AddOp(registry, "GlobalAveragePool", {1, kLatest}, {FloatTypes()}, Stateless(GlobalAverage));
  AddOp(registry, "LpPool", {1, kLatest}, {FloatTypes()}, MakeLpPool);
  AddOp(registry, "GlobalLpPool", {1, kLatest}, {FloatTypes()}, MakeGlobalLpPool);
}

}  // namespace rulerun
