// Attributes of nodes that a rewrite makes or edits.
#include <algorithm>

#include "engine/match/compute.h"
#include "engine/match/conditions.h"
#include "engine/rewrite/rewrite.h"

namespace rulerun {
namespace {

// A written value as a constant: literal, capture, type name, dimension, computed line, operand's constant.
Computed ConstantOf(const Binding& binding, const AttrValue& value) {
  switch (value.kind) {
    case AttrValue::Kind::kInt:
      return Computed::Known(Tensor::Scalar<int64_t>(value.integer));
    case AttrValue::Kind::kFloat:
      return Computed::Known(Tensor::Scalar<float>(static_cast<float>(value.number)));
    case AttrValue::Kind::kCapture:
      return binding.CaptureOf(value.text);
    case AttrValue::Kind::kName:
      if (binding.Declares(value.text) || binding.IsComputed(value.text)) return binding.ConstantOf(value.text);
      if (const auto type = ParseDataType(value.text)) {
        return Computed::Known(Tensor::Scalar<int64_t>(static_cast<int64_t>(*type)));
      }
      if (const auto bound = binding.types.find(value.text); bound != binding.types.end()) {
        return Computed::Known(Tensor::Scalar<int64_t>(static_cast<int64_t>(bound->second)));
      }
      return binding.ConstantOf(value.text);
    default:
      return Computed::Unknown();
  }
}

AttributeSchema::Kind KindOf(const OpSchema* schema, std::string_view name, const Tensor& example) {
  if (schema != nullptr) {
    const auto found = schema->attributes.find(name);
    if (found != schema->attributes.end()) return found->second.kind;
  }
  const bool integer = IsInteger(example.type());
  if (example.rank() == 0) return integer ? AttributeSchema::Kind::kInt : AttributeSchema::Kind::kFloat;
  return integer ? AttributeSchema::Kind::kInts : AttributeSchema::Kind::kFloats;
}

std::vector<float> ToFloats(const Tensor& tensor) {
  std::vector<float> numbers;
  for (const double number : ToDoubles(tensor)) numbers.push_back(static_cast<float>(number));
  return numbers;
}

Attribute AsKind(const Tensor& tensor, AttributeSchema::Kind kind) {
  switch (kind) {
    case AttributeSchema::Kind::kFloat:
      return static_cast<float>(ElementAsDouble(tensor, 0));
    case AttributeSchema::Kind::kInts:
      return ToInts(tensor);
    case AttributeSchema::Kind::kFloats:
      return ToFloats(tensor);
    case AttributeSchema::Kind::kTensor:
      return tensor;
    case AttributeSchema::Kind::kString:
      return tensor.strings().front();
    case AttributeSchema::Kind::kStrings:
      return tensor.strings();
    default:
      return ElementAsInt(tensor, 0);
  }
}

std::optional<Attribute> ListValue(const Binding& binding, const AttrValue& list, const OpSchema* schema,
                                   std::string_view name) {
  std::vector<double> numbers;
  bool integers = true;
  for (const AttrValue& item : list.list) {
    const Computed value = ConstantOf(binding, item);
    if (value.state != Computed::State::kKnown) continue;
    integers = integers && IsInteger(value.tensor.type());
    for (const double number : ToDoubles(value.tensor)) numbers.push_back(number);
  }
  if (numbers.empty()) return std::nullopt;
  const auto kind = KindOf(schema, name, integers ? Tensor::Vector<int64_t>({0}) : Tensor::Vector<float>({0}));
  if (kind == AttributeSchema::Kind::kInts) return std::vector<int64_t>(numbers.begin(), numbers.end());
  std::vector<float> floats;
  for (const double number : numbers) floats.push_back(static_cast<float>(number));
  return floats;
}

std::optional<Attribute> Evaluate(const Binding& binding, const AttrValue& value, const OpSchema* schema,
                                  std::string_view name) {
  if (value.kind == AttrValue::Kind::kString) return Attribute(binding.Expand(value.text));
  if (value.kind == AttrValue::Kind::kList) return ListValue(binding, value, schema, name);
  if (value.kind == AttrValue::Kind::kCapture) {
    const auto capture = binding.captures.find(value.text);
    return capture == binding.captures.end() ? std::nullopt : capture->second;
  }
  const Computed constant = ConstantOf(binding, value);
  if (constant.state != Computed::State::kKnown || constant.tensor.count() == 0) return std::nullopt;
  const AttributeSchema::Kind kind = KindOf(schema, name, constant.tensor);
  const bool text = kind == AttributeSchema::Kind::kString || kind == AttributeSchema::Kind::kStrings;
  if (text != (constant.tensor.type() == DataType::kString)) return std::nullopt;
  return AsKind(constant.tensor, kind);
}

}  // namespace

bool FlagHolds(const Binding& binding, const std::string& flag) {
  if (flag.empty()) return true;
  for (const auto& [name, conditions] : binding.rule().flags) {
    if (name != flag) continue;
    Binding attempt = binding;
    return rulerun::Evaluate(attempt, conditions) == Truth::kTrue;
  }
  return false;
}

void SetAttributes(const Binding& binding, const Call& call, const OpSchema* schema, AttributeMap& attributes) {
  for (const AttrPattern& pattern : call.attributes) {
    if (!FlagHolds(binding, pattern.flag)) continue;
    if (pattern.values.front().kind == AttrValue::Kind::kNone) {
      attributes.erase(pattern.name);
      continue;
    }
    for (const AttrValue& value : pattern.values) {
      auto attribute = Evaluate(binding, value, schema, pattern.name);
      if (!attribute) continue;
      attributes[pattern.name] = std::move(*attribute);
      break;
    }
  }
}

}  // namespace rulerun
