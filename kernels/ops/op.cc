#include "kernels/ops/op.h"

#include "engine/base/codes.h"

namespace rulerun {

Error Invalid(std::string message) { return {Code::kNodeFails, std::move(message), "", ""}; }
Error Unsupported(std::string message) { return {Code::kKernelLimit, std::move(message), "", ""}; }

}  // namespace rulerun
