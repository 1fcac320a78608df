// ONNX's Attention, which is given queries, keys and values, with a past, grouped heads, masks, windows and a soft cap.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/ops/op.h"
#include "kernels/ops/scaled_attention.h"

namespace rulerun {
namespace {

constexpr float kMasked = std::numeric_limits<float>::lowest();

// What the fourth output holds.
enum Stage : int64_t { kProducts = 0, kCapped = 1, kScores = 2, kWeights = 3 };

struct Attributes {
  int64_t q_heads = 0, kv_heads = 0;  // of inputs of three axes
  float scale = 0;                    // 0: by the head's size
  float cap = 0;                      // 0: none
  bool causal = false;
  int64_t before = -1, behind = -1;  // keys that a query sees around its own place; negative: all
  int64_t stage = kProducts;
};

// Heads of one input: [batch, heads, length, size], in memory of its own where the input had three axes.
struct Heads {
  int64_t heads = 0, length = 0, size = 0;
  std::vector<float> own;
  const float* data = nullptr;
};

Result<Heads> ReadHeads(const Tensor& x, int64_t heads, int64_t batch) {
  Heads read;
  if (x.rank() == 4 && x.dims()[0] == batch && x.dims()[1] > 0) {
    read = {x.dims()[1], x.dims()[2], x.dims()[3], {}, x.data<float>()};
    return read;
  }
  if (x.rank() != 3 || x.dims()[0] != batch || heads < 1 || x.dims()[2] % heads != 0) {
    return Invalid("an input of shape " + DimsText(x.dims()) + " does not hold " + std::to_string(heads) +
                   " heads for " + std::to_string(batch) + " sequences");
  }
  read = {heads, x.dims()[1], x.dims()[2] / heads, {}, nullptr};
  read.own = SplitHeads(x.data<float>(), batch, read.length, x.dims()[2], heads, read.size);
  read.data = read.own.data();
  return read;
}

// Puts a past in front; the result is also an output.
Status Extend(Heads& heads, const Tensor* past, int64_t batch, size_t slot, KernelContext& context) {
  if (past == nullptr && !context.Wanted(slot)) return {};
  const int64_t before = past == nullptr ? 0 : past->dims().size() == 4 ? past->dims()[2] : -1;
  if (past != nullptr && past->dims() != Dims{batch, heads.heads, before, heads.size}) {
    return Invalid("a past of shape " + DimsText(past->dims()) + " does not fit");
  }
  RULERUN_ASSIGN(Tensor * present,
                 context.Output(slot, DataType::kFloat, {batch, heads.heads, before + heads.length, heads.size}));
  JoinRows(past == nullptr ? nullptr : past->data<float>(), before, heads.data, heads.length, batch * heads.heads,
           heads.size, present->mutable_data<float>());
  heads.data = present->data<float>();
  heads.length += before;
  return {};
}

// Everything that makes scores of products.
struct Scoring {
  Attributes attributes;
  float scale = 1;
  int64_t heads = 0, queries = 0, keys = 0, past = 0;
  const Tensor* mask = nullptr;  // bool or float [(batch,) (heads,) (queries,) keys or fewer], 1 where it is the same
  const Tensor* lengths = nullptr;  // int64 [batch]: how many keys are none that only fill up
  float* kept = nullptr;            // the fourth output, where it is not made of weights
  bool keep(int64_t stage) const { return kept != nullptr && attributes.stage == stage; }

  // The keys that a query may see by its place among them.
  struct Range {
    int64_t begin, end;
  };
  Range Seen(const ScoreRow& row) const {
    const int64_t length = lengths == nullptr ? keys : lengths->data<int64_t>()[row.batch];
    const int64_t place = row.query + (lengths == nullptr ? past : length - queries);
    // A single query with keys before it is the last one, and sees them all.
    const bool causal = attributes.causal && !(queries == 1 && (lengths != nullptr || past > 0));
    Range range{attributes.before < 0 ? 0 : place - attributes.before, causal ? place + 1 : length};
    if (attributes.behind >= 0) range.end = std::min(range.end, place + attributes.behind + 1);
    range.end = std::clamp<int64_t>(range.end, 0, length);
    range.begin = std::clamp<int64_t>(range.begin, 0, range.end);
    return range;
  }

