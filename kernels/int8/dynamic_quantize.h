// Scale and zero point of a tensor from its own range, as DynamicQuantizeLinear has them (uint8).
#ifndef RULERUN_KERNELS_INT8_DYNAMIC_QUANTIZE_H_
#define RULERUN_KERNELS_INT8_DYNAMIC_QUANTIZE_H_

#include <cstdint>

#include "kernels/int8/arithmetic.h"
#include "kernels/thread_pool.h"

namespace rulerun::int8 {

// The range includes 0. An empty or all-zero tensor gives scale 1, zero point 0; so does one whose range is so small
// that the scale underflows (ONNX Runtime divides 0 by 0 there and gets zero point 255). NaN elements are passed over.
Quantization DynamicQuantization(ThreadPool& pool, const float* x, int64_t count);

// y = Quantize(x), in parallel.
void QuantizeTo(ThreadPool& pool, const float* x, int64_t count, Quantization quantization, uint8_t* y);

}  // namespace rulerun::int8

#endif  // RULERUN_KERNELS_INT8_DYNAMIC_QUANTIZE_H_
