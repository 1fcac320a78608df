// com.microsoft.EmbedLayerNormalization: word, position and segment embeddings, added up and normalized.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

constexpr int64_t kGrain = 8192;

// A table of embeddings and the row of it that each token takes.
struct Lookup {
  const Tensor* table = nullptr;  // nullptr: nothing to add
  const int32_t* ids = nullptr;   // nullptr: `fallback`
  int64_t period = 0;             // of `ids`

  // -1 for an id that is not in the table.
  int64_t Row(int64_t token, int64_t fallback) const {
    const int64_t id = ids == nullptr ? fallback : ids[token % period];
    return id < 0 || id >= table->dims()[0] ? -1 : id;
  }
};

struct Embedding {
  Lookup word, position, segment;
  const float* gamma = nullptr;
  const float* beta = nullptr;
  float epsilon = 0;
  int64_t tokens = 0, length = 0, hidden = 0;  // length: of one sequence
};

Result<Lookup> MakeLookup(const Tensor* table, const Tensor* ids, int64_t hidden, const Dims& tokens, bool broadcast) {
  Lookup lookup;
  if (table == nullptr) return lookup;
  if (table->rank() != 2 || table->dims()[1] != hidden) {
    return Invalid("an embedding of shape " + DimsText(table->dims()) + " does not have rows of " +
                   std::to_string(hidden) + " elements");
  }
  lookup.table = table;
  if (ids == nullptr) return lookup;
  if (ids->dims() != tokens && !(broadcast && ids->dims() == Dims{1, tokens[1]})) {
    return Invalid("ids of shape " + DimsText(ids->dims()) + " do not fit input_ids of shape " + DimsText(tokens));
  }
  lookup.ids = ids->data<int32_t>();
  lookup.period = ids->count();
  return lookup;
}

Result<Embedding> ReadInputs(const KernelContext& context, float epsilon) {
  RULERUN_ASSIGN(const Tensor* ids, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* words, Required(context, 2));
  RULERUN_ASSIGN(const Tensor* positions, Required(context, 3));
  RULERUN_ASSIGN(const Tensor* gamma, Required(context, 5));
  RULERUN_ASSIGN(const Tensor* beta, Required(context, 6));
  if (ids->rank() != 2 || words->rank() != 2) return Invalid("input_ids and the word embedding need two axes each");
  Embedding embedding;
  embedding.hidden = words->dims()[1];
  if (gamma->count() != embedding.hidden || beta->count() != embedding.hidden) {
    return Invalid("gamma and beta need " + std::to_string(embedding.hidden) + " values");
  }
  const Dims& tokens = ids->dims();
  RULERUN_ASSIGN(embedding.word, MakeLookup(words, ids, embedding.hidden, tokens, false));
  RULERUN_ASSIGN(embedding.position, MakeLookup(positions, context.Input(8), embedding.hidden, tokens, true));
  RULERUN_ASSIGN(embedding.segment, MakeLookup(context.Input(4), context.Input(1), embedding.hidden, tokens, false));
  embedding.gamma = gamma->data<float>();
  embedding.beta = beta->data<float>();
  embedding.epsilon = epsilon;
  embedding.tokens = ids->count();
  embedding.length = tokens[1];
  return embedding;
}

// The sum of the embeddings of one token; false where an id is in no table.
bool AddUp(const Embedding& in, int64_t token, float* sum) {
  const int64_t word = in.word.Row(token, 0), position = in.position.Row(token, token % in.length);
  const int64_t segment = in.segment.table == nullptr ? 0 : in.segment.Row(token, 0);
  if (word < 0 || position < 0 || segment < 0) return false;
  const float* w = in.word.table->data<float>() + word * in.hidden;
  const float* p = in.position.table->data<float>() + position * in.hidden;
  for (int64_t i = 0; i < in.hidden; ++i) sum[i] = w[i] + p[i];
  if (in.segment.table == nullptr) return true;
  const float* s = in.segment.table->data<float>() + segment * in.hidden;
  for (int64_t i = 0; i < in.hidden; ++i) sum[i] += s[i];
  return true;
}

// One element after the other, as ONNX Runtime does it here.
void Normalize(const Embedding& in, const float* x, float* y) {
  const auto count = static_cast<float>(in.hidden);
  float sum = 0;
  for (int64_t i = 0; i < in.hidden; ++i) sum += x[i];
  const float mean = sum / count;
  float squares = 0;
  for (int64_t i = 0; i < in.hidden; ++i) {
    y[i] = x[i] - mean;
    squares += y[i] * y[i];
  }
  const float deviation = std::sqrt(squares / count + in.epsilon);
  for (int64_t i = 0; i < in.hidden; ++i) y[i] = y[i] / deviation * in.gamma[i] + in.beta[i];
}

// How many ones the mask has for each sequence; zeros without a mask.
Status CountMask(KernelContext& context, const Dims& tokens) {
  RULERUN_ASSIGN(Tensor * counts, context.Output(1, DataType::kInt32, {tokens[0]}));
  const Tensor* mask = context.Input(7);
  if (mask != nullptr && mask->dims() != tokens) return Invalid("the mask does not have the shape of input_ids");
  for (int64_t b = 0; b < tokens[0]; ++b) {
    int32_t count = 0;
    for (int64_t i = 0; mask != nullptr && i < tokens[1]; ++i) count += mask->data<int32_t>()[b * tokens[1] + i] == 1;
    counts->mutable_data<int32_t>()[b] = count;
  }
  return {};
}

Status RunEmbedding(float epsilon, KernelContext& context) {
  RULERUN_ASSIGN(const Embedding in, ReadInputs(context, epsilon));
  const Dims& tokens = context.Input(0)->dims();
  const Dims dims = {tokens[0], tokens[1], in.hidden};
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, dims));
  RULERUN_ASSIGN(Tensor * sums, context.Output(2, DataType::kFloat, dims));
  std::atomic<bool> found = true;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, in.hidden));
  context.pool().ParallelFor(in.tokens, grain, [&](int64_t begin, int64_t end) {
    for (int64_t token = begin; token < end; ++token) {
      float* sum = sums->mutable_data<float>() + token * in.hidden;
      if (AddUp(in, token, sum)) {
        Normalize(in, sum, y->mutable_data<float>() + token * in.hidden);
      } else {
        found = false;
      }
    }
  });
  if (!found) return Invalid("an id lies outside its embedding");
  return CountMask(context, tokens);
}

Result<std::unique_ptr<Kernel>> MakeEmbedLayerNorm(const KernelRequest& request) {
  const float epsilon = FloatOr(*request.attributes, "epsilon", 1e-12f);
  return MakeKernel([epsilon](KernelContext& context) { return RunEmbedding(epsilon, context); });
}

}  // namespace

void Register_ops_embed_layer_norm(KernelRegistry& registry) {
  const Types ids = {DataType::kInt32};
  const Types floats = {DataType::kFloat};
  AddOp(registry, "EmbedLayerNormalization", {}, {ids, ids, floats, floats, floats, floats, floats, ids, ids},
        MakeEmbedLayerNorm, kMicrosoft);
}

}  // namespace rulerun