  // What is added to the scores of one query.
  std::vector<float> MaskRow(const ScoreRow& row) const {
    std::vector<float> added(static_cast<size_t>(keys), 0.0f);
    if (mask != nullptr) {
      const std::array<int64_t, 4> at = {row.batch, row.head, row.query, 0};
      const int64_t width = mask->dims().back();
      int64_t offset = 0;
      for (int64_t axis = 0; axis < mask->rank() - 1; ++axis) {
        const int64_t size = mask->dims()[static_cast<size_t>(axis)];
        offset = offset * size + (size == 1 ? 0 : at[static_cast<size_t>(4 - mask->rank() + axis)]);
      }
      for (int64_t i = 0; i < keys; ++i) {
        float& value = added[static_cast<size_t>(i)];
        if (i >= width) {
          value = kMasked;
        } else if (mask->type() == DataType::kBool) {
          value = mask->data<bool>()[offset * width + i] ? 0.0f : kMasked;
        } else {
          value = mask->data<float>()[offset * width + i];
        }
      }
    }
    const Range seen = Seen(row);
    std::fill(added.begin(), added.begin() + seen.begin, kMasked);
    std::fill(added.begin() + seen.end, added.end(), kMasked);
    return added;
  }

  void Keep(const ScoreRow& row) const {
    std::copy_n(row.values, keys, kept + ((row.batch * heads + row.head) * queries + row.query) * keys);
  }

