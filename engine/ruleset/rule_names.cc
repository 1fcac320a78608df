#include "engine/ruleset/rule_names.h"

#include <charconv>

#include "engine/ruleset/op_names.h"

namespace rulerun {

RuleNames RuleNames::Of(const Rule& rule, const Vocabulary& words, const Case* one, bool every_case) {
  RuleNames names;
  names.AddMatch(rule.match, words, rule.is_unit);
  names.AddCompute(rule.compute);
  names.AddConditions(rule.conditions);
  for (const Case& other : rule.cases) {
    if (!every_case && &other != one) continue;
    names.AddMatch(other.match, words, false);
    names.AddCompute(other.compute);
    names.AddConditions(other.conditions);
  }
  for (const auto& [flag, conditions] : rule.flags) names.AddConditions(conditions);
  for (const Fault& fault : rule.faults) names.AddConditions(fault.when);
  return names;
}

void RuleNames::AddMatch(const std::vector<Statement>& statements, const Vocabulary& words, bool unit) {
  for (const Statement& statement : statements) {
    for (const OutputPattern& output : statement.outputs) {
      if (output.name == "_") continue;
      values.insert(output.name);
      if (statement.each) each.insert(output.name);
      if (statement.quantized != Statement::Quantized::kNo) quantized.insert(output.name);
      AddType(output.type, output.where);
    }
    std::vector<std::string> operators;
    for (const Alternative& alternative : statement.alternatives) {
      if (!alternative.call) {
        values.insert(alternative.value);
        continue;
      }
      AddCall(*alternative.call);
      for (const std::string& op : alternative.call->ops) {
        for (std::string& member : WrittenOutOperators(op, *this, words)) operators.push_back(std::move(member));
      }
    }
    const std::string label = unit ? "op" : statement.label;
    if (!label.empty()) labels[label] = std::move(operators);
  }
}

void RuleNames::AddCall(const Call& call) {
  for (const AttrPattern& attribute : call.attributes) {
    for (const AttrValue& value : attribute.values) {
      if (value.kind == AttrValue::Kind::kCapture) captures.insert(value.text);
    }
  }
  for (const OperandPattern& operand : call.operands) {
    AddType(operand.type, operand.where);
    if (operand.kind == OperandPattern::Kind::kDequantized) quantized.insert(operand.name);
    if (!operand.name.empty() && operand.kind != OperandPattern::Kind::kCapture) values.insert(operand.name);
  }
}

void RuleNames::AddType(const TypePattern& type, const Location& where) {
  if (!type.name.empty()) type_names.emplace(type.name, where);
  if (!type.shape) return;
  for (const DimPattern& dim : *type.shape) {
    if (dim.kind == DimPattern::Kind::kName) dims.insert(dim.name);
  }
}

void RuleNames::AddCompute(const std::vector<Statement>& statements) {
  for (const Statement& statement : statements) {
    for (const OutputPattern& output : statement.outputs) {
      if (output.name != "_") computed.emplace(output.name, output.where);
    }
  }
}

// `shape: {b: [C]}` binds C where nothing has before.
void RuleNames::AddConditions(const Conditions& conditions) {
  for (const Condition& condition : conditions) {
    for (const Conditions& group : condition.groups) AddConditions(group);
    if (condition.predicate->args != ArgKind::kValueToShape) continue;
    for (const auto& [name, shape] : condition.pairs) {
      for (const Yaml& item : shape.items) {
        const std::string dim = item.scalar.substr(0, item.scalar.find("..."));
        if (dim != "_" && !IsNumber(dim)) dims.insert(dim);
      }
    }
  }
}

bool RuleNames::Has(const std::string& name) const {
  return labels.count(name) > 0 || values.count(name) > 0 || captures.count(name) > 0 || dims.count(name) > 0 ||
         computed.count(name) > 0;
}

std::vector<std::string> RuleNames::All() const {
  std::vector<std::string> all(values.begin(), values.end());
  for (const auto& [label, unused] : labels) all.push_back(label);
  for (const auto& [name, unused] : computed) all.push_back(name);
  all.insert(all.end(), captures.begin(), captures.end());
  all.insert(all.end(), dims.begin(), dims.end());
  return all;
}

std::vector<std::string> WrittenOutOperators(const std::string& name, const RuleNames& names, const Vocabulary& words) {
  const size_t open = name.find("${");
  if (open == std::string::npos) {
    const auto set = words.op_sets.find(name);
    return set != words.op_sets.end() ? set->second : std::vector<std::string>{name};
  }
  const size_t close = name.find('}', open);
  const DottedName reference = SplitMember(name.substr(open + 2, close - open - 2));
  const auto label = names.labels.find(reference.base);
  std::vector<std::string> written;
  if (label == names.labels.end()) return written;
  for (const std::string& op : label->second) {
    // A bare ${label.op} is that very operator; within a longer name it is the word without its domain.
    const bool bare = open == 0 && close + 1 == name.size();
    written.push_back(name.substr(0, open) + (bare ? op : SplitOpName(op).type) + name.substr(close + 1));
  }
  return written;
}

DottedName SplitMember(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {name, ""};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

bool IsNumber(const std::string& text) {
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && end.ec == std::errc() && end.ptr == text.data() + text.size();
}

std::vector<std::string> ReferencesIn(std::string_view text) {
  std::vector<std::string> references;
  for (size_t open = text.find("${"); open != std::string_view::npos; open = text.find("${", open + 2)) {
    const size_t close = text.find('}', open);
    if (close == std::string_view::npos) break;
    const std::string_view inside = text.substr(open + 2, close - open - 2);
    references.emplace_back(inside.substr(0, inside.find('|')));
  }
  return references;
}

}  // namespace rulerun
