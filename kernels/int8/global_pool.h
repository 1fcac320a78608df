// The mean over all pixels of an 8-bit image, requantized.
#ifndef RULERUN_KERNELS_INT8_GLOBAL_POOL_H_
#define RULERUN_KERNELS_INT8_GLOBAL_POOL_H_

#include <string_view>

#include "engine/base/result.h"
#include "kernels/int8/arithmetic.h"
#include "kernels/kernel.h"

namespace rulerun::int8 {

// y = Requantize(sum (x - zero point), x scale / (y scale * pixels)). x: N, C, spatial... or N, spatial..., C. Where
// ONNX Runtime fails (2^24 pixels or more, a multiplier outside [2^-32, 256)) this is a kModel error, worded for `op`.
Status RunGlobalAveragePool(KernelContext& context, const Tensor& x, Quantization from, Quantization to,
                            bool channels_last, std::string_view op);

}  // namespace rulerun::int8

#endif  // RULERUN_KERNELS_INT8_GLOBAL_POOL_H_
