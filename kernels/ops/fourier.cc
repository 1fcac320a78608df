// DFT and STFT, computed in double.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

using Complex = std::complex<double>;
using Signal = std::vector<Complex>;

// exp(±2 pi i k / n) for k in [0, n).
Signal UnitRoots(size_t n, bool inverse) {
  Signal roots(n);
  for (size_t k = 0; k < n; ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    roots[k] = {std::cos(angle), inverse ? std::sin(angle) : -std::sin(angle)};
  }
  return roots;
}

// The transform of x[0], x[step], x[2 step], ...: halves as long as the length is even, then by the definition.
Signal TransformPart(const Signal& x, size_t start, size_t step, const Signal& roots) {
  const size_t n = x.size() / step;
  Signal y(n);
  if (n % 2 != 0) {
    for (size_t k = 0; k < n; ++k) {
      for (size_t j = 0; j < n; ++j) y[k] += x[start + j * step] * roots[j * k % n * step];
    }
    return y;
  }
  const Signal even = TransformPart(x, start, step * 2, roots);
  const Signal odd = TransformPart(x, start + step, step * 2, roots);
  for (size_t k = 0; k < n / 2; ++k) {
    const Complex turned = odd[k] * roots[k * step];
    y[k] = even[k] + turned;
    y[k + n / 2] = even[k] - turned;
  }
  return y;
}

Signal Transform(const Signal& x, bool inverse) {
  Signal y = TransformPart(x, 0, 1, UnitRoots(x.size(), inverse));
  if (inverse) {
    for (Complex& value : y) value /= static_cast<double>(x.size());
  }
  return y;
}

// A line of a tensor whose last axis has 1 (real) or 2 (complex) elements.
template <typename T>
struct Line {
  T* data;
  int64_t step;   // between its elements, in numbers
  int64_t parts;  // 1 or 2

  Complex Get(int64_t i) const {
    return {static_cast<double>(data[i * step]), parts == 2 ? static_cast<double>(data[i * step + 1]) : 0.0};
  }
  void Set(int64_t i, const Complex& value) const {
    data[i * step] = static_cast<T>(value.real());
    if (parts == 2) data[i * step + 1] = static_cast<T>(value.imag());
  }
};

struct DftJob {
  int64_t axis = 0;
  int64_t samples = 0, length = 0, bins = 0;  // of the input, of the transform, of the output
  bool inverse = false, onesided = false;
};

// Cut off or filled up with zeros; the other half of a one-sided spectrum is its mirror image.
template <typename T>
Signal ReadLine(const Line<const T>& line, const DftJob& job) {
  Signal x(static_cast<size_t>(job.length));
  const int64_t count = std::min(job.samples, job.length);
  for (int64_t i = 0; i < count; ++i) x[static_cast<size_t>(i)] = line.Get(i);
  if (!job.inverse || !job.onesided) return x;
  for (int64_t i = 1; i < count && i < job.length - i; ++i)
    x[static_cast<size_t>(job.length - i)] = std::conj(line.Get(i));
  return x;
}

template <typename T>
void RunDft(const DftJob& job, const Tensor& x, Tensor& y) {
  const int64_t inner = Product(x.dims(), job.axis + 1, x.rank() - 1), outer = Product(x.dims(), 0, job.axis);
  const int64_t x_parts = x.dims().back(), y_parts = y.dims().back();
  for (int64_t line = 0; line < outer * inner; ++line) {
    const int64_t before = line / inner, behind = line % inner;
    const Line<const T> from{x.data<T>() + (before * job.samples * inner + behind) * x_parts, inner * x_parts, x_parts};
    const Line<T> to{y.mutable_data<T>() + (before * job.bins * inner + behind) * y_parts, inner * y_parts, y_parts};
    const Signal spectrum = Transform(ReadLine(from, job), job.inverse);
    for (int64_t i = 0; i < job.bins; ++i) to.Set(i, spectrum[static_cast<size_t>(i)]);
  }
}

Result<std::optional<int64_t>> ReadNumber(const KernelContext& context, size_t slot) {
  const Tensor* tensor = context.Input(slot);
  if (tensor == nullptr) return std::optional<int64_t>();
  if (tensor->count() != 1) return Invalid("input " + std::to_string(slot) + " must be one number");
  return std::optional<int64_t>(ElementAsInt(*tensor, 0));
}

