// softmax(Q K' * scale + bias + mask) V for many heads: what the attention operators share.
#ifndef RULERUN_KERNELS_OPS_SCALED_ATTENTION_H_
#define RULERUN_KERNELS_OPS_SCALED_ATTENTION_H_

#include <cstdint>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/tensor.h"
#include "kernels/thread_pool.h"

namespace rulerun {

struct ScaledAttention {
  int64_t batch = 0, heads = 0;
  int64_t queries = 0;                // rows of Q, per head
  int64_t keys = 0;                   // rows of K and V, past ones included
  int64_t past = 0;                   // how many of those are past ones
  int64_t head_size = 0, v_size = 0;  // elements in a row of Q and K, and of V
  const float* q = nullptr;           // [batch, heads, queries, head_size]
  const float* k = nullptr;           // [batch, heads, keys, head_size]
  const float* v = nullptr;           // [batch, heads, keys, v_size]
  float scale = 1;
  const Tensor* bias = nullptr;  // float [1 or batch, 1 or heads, queries, keys]
  // int32: [batch] or [2 * batch] (where the keys end, then where they begin), or 0 and 1 for each key as
  // [batch, keys] or [batch, queries, keys].
  const Tensor* mask = nullptr;
  float masked = -10000;    // added where the mask says no
  bool causal = false;      // a query sees no keys behind it
  float* y = nullptr;       // [batch, queries, heads, v_size]
  float* scores = nullptr;  // [batch, heads, queries, keys] before the softmax, or nullptr
};

// Whether bias and mask have the shapes that the rest asks for.
Status CheckMasks(const ScaledAttention& attention);

Status Run(const ScaledAttention& attention, ThreadPool& pool);

// [batch, length, heads, size] with rows `row_step` apart -> [batch, heads, length, size].
std::vector<float> SplitHeads(const float* x, int64_t batch, int64_t length, int64_t row_step, int64_t heads,
                              int64_t size);

// past and new rows of each of `heads` heads behind each other: [heads, past, size], [heads, length, size] -> `to`.
void JoinRows(const float* past, int64_t past_length, const float* now, int64_t length, int64_t heads, int64_t size,
              float* to);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_SCALED_ATTENTION_H_
