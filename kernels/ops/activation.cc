#include "kernels/ops/activation.h"

#include <algorithm>
#include <string>

#include "kernels/ops/op.h"
#include "kernels/ops/vector_math.h"

namespace rulerun {
namespace {

template <typename F>
void Map(float* data, int64_t count, F f) {
  for (int64_t i = 0; i < count; ++i) data[i] = f(data[i]);
}

}  // namespace

std::optional<size_t> Activation::ParameterCount(std::string_view name) {
  if (name.empty() || name == "Relu" || name == "Tanh" || name == "Sigmoid" || name == "HardSwish") return 0;
  if (name == "LeakyRelu") return 1;
  if (name == "Clip" || name == "HardSigmoid") return 2;
  return std::nullopt;
}

Result<Activation> Activation::Make(std::string_view name, std::span<const float> parameters) {
  const std::optional<size_t> wanted = ParameterCount(name);
  if (!wanted) return Invalid("unknown activation '" + std::string(name) + "'");
  if (parameters.size() != *wanted) {
    return Invalid("activation " + std::string(name) + " takes " + std::to_string(*wanted) + " parameters, not " +
                   std::to_string(parameters.size()));
  }
  Activation made;
  if (!parameters.empty()) made.alpha_ = parameters[0];
  if (parameters.size() > 1) made.beta_ = parameters[1];
  if (name == "Relu") made.kind_ = Kind::kRelu;
  if (name == "Tanh") made.kind_ = Kind::kTanh;
  if (name == "Sigmoid") made.kind_ = Kind::kSigmoid;
  if (name == "HardSwish") made.kind_ = Kind::kHardSwish;
  if (name == "LeakyRelu") made.kind_ = Kind::kLeakyRelu;
  if (name == "Clip") made.kind_ = Kind::kClip;
  if (name == "HardSigmoid") made.kind_ = Kind::kHardSigmoid;
  return made;
}

void Activation::Apply(float* data, int64_t count) const {
  const float alpha = alpha_, beta = beta_;
  switch (kind_) {
    case Kind::kNone:
      return;
    case Kind::kRelu:
      return Map(data, count, [](float x) { return x < 0 ? 0.0f : x; });
    case Kind::kTanh:
      return VectorTanh(data, data, count);
    case Kind::kSigmoid:
      return VectorLogistic(data, data, count);
    case Kind::kHardSwish:
      return Map(data, count, [](float x) { return x * std::min(std::max(x * (1.0f / 6) + 0.5f, 0.0f), 1.0f); });
    case Kind::kLeakyRelu:
      return Map(data, count, [alpha](float x) { return x >= 0 ? x : alpha * x; });
    case Kind::kClip:
      return Map(data, count, [alpha, beta](float x) { return std::min(std::max(x, alpha), beta); });
    case Kind::kHardSigmoid:
      return Map(data, count, [alpha, beta](float x) { return std::max(std::min(alpha * x + beta, 1.0f), 0.0f); });
  }
}

}  // namespace rulerun
