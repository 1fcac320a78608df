// Softmax, LogSoftmax and Hardmax. Before version 13 they work on all axes from `axis` on as one, since then on one.
#include "kernels/ops/softmax.h"

#include <algorithm>
#include <cmath>

#include "kernels/buffer.h"
#include "kernels/ops/op.h"
#include "kernels/ops/vector_math.h"

namespace rulerun {
namespace {

enum class Kind { kSoftmax, kLogSoftmax, kHardmax };

// Elements of one row are `inner` apart; rows start at every outer * length * inner + i, i < inner.
struct Rows {
  int64_t outer = 1, length = 1, inner = 1;
};

void LogSoftmaxRow(const float* x, float* y, int64_t count) {
  const float maximum = *std::max_element(x, x + count);
  VectorExpBelow(x, maximum, y, count);
  const float log_sum = std::log(VectorSum(y, count));
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] - maximum - log_sum;
}

using rulerun::SoftmaxRow;  // that of floats

void SoftmaxRow(const double* x, double* y, int64_t count) {
  const double maximum = *std::max_element(x, x + count);
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += y[i] = std::exp(x[i] - maximum);
  for (int64_t i = 0; i < count; ++i) y[i] /= sum;
}

void LogSoftmaxRow(const double* x, double* y, int64_t count) {
  const double maximum = *std::max_element(x, x + count);
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += std::exp(x[i] - maximum);
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] - maximum - std::log(sum);
}

template <typename T>
void Row(Kind kind, const T* x, T* y, int64_t count) {
  if (kind == Kind::kSoftmax) return SoftmaxRow(x, y, count);
  if (kind == Kind::kLogSoftmax) return LogSoftmaxRow(x, y, count);
  const int64_t best = std::max_element(x, x + count) - x;
  std::fill(y, y + count, T{0});
  y[best] = 1;
}

template <typename T>
void RunRows(Kind kind, const Rows& rows, const T* x, T* y, ThreadPool& pool) {
  const int64_t grain = std::max<int64_t>(1, 4096 / rows.length);
  pool.ParallelFor(rows.outer * rows.inner, grain, [&](int64_t begin, int64_t end) {
    std::vector<T> row(rows.inner == 1 ? 0 : static_cast<size_t>(rows.length)), result(row.size());
    for (int64_t r = begin; r < end; ++r) {
      const int64_t start = r / rows.inner * rows.length * rows.inner + r % rows.inner;
      if (rows.inner == 1) {
        Row(kind, x + start, y + start, rows.length);
        continue;
      }
      for (size_t i = 0; i < row.size(); ++i) row[i] = x[start + static_cast<int64_t>(i) * rows.inner];
      Row(kind, row.data(), result.data(), rows.length);
      for (size_t i = 0; i < row.size(); ++i) y[start + static_cast<int64_t>(i) * rows.inner] = result[i];
    }
  });
}

template <Kind kKind>
Result<std::unique_ptr<Kernel>> Make(const KernelRequest& request) {
  const bool one_axis = request.since_version >= 13;
  const int64_t axis = IntOr(*request.attributes, "axis", one_axis ? -1 : 1);
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), x->dims()));
    if (x->count() == 0) return {};
    Rows rows;
    if (x->rank() > 0) {
      // The old form may also name the end: then every element is a row of its own.
      const bool at_end = !one_axis && axis == x->rank();
      int64_t at = axis;
      if (!at_end) {
        RULERUN_ASSIGN(at, ResolveAxis(axis, x->rank()));
      }
      rows.outer = Product(x->dims(), 0, at);
      rows.length = one_axis ? x->dims()[static_cast<size_t>(at)] : Product(x->dims(), at, x->rank());
      rows.inner = one_axis ? Product(x->dims(), at + 1, x->rank()) : 1;
    }
    return Dispatch<float, double>(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      RunRows(kKind, rows, x->data<T>(), y->mutable_data<T>(), context.pool());
      return {};
    });
  });
}

}  // namespace

void SoftmaxRow(const float* x, float* y, int64_t count) {
  VectorExpBelow(x, *std::max_element(x, x + count), y, count);
  const float scale = 1.0f / VectorSum(y, count);
  for (int64_t i = 0; i < count; ++i) y[i] *= scale;
}

void Register_ops_softmax(KernelRegistry& registry) {
  AddOp(registry, "Softmax", {}, {FloatTypes()}, Make<Kind::kSoftmax>);
  AddOp(registry, "LogSoftmax", {}, {FloatTypes()}, Make<Kind::kLogSoftmax>);
  AddOp(registry, "Hardmax", {}, {FloatTypes()}, Make<Kind::kHardmax>);
}

}  // namespace rulerun
