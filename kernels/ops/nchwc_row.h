// The inner part of a convolution over blocks of channels: rows of outputs.
#ifndef RULERUN_KERNELS_OPS_NCHWC_ROW_H_
#define RULERUN_KERNELS_OPS_NCHWC_ROW_H_

#include <cstdint>

#include "kernels/geometry.h"

namespace rulerun {

struct NchwcConvShape {
  Window height, across;
  int64_t block = 16;
  bool depthwise = false;  // every channel has one filter of its own
  int64_t pixel = 16;      // floats between input positions: 1 for the plain layout
  int64_t inner = 16;      // input channels that one position contributes
  int64_t in_step = 0;     // floats between input blocks (or channels)
  int64_t in_blocks = 1;   // of one group
  int64_t out_step = 0;    // floats between output blocks

  int64_t filter_step() const { return height.kernel * across.kernel * inner * block; }  // between input blocks
};

// What one call adds up.
struct NchwcConvRow {
  const float* x = nullptr;     // the first input block
  const float* w = nullptr;     // the filters of the first output block for that input block
  float* y = nullptr;           // the row in the first output block
  const float* bias = nullptr;  // of the first output block; nullptr: none is added
  int64_t row = 0;              // which row of outputs
  int64_t in_blocks = 1;        // that are summed up before the output is touched
  int64_t out_blocks = 1;
  bool add = false;  // on top of what y holds
};

void RunNchwcConvRow(const NchwcConvShape& shape, const NchwcConvRow& row);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_NCHWC_ROW_H_
