#include "engine/passes/layout/filter_layout.h"

#include <algorithm>

namespace rulerun {

Tensor BlockedFilter(const Tensor& filter, int64_t block, bool block_inputs) {
  const int64_t outputs = filter.dims()[0];
  const int64_t inputs = filter.dims()[1];
  const int64_t kernel = filter.dims()[2] * filter.dims()[3];
  const int64_t input_block = block_inputs ? block : 1;
  const Dims dims = {RoundUp(outputs, block), RoundUp(inputs, input_block), filter.dims()[2], filter.dims()[3]};
  Tensor result(DataType::kFloat, dims);
  const float* from = filter.data<float>();
  float* to = result.mutable_data<float>();
  for (int64_t o = 0; o < dims[0]; o += block) {
    for (int64_t i = 0; i < dims[1]; i += input_block) {
      for (int64_t k = 0; k < kernel; ++k) {
        for (int64_t bi = 0; bi < input_block; ++bi) {
          for (int64_t bo = 0; bo < block; ++bo) {
            const bool inside = o + bo < outputs && i + bi < inputs;
            *to++ = inside ? from[((o + bo) * inputs + i + bi) * kernel + k] : 0.0F;
          }
        }
      }
    }
  }
  return result;
}

Tensor PaddedVector(const float* values, int64_t count, int64_t block, float fill, size_t rank) {
  Dims dims(rank, 1);
  dims[0] = RoundUp(count, block);
  Tensor result(DataType::kFloat, dims);
  float* to = result.mutable_data<float>();
  std::fill_n(std::copy_n(values, count, to), dims[0] - count, fill);
  return result;
}

}  // namespace rulerun
