// Element-wise int8 arithmetic on contiguous runs of elements, vectorized. All functions give the same results on every
// SIMD target, equal to the scalar steps in arithmetic.h. Runs may be empty; memory needs no alignment.
#ifndef RULERUN_KERNELS_INT8_ROWS_H_
#define RULERUN_KERNELS_INT8_ROWS_H_

#include <cstdint>

#include "engine/graph/tensor.h"
#include "kernels/int8/arithmetic.h"

namespace rulerun::int8 {

// Scale and zero point of a run: one for all elements, or one per element.
struct RowParams {
  const float* scale = nullptr;
  const int32_t* zero_point = nullptr;
  bool per_element = false;

  RowParams At(int64_t offset) const {
    return per_element ? RowParams{scale + offset, zero_point + offset, true} : *this;
  }
};

// y = Quantize(x) as uint8, int8, uint16 or int16 (`type`), within `limits`, which may be narrower than the type.
void QuantizeRow(const float* x, int64_t count, const RowParams& params, Limits limits, DataType type, void* y);

// y = (x - zero_point) * scale; x is uint8, int8, uint16, int16 or int32 (then the difference wraps).
void DequantizeRow(const void* x, int64_t count, const RowParams& params, DataType type, float* y);

// Lowers *min and raises *max to the elements of x; NaN is passed over.
void MinMaxRow(const float* x, int64_t count, float* min, float* max);

// An 8-bit operand of a binary operator: a run, or one value for the whole run.
struct RowOperand {
  const void* data = nullptr;
  bool one_element = false;
};

// y = RoundAndSaturate(fused(a, a_ratio, fused(b, b_ratio, constant))).
struct AddParams {
  float a_ratio = 0;
  float b_ratio = 0;
  float constant = 0;
};
void AddRow(RowOperand a, RowOperand b, int64_t count, const AddParams& params, bool is_signed, void* y);

// y = RoundAndSaturate((a - a_zero_point) * (b - b_zero_point) * ratio + y_zero_point), rounding after each step.
struct MulParams {
  int32_t a_zero_point = 0;
  int32_t b_zero_point = 0;
  int32_t y_zero_point = 0;
  float ratio = 0;
};
void MulRow(RowOperand a, RowOperand b, int64_t count, const MulParams& params, bool is_signed, void* y);

// y = max(y, x), 8 bit.
void MaxRow(const void* x, int64_t count, bool is_signed, void* y);

}  // namespace rulerun::int8

#endif  // RULERUN_KERNELS_INT8_ROWS_H_
