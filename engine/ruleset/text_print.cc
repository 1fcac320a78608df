// Writes parsed text back.
#include "engine/base/text.h"
#include "engine/ruleset/text.h"

namespace rulerun {
namespace {

std::string ToText(const DimPattern& dim) {
  std::string text;
  switch (dim.kind) {
    case DimPattern::Kind::kSize:
      text = std::to_string(dim.size);
      break;
    case DimPattern::Kind::kName:
      text = dim.name;
      break;
    case DimPattern::Kind::kAny:
      text = "_";
      break;
  }
  return dim.repeated ? text + "..." : text;
}

std::string Typed(const TypePattern& type, const std::string& name) {
  std::string text = type.name.empty() ? name : type.name + " " + name;
  if (type.shape) {
    std::vector<std::string> dims;
    for (const DimPattern& dim : *type.shape) dims.push_back(ToText(dim));
    text += "[" + Join(dims, ", ") + "]";
  }
  return text;
}

std::string Suffix(bool optional, bool repeated) { return repeated ? "..." : optional ? "?" : ""; }

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string ToText(const AttrValue& value) {
  const std::string mark = value.optional ? "?" : "";
  switch (value.kind) {
    case AttrValue::Kind::kInt:
      return std::to_string(value.integer);
    case AttrValue::Kind::kFloat:
      return value.text.empty() ? FormatDouble(value.number) : value.text;
    case AttrValue::Kind::kString:
      return Quoted(value.text);
    case AttrValue::Kind::kCapture:
      return "@" + value.text + mark;
    case AttrValue::Kind::kName:
      return value.text + mark;
    case AttrValue::Kind::kNone:
      return "none";
    case AttrValue::Kind::kList:
      break;
  }
  std::vector<std::string> items;
  for (const AttrValue& item : value.list) items.push_back(ToText(item));
  return "[" + Join(items, ", ") + "]";
}

std::string ToText(const AttrPattern& attribute) {
  std::vector<std::string> values;
  for (const AttrValue& value : attribute.values) values.push_back(ToText(value));
  const std::string flag = attribute.flag.empty() ? "" : " if " + attribute.flag;
  return attribute.name + " = " + Join(values, " | ") + flag;
}

std::string ToText(const Call& call);

std::string Number(double number, bool is_integer) {
  return is_integer ? std::to_string(static_cast<int64_t>(number)) : FormatDouble(number);
}

std::string ToText(const OperandPattern& operand) {
  const std::string suffix = Suffix(operand.optional, operand.repeated);
  switch (operand.kind) {
    case OperandPattern::Kind::kName:
      return Typed(operand.type, operand.name) + suffix;
    case OperandPattern::Kind::kAny:
      return Typed(operand.type, "_") + suffix;
    case OperandPattern::Kind::kNumber:
      return Number(operand.number, operand.is_integer);
    case OperandPattern::Kind::kCapture:
      return "@" + operand.name + suffix;
    case OperandPattern::Kind::kStar:
      return "*" + operand.name + suffix;
    case OperandPattern::Kind::kCall:
      return operand.call ? ToText(*operand.call) : "";
    case OperandPattern::Kind::kDequantized:
      return (operand.maybe_dequantized ? "DQ?(" : "DQ(") + Typed(operand.type, operand.name) + suffix + ")";
    case OperandPattern::Kind::kList:
      break;
  }
  std::vector<std::string> items;
  for (const double item : operand.list) items.push_back(Number(item, operand.is_integer));
  return "[" + Join(items, ", ") + "]";
}

std::string ToText(const Call& call) {
  std::string text = call.ops.size() == 1 ? call.ops[0] : "{" + Join(call.ops, "|") + "}";
  if (call.ordered) text += "!";
  if (!call.attributes.empty()) {
    std::vector<std::string> attributes;
    for (const AttrPattern& attribute : call.attributes) attributes.push_back(ToText(attribute));
    text += "<" + Join(attributes, ", ") + ">";
  }
  std::vector<std::string> operands;
  for (const OperandPattern& operand : call.operands) operands.push_back(ToText(operand));
  return text + "(" + Join(operands, ", ") + ")";
}

std::string RightSide(const Statement& statement) {
  std::vector<std::string> alternatives;
  for (const Alternative& alternative : statement.alternatives) {
    alternatives.push_back(alternative.call ? ToText(*alternative.call) : alternative.value);
  }
  std::string text = Join(alternatives, " | ");
  if (statement.quantized != Statement::Quantized::kNo) {
    return (statement.quantized == Statement::Quantized::kYes ? "Q(" : "Q?(") + text + ")";
  }
  if (statement.repeat == 0) return text;
  if (statement.alternatives.size() > 1) text = "(" + text + ")";
  return text + statement.repeat;
}

}  // namespace

std::string ToString(const Statement& statement) {
  std::string text = statement.each ? "each " : statement.once ? "once " : "";
  if (!statement.label.empty()) text += "[" + statement.label + "] ";
  std::vector<std::string> outputs;
  for (const OutputPattern& output : statement.outputs) {
    outputs.push_back(Typed(output.type, output.name) + Suffix(output.optional, output.repeated));
  }
  text += Join(outputs, ", ");
  if (statement.kind == Statement::Kind::kRename) return text + " => " + statement.renamed_to;
  if (!outputs.empty()) text += " = ";
  text += RightSide(statement);
  if (!statement.flag.empty()) text += " if " + statement.flag;
  return statement.first ? text + " first" : text;
}

}  // namespace rulerun
