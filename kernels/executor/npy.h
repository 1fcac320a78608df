// numpy's .npy files (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
#ifndef RULERUN_KERNELS_EXECUTOR_NPY_H_
#define RULERUN_KERNELS_EXECUTOR_NPY_H_

#include <cstddef>
#include <span>
#include <string>

#include "engine/base/result.h"
#include "engine/graph/tensor.h"

namespace rulerun {

// Format versions 1 to 3, C order, little-endian numbers and bools. Anything else is an error that says what it is.
Result<Tensor> ParseNpy(std::span<const std::byte> bytes);
Result<Tensor> ReadNpy(const std::string& path);

// numpy lacks some types: bfloat16 is written as float32, 4- and 2-bit integers as 8-bit ones; strings, complex numbers
// and 8-bit floats are errors.
Result<std::string> FormatNpy(const Tensor& tensor);
// The file appears whole or not at all.
Status WriteNpy(const std::string& path, const Tensor& tensor);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_EXECUTOR_NPY_H_
