// Pattern rules: a full search, in a fixed order, for nodes that fit the lines of `match` (language.md 3).
//
// The search binds structure only: operators and who reads whom. Attributes, versions, providers, types, shapes and
// uses are checked when all lines are bound, so that "refused" means: this is the pattern, but.
#include <algorithm>
#include <cmath>
#include <set>

#include "engine/base/text.h"
#include "engine/match/conditions.h"
#include "engine/match/match.h"
#include "engine/match/shapes.h"

namespace rulerun {
namespace {

// A line bound to a node through one of its alternatives.
struct BoundLine {
  const Statement* line;
  const Call* call;
  NodeIndex node;
  std::vector<ValueId> inputs;  // in the order of the operands
};

struct State {
  Binding binding;
  std::vector<bool> done;
  std::vector<BoundLine> bound;
};

class Search {
 public:
  Search(const MatchScope& scope, const Rule& rule, std::vector<const Statement*> lines, const Case* settled)
      : scope_(scope), rule_(rule), graph_(*scope.graph), lines_(std::move(lines)), settled_(settled) {}

  MatchResult Run(NodeIndex anchor) {
    const size_t first = AnchorLine();
    State state{Binding(scope_, rule_), std::vector<bool>(lines_.size(), false), {}};
    state.binding.taken_case = settled_;
    TryNode(state, first, anchor);
    return std::move(result_);
  }

 private:
  size_t AnchorLine() const {
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (!rule_.anchor.empty() && lines_[i]->label == rule_.anchor) return i;
    }
    return 0;
  }

  bool Found() const {
    return result_.kind == MatchResult::Kind::kMatched || result_.kind == MatchResult::Kind::kError || result_.final;
  }

  // --- choosing the next line: producers before consumers, in the order of the text

