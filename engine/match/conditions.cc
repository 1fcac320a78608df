#include "engine/match/conditions.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/match/predicates_impl.h"
#include "engine/ruleset/condition_text.h"

namespace rulerun {
namespace predicates {

Truth And(Truth a, Truth b) {
  if (a == Truth::kFalse || b == Truth::kFalse) return Truth::kFalse;
  return a == Truth::kTrue ? b : a;
}

Truth Or(Truth a, Truth b) {
  if (a == Truth::kTrue || b == Truth::kTrue) return Truth::kTrue;
  return a == Truth::kFalse ? b : a;
}

const Table& All() {
  static const auto& table = *new Table([] {
    Table all;
    AddValuePredicates(all);
    AddNumberPredicates(all);
    AddNodePredicates(all);
    return all;
  }());
  return table;
}

Truth OverOperands(Call& call, const std::vector<std::string>& names, const AskOperand& ask) {
  Truth all = Truth::kTrue;
  for (const std::string& name : names) {
    const auto operands = call.binding.Operands(name);
    if (!operands) continue;
    for (const Operand& operand : *operands) {
      if (!operand.present()) continue;
      all = And(all, ask(operand, name));
      if (all == Truth::kFalse) return all;
    }
  }
  return all;
}

Truth OverPairs(Call& call, const AskPair& ask) {
  Truth all = Truth::kTrue;
  for (const auto& [name, wanted] : call.condition.pairs) {
    const auto operands = call.binding.Operands(name);
    if (!operands) continue;
    for (const Operand& operand : *operands) {
      if (!operand.present()) continue;
      all = And(all, ask(operand, name, wanted));
      if (all == Truth::kFalse) return all;
    }
  }
  return all;
}

std::string NameOf(const Call& call, const Operand& operand) {
  return "'" + call.binding.graph().value(operand.value).name + "'";
}

std::string Choice(const Yaml& wanted) {
  if (wanted.IsScalar()) return wanted.scalar;
  std::vector<std::string> parts;
  for (const Yaml& item : wanted.items) parts.push_back(Choice(item));
  for (const auto& [key, value] : wanted.entries) parts.push_back(key + " " + Choice(value));
  return Join(parts, wanted.IsMap() ? ", " : " or ");
}

const std::optional<Shape>& ShapeOf(const Call& call, const Operand& operand) {
  return call.binding.graph().TypeOf(operand.value).shape;
}

}  // namespace predicates

namespace {

// What a condition says when it does not hold, and the inner condition to blame where it is nested.
struct Blame {
  std::string actual;
  std::string wanted;
  std::optional<Refusal> inner;
};

Truth EvaluateOne(Binding& binding, const Condition& condition, Blame& blame);
Truth EvaluateAll(Binding& binding, const Conditions& conditions, Blame& blame);

// None of the alternatives holds: the first of them is to blame.
Truth EvaluateAny(Binding& binding, const Condition& condition, Blame& blame) {
  Truth any = Truth::kFalse;
  for (const Conditions& group : condition.groups) {
    Binding attempt = binding;
    Blame inner;
    const Truth truth = EvaluateAll(attempt, group, inner);
    if (truth == Truth::kTrue) {
      binding = std::move(attempt);
      return truth;
    }
    any = predicates::Or(any, truth);
    if (!blame.inner) blame.inner = std::move(inner.inner);
  }
  return any;
}

Truth EvaluateIf(Binding& binding, const Condition& condition, Blame& blame) {
  Binding attempt = binding;
  Blame unused;
  const Truth asked = EvaluateAll(attempt, condition.groups[0], unused);
  if (asked != Truth::kTrue) return asked == Truth::kFalse ? Truth::kTrue : asked;
  return EvaluateAll(binding, condition.groups[1], blame);
}

// Taken to hold here, to see what comes next.
bool IsAssumed(const Binding& binding, const Condition& condition) {
  const std::vector<Assumption>& assumed = binding.scope().target->assumed;
  if (assumed.empty()) return false;
  const std::string place = condition.where.ToString();
  const std::vector<NodeIndex> matched = binding.MatchedNodes();
  const auto stands_for = [&](const std::string& name) {
    return std::any_of(matched.begin(), matched.end(), [&](NodeIndex index) {
      const Node& node = *binding.graph().node(index);
      return node.name == name || std::find(node.origins.begin(), node.origins.end(), name) != node.origins.end();
    });
  };
  return std::any_of(assumed.begin(), assumed.end(),
                     [&](const Assumption& one) { return one.condition == place && stands_for(one.node); });
}

Truth AskPredicate(Binding& binding, const Condition& condition, Blame& blame) {
  const auto& table = predicates::All();
  const auto found = table.find(condition.predicate->name);
  if (found == table.end()) return Truth::kUnknown;
  predicates::Call call{binding, condition, {}, {}};
  const Truth truth = found->second(call);
  if (truth == Truth::kTrue) return truth;
  blame.actual = std::move(call.actual);
  blame.wanted = std::move(call.wanted);
  return IsAssumed(binding, condition) ? Truth::kTrue : truth;
}

Truth Answer(Binding& binding, const Condition& condition, Blame& blame) {
  switch (condition.predicate->args) {
    case ArgKind::kConditionLists:
      return EvaluateAny(binding, condition, blame);
    case ArgKind::kConditions: {
      Binding attempt = binding;
      Blame unused;
      const Truth truth = Not(EvaluateAll(attempt, condition.groups[0], unused));
      return truth != Truth::kTrue && IsAssumed(binding, condition) ? Truth::kTrue : truth;
    }
    case ArgKind::kIfThen:
      return EvaluateIf(binding, condition, blame);
    default:
      break;
  }
  return AskPredicate(binding, condition, blame);
}

// One condition, without looking for lists.
Truth EvaluateOne(Binding& binding, const Condition& condition, Blame& blame) {
  const Truth truth = Answer(binding, condition, blame);
  if (const ConditionObserver* observer = binding.scope().conditions; observer != nullptr) {
    (*observer)(condition, truth);
  }
  return truth;
}

// Names in a condition that stand for lists here, each once.
void CollectLists(const Binding& binding, const Condition& condition, std::vector<std::string>& lists) {
  const auto consider = [&](const std::string& name) {
    for (const std::string& asked : {name, name.substr(0, name.rfind('.'))}) {
      const auto bound = binding.values.find(asked);
      if (bound == binding.values.end() || !bound->second.list) continue;
      if (std::find(lists.begin(), lists.end(), asked) == lists.end()) lists.push_back(asked);
    }
  };
  for (const std::string& name : condition.values) consider(name);
  for (const auto& [name, wanted] : condition.pairs) consider(name);
  for (const Yaml& item : condition.items) {
    if (item.IsScalar()) consider(item.scalar);
  }
  for (const Conditions& group : condition.groups) {
    for (const Condition& inner : group) CollectLists(binding, inner, lists);
  }
}

bool NamesEachLabel(const Binding& binding, const Condition& condition) {
  const auto is_label = [&](const std::string& name) {
    return std::any_of(binding.eaches.begin(), binding.eaches.end(),
                       [&](const EachMatch& each) { return each.line->label == name; });
  };
  if (std::any_of(condition.values.begin(), condition.values.end(), is_label)) return true;
  return std::any_of(condition.pairs.begin(), condition.pairs.end(),
                     [&](const auto& pair) { return is_label(pair.first.substr(0, pair.first.find('.'))); });
}

// A top-level condition is asked once per match of an `each`, once per operand of `x...`; `count` sees them all.
Truth EvaluateTopLevel(Binding& binding, const Condition& condition, Blame& blame) {
  if (condition.predicate->name == "count") return EvaluateOne(binding, condition, blame);
  std::vector<std::string> lists;
  CollectLists(binding, condition, lists);
  size_t items = 0;
  for (const std::string& name : lists) items = std::max(items, binding.values.at(name).items.size());
  if (lists.empty() && NamesEachLabel(binding, condition)) {
    for (const EachMatch& each : binding.eaches) items = std::max(items, each.nodes.size());
  } else if (lists.empty()) {
    return EvaluateOne(binding, condition, blame);
  }
  Truth all = Truth::kTrue;
  for (size_t i = 0; i < items; ++i) {
    std::vector<std::string> narrowed;
    for (const std::string& name : lists) {
      if (i < binding.values.at(name).items.size()) narrowed.push_back(name);
    }
    Binding one = binding.Narrowed(narrowed, i);
    all = predicates::And(all, EvaluateOne(one, condition, blame));
    if (all != Truth::kTrue) return all;
  }
  return all;
}

std::vector<std::string> ArgumentsOf(const Binding& binding, const Condition& condition) {
  std::vector<std::string> parts;
  // What is excluded, as it is written.
  if (condition.predicate->args == ArgKind::kConditions) return {Text(condition.groups[0])};
  for (const std::string& name : condition.values) parts.push_back(Describe(binding, name));
  if (condition.predicate->args != ArgKind::kClose) {  // its pairs are tolerances
    for (const auto& [name, wanted] : condition.pairs) parts.push_back(Describe(binding, name));
  }
  for (const Yaml& item : condition.items) parts.push_back(Describe(binding, item.scalar));
  return parts;
}

Refusal Refuse(const Binding& binding, const Condition& condition, Truth truth, const Blame& blame) {
  if (blame.inner && condition.why.empty()) return *blame.inner;
  Refusal refusal;
  refusal.check = blame.inner ? blame.inner->check : std::string(condition.predicate->name);
  refusal.where = condition.where;
  refusal.args = ArgumentsOf(binding, condition);
  std::string sentence(condition.predicate->phrase);
  if (const size_t place = sentence.find("{args}"); place != std::string::npos) {
    sentence.replace(place, 6, Join(refusal.args, refusal.args.size() == 2 ? " and " : ", "));
  }
  if (!condition.why.empty()) sentence += " (" + binding.Expand(condition.why) + ")";
  if (!blame.actual.empty()) sentence += ": " + blame.actual;
  if (!blame.wanted.empty()) sentence += (blame.actual.empty() ? ": wanted " : ", wanted ") + blame.wanted;
  if (truth == Truth::kUnknown && blame.actual.empty()) sentence += " (not known here)";
  refusal.message = std::move(sentence);
  if (blame.inner) refusal.args = blame.inner->args;  // advice is about the check that failed
  refusal.actual = blame.actual;
  refusal.wanted = blame.wanted;
  return refusal;
}

Truth EvaluateAll(Binding& binding, const Conditions& conditions, Blame& blame) {
  Truth all = Truth::kTrue;
  for (const Condition& condition : conditions) {
    Blame own;
    const Truth truth = EvaluateOne(binding, condition, own);
    if (truth != Truth::kTrue && !blame.inner) blame.inner = Refuse(binding, condition, truth, own);
    all = predicates::And(all, truth);
    if (all == Truth::kFalse) return all;
  }
  return all;
}

}  // namespace

std::optional<Refusal> FirstRefusal(Binding& binding, const Conditions& conditions) {
  for (const Condition& condition : conditions) {
    Blame blame;
    const Truth truth = EvaluateTopLevel(binding, condition, blame);
    if (truth != Truth::kTrue) return Refuse(binding, condition, truth, blame);
  }
  return std::nullopt;
}

Truth Evaluate(Binding& binding, const Conditions& conditions) {
  Blame unused;
  return EvaluateAll(binding, conditions, unused);
}

}  // namespace rulerun
