#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "kernels/ops/op.h"
#include "kernels/ops/recurrent.h"
#include "kernels/ops/vector_math.h"

namespace rulerun {

namespace {

struct Named {
  std::string_view name;
  size_t parameters;
  float alpha, beta;  // where they are not given, as ONNX Runtime has it
};

// In the order of RecurrentActivation::Kind.
constexpr std::array<Named, 11> kActivations = {{
    {"Relu", 0, 0, 0},
    {"Tanh", 0, 0, 0},
    {"Sigmoid", 0, 0, 0},
    {"Affine", 2, 0, 0},
    {"LeakyRelu", 1, 0.01f, 0},
    {"ThresholdedRelu", 1, 1, 0},
    {"ScaledTanh", 2, 0, 0},
    {"HardSigmoid", 2, 0.2f, 0.5f},
    {"Elu", 1, 1, 0},
    {"Softsign", 0, 0, 0},
    {"Softplus", 0, 0, 0},
}};

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

size_t IndexOf(const std::string& name) {
  size_t index = 0;
  while (index < kActivations.size() && Lower(kActivations[index].name) != Lower(name)) ++index;
  return index;
}

}  // namespace

size_t RecurrentActivation::ParameterCount(const std::string& name) {
  const size_t index = IndexOf(name);
  return index < kActivations.size() ? kActivations[index].parameters : 0;
}

Result<RecurrentActivation> RecurrentActivation::Make(const std::string& name, std::optional<float> alpha,
                                                      std::optional<float> beta) {
  const size_t index = IndexOf(name);
  if (index == kActivations.size()) return Invalid("unknown activation '" + name + "'");
  RecurrentActivation made;
  made.kind_ = static_cast<Kind>(index);
  made.alpha_ = alpha.value_or(kActivations[index].alpha);
  made.beta_ = beta.value_or(kActivations[index].beta);
  return made;
}

float RecurrentActivation::Value(float x) const {
  switch (kind_) {
    case Kind::kRelu:
      return std::max(x, 0.0f);
    case Kind::kAffine:
      return alpha_ * x + beta_;
    case Kind::kLeakyRelu:
      return x >= 0 ? x : alpha_ * x;
    case Kind::kThresholdedRelu:
      return x > alpha_ ? x : 0.0f;
    case Kind::kScaledTanh:
      return alpha_ * std::tanh(beta_ * x);
    case Kind::kHardSigmoid:
      return std::min(std::max(alpha_ * x + beta_, 0.0f), 1.0f);
    case Kind::kElu:
      return x >= 0 ? x : alpha_ * std::expm1(x);
    case Kind::kSoftsign:
      return x / (1 + std::abs(x));
    case Kind::kSoftplus:
      return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    case Kind::kTanh:
    case Kind::kSigmoid:
      break;  // Apply does these
  }
  return x;
}

void RecurrentActivation::Apply(float* data, int64_t count) const {
  if (kind_ == Kind::kTanh) return VectorTanh(data, data, count);
  if (kind_ == Kind::kSigmoid) return VectorLogistic(data, data, count);
  for (int64_t i = 0; i < count; ++i) data[i] = Value(data[i]);
}

}  // namespace rulerun
