// Reads the small inputs of quantized operators: scales, zero points, biases. Every error names operator and input.
#ifndef RULERUN_KERNELS_INT8_PARAMS_H_
#define RULERUN_KERNELS_INT8_PARAMS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "kernels/int8/arithmetic.h"
#include "kernels/kernel.h"

namespace rulerun::int8 {

// A kModel error "op: message".
Error OpError(std::string_view op, std::string message);

// "[2, 3]".
std::string ToText(const Dims& dims);

// Input `slot`, or an error where it is missing.
Result<const Tensor*> Required(const KernelContext& context, size_t slot, std::string_view op, std::string_view name);

// An 8-bit input.
Result<const Tensor*> EightBitInput(const KernelContext& context, size_t slot, std::string_view op,
                                    std::string_view name);

// A float32 input of one element; its shape does not matter.
Result<float> ReadScale(const KernelContext& context, size_t slot, std::string_view op, std::string_view name);

// An integer input of one element and type `type`; 0 where it is omitted.
Result<int32_t> ReadZeroPoint(const KernelContext& context, size_t slot, DataType type, std::string_view op,
                              std::string_view name);

// Both, in neighbouring inputs, for values of type `type`.
Result<Quantization> ReadQuantization(const KernelContext& context, size_t scale_slot, DataType type,
                                      std::string_view op, std::string_view name);

// A float32 input of 1 or `count` elements, as `count` ones.
Result<std::vector<float>> ReadScales(const KernelContext& context, size_t slot, int64_t count, std::string_view op,
                                      std::string_view name);

// An 8-bit input of type `type` with 1 or `count` elements, as `count` ones; zeros where it is omitted.
Result<std::vector<int32_t>> ReadZeroPoints(const Tensor* tensor, DataType type, int64_t count, std::string_view op,
                                            std::string_view name);

// The constant value of an input, or nullptr.
const Tensor* Constant(const KernelRequest& request, size_t slot);
// Whether an input is constant or omitted: its value will not change between runs.
bool IsFixed(const KernelRequest& request, size_t slot);

// For KernelDef::types.
inline const std::vector<DataType> kEightBitTypes = {DataType::kUint8, DataType::kInt8};
inline const std::vector<DataType> kFloatOnly = {DataType::kFloat};
inline const std::vector<DataType> kInt32Only = {DataType::kInt32};

}  // namespace rulerun::int8

#endif  // RULERUN_KERNELS_INT8_PARAMS_H_
