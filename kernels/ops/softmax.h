// Softmax of one row, for operators that have one inside.
#ifndef RULERUN_KERNELS_OPS_SOFTMAX_H_
#define RULERUN_KERNELS_OPS_SOFTMAX_H_

#include <cstdint>

namespace rulerun {

// y = softmax(x), in ONNX Runtime's order of operations; count > 0; x and y may be the same.
void SoftmaxRow(const float* x, float* y, int64_t count);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_SOFTMAX_H_
