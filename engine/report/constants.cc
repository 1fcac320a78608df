#include "engine/report/constants.h"

#include <algorithm>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/report/rule_ops.h"
#include "engine/ruleset/yaml.h"

namespace rulerun {
namespace {

constexpr char kActivations[] = "scale and zero point of activations";
constexpr char kUnused[] = "not read by any node";

class RoleFinder {
 public:
  RoleFinder(const Graph& graph, const RuleSet& rules, const RoleWords& words)
      : graph_(graph), rules_(rules), words_(words) {}

  std::string RoleOf(ValueId id) const {
    const Value& value = graph_.value(id);
    if (value.uses.empty()) return kUnused;
    const Use& use = value.uses.front();
    const Node& node = *graph_.node(use.node);
    if (static_cast<size_t>(use.slot) >= node.inputs.size()) return "read by a subgraph of " + node.Op();
    if (!IsQuantizer(rules_, node.Op())) return PlainRole(node, use.slot);
    if (!IsInOpSet(rules_, "DQ", node.Op()) || graph_.Constant(node.input(0)) == nullptr) {
      return use.slot == 0 ? PlainRole(node, 0) : kActivations;
    }
    std::string role = Dequantized(node);
    if (use.slot == 0) return role;
    return (use.slot == 1 ? "scale of " : "zero point of ") + role;
  }

 private:
  std::string PlainRole(const Node& node, int slot) const {
    const std::string formal = FormalName(node, slot);
    const auto word = words_.find(node.Op() + "." + formal);
    return word == words_.end() ? formal + " of " + node.Op() : word->second;
  }

  // What the constant in front of a DQ is for the operator behind it.
  std::string Dequantized(const Node& dq) const {
    const ValueId output = dq.output(0);
    if (output == kNoValue || graph_.value(output).uses.empty()) return "constant";
    const Use& use = graph_.value(output).uses.front();
    const Node& reader = *graph_.node(use.node);
    if (static_cast<size_t>(use.slot) >= reader.inputs.size()) return "constant";
    return PlainRole(reader, use.slot);
  }

  std::string FormalName(const Node& node, int slot) const {
    const OpSchema* schema =
        FindSchema(rules_.schemas, node.domain, node.op_type, std::max(graph_.Opset(node.domain), 1));
    if (schema == nullptr || schema->inputs.empty()) return "input " + std::to_string(slot);
    return schema->inputs[std::min(static_cast<size_t>(slot), schema->inputs.size() - 1)].name;
  }

  const Graph& graph_;
  const RuleSet& rules_;
  const RoleWords& words_;
};

std::string ShapeText(const Dims& dims) {
  if (dims.empty()) return "scalar";
  std::vector<std::string> sizes;
  for (const int64_t dim : dims) sizes.push_back(std::to_string(dim));
  return Join(sizes, "x");
}

}  // namespace

Result<RoleWords> ReadRoleWords(const std::string& path) {
  RULERUN_ASSIGN(const Yaml yaml, ReadYaml(path));
  RoleWords words;
  for (const auto& [role, inputs] : yaml.entries) {
    const auto names = inputs.AsNames();
    if (!names) return Error{Code::kBadValue, "expected a list of operator.input", inputs.where.ToString(), ""};
    for (const std::string& name : *names) words[name] = role;
  }
  return words;
}

std::vector<ConstantGroup> GroupConstants(const Graph& graph, const RuleSet& rules, const RoleWords& words) {
  const RoleFinder finder(graph, rules, words);
  std::vector<ConstantGroup> groups;
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(static_cast<ValueId>(i));
    if (!value.initializer) continue;
    const std::string role = finder.RoleOf(static_cast<ValueId>(i));
    auto group = std::find_if(groups.begin(), groups.end(), [&](const ConstantGroup& g) { return g.role == role; });
    if (group == groups.end()) {
      groups.push_back({role, {}, 0, {}});
      group = groups.end() - 1;
    }
    ++group->count;
    group->types.insert(std::string(Name(value.initializer->type())));
    group->shapes.push_back(ShapeText(value.initializer->dims()));
  }
  std::stable_partition(groups.begin(), groups.end(), [](const ConstantGroup& g) { return g.role != kActivations; });
  return groups;
}

}  // namespace rulerun