  bool operator()(const ScoreRow& row) const {
    const std::vector<float> added = MaskRow(row);
    // With neither a cap nor a look at what comes before, ONNX Runtime folds scale and mask into the product.
    if (attributes.cap == 0 && !keep(kProducts) && !keep(kCapped)) {
      for (size_t i = 0; i < added.size(); ++i) row.values[i] = std::fma(scale, row.values[i], added[i]);
    } else {
      for (size_t i = 0; i < added.size(); ++i) row.values[i] *= scale;
      if (keep(kProducts)) Keep(row);
      for (size_t i = 0; attributes.cap > 0 && i < added.size(); ++i) {
        row.values[i] = std::tanh(row.values[i] / attributes.cap) * attributes.cap;
      }
      if (keep(kCapped)) Keep(row);
      for (size_t i = 0; i < added.size(); ++i) row.values[i] += added[i];
    }
    // Numbers that the softmax takes, where a mask was infinite.
    for (size_t i = 0; i < added.size(); ++i) row.values[i] = std::max(row.values[i], kMasked);
    if (keep(kScores)) Keep(row);
    return std::any_of(added.begin(), added.end(), [](float value) { return value > kMasked; });
  }
};

Status CheckMask(const Scoring& scoring, int64_t batch) {
  if (scoring.lengths != nullptr) {
    if (scoring.lengths->dims() != Dims{batch}) return Invalid("nonpad_kv_seqlen needs one value per sequence");
    for (const int64_t length : scoring.lengths->values<int64_t>()) {
      if (length < 0 || length > scoring.keys) return Invalid("nonpad_kv_seqlen holds " + std::to_string(length));
    }
  }
  if (scoring.mask == nullptr) return {};
  const Dims& dims = scoring.mask->dims();
  const std::array<int64_t, 4> full = {batch, scoring.heads, scoring.queries, scoring.keys};
  bool fits = !dims.empty() && dims.size() <= 4 && dims.back() <= scoring.keys;
  for (size_t i = 0; fits && i + 1 < dims.size(); ++i) fits = dims[i] == 1 || dims[i] == full[4 - dims.size() + i];
  return fits ? Status() : Status(Invalid("a mask of shape " + DimsText(dims) + " does not fit"));
}

Status RunAttention(const Attributes& attributes, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* given_q, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* given_k, Required(context, 1));
  RULERUN_ASSIGN(const Tensor* given_v, Required(context, 2));
  if (given_q->rank() < 3) return Invalid("queries of shape " + DimsText(given_q->dims()) + " have too few axes");
  const int64_t batch = given_q->dims()[0];
  RULERUN_ASSIGN(const Heads q, ReadHeads(*given_q, attributes.q_heads, batch));
  RULERUN_ASSIGN(Heads k, ReadHeads(*given_k, attributes.kv_heads, batch));
  RULERUN_ASSIGN(Heads v, ReadHeads(*given_v, attributes.kv_heads, batch));
  const int64_t fresh = k.length;
  RULERUN_RETURN_IF_ERROR(Extend(k, context.Input(4), batch, 1, context));
  RULERUN_RETURN_IF_ERROR(Extend(v, context.Input(5), batch, 2, context));
  if (k.size != q.size || v.length != k.length || v.heads != k.heads || q.heads % k.heads != 0) {
    return Invalid("queries, keys and values of shapes " + DimsText(given_q->dims()) + ", " +
                   DimsText(given_k->dims()) + " and " + DimsText(given_v->dims()) + " do not fit each other");
  }
  Scoring scoring;
  scoring.attributes = attributes;
  scoring.scale = attributes.scale;
  scoring.heads = q.heads;
  scoring.queries = q.length;
  scoring.keys = k.length;
  scoring.past = k.length - fresh;
  if (scoring.scale == 0) scoring.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(q.size)));
  scoring.mask = context.Input(3);
  scoring.lengths = context.Input(6);
  RULERUN_RETURN_IF_ERROR(CheckMask(scoring, batch));
  ScaledAttention job;
  job.batch = batch;
  job.heads = q.heads;
  job.kv_heads = k.heads;
  job.queries = q.length;
  job.keys = k.length;
  job.head_size = q.size;
  job.v_size = v.size;
  job.q = q.data;
  job.k = k.data;
  job.v = v.data;
  job.heads_first = given_q->rank() == 4;
  const Dims dims = job.heads_first ? Dims{batch, q.heads, q.length, v.size} : Dims{batch, q.length, q.heads * v.size};
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, dims));
  job.y = y->mutable_data<float>();
  if (context.Wanted(3)) {
    RULERUN_ASSIGN(Tensor * kept, context.Output(3, DataType::kFloat, {batch, q.heads, q.length, k.length}));
    (attributes.stage == kWeights ? job.weights : scoring.kept) = kept->mutable_data<float>();
  }
  job.score = scoring;
  return Run(job, context.pool());
}

Result<std::unique_ptr<Kernel>> MakeAttention(const KernelRequest& request) {
  const AttributeMap& given = *request.attributes;
  Attributes attributes;
  attributes.q_heads = IntOr(given, "q_num_heads", 0);
  attributes.kv_heads = IntOr(given, "kv_num_heads", 0);
  attributes.scale = FloatOr(given, "scale", 0);
  attributes.cap = FloatOr(given, "softcap", 0);
  attributes.causal = IntOr(given, "is_causal", 0) != 0;
  attributes.before = IntOr(given, "left_window_size", -1);
  attributes.behind = IntOr(given, "right_window_size", -1);
  attributes.stage = IntOr(given, "qk_matmul_output_mode", 0);
  return MakeKernel([attributes](KernelContext& context) { return RunAttention(attributes, context); });
}

}  // namespace

void Register_ops_onnx_attention(KernelRegistry& registry) {
  const Types floats = {DataType::kFloat};
  const Types mask = {DataType::kFloat, DataType::kBool};
  AddOp(registry, "Attention", {}, {floats, floats, floats, mask, floats, floats, {DataType::kInt64}}, MakeAttention);
}

}  // namespace rulerun
