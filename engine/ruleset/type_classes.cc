#include "engine/ruleset/type_classes.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/ruleset/op_names.h"

namespace rulerun {
namespace {

// The value names of one call with their formal parameters, under one schema.
using Slots = std::vector<std::pair<std::string, const FormalParameter*>>;

const FormalParameter* At(const std::vector<FormalParameter>& formal, size_t slot) {
  if (slot < formal.size()) return &formal[slot];
  return !formal.empty() && formal.back().variadic ? &formal.back() : nullptr;
}

Slots SlotsOf(const Statement& line, const Call& call, const OpSchema& schema) {
  Slots slots;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const OperandPattern& operand = call.operands[i];
    if (operand.repeated) break;
    if (operand.kind != OperandPattern::Kind::kName) continue;
    if (const FormalParameter* formal = At(schema.inputs, i)) slots.emplace_back(operand.name, formal);
  }
  for (size_t i = 0; i < line.outputs.size() && !line.outputs[i].repeated; ++i) {
    if (line.outputs[i].name == "_") continue;
    if (const FormalParameter* formal = At(schema.outputs, i)) slots.emplace_back(line.outputs[i].name, formal);
  }
  return slots;
}

std::set<DataType> TypesOf(const OpSchema& schema, const FormalParameter& formal) {
  const auto constraint = schema.types.find(formal.type);
  if (constraint != schema.types.end()) return {constraint->second.begin(), constraint->second.end()};
  if (const auto type = ParseDataType(formal.type)) return {*type};
  return {};
}

// Pairs of values that a schema gives one constraint.
std::set<std::pair<std::string, std::string>> Pairs(const Slots& slots) {
  std::set<std::pair<std::string, std::string>> pairs;
  for (const auto& [a, formal_a] : slots) {
    for (const auto& [b, formal_b] : slots) {
      const bool heterogeneous = formal_a->variadic || formal_b->variadic;
      if (a < b && formal_a->type == formal_b->type && !heterogeneous) pairs.emplace(a, b);
    }
  }
  return pairs;
}

}  // namespace

TypeClasses::TypeClasses(const RuleSet& rules, const std::vector<Statement>& match) {
  for (const Statement& line : match) {
    // A missing node makes one value of two; what its schema says then does not hold.
    if (line.repeat == 0) Add(rules, line);
  }
}

void TypeClasses::Add(const RuleSet& rules, const Statement& line) {
  std::map<std::string, std::set<DataType>> possible;
  std::optional<std::set<std::pair<std::string, std::string>>> joined;
  size_t schemas = 0;
  std::map<std::string, size_t> spoken;  // value -> schemas that have a slot for it
  for (const Alternative& alternative : line.alternatives) {
    if (!alternative.call) return;  // `y = (x | Op(..))`: the node may be missing
    for (const std::string& written : alternative.call->ops) {
      const auto set = rules.vocabulary.op_sets.find(written);
      const std::vector<std::string> ops =
          set != rules.vocabulary.op_sets.end() ? set->second : std::vector<std::string>{written};
      for (const std::string& op : ops) {
        for (const OpSchema* schema : SchemasOf(rules, op)) {
          ++schemas;
          const Slots slots = SlotsOf(line, *alternative.call, *schema);
          for (const auto& [value, formal] : slots) {
            const std::set<DataType> types = TypesOf(*schema, *formal);
            if (types.empty()) continue;
            possible[value].insert(types.begin(), types.end());
            ++spoken[value];
          }
          auto pairs = Pairs(slots);
          if (joined) std::erase_if(*joined, [&](const auto& pair) { return pairs.count(pair) == 0; });
          if (!joined) joined = std::move(pairs);
        }
      }
    }
  }
  for (const auto& [value, types] : possible) {
    if (spoken[value] == schemas) Narrow(value, types);
  }
  if (!joined) return;
  for (const auto& [a, b] : *joined) Join(a, b);
}

std::string TypeClasses::ClassOf(const std::string& value) const {
  std::string name = value;
  for (auto up = parent_.find(name); up != parent_.end(); up = parent_.find(name)) name = up->second;
  return name;
}

void TypeClasses::Join(const std::string& a, const std::string& b) {
  const std::string root_a = ClassOf(a);
  const std::string root_b = ClassOf(b);
  if (root_a != root_b) parent_[root_b] = root_a;
}

void TypeClasses::Narrow(const std::string& value, const std::set<DataType>& types) {
  const auto [known, fresh] = allowed_.emplace(value, types);
  if (!fresh) std::erase_if(known->second, [&](DataType type) { return types.count(type) == 0; });
}

std::optional<std::set<DataType>> TypeClasses::Allowed(const std::string& value) const {
  std::optional<std::set<DataType>> left;
  for (const auto& [name, types] : allowed_) {
    if (ClassOf(name) != ClassOf(value)) continue;
    if (!left) {
      left = types;
    } else {
      std::erase_if(*left, [&, &own = types](DataType type) { return own.count(type) == 0; });
    }
  }
  return left;
}

}  // namespace rulerun
