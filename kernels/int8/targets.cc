#include "kernels/int8/targets.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "kernels/int8/simd.h"
// After the settings.
#include "hwy/highway.h"
#include "hwy/targets.h"

namespace rulerun {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// Targets of this binary that the CPU has, whatever was forced before.
int64_t Available() {
  hwy::DisableTargets(0);
  return (hwy::SupportedTargets() & HWY_TARGETS) | HWY_STATIC_TARGET;
}

int64_t forced = 0;  // the target that ForceTarget chose, or 0

void Apply(int64_t target) {
  forced = target;
  // Lower bits are better targets.
  hwy::DisableTargets(target == 0 ? 0 : ~target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

std::vector<int64_t> Bits(int64_t targets) {
  std::vector<int64_t> bits;
  for (; targets != 0; targets &= targets - 1) bits.push_back(targets & ~(targets - 1));
  return bits;
}

}  // namespace

std::vector<std::string> SupportedTargets() {
  const int64_t available = Available();
  Apply(forced);
  std::vector<std::string> names;
  for (const int64_t bit : Bits(available)) names.push_back(Lower(hwy::TargetName(bit)));
  return names;
}

std::string ActiveTarget() {
  const int64_t enabled = hwy::SupportedTargets() & HWY_TARGETS;
  const int64_t best = enabled == 0 ? HWY_STATIC_TARGET : Bits(enabled).front();
  return Lower(hwy::TargetName(best));
}

Status ForceTarget(std::string_view name) {
  std::string wanted = Lower(name);
  if (wanted.empty() || wanted == "auto") {
    Apply(0);
    return {};
  }
  if (wanted == "scalar" || wanted == "portable") wanted = Lower(hwy::TargetName(HWY_BASELINE_SCALAR));
  const int64_t available = Available();
  for (const int64_t bit : Bits(available)) {
    if (Lower(hwy::TargetName(bit)) == wanted) {
      Apply(bit);
      return {};
    }
  }
  Apply(forced);
  const std::vector<std::string> names = SupportedTargets();
  return Error{Code::kUnknownTarget,
               "SIMD target '" + std::string(name) + "' is not available" + DidYouMean(wanted, names), "",
               "available here: " + Join(names, ", ") + ", auto"};
}

Status ForceTargetFromEnvironment() {
  const char* name = std::getenv("RULERUN_TARGET");
  return name == nullptr ? Status() : ForceTarget(name);
}

}  // namespace rulerun
