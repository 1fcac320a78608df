// The masks of com.microsoft's attention operators.
#ifndef RULERUN_KERNELS_OPS_KEY_MASK_H_
#define RULERUN_KERNELS_OPS_KEY_MASK_H_

#include <cstdint>

#include "engine/base/result.h"
#include "engine/graph/tensor.h"
#include "kernels/ops/scaled_attention.h"

namespace rulerun {

struct KeyMask {
  float scale = 1;
  const Tensor* bias = nullptr;  // float [1 or batch, 1 or heads, queries, keys]
  // int32: [batch] or [2 * batch] (where the keys end, then where they begin), or 0 and 1 for each key as
  // [batch, keys] or [batch, queries, keys].
  const Tensor* mask = nullptr;
  float masked = -10000;    // added where the mask says no
  bool causal = false;      // a query sees no keys behind it
  int64_t past = 0;         // keys that come before those of the queries
  float* scores = nullptr;  // gets the scores as [batch, heads, queries, keys], or nullptr
};

// Lets `mask` make the scores of `attention`, whose sizes must be there; fails where the shapes do not fit.
Status ApplyMask(const KeyMask& mask, ScaledAttention& attention);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_KEY_MASK_H_
