// RotaryEmbedding, of ONNX and of com.microsoft: pairs of elements are turned by angles that depend on the position.
#include <algorithm>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

struct Attributes {
  int64_t heads = 0;   // of an input of three axes
  int64_t turned = 0;  // elements of a head that are turned; 0: all
  bool interleaved = false;
};

// The input as heads of tokens.
struct Layout {
  int64_t batch = 0, length = 0, heads = 0, size = 0, turned = 0;
  bool heads_first = false;

  int64_t At(int64_t b, int64_t position, int64_t head) const {
    return (heads_first ? (b * heads + head) * length + position : (b * length + position) * heads + head) * size;
  }
};

// Cosines and sines, half as many as elements are turned, for each position or for each token.
struct Angles {
  const Tensor* cosines = nullptr;
  const Tensor* sines = nullptr;
  const Tensor* positions = nullptr;  // int64 [batch, length], or [1]: of the first token
};

Result<Layout> MakeLayout(const Attributes& attributes, const Tensor& x) {
  Layout layout;
  layout.heads_first = x.rank() == 4;
  const int64_t heads = attributes.heads;
  if (layout.heads_first) {
    layout = {x.dims()[0], x.dims()[2], x.dims()[1], x.dims()[3], 0, true};
  } else if (x.rank() == 3 && heads > 0 && x.dims()[2] % heads == 0) {
    layout = {x.dims()[0], x.dims()[1], heads, x.dims()[2] / heads, 0, false};
  } else {
    return Invalid("an input of shape " + DimsText(x.dims()) + " does not hold " + std::to_string(heads) + " heads");
  }
  layout.turned = attributes.turned > 0 ? attributes.turned : layout.size;
  if (layout.turned > layout.size || layout.turned % 2 != 0) return Invalid("rotary_embedding_dim is out of range");
  return layout;
}

// Row of the cache for each token.
Result<std::vector<int64_t>> RowsOf(const Layout& layout, const Angles& angles) {
  const int64_t tokens = layout.batch * layout.length, half = layout.turned / 2;
  const Tensor& cache = *angles.cosines;
  if (cache.dims() != angles.sines->dims() || cache.rank() < 2 || cache.dims().back() != half) {
    return Invalid("caches of shapes " + DimsText(cache.dims()) + " and " + DimsText(angles.sines->dims()) +
                   " do not hold angles for " + std::to_string(half) + " pairs");
  }
  const int64_t limit = cache.count() / std::max<int64_t>(1, half);
  const Tensor* positions = angles.positions;
  if (positions == nullptr && limit != tokens) return Invalid("the caches do not have one row per token");
  if (positions != nullptr && positions->count() != tokens && positions->count() != 1) {
    return Invalid("position_ids do not have one value per token");
  }
  std::vector<int64_t> rows;
  for (int64_t token = 0; token < tokens; ++token) {
    int64_t row = token;
    if (positions != nullptr) {
      row = positions->count() == tokens ? positions->data<int64_t>()[token]
                                         : positions->data<int64_t>()[0] + token % layout.length;
    }
    if (row < 0 || row >= limit) return Invalid("position " + std::to_string(row) + " is not in the caches");
    rows.push_back(row);
  }
  return rows;
}

void Turn(const Layout& layout, bool interleaved, const float* x, const float* cosines, const float* sines, float* y) {
  const int64_t half = layout.turned / 2;
  for (int64_t i = 0; i < half; ++i) {
    const int64_t real = interleaved ? 2 * i : i, imaginary = interleaved ? 2 * i + 1 : i + half;
    y[real] = cosines[i] * x[real] - sines[i] * x[imaginary];
    y[imaginary] = sines[i] * x[real] + cosines[i] * x[imaginary];
  }
  std::copy(x + layout.turned, x + layout.size, y + layout.turned);
}

Status RunRotary(const Attributes& attributes, const Angles& angles, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  RULERUN_ASSIGN(const Layout layout, MakeLayout(attributes, *x));
  RULERUN_ASSIGN(const std::vector<int64_t> rows, RowsOf(layout, angles));
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, x->dims()));
  const int64_t half = layout.turned / 2;
  context.pool().ParallelFor(layout.batch * layout.length, 16, [&](int64_t begin, int64_t end) {
    for (int64_t token = begin; token < end; ++token) {
      const int64_t row = rows[static_cast<size_t>(token)] * half;
      for (int64_t head = 0; head < layout.heads; ++head) {
        const int64_t at = layout.At(token / layout.length, token % layout.length, head);
        Turn(layout, attributes.interleaved, x->data<float>() + at, angles.cosines->data<float>() + row,
             angles.sines->data<float>() + row, y->mutable_data<float>() + at);
      }
    }
  });
  return {};
}

// `positions`, `cosines`: slots of the inputs; the sines follow the cosines.
KernelFactory Rotary(size_t positions, size_t cosines) {
  return [=](const KernelRequest& request) -> Result<std::unique_ptr<Kernel>> {
    Attributes attributes;
    attributes.heads = IntOr(*request.attributes, "num_heads", 0);
    attributes.turned = IntOr(*request.attributes, "rotary_embedding_dim", 0);
    attributes.interleaved = IntOr(*request.attributes, "interleaved", 0) != 0;
    if (IntOr(*request.attributes, "is_packed_batching", 0) != 0) {
      return Unsupported("is_packed_batching has no implementation");
    }
    return MakeKernel([=](KernelContext& context) -> Status {
      Angles angles;
      angles.positions = context.Input(positions);
      RULERUN_ASSIGN(angles.cosines, Required(context, cosines));
      RULERUN_ASSIGN(angles.sines, Required(context, cosines + 1));
      Attributes own = attributes;
      // com.microsoft may leave the number of heads to the width of a full cache.
      if (own.heads == 0 && context.Input(0) != nullptr && context.Input(0)->rank() == 3 &&
          angles.cosines->rank() == 2) {
        const int64_t size = angles.cosines->dims()[1] * 2;
        own.heads = size == 0 ? 0 : context.Input(0)->dims()[2] / size;
      }
      return RunRotary(own, angles, context);
    });
  };
}

}  // namespace

void Register_ops_rotary_embedding(KernelRegistry& registry) {
  const Types floats = {DataType::kFloat};
  const Types positions = {DataType::kInt64};
  AddOp(registry, "RotaryEmbedding", {}, {floats, floats, floats, positions}, Rotary(3, 1));
  AddOp(registry, "RotaryEmbedding", {}, {floats, positions, floats, floats}, Rotary(1, 2), kMicrosoft);
}

}  // namespace rulerun
