#include "engine/match/compute.h"

#include <algorithm>
#include <array>

#include "engine/graph/schema.h"

namespace rulerun {
namespace {

// An operand while its type may still be open: literals and captures take the type of the other operands.
struct Argument {
  Computed value;
  bool weak = false;
};

Tensor ListTensor(const OperandPattern& operand) {
  if (!operand.is_integer) {
    std::vector<float> numbers;
    for (const double number : operand.list) numbers.push_back(static_cast<float>(number));
    return Tensor::Vector<float>(numbers);
  }
  std::vector<int64_t> numbers;
  for (const double number : operand.list) numbers.push_back(static_cast<int64_t>(number));
  return Tensor::Vector<int64_t>(numbers);
}

Argument EvaluateOperand(const Binding& binding, const OperandPattern& operand);

std::vector<Computed> EvaluateCall(const Binding& binding, const Call& call, size_t outputs);

Argument EvaluateOperand(const Binding& binding, const OperandPattern& operand) {
  switch (operand.kind) {
    case OperandPattern::Kind::kNumber:
      return {Computed::Known(operand.is_integer ? Tensor::Scalar<int64_t>(static_cast<int64_t>(operand.number))
                                                 : Tensor::Scalar<float>(static_cast<float>(operand.number))),
              true};
    case OperandPattern::Kind::kList:
      return {Computed::Known(ListTensor(operand)), false};
    case OperandPattern::Kind::kCapture: {
      Computed value = binding.CaptureOf(operand.name);
      const bool weak = value.state != Computed::State::kKnown || value.tensor.rank() == 0;  // a list keeps its type
      return {std::move(value), weak};
    }
    case OperandPattern::Kind::kCall:
      return {EvaluateCall(binding, *operand.call, 1).front(), false};
    case OperandPattern::Kind::kName:
      return {binding.ConstantOf(operand.name), binding.captures.count(operand.name) > 0};
    default:
      return {Computed::Absent(), false};
  }
}

// Gives weak arguments the element type of the first strong one; among themselves, float where one is.
void SettleTypes(std::vector<Argument>& arguments) {
  std::optional<DataType> type;
  for (const Argument& argument : arguments) {
    if (argument.value.state != Computed::State::kKnown) continue;
    const DataType own = argument.value.tensor.type();
    if (!argument.weak) {
      type = own;
      break;
    }
    if (!type || own == DataType::kFloat) type = own;
  }
  if (!type) return;
  for (Argument& argument : arguments) {
    if (!argument.weak || argument.value.state != Computed::State::kKnown) continue;
    const Tensor& number = argument.value.tensor;
    if (number.type() == *type || number.count() != 1) continue;
    argument.value.tensor = Filled(*type, number.dims(), ElementAsDouble(number, 0));
  }
}

std::optional<Attribute> AttributeOf(const Binding& binding, const AttrValue& value) {
  switch (value.kind) {
    case AttrValue::Kind::kInt:
      return Attribute(value.integer);
    case AttrValue::Kind::kFloat:
      return Attribute(static_cast<float>(value.number));
    case AttrValue::Kind::kString:
      return Attribute(binding.Expand(value.text));
    case AttrValue::Kind::kCapture: {
      const auto found = binding.captures.find(value.text);
      return found == binding.captures.end() ? std::nullopt : found->second;
    }
    case AttrValue::Kind::kName:
      if (const auto type = ParseDataType(value.text)) return Attribute(static_cast<int64_t>(*type));
      return std::nullopt;
    case AttrValue::Kind::kList: {
      std::vector<int64_t> numbers;
      for (const AttrValue& item : value.list) numbers.push_back(item.integer);
      return Attribute(numbers);
    }
    case AttrValue::Kind::kNone:
      break;
  }
  return std::nullopt;
}

AttributeMap AttributesOf(const Binding& binding, const Call& call) {
  AttributeMap attributes;
  for (const AttrPattern& pattern : call.attributes) {
    for (const AttrValue& value : pattern.values) {
      if (auto attribute = AttributeOf(binding, value)) {
        attributes.emplace(pattern.name, std::move(*attribute));
        break;
      }
    }
  }
  return attributes;
}

std::vector<Computed> RunKernel(const Binding& binding, const Call& call, const std::vector<Argument>& arguments,
                                size_t outputs) {
  std::string domain;
  std::string op = call.ops.front();
  if (const size_t dot = op.rfind('.'); dot != std::string::npos) {
    domain = op.substr(0, dot);
    op = op.substr(dot + 1);
  }
  std::vector<const Tensor*> inputs;
  for (const Argument& argument : arguments) {
    inputs.push_back(argument.value.state == Computed::State::kKnown ? &argument.value.tensor : nullptr);
  }
  // Rules mean the operators of the newest opset, whatever the model imports.
  const std::vector<int> versions = SinceVersions(domain, op);
  int since = 1;
  for (const int version : versions) since = version <= kNewestOpset ? version : since;
  auto run = RunOnce(*binding.scope().kernels, domain, op, since, AttributesOf(binding, call), inputs, outputs);
  std::vector<Computed> results(outputs, Computed::Unknown());
  if (!run.ok()) return results;
  for (size_t i = 0; i < outputs && i < run->size(); ++i) results[i] = Computed::Known((*run)[i]);
  return results;
}

std::vector<Computed> EvaluateCall(const Binding& binding, const Call& call, size_t outputs) {
  const bool function = FindTensorFunction(call.ops.front()) != nullptr;
  std::vector<Argument> arguments;
  for (const OperandPattern& operand : call.operands) arguments.push_back(EvaluateOperand(binding, operand));
  if (function) {
    std::vector<Computed> operands;
    for (Argument& argument : arguments) operands.push_back(std::move(argument.value));
    return CallTensorFunction(binding, call, operands);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].value.state == Computed::State::kUnknown) {
      return std::vector<Computed>(outputs, Computed::Unknown());
    }
  }
  // An operand that is not there leaves the line without a value, whether it was marked `?` or lies behind one that
  // was.
  for (const Argument& argument : arguments) {
    if (argument.value.state == Computed::State::kAbsent) {
      return std::vector<Computed>(outputs, Computed::Absent());
    }
  }
  SettleTypes(arguments);
  return RunKernel(binding, call, arguments, outputs);
}

}  // namespace

Computed NumberOf(const Attribute& attribute) {
  if (const auto* integer = std::get_if<int64_t>(&attribute)) return Computed::Known(Tensor::Scalar<int64_t>(*integer));
  if (const auto* number = std::get_if<float>(&attribute)) return Computed::Known(Tensor::Scalar<float>(*number));
  if (const auto* list = std::get_if<std::vector<int64_t>>(&attribute)) {
    return Computed::Known(Tensor::Vector<int64_t>(*list));
  }
  if (const auto* list = std::get_if<std::vector<float>>(&attribute)) {
    return Computed::Known(Tensor::Vector<float>(*list));
  }
  if (const auto* text = std::get_if<std::string>(&attribute)) return Computed::Known(Tensor({}, {*text}));
  if (const auto* list = std::get_if<std::vector<std::string>>(&attribute)) {
    return Computed::Known(Tensor({static_cast<int64_t>(list->size())}, *list));
  }
  if (const auto* tensor = std::get_if<Tensor>(&attribute)) return Computed::Known(*tensor);
  return Computed::Unknown();
}

std::vector<Computed> EvaluateLine(const Binding& binding, const Statement& line) {
  const Alternative& right = line.alternatives.front();
  if (!right.call) return {binding.ConstantOf(right.value)};
  return EvaluateCall(binding, *right.call, line.outputs.size());
}

}  // namespace rulerun
