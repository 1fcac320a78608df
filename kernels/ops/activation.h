// The activations that fused operators apply to their result, by name.
#ifndef RULERUN_KERNELS_OPS_ACTIVATION_H_
#define RULERUN_KERNELS_OPS_ACTIVATION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/result.h"

namespace rulerun {

class Activation {
 public:
  Activation() = default;  // none

  // How many parameters the activation takes, or nullopt for a name that is none.
  static std::optional<size_t> ParameterCount(std::string_view name);
  // "" is none. The number of parameters must be right.
  static Result<Activation> Make(std::string_view name, std::span<const float> parameters);

  bool none() const { return kind_ == Kind::kNone; }
  void Apply(float* data, int64_t count) const;

 private:
  enum class Kind { kNone, kRelu, kTanh, kSigmoid, kHardSwish, kLeakyRelu, kClip, kHardSigmoid };
  Kind kind_ = Kind::kNone;
  float alpha_ = 0;
  float beta_ = 0;
};

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_ACTIVATION_H_
