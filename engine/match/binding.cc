#include "engine/match/binding.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/match/compute.h"

namespace rulerun {
namespace {

// "x.scale" -> {"x", "scale"}; without a dot, or with a leading domain that no member can be, the member is empty.
std::pair<std::string_view, std::string_view> SplitMember(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {name, {}};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

// "in0" -> 0, "out2" -> 2 with `prefix` "in" or "out".
std::optional<size_t> SlotOf(std::string_view member, std::string_view prefix) {
  if (!StartsWith(member, prefix) || member.size() == prefix.size()) return std::nullopt;
  size_t slot = 0;
  for (const char c : member.substr(prefix.size())) {
    if (c < '0' || c > '9') return std::nullopt;
    slot = slot * 10 + static_cast<size_t>(c - '0');
  }
  return slot;
}

Operand OperandOf(ValueId id) { return id == kNoValue ? Operand{} : Operand::Of(id); }

// A member of an operand: its scale and zero point, or what the operator itself reads.
Operand MemberOf(const Graph& graph, const Operand& operand, std::string_view member) {
  if (!operand.present()) return {};
  if (member == "float") return OperandOf(operand.real);
  if (operand.quantizer == kNoNode) return {};
  const Node& quantizer = *graph.node(operand.quantizer);
  return OperandOf(quantizer.input(member == "scale" ? 1 : 2));
}

bool IsOperandMember(std::string_view member) {
  return member == "scale" || member == "zero_point" || member == "float";
}

bool DeclaredBy(const std::vector<Statement>& statements, std::string_view name);

bool DeclaredBy(const Call& call, std::string_view name) {
  for (const AttrPattern& attribute : call.attributes) {
    for (const AttrValue& value : attribute.values) {
      if (value.kind == AttrValue::Kind::kCapture && value.text == name) return true;
    }
  }
  for (const OperandPattern& operand : call.operands) {
    if (operand.name == name) return true;
    if (operand.type.shape) {
      for (const DimPattern& dim : *operand.type.shape) {
        if (dim.kind == DimPattern::Kind::kName && dim.name == name) return true;
      }
    }
    if (operand.call && DeclaredBy(*operand.call, name)) return true;
  }
  return false;
}

bool DeclaredBy(const std::vector<Statement>& statements, std::string_view name) {
  for (const Statement& statement : statements) {
    if (statement.label == name) return true;
    for (const OutputPattern& output : statement.outputs) {
      if (output.name == name) return true;
    }
    for (const Alternative& alternative : statement.alternatives) {
      if (alternative.call ? DeclaredBy(*alternative.call, name) : alternative.value == name) return true;
    }
  }
  return false;
}

}  // namespace

Binding::Binding(const MatchScope& scope, const Rule& rule) : scope_(&scope), rule_(&rule) {}

const Node* Binding::NodeOf(std::string_view label) const {
  const auto found = nodes.find(std::string(label));
  return found == nodes.end() ? nullptr : graph().node(found->second);
}

std::vector<NodeIndex> Binding::MatchedNodes() const {
  std::vector<NodeIndex> matched;
  for (const auto& [label, index] : nodes) matched.push_back(index);
  for (const EachMatch& each : eaches) matched.insert(matched.end(), each.nodes.begin(), each.nodes.end());
  matched.insert(matched.end(), chain.begin(), chain.end());
  std::sort(matched.begin(), matched.end());
  matched.erase(std::unique(matched.begin(), matched.end()), matched.end());
  return matched;
}

bool Binding::Declares(std::string_view name) const {
  const auto [base, member] = SplitMember(name);
  for (const std::string_view asked : {name, base}) {
    if (DeclaredBy(rule_->match, asked)) return true;
    if (taken_case != nullptr && DeclaredBy(taken_case->match, asked)) return true;
    for (const Case& one : rule_->cases) {
      if (DeclaredBy(one.match, asked)) return true;
    }
  }
  return rule_->is_unit && (base == "op" || base == "in" || base == "out");
}

std::optional<std::vector<Operand>> Binding::Operands(std::string_view name) const {
  if (const auto bound = values.find(std::string(name)); bound != values.end()) return bound->second.items;
  const auto [base, member] = SplitMember(name);
  if (!member.empty()) {
    if (const auto bound = values.find(std::string(base)); bound != values.end() && IsOperandMember(member)) {
      std::vector<Operand> members;
      for (const Operand& item : bound->second.items) members.push_back(MemberOf(graph(), item, member));
      return members;
    }
    if (const Node* node = NodeOf(base)) {
      if (const auto slot = SlotOf(member, "in")) return std::vector<Operand>{OperandOf(node->input(*slot))};
      if (const auto slot = SlotOf(member, "out")) return std::vector<Operand>{OperandOf(node->output(*slot))};
      return std::nullopt;
    }
  }
  if (IsComputed(name) || captures.count(std::string(name)) > 0 || dims.count(std::string(name)) > 0) {
    return std::nullopt;
  }
  if (Declares(name)) return std::vector<Operand>{Operand{}};  // of an alternative that was not taken
  return std::nullopt;
}

void Binding::AddCompute(const std::vector<Statement>& lines) {
  for (const Statement& line : lines) {
    for (size_t i = 0; i < line.outputs.size(); ++i) {
      compute_[line.outputs[i].name] = {&line, static_cast<int>(i)};
      cache_.erase(line.outputs[i].name);
    }
  }
}

bool Binding::IsComputed(std::string_view name) const { return compute_.count(std::string(name)) > 0; }

Computed Binding::CaptureOf(std::string_view name) const {
  const auto capture = captures.find(std::string(name));
  return capture == captures.end() || !capture->second ? Computed::Absent() : NumberOf(*capture->second);
}

Computed Binding::ConstantOf(std::string_view name) const {
  const std::string key(name);
  if (IsComputed(name)) {
    if (const auto cached = cache_.find(key); cached != cache_.end()) return cached->second;
    const Line line = compute_.at(key);
    cache_[key] = Computed::Unknown();  // a line that needs itself has no value
    const std::vector<Computed> results = EvaluateLine(*this, *line.statement);
    for (size_t i = 0; i < line.statement->outputs.size(); ++i) {
      cache_[line.statement->outputs[i].name] = i < results.size() ? results[i] : Computed::Unknown();
    }
    return cache_.at(key);
  }
  if (captures.count(key) > 0) return CaptureOf(name);
  if (const auto dim = dims.find(key); dim != dims.end()) {
    return dim->second.known() ? Computed::Known(Tensor::Scalar<int64_t>(dim->second.size)) : Computed::Unknown();
  }
  if (StartsWith(name, "option.")) {
    const auto value = scope_->target->Lookup(name.substr(7));
    return value ? Computed::Known(Tensor::Scalar<int64_t>(*value)) : Computed::Unknown();
  }
  const auto operands = Operands(name);
  if (operands && operands->size() == 1) {
    if (!operands->front().present()) return Computed::Absent();
    const Tensor* constant = graph().Constant(operands->front().value);
    return constant == nullptr ? Computed::Unknown() : Computed::Known(*constant);
  }
  const auto [base, member] = SplitMember(name);
  if (const Node* node = NodeOf(base); node != nullptr && !member.empty()) {
    const auto attribute = node->attributes.find(member);
    return attribute == node->attributes.end() ? Computed::Absent() : NumberOf(attribute->second);
  }
  return Declares(name) ? Computed::Absent() : Computed::Unknown();
}

Binding Binding::Narrowed(const std::vector<std::string>& names, size_t i) const {
  Binding one = *this;
  for (const std::string& name : names) {
    BoundValue& bound = one.values.at(name);
    bound.items = {bound.items[i]};
    bound.list = false;
  }
  for (const EachMatch& each : eaches) {
    if (i < each.nodes.size() && !each.line->label.empty()) one.nodes[each.line->label] = each.nodes[i];
  }
  one.cache_.clear();
  return one;
}

std::optional<std::string> Binding::ExpandReference(std::string_view reference) const {
  if (const size_t bar = reference.find('|'); bar != std::string_view::npos) {
    const auto first = ExpandReference(reference.substr(0, bar));
    return first ? first : std::optional<std::string>(std::string(reference.substr(bar + 1)));
  }
  if (rule_->is_unit && reference == "op") return NodeOf("op")->op_type;
  if (const Node* node = NodeOf(reference)) return node->name;
  const auto [base, member] = SplitMember(reference);
  if (const Node* node = NodeOf(base)) {
    if (member == "op") return node->op_type;
    if (member == "since") return std::to_string(node->since_version);
  }
  const bool of_value = member == "type" || member == "name";
  const auto operands = Operands(of_value ? base : reference);
  if (operands && !operands->empty() && operands->front().present()) {
    const ValueId id = operands->front().value;
    if (member == "type") return std::string(rulerun::Name(graph().TypeOf(id).element));
    return graph().value(id).name;
  }
  return std::nullopt;
}

std::string Binding::Expand(std::string_view text) const {
  std::string expanded;
  size_t begin = 0;
  while (true) {
    const size_t open = text.find("${", begin);
    const size_t close = open == std::string_view::npos ? open : text.find('}', open);
    if (close == std::string_view::npos) return expanded + std::string(text.substr(begin));
    expanded += text.substr(begin, open - begin);
    expanded += ExpandReference(text.substr(open + 2, close - open - 2)).value_or("");
    begin = close + 1;
  }
}

std::string Binding::ComputedBy(std::string_view name) const {
  const auto line = compute_.find(std::string(name));
  return line == compute_.end() ? "" : rulerun::ToString(*line->second.statement);
}

std::string Describe(const Binding& binding, std::string_view name) {
  if (binding.IsComputed(name)) return binding.ComputedBy(name);
  const auto operands = binding.Operands(name);
  if (!operands || operands->empty() || !operands->front().present()) return std::string(name);
  const Value& value = binding.graph().value(operands->front().value);
  const std::string written = " (" + std::string(name) + ")";
  // What several nodes share, perhaps since a pass merged equal constants, is told by its Q or DQ.
  const auto [base, member] = SplitMember(name);
  const auto of = binding.values.find(std::string(base));
  if (value.uses.size() > 1 && (member == "scale" || member == "zero_point") && of != binding.values.end()) {
    const NodeIndex at = of->second.items.empty() ? kNoNode : of->second.items.front().quantizer;
    const Node* quantizer = at == kNoNode ? nullptr : binding.graph().node(at);
    if (quantizer != nullptr && !quantizer->name.empty()) {
      return (member == "scale" ? "the scale of '" : "the zero point of '") + quantizer->name + "'" + written;
    }
  }
  return "'" + value.name + "'" + written;
}

}  // namespace rulerun
