#include "kernels/int8/params.h"

#include <utility>

#include "engine/base/codes.h"

namespace rulerun::int8 {
namespace {

Error WrongInput(std::string_view op, std::string_view name, const Tensor& tensor, std::string_view wanted) {
  return OpError(op, "input '" + std::string(name) + "' is " + std::string(Name(tensor.type())) +
                         ToText(tensor.dims()) + ", but must be " + std::string(wanted));
}

}  // namespace

Error OpError(std::string_view op, std::string message) {
  return {Code::kNodeFails, std::string(op) + ": " + std::move(message), "", ""};
}

std::string ToText(const Dims& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  return text + "]";
}

Result<const Tensor*> Required(const KernelContext& context, size_t slot, std::string_view op, std::string_view name) {
  const Tensor* tensor = context.Input(slot);
  if (tensor == nullptr || tensor->empty()) return OpError(op, "input '" + std::string(name) + "' is missing");
  return tensor;
}

Result<const Tensor*> EightBitInput(const KernelContext& context, size_t slot, std::string_view op,
                                    std::string_view name) {
  RULERUN_ASSIGN(const Tensor* tensor, Required(context, slot, op, name));
  if (!IsEightBit(tensor->type())) return WrongInput(op, name, *tensor, "uint8 or int8");
  return tensor;
}

Result<float> ReadScale(const KernelContext& context, size_t slot, std::string_view op, std::string_view name) {
  RULERUN_ASSIGN(const Tensor* tensor, Required(context, slot, op, name));
  if (tensor->type() != DataType::kFloat || tensor->count() != 1) {
    return WrongInput(op, name, *tensor, "one float");
  }
  return tensor->data<float>()[0];
}

Result<int32_t> ReadZeroPoint(const KernelContext& context, size_t slot, DataType type, std::string_view op,
                              std::string_view name) {
  const Tensor* tensor = context.Input(slot);
  if (tensor == nullptr || tensor->empty()) return 0;
  if (tensor->type() != type || tensor->count() != 1) {
    return WrongInput(op, name, *tensor, "one " + std::string(Name(type)));
  }
  return static_cast<int32_t>(ElementAsInt(*tensor, 0));
}

Result<Quantization> ReadQuantization(const KernelContext& context, size_t scale_slot, DataType type,
                                      std::string_view op, std::string_view name) {
  RULERUN_ASSIGN(const float scale, ReadScale(context, scale_slot, op, std::string(name) + "_scale"));
  RULERUN_ASSIGN(const int32_t zero_point,
                 ReadZeroPoint(context, scale_slot + 1, type, op, std::string(name) + "_zero_point"));
  return Quantization{scale, zero_point};
}

Result<std::vector<float>> ReadScales(const KernelContext& context, size_t slot, int64_t count, std::string_view op,
                                      std::string_view name) {
  RULERUN_ASSIGN(const Tensor* tensor, Required(context, slot, op, name));
  if (tensor->type() != DataType::kFloat || (tensor->count() != 1 && tensor->count() != count)) {
    return WrongInput(op, name, *tensor, "1 or " + std::to_string(count) + " floats");
  }
  const float* values = tensor->data<float>();
  if (tensor->count() == count) return std::vector<float>(values, values + count);
  return std::vector<float>(static_cast<size_t>(count), values[0]);
}

Result<std::vector<int32_t>> ReadZeroPoints(const Tensor* tensor, DataType type, int64_t count, std::string_view op,
                                            std::string_view name) {
  std::vector<int32_t> values(static_cast<size_t>(count), 0);
  if (tensor == nullptr || tensor->empty()) return values;
  if (tensor->type() != type || (tensor->count() != 1 && tensor->count() != count)) {
    return WrongInput(op, name, *tensor,
                      "1 or " + std::to_string(count) + " elements of type " + std::string(Name(type)));
  }
  for (int64_t i = 0; i < count; ++i) {
    values[static_cast<size_t>(i)] = static_cast<int32_t>(ElementAsInt(*tensor, tensor->count() == 1 ? 0 : i));
  }
  return values;
}

const Tensor* Constant(const KernelRequest& request, size_t slot) {
  return slot < request.constants.size() ? request.constants[slot] : nullptr;
}

bool IsFixed(const KernelRequest& request, size_t slot) {
  if (Constant(request, slot) != nullptr || slot >= request.input_types.size()) return true;
  return false;
}

}  // namespace rulerun::int8
