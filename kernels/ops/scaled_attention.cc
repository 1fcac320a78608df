#include "kernels/ops/scaled_attention.h"

#include <algorithm>
#include <atomic>

#include "engine/base/codes.h"
#include "kernels/ops/gemm.h"
#include "kernels/ops/softmax.h"

namespace rulerun {
namespace {

// Products of one head become weights.
void WeightRows(const ScaledAttention& job, int64_t item, float* products) {
  ScoreRow row{item / job.heads, item % job.heads, 0, products};
  for (; row.query < job.queries; ++row.query, row.values += job.keys) {
    if (job.score(row)) {
      SoftmaxRow(row.values, row.values, job.keys);
    } else {
      std::fill_n(row.values, job.keys, 0.0f);
    }
  }
  if (job.weights != nullptr)
    std::copy_n(products, job.queries * job.keys, job.weights + item * job.queries * job.keys);
}

// false where memory is short.
bool RunHeads(const ScaledAttention& job, int64_t begin, int64_t end) {
  PackedMatrix keys(job.head_size, job.keys), values(job.keys, job.v_size);
  if (!keys.allocated() || !values.allocated()) return false;
  GemmOrder score_order = UnpackedOrder(job.head_size, job.keys);
  score_order.row_by_fours = score_order.row_by_fours && !job.scaled;
  std::vector<float> products(static_cast<size_t>(job.queries * job.keys));
  const int64_t y_step = job.heads_first ? job.v_size : job.heads * job.v_size;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t batch = item / job.heads, head = item % job.heads;
    const int64_t kv = batch * job.kv_heads + head / (job.heads / job.kv_heads);
    keys.Pack({job.k + kv * job.keys * job.head_size, 1, job.head_size}, nullptr);
    GemmPanels(job.q + item * job.queries * job.head_size, job.head_size, job.queries, keys.panel(0), job.head_size,
               job.keys, products.data(), job.keys, score_order);
    WeightRows(job, item, products.data());
    values.Pack({job.v + kv * job.keys * job.v_size, job.v_size, 1}, nullptr);
    const int64_t first = job.heads_first ? item * job.queries : batch * job.queries * job.heads + head;
    GemmPanels(products.data(), job.keys, job.queries, values.panel(0), job.keys, job.v_size,
               job.y + first * job.v_size, y_step, UnpackedOrder(job.keys, job.v_size));
  }
  return true;
}

}  // namespace

Status Run(const ScaledAttention& job, ThreadPool& pool) {
  const int64_t heads = job.batch * job.heads;
  if (job.keys == 0) std::fill_n(job.y, heads * job.queries * job.v_size, 0.0f);
  if (heads == 0 || job.queries == 0 || job.keys == 0) return {};
  std::atomic<bool> failed = false;
  const int64_t work = std::max<int64_t>(1, job.queries * job.keys * (job.head_size + job.v_size));
  pool.ParallelFor(heads, std::max<int64_t>(1, 65536 / work), [&](int64_t begin, int64_t end) {
    if (!RunHeads(job, begin, end)) failed = true;
  });
  if (failed) return Error{Code::kNoMemory, "no memory left to pack keys and values", "", ""};
  return {};
}

std::vector<float> SplitHeads(const float* x, int64_t batch, int64_t length, int64_t row_step, int64_t heads,
                              int64_t size) {
  std::vector<float> split(static_cast<size_t>(batch * length * heads * size));
  float* to = split.data();
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t head = 0; head < heads; ++head) {
      for (int64_t row = 0; row < length; ++row, to += size) {
        std::copy_n(x + (b * length + row) * row_step + head * size, size, to);
      }
    }
  }
  return split;
}

void JoinRows(const float* past, int64_t past_length, const float* now, int64_t length, int64_t heads, int64_t size,
              float* to) {
  for (int64_t head = 0; head < heads; ++head) {
    to = std::copy_n(past + head * past_length * size, past_length * size, to);
    to = std::copy_n(now + head * length * size, length * size, to);
  }
}

}  // namespace rulerun
