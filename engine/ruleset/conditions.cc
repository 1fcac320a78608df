// Conditions: YAML maps whose keys are predicates.
#include <algorithm>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/reading.h"

namespace rulerun {
namespace {

constexpr std::string_view kThen = "then";
constexpr std::string_view kWhy = "why";

std::vector<std::string> PredicateNames() {
  std::vector<std::string> names;
  for (const PredicateInfo& predicate : Predicates()) names.emplace_back(predicate.name);
  names.emplace_back(kThen);
  names.emplace_back(kWhy);
  return names;
}

// How an argument of that kind is written, for messages.
std::string_view Example(ArgKind kind) {
  switch (kind) {
    case ArgKind::kValues:
      return "a value or a list of values: [x, w]";
    case ArgKind::kValueToSet:
      return "a map of values to sets of types: {x: [int8, uint8]}";
    case ArgKind::kValueToNumber:
      return "a map of values to whole numbers: {x: 0}";
    case ArgKind::kValueToValue:
      return "a map of values to names: {m: t}";
    case ArgKind::kValueToShape:
      return "a map of values to shapes: {a: [1, C, _...]}";
    case ArgKind::kValueToScalar:
      return "a map of names to a number or text: {x: 128}";
    case ArgKind::kValueToMap:
      return "a map of values to {axis: 0, sizes: [16, 32]}";
    case ArgKind::kValueToRange:
      return "a map of values to two numbers: {w: [-64, 64]}";
    case ArgKind::kPair:
      return "a list of two values: [x, y]";
    case ArgKind::kPairOfNumbers:
    case ArgKind::kMapOfNumbers:
      return "a value and a number or value, [x, 0.5], or a map, {R: 7, S: 7}";
    case ArgKind::kLabels:
      return "a label or a list of labels: [clip]";
    case ArgKind::kLabelToSet:
      return "a map of labels to a name, a number or a list: {clip: [6]}";
    case ArgKind::kLabelToNumber:
      return "a map of labels to whole numbers: {dq: 0}";
    case ArgKind::kLabelToList:
      return "a map of labels to lists of whole numbers: {mean: [-1]}";
    case ArgKind::kLabelAttr:
      return "a map of attributes to values: {dq.block_size: 0}";
    case ArgKind::kClose:
      return "{of: [x, y], atol: 1.0e-6, rtol: 1.0e-2}";
    case ArgKind::kName:
      return "a name, a list of names, or a map of names to whole numbers: {loop: 1}";
    case ArgKind::kRange:
      return "{min: 20}, {below: 17} or both";
    case ArgKind::kConditionLists:
      return "a list of alternatives: [{present: [a]}, {present: [b]}]";
    case ArgKind::kConditions:
      return "a condition, or a list of them";
    case ArgKind::kIfThen:
      return "a condition, or a list of them";
  }
  return "";
}

bool IsNumberList(const Yaml& yaml, size_t count) {
  if (!yaml.IsSequence() || (count > 0 && yaml.items.size() != count)) return false;
  return std::all_of(yaml.items.begin(), yaml.items.end(),
                     [](const Yaml& item) { return item.AsDouble().has_value(); });
}

// Whether one value of a map-shaped argument is of the right shape.
bool FitsPair(ArgKind kind, const Yaml& value) {
  switch (kind) {
    case ArgKind::kValueToSet:
      return value.kind != Yaml::Kind::kNull;  // ReadTypeSet says more
    case ArgKind::kValueToNumber:
    case ArgKind::kLabelToNumber:
      return value.AsInt().has_value();
    case ArgKind::kValueToValue:
    case ArgKind::kValueToScalar:
    case ArgKind::kMapOfNumbers:
    case ArgKind::kPairOfNumbers:
      return value.IsScalar();
    case ArgKind::kValueToShape:
      return value.IsSequence() && value.AsNames().has_value();
    case ArgKind::kValueToMap: {
      const Yaml* sizes = value.Get("sizes");
      const Yaml* axis = value.Get("axis");
      return value.entries.size() == 2 && sizes != nullptr && IsNumberList(*sizes, 0) && axis != nullptr &&
             axis->AsInt().has_value();
    }
    case ArgKind::kValueToRange:
      return IsNumberList(value, 2);
    case ArgKind::kLabelToSet:
    case ArgKind::kName:
      return value.AsNames().has_value();
    case ArgKind::kLabelToList:
      return IsNumberList(value, 0);
    case ArgKind::kLabelAttr:
      return value.IsScalar() || (value.IsSequence() && value.AsNames().has_value());
    default:
      return false;
  }
}

class ConditionReader {
 public:
  explicit ConditionReader(const ReadContext& context) : context_(context) {}