  void Solve(const State& state) {
    if (Found()) return;
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (state.done[i] || lines_[i]->each) continue;
      for (const OutputPattern& output : lines_[i]->outputs) {
        if (const auto value = Single(state.binding, output.name)) return TryProducer(state, i, *value);
      }
    }
    bool open = false;
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (state.done[i]) continue;
      open = true;
      if (const auto value = BoundOperand(state.binding, *lines_[i])) return TryConsumers(state, i, *value);
    }
    if (!open || NothingLeadsOn(state)) Finish(state);
  }

  // Lines behind an alternative that was not taken, or behind an operand that is missing, count as not there.
  bool NothingLeadsOn(const State& state) const {
    const auto bound = [&](const std::string& name) {
      const auto found = state.binding.values.find(name);
      if (name == "_" || found == state.binding.values.end()) return false;
      return found->second.list || found->second.items.empty() || found->second.items.front().present();
    };
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (state.done[i]) continue;
      const std::set<std::string> names = NamesIn(*lines_[i]);
      if (std::any_of(names.begin(), names.end(), bound)) return false;
    }
    return true;
  }

  // The one value a name is bound to.
  static std::optional<ValueId> Single(const Binding& binding, const std::string& name) {
    const auto bound = binding.values.find(name);
    if (name == "_" || bound == binding.values.end() || bound->second.list) return std::nullopt;
    if (bound->second.items.empty() || !bound->second.items.front().present()) return std::nullopt;
    return bound->second.items.front().value;
  }

  static std::optional<ValueId> BoundOperand(const Binding& binding, const Statement& line) {
    for (const Alternative& alternative : line.alternatives) {
      if (!alternative.call) {
        if (const auto value = Single(binding, alternative.value)) return value;
        continue;
      }
      for (const OperandPattern& operand : alternative.call->operands) {
        if (operand.kind != OperandPattern::Kind::kName) continue;
        if (const auto value = Single(binding, operand.name)) return value;
      }
    }
    return std::nullopt;
  }

  // --- a line whose result is known

  void TryProducer(const State& state, size_t i, ValueId value) {
    const Statement& line = *lines_[i];
    const NodeIndex producer = graph_.value(value).producer;
    if (line.repeat == '*') return TryChainUp(state, i, value, {});
    if (producer != kNoNode) TryNode(state, i, producer);
    for (const Alternative& alternative : line.alternatives) {
      if (!alternative.call) TryAlias(state, i, alternative.value, value);
    }
    if (line.repeat == '?') TryAlias(state, i, PassedOperand(line), value);
  }

  // The node is missing: the line's result and the operand it passes on are one value.
  void TryAlias(const State& state, size_t i, const std::string& name, ValueId value) {
    if (Found()) return;
    State next = state;
    next.done[i] = true;
    if (!BindName(next.binding, name, value)) return;
    for (const OutputPattern& output : lines_[i]->outputs) {
      if (!BindName(next.binding, output.name, value)) return;
    }
    Solve(next);
  }

  // The operand that a missing node passes on: the first of its first call.
  static std::string PassedOperand(const Statement& line) {
    for (const Alternative& alternative : line.alternatives) {
      if (alternative.call && !alternative.call->operands.empty()) return alternative.call->operands.front().name;
    }
    return "_";
  }

  // y = {A|B}(x)* with y known: the longest chain first, then shorter ones, down to none.
  void TryChainUp(const State& state, size_t i, ValueId value, std::vector<NodeIndex> chain) {
    const Node* node = graph_.Producer(value);
    if (node != nullptr && FitsChain(*lines_[i], *node) && Free(state, node->index) &&
        std::find(chain.begin(), chain.end(), node->index) == chain.end()) {
      std::vector<NodeIndex> longer = chain;
      longer.push_back(node->index);
      TryChainUp(state, i, node->input(0), std::move(longer));
    }
    EndChain(state, i, PassedOperand(*lines_[i]), value, std::move(chain));
  }

  // The same with x known.
  void TryChainDown(const State& state, size_t i, ValueId value, std::vector<NodeIndex> chain) {
    for (const Use& use : graph_.value(value).uses) {
      const Node& node = *graph_.node(use.node);
      if (use.slot != 0 || !FitsChain(*lines_[i], node) || !Free(state, node.index)) continue;
      if (std::find(chain.begin(), chain.end(), node.index) != chain.end() || node.output(0) == kNoValue) continue;
      std::vector<NodeIndex> longer = chain;
      longer.push_back(node.index);
      TryChainDown(state, i, node.output(0), std::move(longer));
      if (Found()) return;
    }
    EndChain(state, i, lines_[i]->outputs.front().name, value, std::move(chain));
  }

  bool FitsChain(const Statement& line, const Node& node) const {
    return std::any_of(line.alternatives.begin(), line.alternatives.end(), [&](const Alternative& alternative) {
      return alternative.call && IsOperator(scope_, *alternative.call, node) && AttributesFit(*alternative.call, node);
    });
  }

  void EndChain(const State& state, size_t i, const std::string& name, ValueId value, std::vector<NodeIndex> chain) {
    if (Found()) return;
    State next = state;
    next.done[i] = true;
    next.binding.chain.insert(next.binding.chain.end(), chain.begin(), chain.end());
    if (!lines_[i]->label.empty()) BindResults(next.binding, lines_[i]->label, chain);
    if (BindName(next.binding, name, value)) Solve(next);
  }

  // `label.out0` of a chain stands for the results of all its nodes.
  void BindResults(Binding& binding, const std::string& label, const std::vector<NodeIndex>& chain) const {
    BoundValue results{true, {}};
    for (const NodeIndex index : chain) results.items.push_back(Operand::Of(graph_.node(index)->output(0)));
    binding.values[label + ".out0"] = std::move(results);
  }

  // --- a line that reads a known value

  void TryConsumers(const State& state, size_t i, ValueId value) {
    const Statement& line = *lines_[i];
    if (line.each) return TryEach(state, i, value);
    if (line.repeat == '*') return TryChainDown(state, i, value, {});
    NodeIndex previous = kNoNode;
    for (const Use& use : graph_.value(value).uses) {
      if (use.node == previous) continue;
      previous = use.node;
      if (static_cast<size_t>(use.slot) >= graph_.node(use.node)->inputs.size()) continue;
      if (line.first && !FitsChain(line, *graph_.node(use.node))) continue;
      TryNode(state, i, use.node);
      if (Found()) return;
      if (line.first) break;
    }
    for (const Alternative& alternative : line.alternatives) {
      if (alternative.call) continue;
      if (const auto named = Single(state.binding, alternative.value)) TryAlias(state, i, alternative.value, *named);
    }
    if (line.repeat == '?') TryAlias(state, i, PassedOperand(line), value);
  }

  // Every user of the value, none of them a subgraph, looks like the line.
  void TryEach(const State& state, size_t i, ValueId value) {
    const Statement& line = *lines_[i];
    if (graph_.value(value).uses.empty() || graph_.UsedBySubgraph(value)) return;
    State next = state;
    next.done[i] = true;
    EachMatch each{&line, {}};
    std::map<std::string, BoundValue> lists;
    for (const Use& use : graph_.value(value).uses) {
      if (std::find(each.nodes.begin(), each.nodes.end(), use.node) != each.nodes.end()) continue;
      State one = state;
      const auto calls = Fitting(line, *graph_.node(use.node));
      if (calls.empty() || !BindNode(one, i, *calls.front(), use.node, graph_.node(use.node)->inputs)) return;
      each.nodes.push_back(use.node);
      next.bound.push_back(one.bound.back());
      for (const auto& [name, bound] : one.binding.values) {
        if (state.binding.values.count(name) > 0) continue;
        BoundValue& list = lists[name];
        list.list = true;
        list.items.insert(list.items.end(), bound.items.begin(), bound.items.end());
      }
    }
    next.binding.values.insert(lists.begin(), lists.end());
    next.binding.eaches.push_back(std::move(each));
    Solve(next);
  }

  // --- binding a line to a node

  std::vector<const Call*> Fitting(const Statement& line, const Node& node) const {
    std::vector<const Call*> calls;
    for (const Alternative& alternative : line.alternatives) {
      if (alternative.call && IsOperator(scope_, *alternative.call, node)) calls.push_back(&*alternative.call);
    }
    return calls;
  }

  bool Free(const State& state, NodeIndex node) const {
    const std::vector<NodeIndex> matched = state.binding.MatchedNodes();
    return !std::binary_search(matched.begin(), matched.end(), node);
  }

  // Operands as written, then swapped where the operator is commutative.
  void TryNode(const State& state, size_t i, NodeIndex index) {
    const Node& node = *graph_.node(index);
    if (Found() || !Free(state, index)) return;
    for (const Call* call : Fitting(*lines_[i], node)) {
      std::vector<std::vector<ValueId>> orders = {node.inputs};
      const bool swappable = !call->ordered && call->operands.size() == 2 && node.inputs.size() == 2 &&
                             scope_.rules->vocabulary.commutative.count(node.Op()) > 0;
      if (swappable) orders.push_back({node.inputs[1], node.inputs[0]});
      for (const std::vector<ValueId>& inputs : orders) {
        State next = state;
        if (BindNode(next, i, *call, index, inputs)) Solve(next);
        if (Found()) return;
      }
    }
  }

  bool BindNode(State& state, size_t i, const Call& call, NodeIndex index, const std::vector<ValueId>& inputs) {
    const Statement& line = *lines_[i];
    const Node& node = *graph_.node(index);
    state.done[i] = true;
    if (!line.each) state.binding.nodes[line.label.empty() ? "#" + std::to_string(i) : line.label] = index;
    state.bound.push_back({&line, &call, index, inputs});
    return BindOutputs(state.binding, line, node) && BindOperands(state.binding, call, inputs);
  }

  bool BindOutputs(Binding& binding, const Statement& line, const Node& node) {
    size_t slot = 0;
    for (const OutputPattern& output : line.outputs) {
      if (output.repeated) {
        BoundValue list{true, {}};
        for (; slot < node.outputs.size(); ++slot) {
          if (node.outputs[slot] != kNoValue) list.items.push_back(Operand::Of(node.outputs[slot]));
        }
        binding.values[output.name] = std::move(list);
        continue;
      }
      const ValueId value = node.output(slot++);
      if (value == kNoValue) {
        if (!output.optional) return false;
        binding.values[output.name] = {false, {Operand{}}};
      } else if (!BindName(binding, output.name, value)) {
        return false;
      }
    }
    for (; slot < node.outputs.size(); ++slot) {
      if (node.outputs[slot] != kNoValue) return false;
    }
    return true;
  }

  bool BindOperands(Binding& binding, const Call& call, std::vector<ValueId> inputs) {
    while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
    size_t slot = 0;
    for (const OperandPattern& pattern : call.operands) {
      if (pattern.repeated) {
        BindRest(binding, pattern, inputs, slot);
        continue;
      }
      const ValueId value = slot < inputs.size() ? inputs[slot] : kNoValue;
      ++slot;
      if (value == kNoValue) {
        if (!pattern.optional) return false;
        if (!pattern.name.empty()) binding.values[pattern.name] = {false, {Operand{}}};
      } else if (pattern.kind == OperandPattern::Kind::kNumber) {
        if (!IsNumber(value, pattern.number)) return false;
      } else if (pattern.kind == OperandPattern::Kind::kName && !BindName(binding, pattern.name, value)) {
        return false;
      }
    }
    return slot >= inputs.size();
  }

  static void BindRest(Binding& binding, const OperandPattern& pattern, const std::vector<ValueId>& inputs,
                       size_t& slot) {
    BoundValue list{true, {}};
    for (; slot < inputs.size(); ++slot) {
      if (inputs[slot] != kNoValue) list.items.push_back(Operand::Of(inputs[slot]));
    }
    if (pattern.kind == OperandPattern::Kind::kName) binding.values[pattern.name] = std::move(list);
  }

  // A name that is bound already must stand for the same value.
  static bool BindName(Binding& binding, const std::string& name, ValueId value) {
    if (name == "_" || name.empty()) return true;
    const auto [bound, fresh] = binding.values.emplace(name, BoundValue{false, {Operand::Of(value)}});
    return fresh || (!bound->second.items.empty() && bound->second.items.front().value == value);
  }

  // A written number: a constant scalar near it, in its own precision, as ONNX Runtime compares (inventory-fp32.md 0.4,
  // approx).
  bool IsNumber(ValueId value, double number) const {
    const Tensor* constant = graph_.Constant(value);
    if (constant == nullptr || constant->count() != 1 || constant->rank() > 1) return false;
    if (constant->type() == DataType::kFloat16) {
      number = static_cast<double>(HalfToFloat(FloatToHalf(static_cast<float>(number))));
    }
    return std::fabs(ElementAsDouble(*constant, 0) - number) <= 1e-8 + 1e-5 * std::fabs(number);
  }

  // --- what is left when all lines are bound

  void Finish(const State& state) {
    Binding binding = state.binding;
    std::optional<Refusal> refusal = Check(state, binding);
    if (refusal) {
      if (result_.kind == MatchResult::Kind::kNoMatch) {
        result_.kind = MatchResult::Kind::kRefused;
        result_.refusal = std::move(*refusal);
      }
      return;
    }
    MatchResult concluded = Conclude(std::move(binding));
    const bool decides = concluded.kind != MatchResult::Kind::kRefused || concluded.final;
    if (decides || result_.kind == MatchResult::Kind::kNoMatch) {
      result_ = std::move(concluded);
    }
  }

  static Refusal Refused(std::string check, std::string message, Location where) {
    return {std::move(check), std::move(message), std::move(where), {}, "", ""};
  }

  std::optional<Refusal> Check(const State& state, Binding& binding) {
    TypeCheck types(binding);
    for (const BoundLine& bound : state.bound) {
      const Node& node = *graph_.node(bound.node);
      if (!ProviderFits(scope_, rule_, node)) {
        return Refused("provider", "'" + node.name + "' is on provider '" + node.provider + "'", bound.line->where);
      }
      if (auto refusal = CheckVersion(bound, node)) return refusal;
      if (auto refusal = BindAttributes(binding, *bound.call, node)) return refusal;
      if (auto refusal = CheckTypes(binding, types, bound, node)) return refusal;
    }
    binding.types = types.variables();
    if (!types.RowsHold()) {
      return Refused("types", "these element types are not taken; the rule takes " + types.Wanted(), rule_.where);
    }
    return CheckUses(binding);
  }

  std::optional<Refusal> CheckVersion(const BoundLine& bound, const Node& node) const {
    const auto narrowed = rule_.since.find(bound.line->label);
    const auto known = scope_.rules->vocabulary.since.find(node.Op());
    const std::vector<int>* versions = narrowed != rule_.since.end()                   ? &narrowed->second
                                       : known != scope_.rules->vocabulary.since.end() ? &known->second
                                                                                       : nullptr;
    if (versions == nullptr) return std::nullopt;
    if (std::find(versions->begin(), versions->end(), node.since_version) != versions->end()) return std::nullopt;
    const std::string version = std::to_string(node.since_version);
    return Refused("since", "'" + node.name + "' (" + node.Op() + ") is of version " + version, bound.line->where);
  }

  std::optional<Refusal> CheckTypes(Binding& binding, TypeCheck& types, const BoundLine& bound, const Node& node) {
    size_t slot = 0;
    for (const OperandPattern& operand : bound.call->operands) {
      if (operand.repeated) break;
      const ValueId value = slot < bound.inputs.size() ? bound.inputs[slot] : kNoValue;
      ++slot;
      if (value == kNoValue) continue;
      if (auto refusal = CheckType(binding, types, operand.type, value, operand.where)) return refusal;
    }
    slot = 0;
    for (const OutputPattern& output : bound.line->outputs) {
      const ValueId value = node.output(slot++);
      if (value == kNoValue || output.repeated) continue;
      if (auto refusal = CheckType(binding, types, output.type, value, bound.line->where)) return refusal;
    }
    return std::nullopt;
  }

  std::optional<Refusal> CheckType(Binding& binding, TypeCheck& types, const TypePattern& pattern, ValueId value,
                                   const Location& where) {
    const ValueType& type = graph_.TypeOf(value);
    if (!types.Add(pattern, type.element)) {
      return Refused("types", "'" + graph_.value(value).name + "' " + types.detail(), where);
    }
    if (!pattern.shape) return std::nullopt;
    if (type.shape && MatchShape(binding, *pattern.shape, *type.shape) == Truth::kTrue) return std::nullopt;
    return Refused("shape",
                   "'" + graph_.value(value).name + "' has shape " + (type.shape ? ToString(*type.shape) : "unknown") +
                       ", wanted " + ToString(*pattern.shape),
                   where);
  }

  // Values one matched node writes and another reads are used by matched nodes only, and are no graph outputs.
  std::optional<Refusal> CheckUses(const Binding& binding) const {
    const std::set<ValueId> shared = ValuesOf(binding, rule_.shared);
    const std::set<ValueId> outputs_ok = ValuesOf(binding, rule_.outputs_ok);
    const std::vector<NodeIndex> matched = binding.MatchedNodes();
    const auto is_matched = [&](NodeIndex node) { return std::binary_search(matched.begin(), matched.end(), node); };
    for (const NodeIndex index : matched) {
      for (const ValueId output : graph_.node(index)->outputs) {
        if (output == kNoValue || shared.count(output) > 0) continue;
        const Value& value = graph_.value(output);
        const auto reads = [&](const Use& use) {
          return is_matched(use.node) && static_cast<size_t>(use.slot) < graph_.node(use.node)->inputs.size();
        };
        if (std::none_of(value.uses.begin(), value.uses.end(), reads)) continue;  // final
        if (value.graph_output && outputs_ok.count(output) == 0) {
          return Refused("single-use", "'" + value.name + "' is a graph output too", rule_.where);
        }
        const auto other = std::find_if_not(value.uses.begin(), value.uses.end(), reads);
        if (other == value.uses.end()) continue;
        return Refused("single-use", "'" + value.name + "' is also used by '" + graph_.node(other->node)->name + "'",
                       rule_.where);
      }
    }
    return std::nullopt;
  }

  static std::set<ValueId> ValuesOf(const Binding& binding, const std::set<std::string>& names) {
    std::set<ValueId> ids;
    for (const std::string& name : names) {
      const auto bound = binding.values.find(name);
      if (bound == binding.values.end()) continue;
      for (const Operand& item : bound->second.items) ids.insert(item.value);
    }
    return ids;
  }

  const MatchScope& scope_;
  const Rule& rule_;
  const Graph& graph_;
  std::vector<const Statement*> lines_;
  const Case* settled_;
  MatchResult result_;
};

}  // namespace

MatchResult MatchPattern(const MatchScope& scope, const Rule& rule, NodeIndex node) {
  std::vector<const Statement*> lines;
  for (const Statement& line : rule.match) lines.push_back(&line);
  const bool cases_add_lines =
      std::any_of(rule.cases.begin(), rule.cases.end(), [](const Case& one) { return !one.match.empty(); });
  if (!cases_add_lines) return Search(scope, rule, std::move(lines), nullptr).Run(node);
  MatchResult best;
  for (const Case& one : rule.cases) {
    std::vector<const Statement*> all = lines;
    for (const Statement& line : one.match) all.push_back(&line);
    MatchResult result = Search(scope, rule, std::move(all), &one).Run(node);
    const bool found = result.kind == MatchResult::Kind::kMatched || result.kind == MatchResult::Kind::kError;
    if (found || result.final) return result;
    if (best.kind == MatchResult::Kind::kNoMatch) best = std::move(result);
  }
  return best;
}

}  // namespace rulerun
