// The weights of MatMulNBits: whole numbers of 2, 4 or 8 bits in blocks along K, each block with its own scale and zero
// point.
#ifndef RULERUN_KERNELS_OPS_NBITS_WEIGHTS_H_
#define RULERUN_KERNELS_OPS_NBITS_WEIGHTS_H_

#include <cstdint>

#include "engine/base/result.h"
#include "kernels/kernel.h"

namespace rulerun {

struct NBitsShape {
  int64_t depth = 0;    // K
  int64_t columns = 0;  // N
  int64_t block = 32;
  int bits = 4;

  int64_t blocks() const { return (depth + block - 1) / block; }
  int64_t padded_depth() const { return blocks() * block; }
  int64_t column_bytes() const { return padded_depth() * bits / 8; }
  int64_t zero_point_bytes() const { return (blocks() * bits + 7) / 8; }  // of a column
};
Result<NBitsShape> ReadNBitsShape(const AttributeMap& attributes);

// What the inputs of one run hold. One of the zero points at most is given; without any it is half the range.
struct NBitsWeights {
  NBitsShape shape;
  const uint8_t* data = nullptr;
  const float* scales = nullptr;
  const uint8_t* packed_zero_points = nullptr;
  const float* float_zero_points = nullptr;
  const int32_t* groups = nullptr;  // k -> its block, where that is not k / block

  // Inputs 1 to 4 of MatMulNBits.
  static Result<NBitsWeights> Read(const NBitsShape& shape, const KernelContext& context);

  float Scale(int64_t column, int64_t index) const { return scales[column * shape.blocks() + index]; }
  int ZeroPoint(int64_t column, int64_t index) const;  // not where they are floats
  // The values of one column as floats: to[k * step] for k in [0, depth).
  void Dequantize(int64_t column, float* to, int64_t step) const;
  // The values less their zero points; those beyond the depth are 0.
  void Centre(int64_t column, int16_t* to) const;
};

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_NBITS_WEIGHTS_H_