  Conditions Read(const Yaml& yaml) {
    Conditions conditions;
    if (yaml.IsMap()) {
      ReadMap(yaml, conditions);
    } else if (yaml.IsSequence()) {
      for (const Yaml& item : yaml.items) {
        if (item.IsMap()) {
          ReadMap(item, conditions);
        } else {
          errors().Add(Code::kBadCondition, item.where, "a condition is a map, as {constant: [W]}");
        }
      }
    } else {
      errors().Add(Code::kBadCondition, yaml.where, "conditions are a map, or a list of maps");
    }
    return conditions;
  }

 private:
  Diagnostics& errors() const { return context_.errors; }

  // Several keys: several conditions in a row.
  void ReadMap(const Yaml& map, Conditions& conditions) {
    const std::string why = map.Get(kWhy) != nullptr ? map.Get(kWhy)->scalar : map.comment;
    if (map.entries.empty()) errors().Add(Code::kBadCondition, map.where, "an empty condition says nothing");
    for (size_t i = 0; i < map.entries.size(); ++i) {
      const auto& [key, value] = map.entries[i];
      if (key == kWhy) continue;
      if (key == kThen) {
        if (map.Get("if") == nullptr) errors().Add(Code::kBadCondition, map.key_places[i], "'then' without 'if'");
        continue;
      }
      Condition condition;
      condition.where = map.key_places[i];
      condition.predicate = FindPredicate(key);
      condition.why = why;
      if (condition.predicate == nullptr) {
        errors().Add(Code::kUnknownPredicate, condition.where,
                     "there is no predicate '" + key + "'" + DidYouMean(key, PredicateNames()));
        continue;
      }
      if (ReadArguments(map, value, condition)) conditions.push_back(std::move(condition));
    }
  }

  bool Wrong(const Condition& condition, const Location& where) {
    errors().Add(
        Code::kBadCondition, where,
        "'" + std::string(condition.predicate->name) + "' takes " + std::string(Example(condition.predicate->args)));
    return false;
  }

  bool ReadArguments(const Yaml& map, const Yaml& value, Condition& condition) {
    const ArgKind kind = condition.predicate->args;
    switch (kind) {
      case ArgKind::kValues:
      case ArgKind::kLabels:
        return ReadNames(value, 1, condition);
      case ArgKind::kPair:
        return ReadNames(value, 2, condition);
      case ArgKind::kPairOfNumbers:
      case ArgKind::kMapOfNumbers:
        return value.IsMap() ? ReadPairs(value, condition) : ReadItems(value, condition);
      case ArgKind::kClose:
        return ReadClose(value, condition);
      case ArgKind::kName:
        return ReadName(value, condition);
      case ArgKind::kRange:
        return ReadRangeArgument(value, condition);
      case ArgKind::kConditionLists:
        return ReadAny(value, condition);
      case ArgKind::kConditions:
        condition.groups.push_back(Read(value));
        return true;
      case ArgKind::kIfThen:
        return ReadIfThen(map, value, condition);
      default:
        return ReadPairs(value, condition);
    }
  }

  bool ReadNames(const Yaml& value, size_t at_least, Condition& condition) {
    const auto names = value.AsNames();
    if (!names || names->size() < at_least) return Wrong(condition, value.where);
    condition.values = *names;
    return true;
  }

  bool ReadItems(const Yaml& value, Condition& condition) {
    if (!value.AsNames() || value.items.size() != 2) return Wrong(condition, value.where);
    condition.items = value.items;
    return true;
  }

