// com.microsoft.MultiHeadAttention: queries, keys and values that were projected before.
#include <algorithm>
#include <cmath>

#include "kernels/ops/key_mask.h"
#include "kernels/ops/op.h"
#include "kernels/ops/scaled_attention.h"

namespace rulerun {
namespace {

struct Attributes {
  int64_t heads = 0;
  float scale = 0;  // 0: by the head's size
  float masked = -10000;
  bool causal = false;
};

// Inputs by slot.
enum Slot : size_t { kQuery, kKey, kValue, kBias, kMask, kAttentionBias, kPastKey, kPastValue, kPastLength, kBeams };

// The heads of an input of shape [batch, length, hidden], its part of the bias added, or of [batch, heads, length,
// size].
struct Heads {
  int64_t length = 0, size = 0;
  std::vector<float> data;
};

Result<Heads> ReadHeads(const Tensor& x, const Tensor* bias, int64_t first, int64_t batch, int64_t heads) {
  Heads read;
  if (x.rank() == 4 && x.dims()[0] == batch && x.dims()[1] == heads) {
    read = {x.dims()[2], x.dims()[3], {x.data<float>(), x.data<float>() + x.count()}};
    return read;
  }
  if (x.rank() != 3 || x.dims()[0] != batch || x.dims()[2] % heads != 0) {
    return Invalid("an input of shape " + DimsText(x.dims()) + " does not hold " + std::to_string(heads) +
                   " heads for " + std::to_string(batch) + " sequences");
  }
  const int64_t hidden = x.dims()[2];
  read.length = x.dims()[1];
  read.size = hidden / heads;
  if (bias != nullptr && bias->count() < first + hidden) return Invalid("the bias has too few values");
  std::vector<float> rows(x.data<float>(), x.data<float>() + x.count());
  for (size_t i = 0; bias != nullptr && i < rows.size(); ++i) {
    rows[i] += bias->data<float>()[first + static_cast<int64_t>(i) % hidden];
  }
  read.data = SplitHeads(rows.data(), batch, read.length, hidden, heads, read.size);
  return read;
}

// Puts the past in front; the result is also output `slot`.
Status Extend(Heads& heads, const Tensor* past, int64_t batch, int64_t count, size_t slot, KernelContext& context) {
  const int64_t before = past == nullptr ? 0 : past->rank() == 4 ? past->dims()[2] : -1;
  if (past != nullptr && past->dims() != Dims{batch, count, before, heads.size}) {
    return Invalid("a past of shape " + DimsText(past->dims()) + " does not fit");
  }
  RULERUN_ASSIGN(Tensor * present,
                 context.Output(slot, DataType::kFloat, {batch, count, before + heads.length, heads.size}));
  JoinRows(past == nullptr ? nullptr : past->data<float>(), before, heads.data.data(), heads.length, batch * count,
           heads.size, present->mutable_data<float>());
  heads.length += before;
  heads.data.assign(present->data<float>(), present->data<float>() + present->count());
  return {};
}

Status RunAttention(const Attributes& attributes, KernelContext& context) {
  if (context.Input(kPastLength) != nullptr || context.Input(kBeams) != nullptr) {
    return Unsupported("shared past and beams have no implementation");
  }
  RULERUN_ASSIGN(const Tensor* query, Required(context, kQuery));
  if (context.Input(kKey) == nullptr || context.Input(kValue) == nullptr || query->rank() != 3) {
    return Unsupported("packed queries, keys and values have no implementation");
  }
  const int64_t batch = query->dims()[0], hidden = query->dims()[2];
  const Tensor* bias = context.Input(kBias);
  RULERUN_ASSIGN(const Heads q, ReadHeads(*query, bias, 0, batch, attributes.heads));
  RULERUN_ASSIGN(Heads k, ReadHeads(*context.Input(kKey), bias, hidden, batch, attributes.heads));
  RULERUN_ASSIGN(Heads v, ReadHeads(*context.Input(kValue), bias, 2 * hidden, batch, attributes.heads));
  const int64_t fresh = k.length;
  RULERUN_RETURN_IF_ERROR(Extend(k, context.Input(kPastKey), batch, attributes.heads, 1, context));
  RULERUN_RETURN_IF_ERROR(Extend(v, context.Input(kPastValue), batch, attributes.heads, 2, context));
  if (k.size != q.size || v.length != k.length) return Invalid("queries, keys and values do not fit each other");
  ScaledAttention job;
  job.batch = batch;
  job.heads = job.kv_heads = attributes.heads;
  job.queries = q.length;
  job.keys = k.length;
  job.head_size = q.size;
  job.v_size = v.size;
  job.q = q.data.data();
  job.k = k.data.data();
  job.v = v.data.data();
  KeyMask mask;
  mask.scale = attributes.scale != 0 ? attributes.scale : 1.0f / std::sqrt(static_cast<float>(q.size));
  mask.bias = context.Input(kAttentionBias);
  mask.mask = context.Input(kMask);
  mask.masked = attributes.masked;
  mask.causal = attributes.causal;
  mask.past = k.length - fresh;
  if (context.Wanted(3)) {
    RULERUN_ASSIGN(Tensor * scores, context.Output(3, DataType::kFloat, {batch, attributes.heads, q.length, k.length}));
    mask.scores = scores->mutable_data<float>();
  }
  RULERUN_RETURN_IF_ERROR(ApplyMask(mask, job));
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, {batch, q.length, attributes.heads * v.size}));
  job.y = y->mutable_data<float>();
  return Run(job, context.pool());
}

Result<std::unique_ptr<Kernel>> MakeAttention(const KernelRequest& request) {
  Attributes attributes;
  attributes.heads = IntOr(*request.attributes, "num_heads", 0);
  if (attributes.heads < 1) return Invalid("num_heads must be positive");
  attributes.scale = FloatOr(*request.attributes, "scale", 0);
  attributes.masked = FloatOr(*request.attributes, "mask_filter_value", -10000);
  attributes.causal = IntOr(*request.attributes, "unidirectional", 0) != 0;
  return MakeKernel([attributes](KernelContext& context) { return RunAttention(attributes, context); });
}

}  // namespace

void Register_ops_multi_head_attention(KernelRegistry& registry) {
  const Types floats = {DataType::kFloat};
  const Types ints = {DataType::kInt32};
  AddOp(registry, "MultiHeadAttention", {}, {floats, floats, floats, floats, ints, floats, floats, floats, ints, ints},
        MakeAttention, kMicrosoft);
}

}  // namespace rulerun
