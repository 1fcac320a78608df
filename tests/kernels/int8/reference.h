// The int8 operators once more: slow, scalar, one element at a time, straight from their specification. The judge of
// the real kernels. Nothing here is shared with them.
#ifndef RULERUN_TESTS_KERNELS_INT8_REFERENCE_H_
#define RULERUN_TESTS_KERNELS_INT8_REFERENCE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/graph/tensor.h"

namespace rulerun::int8_test::reference {

// Scale and zero point of one 8-bit tensor.
struct Quant {
  float scale = 1;
  int64_t zero = 0;
};

// scale, zero: as the operators take them; `zero` may be empty. block 0: not blocked.
Tensor QuantizeLinear(const Tensor& x, const Tensor& scale, const Tensor& zero, DataType type, int64_t axis,
                      int64_t block, bool saturate);
Tensor DequantizeLinear(const Tensor& x, const Tensor& scale, const Tensor& zero, DataType type, int64_t axis,
                        int64_t block);
// y, scale, zero point.
std::vector<Tensor> DynamicQuantizeLinear(const Tensor& x);

struct Conv {
  std::vector<int64_t> strides, dilations, pads;  // one per spatial axis; pads: begins, then ends
  int64_t group = 1;
};
// x: N, C, spatial; w: M, C / group, kernel; w_zero: 1 or M elements, or empty. int32 sums.
Tensor ConvInteger(const Tensor& x, const Tensor& w, int64_t x_zero, const Tensor& w_zero, const Conv& conv);
Tensor QLinearConv(const Tensor& x, Quant qx, const Tensor& w, const Tensor& w_scale, const Tensor& w_zero, Quant qy,
                   DataType type, const Tensor& bias, const Conv& conv);

// Matrices only: a [M, K], b [K, N]; b_zero: 1 or N elements, or empty.
Tensor MatMulInteger(const Tensor& a, const Tensor& b, int64_t a_zero, const Tensor& b_zero);
// sums [.., N]; multiplier as f(f(a_scale * b_scale) / y_scale): 1 or N entries.
Tensor Requantize(const Tensor& sums, const std::vector<float>& multiplier, int64_t zero, DataType type);
Tensor Scale(const Tensor& sums, const std::vector<float>& multiplier, const Tensor& bias);

Tensor QLinearAdd(const Tensor& a, Quant qa, const Tensor& b, Quant qb, Quant qc);
Tensor QLinearMul(const Tensor& a, Quant qa, const Tensor& b, Quant qb, Quant qc);

// function(dequantized), quantized.
Tensor Unary(const Tensor& x, Quant qx, Quant qy, const std::function<float(float)>& function);
float Logistic(float x);

// Over the last `axes` axes (opset < 13), or over axis `axis` alone.
Tensor SoftmaxFrom(const Tensor& x, float x_scale, Quant qy, size_t axis);
Tensor SoftmaxAlong(const Tensor& x, float x_scale, Quant qy, size_t axis);

struct Pool {
  std::vector<int64_t> kernel, strides, dilations, pads;
  bool ceil_mode = false;
  bool count_include_pad = false;
};
// x: N, C, spatial.
Tensor AveragePool(const Tensor& x, Quant qx, Quant qy, const Pool& pool);
Tensor GlobalAveragePool(const Tensor& x, Quant qx, Quant qy);
Tensor MaxPool(const Tensor& x, const Pool& pool);

// Any axes order: output axis i is input axis order[i].
Tensor Transpose(const Tensor& x, const std::vector<size_t>& order);
Tensor ChannelsLast(const Tensor& x);  // N, C, spatial -> N, spatial, C

}  // namespace rulerun::int8_test::reference

#endif  // RULERUN_TESTS_KERNELS_INT8_REFERENCE_H_
