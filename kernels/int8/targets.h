// Which instruction set the int8 kernels run with. Results are the same on all of them.
#ifndef RULERUN_KERNELS_INT8_TARGETS_H_
#define RULERUN_KERNELS_INT8_TARGETS_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace rulerun {

// Names of the targets that this binary has and this CPU can run, best first: "avx3_dl", "avx3", "avx2", "sse4",
// "emu128" (portable code, also called "scalar"), "neon", ...
std::vector<std::string> SupportedTargets();

// The target in use.
std::string ActiveTarget();

// From now on uses target `name` (any case; "scalar" is the portable one); "" or "auto" means the best. A kernel that
// is already prepared keeps its target. Call it while no kernel runs. kUsage error for a name that is not supported.
Status ForceTarget(std::string_view name);

// ForceTarget with the value of the environment variable RULERUN_TARGET, if that is set.
Status ForceTargetFromEnvironment();

}  // namespace rulerun

#endif  // RULERUN_KERNELS_INT8_TARGETS_H_
