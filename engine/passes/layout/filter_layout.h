// Filters of convolutions, reordered for blocked channels.
#ifndef RULERUN_ENGINE_PASSES_LAYOUT_FILTER_LAYOUT_H_
#define RULERUN_ENGINE_PASSES_LAYOUT_FILTER_LAYOUT_H_

#include "engine/graph/tensor.h"

namespace rulerun {

// `size` rounded up to a multiple of `block`.
constexpr int64_t RoundUp(int64_t size, int64_t block) { return (size + block - 1) / block * block; }

// A float filter O x I x H x W with its output channels in blocks, the innermost axis: O/B, I, H, W, B. With
// `block_inputs` its input channels too: O/B, I/B, H, W, B of inputs, B of outputs. What is missing is zero; the
// dimensions are told as O x I x H x W with both rounded up.
Tensor BlockedFilter(const Tensor& filter, int64_t block, bool block_inputs);

// A vector of floats, filled up with `fill` to a multiple of `block`, of shape {size, 1, 1, ...}.
Tensor PaddedVector(const float* values, int64_t count, int64_t block, float fill, size_t rank);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_LAYOUT_FILTER_LAYOUT_H_
