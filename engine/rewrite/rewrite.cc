#include "engine/rewrite/rewrite.h"

#include <algorithm>
#include <iterator>

#include "engine/graph/resolve.h"
#include "engine/match/compute.h"

namespace rulerun {
namespace {

// What the names of `prune:` stand for.
std::vector<ValueId> ValuesToPrune(const Binding& binding) {
  std::vector<ValueId> values;
  for (const std::string& name : binding.rule().prune) {
    for (const Operand& operand : binding.Operands(name).value_or(std::vector<Operand>{})) {
      if (operand.present()) values.push_back(operand.value);
    }
  }
  return values;
}

// Removes the producer of a value that nothing reads, and then those that fed only it.
void Prune(Graph& graph, ValueId value, Change& change) {
  std::vector<ValueId> open{value};
  while (!open.empty()) {
    const Node* node = graph.Producer(open.back());
    open.pop_back();
    if (node == nullptr || graph.OutputEdgeCount(*node) > 0 || graph.ProducesGraphOutput(*node)) continue;
    std::copy_if(node->inputs.begin(), node->inputs.end(), std::back_inserter(open),
                 [](ValueId input) { return input != kNoValue; });
    open.insert(open.end(), node->implicit.begin(), node->implicit.end());
    change.removed.push_back(node->name);
    graph.RemoveNode(node->index);
  }
}

}  // namespace

Result<Change> Apply(Binding& binding) {
  const Rule& rule = binding.rule();
  const bool by_case = binding.taken_case != nullptr && binding.taken_case->rewrite.kind != Rewrite::Kind::kNone;
  const Rewrite& rewrite = by_case ? binding.taken_case->rewrite : rule.rewrite;
  const std::vector<ValueId> pruned = ValuesToPrune(binding);
  auto change = rule.is_unit ? ApplyUnit(binding, rewrite) : ApplyPattern(binding, rewrite);
  if (!change.ok()) return change;
  for (const ValueId value : pruned) Prune(binding.graph(), value, *change);
  return change;
}

std::pair<std::string, std::string> OperatorOf(const Binding& binding, const Call& call) {
  const std::string op = binding.Expand(call.ops.front());
  const size_t dot = op.rfind('.');
  if (dot == std::string::npos) return {"", op};
  return {op.substr(0, dot), op.substr(dot + 1)};
}

const NameTemplate* FindName(const Binding& binding, std::string_view key) {
  const auto in = [&](const NameTemplates& names) -> const NameTemplate* {
    for (const auto& [name, text] : names) {
      if (name == key) return &text;
    }
    return nullptr;
  };
  if (binding.taken_case != nullptr) {
    if (const NameTemplate* found = in(binding.taken_case->names)) return found;
  }
  return in(binding.rule().names);
}

std::string DrawValueName(const Binding& binding, std::string_view key, const std::string& fallback) {
  const NameTemplate* wanted = FindName(binding, key);
  if (wanted == nullptr) return binding.graph().UniqueValueName(fallback);
  std::string base = binding.Expand(wanted->text);
  // An exact name that is taken after all would tie two values together.
  if (wanted->kind == NameTemplate::Kind::kExact && !binding.graph().Find(base)) return base;
  return binding.graph().UniqueValueName(base);
}

std::string DrawNodeName(const Binding& binding, std::string_view key, const std::string& fallback) {
  const NameTemplate* wanted = FindName(binding, key);
  if (wanted == nullptr) return binding.graph().UniqueNodeName(fallback);
  std::string base = binding.Expand(wanted->text);
  if (wanted->kind == NameTemplate::Kind::kExact) return base;
  if (wanted->kind == NameTemplate::Kind::kFromValues) return binding.graph().UniqueValueName(base);
  return binding.graph().UniqueNodeName(base);
}

std::optional<ValueId> ComputedInitializer(Binding& binding, const std::string& name,
                                           std::map<std::string, ValueId>& made) {
  if (const auto found = made.find(name); found != made.end()) return found->second;
  const Computed value = binding.ConstantOf(name);
  if (value.state != Computed::State::kKnown) return std::nullopt;
  const ValueId id = binding.graph().AddInitializer(DrawValueName(binding, name, name), value.tensor);
  made.emplace(name, id);
  return id;
}

NodeIndex AddUntyped(Binding& binding, Node made) {
  Graph& graph = binding.graph();
  if (graph.Opset(made.domain) == 0) {
    for (Graph* scope = &graph; scope != nullptr; scope = scope->parent()) scope->SetOpset(made.domain, 1);
  }
  return graph.AddNode(std::move(made)).index;
}

Result<NodeIndex> AddMade(Binding& binding, Node made) {
  const NodeIndex index = AddUntyped(binding, std::move(made));
  RULERUN_RETURN_IF_ERROR(ResolveNode(binding.graph(), index, binding.scope().rules->schemas));
  return index;
}

std::vector<std::string> OriginsOf(const Graph& graph, const std::vector<NodeIndex>& nodes) {
  std::vector<std::string> origins;
  for (const NodeIndex index : nodes) {
    const Node* node = graph.node(index);
    if (node == nullptr) continue;
    for (const std::string& origin : node->origins) {
      if (std::find(origins.begin(), origins.end(), origin) == origins.end()) origins.push_back(origin);
    }
  }
  return origins;
}

void RemoveDead(Graph& graph, const std::vector<NodeIndex>& nodes, Change& change) {
  bool removed = true;
  while (removed) {
    removed = false;
    for (const NodeIndex index : nodes) {
      const Node* node = graph.node(index);
      if (node == nullptr || graph.OutputEdgeCount(*node) > 0 || graph.ProducesGraphOutput(*node)) continue;
      change.removed.push_back(node->name);
      graph.RemoveNode(index);
      removed = true;
    }
  }
}

}  // namespace rulerun
