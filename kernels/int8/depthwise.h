// Vector code of depthwise convolutions.
#ifndef RULERUN_KERNELS_INT8_DEPTHWISE_H_
#define RULERUN_KERNELS_INT8_DEPTHWISE_H_

#include <cstdint>

#include "kernels/int8/gemm.h"

namespace rulerun::int8 {

// Some output pixels of all channels. The image is channels-last and has the bytes of x as they are.
struct DepthwiseBlock {
  const uint8_t* const* pixels = nullptr;  // where each output pixel's window starts
  int64_t pixel_count = 0;
  const int64_t* taps = nullptr;  // offsets of the window's elements, in pairs; an odd last one is repeated
  int64_t pairs = 0;
  const int32_t* weights = nullptr;  // [pair][channel], two int16 each, the first tap's in the low half
  int64_t channels = 0;
  const Epilogue* epilogue = nullptr;
  void* out = nullptr;     // channel 0 of the first pixel
  int64_t out_stride = 0;  // elements from pixel to pixel
};
void RunDepthwise(const DepthwiseBlock& block, bool x_is_signed);

}  // namespace rulerun::int8

#endif  // RULERUN_KERNELS_INT8_DEPTHWISE_H_