  bool ReadPairs(const Yaml& value, Condition& condition) {
    if (!value.IsMap() || value.entries.empty()) return Wrong(condition, value.where);
    for (size_t i = 0; i < value.entries.size(); ++i) {
      const auto& [name, wanted] = value.entries[i];
      if (!FitsPair(condition.predicate->args, wanted)) return Wrong(condition, value.key_places[i]);
      if (condition.predicate->args == ArgKind::kLabelAttr && name.find('.') == std::string::npos) {
        return Wrong(condition, value.key_places[i]);
      }
      if (condition.predicate->args == ArgKind::kValueToSet) ReadTypeSet(wanted, context_.sets, errors());
      const std::string_view predicate = condition.predicate->name;
      const bool operators = predicate == "op" || predicate == "read_by" || predicate == "made_by";
      condition.pairs.emplace_back(name, operators ? ExpandSets(wanted) : wanted);
    }
    return true;
  }

  // The operators of a set instead of its name.
  Yaml ExpandSets(const Yaml& wanted) const {
    Yaml list;
    list.kind = Yaml::Kind::kSequence;
    list.where = wanted.where;
    for (const Yaml& item : wanted.IsSequence() ? wanted.items : std::vector<Yaml>{wanted}) {
      const auto set = context_.rules.vocabulary.op_sets.find(item.scalar);
      if (set == context_.rules.vocabulary.op_sets.end()) {
        list.items.push_back(item);
        continue;
      }
      for (const std::string& member : set->second) {
        list.items.push_back(item);
        list.items.back().scalar = member;
      }
    }
    return list;
  }

  bool ReadClose(const Yaml& value, Condition& condition) {
    const Yaml* of = value.Get("of");
    if (of == nullptr || !of->IsSequence() || !of->AsNames() || of->items.size() != 2) {
      return Wrong(condition, value.where);
    }
    condition.values = *of->AsNames();
    for (size_t i = 0; i < value.entries.size(); ++i) {
      const auto& [key, number] = value.entries[i];
      if (key == "of") continue;
      if ((key != "atol" && key != "rtol") || !number.AsDouble()) return Wrong(condition, value.key_places[i]);
      condition.pairs.emplace_back(key, number);
    }
    return true;
  }

  bool ReadName(const Yaml& value, Condition& condition) {
    const bool is_option = condition.predicate->name == "option";
    const bool is_fact = condition.predicate->name == "fact";
    const auto check = [&](const std::string& name, const Location& where) {
      return is_option ? context_.CheckOption(name, where) : !is_fact || context_.CheckFact(name, where);
    };
    if (value.IsMap()) {
      for (size_t i = 0; i < value.entries.size(); ++i) {
        if (!value.entries[i].second.AsInt()) return Wrong(condition, value.key_places[i]);
        if (!check(value.entries[i].first, value.key_places[i])) return false;
      }
      condition.pairs = value.entries;
      return !condition.pairs.empty() || Wrong(condition, value.where);
    }
    if (!ReadNames(value, 1, condition)) return false;
    return std::all_of(condition.values.begin(), condition.values.end(),
                       [&](const std::string& name) { return check(name, value.where); });
  }

  // Written as {min: 1, below: 3}, levels as their numbers.
  bool ReadRangeArgument(const Yaml& value, Condition& condition) {
    const bool level = condition.predicate->name == "level";
    const auto range = ReadRange(value, level ? Gate::Kind::kLevel : Gate::Kind::kOpset, errors());
    if (!range) return false;
    const auto add = [&](const char* key, int64_t bound) {
      Yaml number;
      number.kind = Yaml::Kind::kScalar;
      number.scalar = std::to_string(bound);
      number.where = value.where;
      condition.pairs.emplace_back(key, std::move(number));
    };
    if (range->min > 0) add("min", range->min);
    if (range->below != INT64_MAX) add("below", range->below);
    return true;
  }

  bool ReadAny(const Yaml& value, Condition& condition) {
    if (!value.IsSequence() || value.items.empty()) return Wrong(condition, value.where);
    for (const Yaml& item : value.items) condition.groups.push_back(Read(item));
    return true;
  }

  bool ReadIfThen(const Yaml& map, const Yaml& value, Condition& condition) {
    const Yaml* then = map.Get(kThen);
    if (then == nullptr) {
      errors().Add(Code::kBadCondition, condition.where, "'if' without 'then'");
      return false;
    }
    condition.groups.push_back(Read(value));
    condition.groups.push_back(Read(*then));
    return true;
  }

  const ReadContext& context_;
};

}  // namespace

Conditions ReadConditions(const Yaml& yaml, const ReadContext& context) { return ConditionReader(context).Read(yaml); }

}  // namespace rulerun
