// RandomNormal, RandomUniform, their …Like forms and Dropout. Engine and distributions are those
// that ONNX Runtime's Linux builds take from libstdc++, so that a node with a seed gives the same numbers there. A node
// without one gives the same numbers in every run here, and others in every session there.
#include <algorithm>
#include <random>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

using Engine = std::minstd_rand0;

constexpr float kFixedSeed = 1;

Engine EngineFor(float seed) { return Engine(static_cast<uint32_t>(static_cast<int64_t>(seed))); }

enum class Law { kNormal, kUniform };

struct Attributes {
  Law law = Law::kNormal;
  float first = 0, second = 1;  // mean and scale, or low and high
  float seed = kFixedSeed;
  DataType type = DataType::kUndefined;  // that of the input
};

Attributes ReadAttributes(const AttributeMap& given, Law law) {
  Attributes attributes;
  attributes.law = law;
  attributes.first = FloatOr(given, law == Law::kNormal ? "mean" : "low", 0);
  attributes.second = FloatOr(given, law == Law::kNormal ? "scale" : "high", 1);
  attributes.seed = FloatOr(given, "seed", kFixedSeed);
  attributes.type = static_cast<DataType>(IntOr(given, "dtype", 0));
  return attributes;
}

template <typename T>
void Draw(const Attributes& attributes, T* to, int64_t count) {
  Engine engine = EngineFor(attributes.seed);
  const auto first = static_cast<T>(attributes.first), second = static_cast<T>(attributes.second);
  if (attributes.law == Law::kNormal) {
    std::normal_distribution<T> law(first, second);
    std::generate_n(to, count, [&] { return law(engine); });
  } else {
    std::uniform_real_distribution<T> law(first, second);
    std::generate_n(to, count, [&] { return law(engine); });
  }
}

Status Fill(const Attributes& attributes, DataType type, const Dims& dims, KernelContext& context) {
  return Dispatch<float, double>(type, [&]<typename T>(TypeTag<T>) -> Status {
    RULERUN_ASSIGN(Tensor * y, context.Output(0, type, dims));
    Draw(attributes, y->mutable_data<T>(), y->count());
    return {};
  });
}

template <Law kLaw>
Result<std::unique_ptr<Kernel>> MakeRandom(const KernelRequest& request) {
  Attributes attributes = ReadAttributes(*request.attributes, kLaw);
  if (attributes.type == DataType::kUndefined) attributes.type = DataType::kFloat;
  return MakeKernel([attributes, dims = IntsOr(*request.attributes, "shape", {})](KernelContext& context) {
    return Fill(attributes, attributes.type, dims, context);
  });
}

template <Law kLaw>
Result<std::unique_ptr<Kernel>> MakeRandomLike(const KernelRequest& request) {
  return MakeKernel([attributes = ReadAttributes(*request.attributes, kLaw)](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* like, Required(context, 0));
    return Fill(attributes, attributes.type == DataType::kUndefined ? like->type() : attributes.type, like->dims(),
                context);
  });
}

// At inference: the input, and a mask of ones.
Status PassOn(const Tensor& x, KernelContext& context) {
  context.SetOutput(0, x);
  if (!context.Wanted(1)) return {};
  RULERUN_ASSIGN(Tensor * mask, context.Output(1, DataType::kBool, x.dims()));
  std::fill_n(mask->mutable_data<bool>(), mask->count(), true);
  return {};
}

Status Drop(const Tensor& x, float ratio, float seed, KernelContext& context) {
  return Dispatch<float, double>(x.type(), [&]<typename T>(TypeTag<T>) -> Status {
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x.type(), x.dims()));
    RULERUN_ASSIGN(Tensor * mask, context.Output(1, DataType::kBool, x.dims()));
    Engine engine = EngineFor(seed);
    std::uniform_real_distribution<float> law(0, 1);
    for (int64_t i = 0; i < x.count(); ++i) {
      const bool kept = law(engine) >= ratio;
      mask->mutable_data<bool>()[i] = kept;
      y->mutable_data<T>()[i] = static_cast<T>(kept) * x.data<T>()[i] / static_cast<T>(1 - ratio);
    }
    return {};
  });
}

// Since version 12 the ratio is an input, and so is whether to drop at all.
Result<std::unique_ptr<Kernel>> MakeDropout(const KernelRequest& request) {
  const auto seed = static_cast<float>(IntOr(*request.attributes, "seed", static_cast<int64_t>(kFixedSeed)));
  return MakeKernel([seed](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    const Tensor* training = context.Input(2);
    if (training == nullptr || training->count() != 1 || ElementAsInt(*training, 0) == 0) return PassOn(*x, context);
    const Tensor* given = context.Input(1);
    const auto ratio = given == nullptr ? 0.5f : static_cast<float>(ElementAsDouble(*given, 0));
    if (!(ratio >= 0 && ratio < 1)) return Invalid("the ratio must lie in [0, 1)");
    return ratio == 0 ? PassOn(*x, context) : Drop(*x, ratio, seed, context);
  });
}

}  // namespace

void Register_ops_random(KernelRegistry& registry) {
  AddOp(registry, "RandomNormal", {}, {}, MakeRandom<Law::kNormal>);
  AddOp(registry, "RandomUniform", {}, {}, MakeRandom<Law::kUniform>);
  AddOp(registry, "RandomNormalLike", {}, {Types{}}, MakeRandomLike<Law::kNormal>);
  AddOp(registry, "RandomUniformLike", {}, {Types{}}, MakeRandomLike<Law::kUniform>);
  AddOp(registry, "Dropout", {}, {Types{}, FloatTypes(), {DataType::kBool}}, MakeDropout);
}

}  // namespace rulerun
