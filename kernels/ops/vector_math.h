// Elementary functions over arrays of floats, with the polynomials and the fused steps of ONNX Runtime's x86 code, so
// that results are equal bit for bit. They are the same on every target and for every split of an array.
#ifndef RULERUN_KERNELS_OPS_VECTOR_MATH_H_
#define RULERUN_KERNELS_OPS_VECTOR_MATH_H_

#include <cstdint>

namespace rulerun {

// y[i] = f(x[i]) for i in [0, count); x and y may be the same array.
void VectorExp(const float* x, float* y, int64_t count);
void VectorLogistic(const float* x, float* y, int64_t count);  // 1 / (1 + exp(-x))
void VectorTanh(const float* x, float* y, int64_t count);
void VectorErf(const float* x, float* y, int64_t count);

// y[i] = exp(x[i] - maximum), for x[i] <= maximum.
void VectorExpBelow(const float* x, float maximum, float* y, int64_t count);

// The sum as ONNX Runtime's softmax takes it with AVX-512: 16 partial sums, halves added, then pairs.
float VectorSum(const float* x, int64_t count);

// The sum of squares as ONNX Runtime's normalizations take it: 8 fused partial sums, halved, then the rest.
float VectorSumOfSquares(const float* x, int64_t count);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_VECTOR_MATH_H_
