// Runs float kernels for float16 and bfloat16: inputs are widened, every output is rounded once.
#ifndef RULERUN_KERNELS_ADAPTER_H_
#define RULERUN_KERNELS_ADAPTER_H_

#include <memory>
#include <span>
#include <vector>

#include "kernels/kernel.h"

namespace rulerun {

bool HasHalf(std::span<const DataType> types);
std::vector<DataType> Widened(std::span<const DataType> types);  // 16-bit floats become float

// The tensor as float, or as `half` (float16 or bfloat16) rounded half to even.
Tensor WidenTensor(const Tensor& tensor);
Tensor NarrowTensor(const Tensor& tensor, DataType half);

// A kernel of `def`, which takes floats, for a request with 16-bit floats. Its float outputs get the type of the
// first 16-bit input.
Result<std::unique_ptr<Kernel>> MakeWidened(const KernelDef& def, const KernelRequest& request);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_ADAPTER_H_