// Since version 20 the axis is an input.
Result<std::unique_ptr<Kernel>> MakeDft(const KernelRequest& request) {
  const std::optional<int64_t> axis =
      request.since_version >= 20 ? std::nullopt : std::optional<int64_t>(IntOr(*request.attributes, "axis", 1));
  const bool inverse = IntOr(*request.attributes, "inverse", 0) != 0;
  const bool onesided = IntOr(*request.attributes, "onesided", 0) != 0;
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const std::optional<int64_t> length, ReadNumber(context, 1));
    RULERUN_ASSIGN(const std::optional<int64_t> given_axis, ReadNumber(context, 2));
    DftJob job;
    job.inverse = inverse;
    job.onesided = onesided;
    RULERUN_ASSIGN(job.axis, ResolveAxis(axis ? *axis : given_axis.value_or(-2), x->rank()));
    const int64_t parts = x->dims().back();
    if (job.axis == x->rank() - 1 || parts < 1 || parts > 2 || (inverse && onesided && parts != 2)) {
      return Invalid("an input of shape " + DimsText(x->dims()) + " holds no real or complex signal along the axis");
    }
    job.samples = x->dims()[static_cast<size_t>(job.axis)];
    job.length = length.value_or(inverse && onesided ? (job.samples - 1) * 2 : job.samples);
    if (job.length < 1) return Invalid("the transform's length must be positive");
    job.bins = onesided && !inverse ? job.length / 2 + 1 : job.length;
    Dims dims = x->dims();
    dims[static_cast<size_t>(job.axis)] = job.bins;
    dims.back() = inverse && onesided ? 1 : 2;
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), dims));
    return Dispatch<float, double>(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      RunDft<T>(job, *x, *y);
      return {};
    });
  });
}

struct StftJob {
  int64_t step = 1, length = 0, frames = 0, bins = 0;
  const Tensor* window = nullptr;
};

template <typename T>
void RunStft(const StftJob& job, const Tensor& x, Tensor& y) {
  const int64_t parts = x.rank() == 3 ? x.dims()[2] : 1;
  Signal frame(static_cast<size_t>(job.length));
  for (int64_t item = 0; item < x.dims()[0] * job.frames; ++item) {
    const int64_t start = item / job.frames * x.dims()[1] + item % job.frames * job.step;
    const Line<const T> from{x.data<T>() + start * parts, parts, parts};
    for (int64_t i = 0; i < job.length; ++i) {
      const double weight = job.window == nullptr ? 1 : static_cast<double>(job.window->data<T>()[i]);
      frame[static_cast<size_t>(i)] = from.Get(i) * weight;
    }
    const Signal spectrum = Transform(frame, false);
    const Line<T> to{y.mutable_data<T>() + item * job.bins * 2, 2, 2};
    for (int64_t i = 0; i < job.bins; ++i) to.Set(i, spectrum[static_cast<size_t>(i)]);
  }
}

Result<std::unique_ptr<Kernel>> MakeStft(const KernelRequest& request) {
  const bool onesided = IntOr(*request.attributes, "onesided", 1) != 0;
  return MakeKernel([onesided](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const std::optional<int64_t> step, ReadNumber(context, 1));
    RULERUN_ASSIGN(const std::optional<int64_t> length, ReadNumber(context, 3));
    StftJob job;
    job.window = context.Input(2);
    job.step = step.value_or(0);
    job.length = length.value_or(job.window == nullptr ? 0 : job.window->count());
    if (x->rank() < 2 || x->rank() > 3 || (x->rank() == 3 && (x->dims()[2] < 1 || x->dims()[2] > 2))) {
      return Invalid("an input of shape " + DimsText(x->dims()) + " holds no real or complex signals");
    }
    if (job.step < 1 || job.length < 1 || job.length > x->dims()[1] ||
        (job.window != nullptr && job.window->count() != job.length)) {
      return Invalid("frames of length " + std::to_string(job.length) + ", " + std::to_string(job.step) +
                     " apart, do not fit a signal of length " + std::to_string(x->dims()[1]));
    }
    job.frames = (x->dims()[1] - job.length) / job.step + 1;
    job.bins = onesided ? job.length / 2 + 1 : job.length;
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), {x->dims()[0], job.frames, job.bins, 2}));
    return Dispatch<float, double>(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      RunStft<T>(job, *x, *y);
      return {};
    });
  });
}

}  // namespace

void Register_ops_fourier(KernelRegistry& registry) {
  AddOp(registry, "DFT", {}, {FloatTypes(), IndexTypes(), {DataType::kInt64}}, MakeDft);
  AddOp(registry, "STFT", {}, {FloatTypes(), IndexTypes(), FloatTypes(), IndexTypes()}, MakeStft);
}

}  // namespace rulerun
