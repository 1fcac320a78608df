// The generated list of every Register_… function under kernels/ (see kernels/CMakeLists.txt).
#ifndef RULERUN_KERNELS_REGISTER_H_
#define RULERUN_KERNELS_REGISTER_H_

#include "kernels/kernel.h"

namespace rulerun {

void RegisterAllKernels(KernelRegistry& registry);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_REGISTER_H_
