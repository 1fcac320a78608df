// What the operators of com.microsoft.nchwc share. Their values have the shape [N, C, H, W] and the memory order
// [N, C / block, H, W, block]: channels come in blocks, one or more vectors wide.
#ifndef RULERUN_KERNELS_OPS_NCHWC_H_
#define RULERUN_KERNELS_OPS_NCHWC_H_

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "engine/base/result.h"
#include "kernels/kernel.h"

namespace rulerun {

inline constexpr std::string_view kNchwc = "com.microsoft.nchwc";

// 8 or 16: the request's, or what ONNX Runtime takes on this machine.
Result<int64_t> ChannelBlock(const KernelRequest& request);

// Input `slot`, which must have four axes and, if `blocked`, whole blocks of channels.
Result<const Tensor*> NchwcInput(const KernelContext& context, size_t slot, int64_t block, bool blocked = true);

// f(std::integral_constant<int64_t, block>), so that loops over a block have a fixed length.
template <typename F>
void WithBlock(int64_t block, F f) {
  if (block == 8) {
    f(std::integral_constant<int64_t, 8>());
  } else {
    f(std::integral_constant<int64_t, 16>());
  }
}

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_NCHWC_H_
