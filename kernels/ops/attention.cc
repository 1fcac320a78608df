// com.microsoft.Attention: one product gives queries, keys and values; then every head attends.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/codes.h"
#include "kernels/buffer.h"
#include "kernels/ops/gemm.h"
#include "kernels/ops/key_mask.h"
#include "kernels/ops/op.h"
#include "kernels/ops/scaled_attention.h"

namespace rulerun {
namespace {

struct Attributes {
  int64_t heads = 0;
  std::vector<int64_t> hidden_sizes;  // of Q, K and V; empty: a third of the weights each
  float scale = 0;                    // 0: by the head's size
  float masked = -10000;
  bool causal = false;
};

// Sizes of one run.
struct Sizes {
  int64_t batch = 0, length = 0, input = 0;
  int64_t hidden = 0, v_hidden = 0;  // of Q and of K, and of V
  int64_t past = 0;

  int64_t all() const { return 2 * hidden + v_hidden; }
};

Result<Sizes> ReadSizes(const Attributes& attributes, const Tensor& x, const Tensor& weights, const Tensor& bias,
                        const Tensor* past) {
  if (x.rank() != 3 || weights.rank() != 2 || weights.dims()[0] != x.dims()[2] ||
      bias.dims() != Dims{weights.dims()[1]}) {
    return Invalid("input, weights and bias of shapes " + DimsText(x.dims()) + ", " + DimsText(weights.dims()) +
                   " and " + DimsText(bias.dims()) + " do not fit each other");
  }
  Sizes sizes{x.dims()[0], x.dims()[1], x.dims()[2], bias.count() / 3, bias.count() / 3, 0};
  if (!attributes.hidden_sizes.empty()) {
    const auto& hidden = attributes.hidden_sizes;
    if (hidden.size() != 3 || hidden[0] != hidden[1])
      return Invalid("qkv_hidden_sizes must be three, the first two equal");
    sizes.hidden = hidden[0];
    sizes.v_hidden = hidden[2];
  }
  if (sizes.hidden < 0 || sizes.v_hidden < 0 || sizes.all() != bias.count() || sizes.hidden % attributes.heads != 0 ||
      sizes.v_hidden % attributes.heads != 0) {
    return Invalid("weights with " + std::to_string(bias.count()) +
                   " columns do not make queries, keys and values for " + std::to_string(attributes.heads) + " heads");
  }
  if (past == nullptr) return sizes;
  const Dims& dims = past->dims();
  if (dims.size() != 5 || sizes.hidden != sizes.v_hidden ||
      Dims{2, sizes.batch, attributes.heads, dims[3], sizes.hidden / attributes.heads} != dims) {
    return Invalid("a past of shape " + DimsText(dims) + " does not fit");
  }
  sizes.past = dims[3];
  return sizes;
}

// x * weights + bias: a row of Q, K and V for every token.
Result<std::vector<float>> Project(const Sizes& sizes, const Tensor& x, const Tensor& weights, const Tensor& bias,
                                   const PackedMatrix& constant, int64_t head_size, ThreadPool& pool) {
  PackedMatrix packed = constant;
  if (!packed.allocated()) {
    packed = PackedMatrix(sizes.input, sizes.all());
    if (!packed.allocated()) return Error{Code::kNoMemory, "no memory left to pack the weights", "", ""};
    packed.Pack({weights.data<float>(), sizes.all(), 1}, &pool);
  }
  const int64_t rows = sizes.batch * sizes.length;
  std::vector<float> projected(static_cast<size_t>(rows * sizes.all()));
  for (int64_t row = 0; row < rows; ++row) {
    std::copy_n(bias.data<float>(), sizes.all(), projected.data() + row * sizes.all());
  }
  // ONNX Runtime multiplies sequence by sequence and head by head, which shows in the order of sums.
  GemmOrder order = constant.allocated() ? GemmOrder() : UnpackedOrder(sizes.input, head_size);
  order.row_by_fours = order.row_by_fours && sizes.length == 1;
  const int64_t step = order.row_by_fours ? 1 : rows;
  for (int64_t row = 0; row < rows; row += step) {
    Gemm(x.data<float>() + row * sizes.input, sizes.input, step, packed, projected.data() + row * sizes.all(),
         sizes.all(), pool, order, /*add=*/true);
  }
  return projected;
}

// A mask of shape [batch or 1, 1] stands for none.
const Tensor* MaskOf(const KernelContext& context, const Sizes& sizes) {
  const Tensor* mask = context.Input(3);
  if (mask == nullptr || mask->rank() != 2 || mask->dims() == Dims{sizes.batch, sizes.past + sizes.length}) return mask;
  return mask->dims() == Dims{1, 1} || mask->dims() == Dims{sizes.batch, 1} ? nullptr : mask;
}

Status RunAttention(const Attributes& attributes, const PackedMatrix& constant, KernelContext& context) {
  std::array<const Tensor*, 3> in;
  for (size_t i = 0; i < in.size(); ++i) {
    RULERUN_ASSIGN(in[i], Required(context, i));
  }
  const Tensor* past = context.Input(4);
  RULERUN_ASSIGN(const Sizes sizes, ReadSizes(attributes, *in[0], *in[1], *in[2], past));
  ScaledAttention job;
  job.batch = sizes.batch;
  job.heads = attributes.heads;
  job.kv_heads = attributes.heads;
  job.queries = sizes.length;
  job.keys = sizes.past + sizes.length;
  job.head_size = sizes.hidden / attributes.heads;
  job.v_size = sizes.v_hidden / attributes.heads;
  KeyMask mask;
  mask.scale = attributes.scale != 0 ? attributes.scale : 1.0f / std::sqrt(static_cast<float>(job.head_size));
  mask.masked = attributes.masked;
  mask.causal = attributes.causal;
  mask.past = sizes.past;
  mask.mask = MaskOf(context, sizes);
  mask.bias = context.Input(5);
  RULERUN_RETURN_IF_ERROR(ApplyMask(mask, job));
  RULERUN_ASSIGN(const std::vector<float> rows,
                 Project(sizes, *in[0], *in[1], *in[2], constant, job.head_size, context.pool()));
  const auto heads_of = [&](int64_t column, int64_t size) {
    return SplitHeads(rows.data() + column, sizes.batch, sizes.length, sizes.all(), attributes.heads, size);
  };
  const std::vector<float> q = heads_of(0, job.head_size), k = heads_of(sizes.hidden, job.head_size),
                           v = heads_of(2 * sizes.hidden, job.v_size);
  job.q = q.data();
  job.k = k.data();
  job.v = v.data();
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, {sizes.batch, sizes.length, sizes.v_hidden}));
  job.y = y->mutable_data<float>();
  if (past == nullptr && !context.Wanted(1)) return Run(job, context.pool());
  if (job.head_size != job.v_size) return Invalid("keys and values of different sizes cannot be put out together");
  RULERUN_ASSIGN(Tensor * present,
                 context.Output(1, DataType::kFloat, {2, sizes.batch, job.heads, job.keys, job.head_size}));
  const int64_t heads = job.batch * job.heads;
  const float* before = past == nullptr ? nullptr : past->data<float>();
  float* keys = present->mutable_data<float>();
  float* values = keys + heads * job.keys * job.head_size;
  JoinRows(before, sizes.past, k.data(), job.queries, heads, job.head_size, keys);
  JoinRows(before == nullptr ? nullptr : before + heads * sizes.past * job.v_size, sizes.past, v.data(), job.queries,
           heads, job.v_size, values);
  job.k = keys;
  job.v = values;
  return Run(job, context.pool());
}

