// Normalization of one row, in ONNX Runtime's order of operations (shared/ort130/inventory-kernels.md, section 7).
#ifndef RULERUN_KERNELS_OPS_ROW_NORM_H_
#define RULERUN_KERNELS_OPS_ROW_NORM_H_

#include <cstdint>

namespace rulerun {

struct RowMoments {
  float mean = 0;
  float inverse_deviation = 1;
};

// y = (x - mean) / deviation * scale + bias; bias may be nullptr. x and y may not overlap.
RowMoments LayerNormRow(const float* x, const float* scale, const float* bias, float epsilon, float* y, int64_t count);
// The same by Welford's one pass, as short rows and the Skip… operators take it; x and y may be the same.
RowMoments WelfordNormRow(const float* x, const float* scale, const float* bias, float epsilon, float* y,
                          int64_t count);
// y = x / rms * scale.
RowMoments RmsNormRow(const float* x, const float* scale, float epsilon, float* y, int64_t count);
RowMoments SequentialRmsNormRow(const float* x, const float* scale, float epsilon, float* y, int64_t count);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_ROW_NORM_H_
