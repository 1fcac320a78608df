#include "kernels/ops/scaled_attention.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "kernels/ops/gemm.h"
#include "kernels/ops/op.h"
#include "kernels/ops/softmax.h"

namespace rulerun {
namespace {

// What the mask adds to the scores of one query.
void FillMask(const ScaledAttention& job, int64_t batch, int64_t query, std::vector<float>& row) {
  std::fill(row.begin(), row.end(), 0.0f);
  if (job.mask != nullptr) {
    const int32_t* mask = job.mask->data<int32_t>();
    if (job.mask->rank() == 1) {
      const auto at = [&](int64_t index) { return std::clamp<int64_t>(mask[index], 0, job.keys); };
      std::fill(row.begin() + at(batch), row.end(), job.masked);
      if (job.mask->count() == 2 * job.batch) {
        std::fill(row.begin(), row.begin() + at(job.batch + batch), job.masked);
      }
    } else {
      mask += (job.mask->rank() == 2 ? batch : batch * job.queries + query) * job.keys;
      for (size_t i = 0; i < row.size(); ++i) row[i] = mask[i] > 0 ? 0.0f : job.masked;
    }
  }
  const int64_t seen = job.past + query + 1;
  if (job.causal && job.queries > 1 && seen < job.keys) {
    std::fill(row.begin() + seen, row.end(), std::numeric_limits<float>::lowest());
  }
}

// The part of the bias that belongs to one query of one head.
const float* BiasRow(const ScaledAttention& job, int64_t batch, int64_t head, int64_t query) {
  const Dims& dims = job.bias->dims();
  const int64_t matrix = (dims[0] == 1 ? 0 : batch) * dims[1] + (dims[1] == 1 ? 0 : head);
  return job.bias->data<float>() + (matrix * job.queries + query) * job.keys;
}

// Scores of one head become weights.
void WeightRows(const ScaledAttention& job, int64_t batch, int64_t head, std::vector<float>& mask, float* scores) {
  const bool masked = job.mask != nullptr || (job.causal && job.queries > 1);
  for (int64_t query = 0; query < job.queries; ++query) {
    float* row = scores + query * job.keys;
    for (int64_t i = 0; i < job.keys; ++i) row[i] *= job.scale;
    if (job.bias != nullptr) {
      const float* bias = BiasRow(job, batch, head, query);
      for (int64_t i = 0; i < job.keys; ++i) row[i] += bias[i];
    }
    if (masked) {
      FillMask(job, batch, query, mask);
      for (int64_t i = 0; i < job.keys; ++i) row[i] += mask[static_cast<size_t>(i)];
    }
    if (job.scores != nullptr) {
      std::copy(row, row + job.keys, job.scores + ((batch * job.heads + head) * job.queries + query) * job.keys);
    }
    SoftmaxRow(row, row, job.keys);
  }
}

// false where memory is short.
bool RunHeads(const ScaledAttention& job, int64_t begin, int64_t end) {
  PackedMatrix keys(job.head_size, job.keys), values(job.keys, job.v_size);
  if (!keys.allocated() || !values.allocated()) return false;
  GemmOrder score_order = UnpackedOrder(job.head_size, job.keys);
  score_order.row_by_fours = score_order.row_by_fours && job.scale == 1;  // ONNX Runtime scales in the product
  std::vector<float> scores(static_cast<size_t>(job.queries * job.keys)), mask(static_cast<size_t>(job.keys));
  for (int64_t item = begin; item < end; ++item) {
    const int64_t batch = item / job.heads, head = item % job.heads;
    keys.Pack({job.k + item * job.keys * job.head_size, 1, job.head_size}, nullptr);
    GemmPanels(job.q + item * job.queries * job.head_size, job.head_size, job.queries, keys.panel(0), job.head_size,
               job.keys, scores.data(), job.keys, score_order);
    WeightRows(job, batch, head, mask, scores.data());
    values.Pack({job.v + item * job.keys * job.v_size, job.v_size, 1}, nullptr);
    GemmPanels(scores.data(), job.keys, job.queries, values.panel(0), job.keys, job.v_size,
               job.y + (batch * job.queries * job.heads + head) * job.v_size, job.heads * job.v_size,
               UnpackedOrder(job.keys, job.v_size));
  }
  return true;
}

Status CheckMask(const ScaledAttention& job) {
  if (job.mask == nullptr) return {};
  const Dims& dims = job.mask->dims();
  const bool ends = dims == Dims{job.batch} || dims == Dims{2 * job.batch} || dims == Dims{3 * job.batch + 2};
  const bool zeros_and_ones = dims == Dims{job.batch, job.keys} || dims == Dims{job.batch, job.queries, job.keys};
  if (ends || zeros_and_ones) return {};
  return Invalid("a mask of shape " + DimsText(dims) + " does not fit " + std::to_string(job.batch) + " sequences of " +
                 std::to_string(job.queries) + " queries and " + std::to_string(job.keys) + " keys");
}

}  // namespace

Status CheckMasks(const ScaledAttention& job) {
  RULERUN_RETURN_IF_ERROR(CheckMask(job));
  if (job.bias == nullptr) return {};
  const Dims& dims = job.bias->dims();
  const bool fits = dims.size() == 4 && (dims[0] == 1 || dims[0] == job.batch) &&
                    (dims[1] == 1 || dims[1] == job.heads) && dims[2] == job.queries && dims[3] == job.keys;
  if (fits) return {};
  return Invalid("an attention bias of shape " + DimsText(dims) + " does not fit");
}

Status Run(const ScaledAttention& job, ThreadPool& pool) {
  const int64_t heads = job.batch * job.heads;
  if (job.keys == 0) std::fill_n(job.y, heads * job.queries * job.v_size, 0.0f);
  if (heads == 0 || job.queries == 0 || job.keys == 0) return {};
  std::atomic<bool> failed = false;
  const int64_t work = std::max<int64_t>(1, job.queries * job.keys * (job.head_size + job.v_size));
  pool.ParallelFor(heads, std::max<int64_t>(1, 65536 / work), [&](int64_t begin, int64_t end) {
    if (!RunHeads(job, begin, end)) failed = true;
  });
  if (failed) return Error{ErrorKind::kSystem, "no memory left to pack keys and values", "", ""};
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
