// Weights of 2, 4 or 8 bits in the layout of blockwise matrix products.
#ifndef RULERUN_ENGINE_MATCH_PACK_NBITS_H_
#define RULERUN_ENGINE_MATCH_PACK_NBITS_H_

#include <optional>

#include "engine/graph/tensor.h"

namespace rulerun {

struct NBits {
  Tensor weight;                // uint8 [N, blocks, block_size * bits / 8]
  Tensor scales;                // [N * blocks], the type of the scale
  std::optional<Tensor> zeros;  // uint8 [N * ceil(blocks * bits / 8)]; none: the middle of the type
  int64_t bits = 0;
  int64_t block_size = 0;
};

// Packs a weight [K, N] of a 2-, 4- or 8-bit integer type with its scale (and zero point): scalar, [N], or
// [ceil(K / block_size), N] (inventory-qdq.md 6.4.3). `block_size` 0: the weight is not blockwise, and `wanted`
// decides: > 0 is taken, 0 means 32, -1 the largest power of two from 16 to min(K, 256) with the least padding.
// std::nullopt where types or shapes are not these.
std::optional<NBits> PackNBits(const Tensor& weight, const Tensor& scale, const Tensor* zero, int64_t block_size,
                               int64_t wanted);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_MATCH_PACK_NBITS_H_
