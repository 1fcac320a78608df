// com.microsoft's Gelu, FastGelu, BiasGelu and QuickGelu, and the functions behind them.
#include "kernels/ops/gelu.h"

#include <algorithm>
#include <cmath>

#include "kernels/ops/op.h"
#include "kernels/ops/vector_math.h"

namespace rulerun {
namespace {

constexpr int64_t kGrain = 16384;
constexpr int64_t kBlock = 1024;  // elements with a bias added at a time

// f(x, y, count) on all of input 0, plus input 1 where there is one, which is a row.
template <typename F>
Status RunWithBias(KernelContext& context, F f) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  const Tensor* bias = context.Input(1);
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, x->dims()));
  if (x->count() == 0) return {};
  const float* from = x->data<float>();
  float* to = y->mutable_data<float>();
  if (bias == nullptr) {
    context.pool().ParallelFor(x->count(), kGrain,
                               [&](int64_t begin, int64_t end) { f(from + begin, to + begin, end - begin); });
    return {};
  }
  const int64_t width = x->rank() == 0 ? 1 : x->dims().back();
  if (bias->count() != width) return Invalid("the bias does not have one value per element of a row");
  const float* add = bias->data<float>();
  context.pool().ParallelFor(x->count(), kGrain, [&](int64_t begin, int64_t end) {
    float sum[kBlock];
    for (int64_t i = begin; i < end; i += kBlock) {
      const int64_t count = std::min(kBlock, end - i);
      for (int64_t k = 0, column = i % width; k < count; ++k) {
        sum[k] = from[i + k] + add[column];
        if (++column == width) column = 0;
      }
      f(sum, to + i, count);
    }
  });
  return {};
}

template <typename F>
KernelFactory WithBias(F f) {
  return Stateless([f](KernelContext& context) { return RunWithBias(context, f); });
}

Result<std::unique_ptr<Kernel>> MakeQuickGelu(const KernelRequest& request) {
  const float alpha = FloatOr(*request.attributes, "alpha", 1.702f);
  return MakeKernel([alpha](KernelContext& context) {
    return RunWithBias(context, [alpha](const float* x, float* y, int64_t count) { VectorSwish(x, alpha, y, count); });
  });
}

}  // namespace

void VectorGelu(const float* x, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] * 0.70710678118654752f;
  VectorErf(y, y, count);
  for (int64_t i = 0; i < count; ++i) y[i] = (0.5f * x[i]) * (y[i] + 1.0f);
}

void VectorBiasGelu(const float* x, float* y, int64_t count) {
  const float factor = 1.0f / std::sqrt(2.0f);
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] * factor;
  VectorErf(y, y, count);
  for (int64_t i = 0; i < count; ++i) y[i] = (x[i] * 0.5f) * (y[i] + 1.0f);
}

void VectorGeluTanh(const float* x, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    y[i] = x[i] * (0.035677408136300125f * x[i] * x[i] + 0.7978845608028654f);
  }
  VectorTanh(y, y, count);
  for (int64_t i = 0; i < count; ++i) y[i] = (0.5f * x[i]) * (y[i] + 1.0f);
}

void VectorSwish(const float* x, float alpha, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] * alpha;
  VectorLogistic(y, y, count);
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] * y[i];
}

void Register_ops_gelu(KernelRegistry& registry) {
  const Types floats = {DataType::kFloat};
  AddOp(registry, "Gelu", {}, {floats}, WithBias(VectorGelu), kMicrosoft);
  AddOp(registry, "BiasGelu", {}, {floats, floats}, WithBias(VectorBiasGelu), kMicrosoft);
  AddOp(registry, "FastGelu", {}, {floats, floats}, WithBias(VectorGeluTanh), kMicrosoft);
  AddOp(registry, "QuickGelu", {}, {floats}, MakeQuickGelu, kMicrosoft);
}

}  // namespace rulerun
