#include "kernels/ops/nbits_weights.h"

#include <algorithm>
#include <string>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

constexpr int64_t kLargestSize = int64_t{1} << 31;

// Field `index` of a run of packed fields, the first in the lowest bits.
int Field(const uint8_t* packed, int64_t index, int bits) {
  const int64_t at = index * bits;
  return (packed[at / 8] >> (at % 8)) & ((1 << bits) - 1);
}

Status CheckCount(const Tensor* tensor, int64_t count, const char* what) {
  if (tensor == nullptr || tensor->count() == count) return {};
  return Invalid(std::string(what) + " have shape " + DimsText(tensor->dims()) + ", which is not " +
                 std::to_string(count) + " elements");
}

}  // namespace

Result<NBitsShape> ReadNBitsShape(const AttributeMap& attributes) {
  NBitsShape shape;
  shape.depth = IntOr(attributes, "K", 0);
  shape.columns = IntOr(attributes, "N", 0);
  shape.block = IntOr(attributes, "block_size", 0);
  const int64_t bits = IntOr(attributes, "bits", 4);
  if (shape.depth < 1 || shape.depth > kLargestSize || shape.columns < 1 || shape.columns > kLargestSize) {
    return Invalid("K and N must be positive");
  }
  if (shape.block < 16 || shape.block > kLargestSize || (shape.block & (shape.block - 1)) != 0) {
    return Invalid("block_size " + std::to_string(shape.block) + " is no power of two of at least 16");
  }
  if (bits != 2 && bits != 4 && bits != 8) {
    return Unsupported("weights of " + std::to_string(bits) + " bits; those of 2, 4 and 8 bits have a kernel");
  }
  shape.bits = static_cast<int>(bits);
  return shape;
}

Result<NBitsWeights> NBitsWeights::Read(const NBitsShape& shape, const KernelContext& context) {
  NBitsWeights weights;
  weights.shape = shape;
  RULERUN_ASSIGN(const Tensor* data, Required(context, 1));
  RULERUN_ASSIGN(const Tensor* scales, Required(context, 2));
  RULERUN_RETURN_IF_ERROR(CheckCount(data, shape.columns * shape.column_bytes(), "the weights"));
  RULERUN_RETURN_IF_ERROR(CheckCount(scales, shape.columns * shape.blocks(), "the scales"));
  weights.data = data->data<uint8_t>();
  weights.scales = scales->data<float>();
  if (const Tensor* zero_points = context.Input(3)) {
    const bool packed = zero_points->type() == DataType::kUint8;
    RULERUN_RETURN_IF_ERROR(CheckCount(
        zero_points, shape.columns * (packed ? shape.zero_point_bytes() : shape.blocks()), "the zero points"));
    if (packed) {
      weights.packed_zero_points = zero_points->data<uint8_t>();
    } else {
      weights.float_zero_points = zero_points->data<float>();
    }
  }
  if (const Tensor* groups = context.Input(4)) {
    if (groups->count() < shape.depth) return Invalid("g_idx has fewer than K elements");
    weights.groups = groups->data<int32_t>();
    for (int64_t k = 0; k < shape.depth; ++k) {
      if (weights.groups[k] < 0 || weights.groups[k] >= shape.blocks()) return Invalid("g_idx names no block");
    }
  }
  return weights;
}

int NBitsWeights::ZeroPoint(int64_t column, int64_t index) const {
  if (packed_zero_points == nullptr) return 1 << (shape.bits - 1);
  return Field(packed_zero_points + column * shape.zero_point_bytes(), index, shape.bits);
}

void NBitsWeights::Dequantize(int64_t column, float* to, int64_t step) const {
  const uint8_t* from = data + column * shape.column_bytes();
  if (groups != nullptr || float_zero_points != nullptr) {
    for (int64_t k = 0; k < shape.depth; ++k) {
      const int64_t index = groups != nullptr ? groups[k] : k / shape.block;
      const float scale = Scale(column, index);
      const float zero_point = float_zero_points != nullptr ? float_zero_points[column * shape.blocks() + index]
                                                            : static_cast<float>(ZeroPoint(column, index));
      to[k * step] = static_cast<float>(Field(from, k, shape.bits)) * scale - scale * zero_point;
    }
    return;
  }
  for (int64_t index = 0; index < shape.blocks(); ++index) {
    const float scale = Scale(column, index);
    const int zero_point = ZeroPoint(column, index);
    const int64_t end = std::min(shape.depth, (index + 1) * shape.block);
    for (int64_t k = index * shape.block; k < end; ++k) {
      to[k * step] = static_cast<float>(Field(from, k, shape.bits) - zero_point) * scale;
    }
  }
}

void NBitsWeights::Centre(int64_t column, int16_t* to) const {
  const uint8_t* from = data + column * shape.column_bytes();
  for (int64_t index = 0; index < shape.blocks(); ++index) {
    const int zero_point = ZeroPoint(column, index);
    const int64_t end = std::min(shape.depth, (index + 1) * shape.block);
    for (int64_t k = index * shape.block; k < end; ++k) {
      to[k] = static_cast<int16_t>(Field(from, k, shape.bits) - zero_point);
    }
  }
  std::fill(to + shape.depth, to + shape.padded_depth(), int16_t{0});
}

}  // namespace rulerun