PackedMatrix PackWeights(const KernelRequest& request) {
  const Tensor* weights = request.constants.size() > 1 ? request.constants[1] : nullptr;
  if (weights == nullptr || weights->rank() != 2) return {};
  PackedMatrix packed(weights->dims()[0], weights->dims()[1]);
  if (packed.allocated()) packed.Pack({weights->data<float>(), weights->dims()[1], 1}, nullptr);
  return packed;
}

Result<std::unique_ptr<Kernel>> MakeAttention(const KernelRequest& request) {
  const AttributeMap& given = *request.attributes;
  Attributes attributes;
  attributes.heads = IntOr(given, "num_heads", 0);
  if (attributes.heads < 1) return Invalid("num_heads must be positive");
  if (IntOr(given, "do_rotary", 0) != 0) return Unsupported("do_rotary has no implementation");
  if (IntOr(given, "past_present_share_buffer", 0) != 0) {
    return Unsupported("past_present_share_buffer has no implementation");
  }
  attributes.hidden_sizes = IntsOr(given, "qkv_hidden_sizes", {});
  attributes.scale = FloatOr(given, "scale", 0);
  attributes.masked = FloatOr(given, "mask_filter_value", -10000);
  attributes.causal = IntOr(given, "unidirectional", 0) != 0;
  return MakeKernel([attributes, constant = PackWeights(request)](KernelContext& context) {
    return RunAttention(attributes, constant, context);
  });
}

}  // namespace

void Register_ops_attention(KernelRegistry& registry) {
  const Types floats = {DataType::kFloat};
  const Types mask = {DataType::kInt32};
  AddOp(registry, "Attention", {}, {floats, floats, floats, mask, floats, floats}, MakeAttention, kMicrosoft);
}

}  // namespace rulerun
