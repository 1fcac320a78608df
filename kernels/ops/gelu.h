// The Gelu functions over arrays, in ONNX Runtime's order of operations.
#ifndef RULERUN_KERNELS_OPS_GELU_H_
#define RULERUN_KERNELS_OPS_GELU_H_

#include <cstdint>

namespace rulerun {

// y[i] = f(x[i]); x and y must not overlap.
void VectorGelu(const float* x, float* y, int64_t count);      // by the error function
void VectorBiasGelu(const float* x, float* y, int64_t count);  // the same, rounded as com.microsoft.BiasGelu is
void VectorGeluTanh(const float* x, float* y, int64_t count);  // the approximation by tanh
void VectorSwish(const float* x, float alpha, float* y, int64_t count);  // x * logistic(alpha * x)

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_GELU_H_
