// softmax(Q K') V for many heads: what the attention operators share. How a product becomes a score is theirs.
#ifndef RULERUN_KERNELS_OPS_SCALED_ATTENTION_H_
#define RULERUN_KERNELS_OPS_SCALED_ATTENTION_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/base/result.h"
#include "kernels/thread_pool.h"

namespace rulerun {

// One row of products of a query with all keys.
struct ScoreRow {
  int64_t batch = 0, head = 0, query = 0;
  float* values = nullptr;
};

struct ScaledAttention {
  int64_t batch = 0, heads = 0;
  int64_t kv_heads = 0;               // of K and V; as many heads of Q share each
  int64_t queries = 0, keys = 0;      // rows of Q, and of K and V, per head
  int64_t head_size = 0, v_size = 0;  // elements in a row of Q and K, and of V
  const float* q = nullptr;           // [batch, heads, queries, head_size]
  const float* k = nullptr;           // [batch, kv_heads, keys, head_size]
  const float* v = nullptr;           // [batch, kv_heads, keys, v_size]
  // Makes scores of products: scale, masks. false: the query sees no key, and its output is 0.
  std::function<bool(const ScoreRow&)> score;
  bool scaled = true;        // whether it does so with a factor, which ONNX Runtime folds into the product
  float* weights = nullptr;  // [batch, heads, queries, keys] after the softmax, or nullptr
  float* y = nullptr;
  bool heads_first = false;  // y is [batch, heads, queries, v_size], else [batch, queries, heads, v_size]
};

Status Run(const ScaledAttention& attention, ThreadPool& pool);

// [batch, length, heads, size] with rows `row_step` apart -> [batch, heads, length, size].
std::vector<float> SplitHeads(const float* x, int64_t batch, int64_t length, int64_t row_step, int64_t heads,
                              int64_t size);

// past and new rows of each of `heads` heads behind each other: [heads, past, size], [heads, length, size] -> `to`.
void JoinRows(const float* past, int64_t past_length, const float* now, int64_t length, int64_t heads, int64_t size,
              float* to);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_SCALED_ATTENTION_H_
