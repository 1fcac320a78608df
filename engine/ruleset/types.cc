// Sets of element types and rows of type variables.
#include <algorithm>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/reading.h"

namespace rulerun {
namespace {

constexpr int kLastType = static_cast<int>(DataType::kInt2);

std::vector<DataType> Members(const TypeSet& set) {
  std::vector<DataType> members;
  for (int type = 1; type <= kLastType; ++type) {
    if (set.Has(static_cast<DataType>(type))) members.push_back(static_cast<DataType>(type));
  }
  return members;
}

void AddNamed(const Yaml& name, const TypeSets& sets, TypeSet& into, Diagnostics& errors) {
  if (const auto type = ParseDataType(name.scalar)) {
    into.types.push_back(*type);
  } else if (const auto set = sets.find(name.scalar); set != sets.end()) {
    const std::vector<DataType> members = Members(set->second);
    into.types.insert(into.types.end(), members.begin(), members.end());
  } else {
    std::vector<std::string> known = DataTypeNames();
    for (const auto& [set_name, unused] : sets) known.push_back(set_name);
    errors.Add(Code::kUnknownType, name.where,
               "'" + name.scalar + "' is no element type and no set of this file" + DidYouMean(name.scalar, known));
  }
}

}  // namespace

bool TypeSet::Has(DataType type) const {
  if (type == DataType::kUndefined) return false;
  return (std::find(types.begin(), types.end(), type) != types.end()) != except;
}

std::string ToString(const TypeSet& set) {
  std::vector<std::string> names;
  for (const DataType type : set.types) names.emplace_back(Name(type));
  return (set.except ? "a type other than " : "") + Join(names, set.except ? ", " : " or ");
}

TypeSet ReadTypeSet(const Yaml& yaml, const TypeSets& sets, Diagnostics& errors) {
  TypeSet set;
  if (yaml.IsMap()) {
    const Yaml* excluded = yaml.Get("not");
    if (excluded == nullptr || yaml.entries.size() != 1) {
      errors.Add(Code::kBadValue, yaml.where, "a set of types is a type, a list of types, or {not: [types]}");
      return set;
    }
    set = ReadTypeSet(*excluded, sets, errors);
    set.except = !set.except;
    return set;
  }
  if (yaml.IsScalar()) {
    const auto known = sets.find(yaml.scalar);
    if (known != sets.end()) return known->second;  // keeps "all but these"
    AddNamed(yaml, sets, set, errors);
    return set;
  }
  if (!yaml.IsSequence() || yaml.items.empty()) {
    errors.Add(Code::kBadValue, yaml.where, "a set of types is a type, a list of types, or {not: [types]}");
    return set;
  }
  for (const Yaml& item : yaml.items) {
    if (item.IsScalar()) {
      AddNamed(item, sets, set, errors);
    } else {
      errors.Add(Code::kBadValue, item.where, "expected the name of a type");
    }
  }
  return set;
}

void ReadTypeSets(const Yaml& map, TypeSets& sets, Diagnostics& errors) {
  for (size_t i = 0; i < map.entries.size(); ++i) {
    const auto& [name, value] = map.entries[i];
    if (name.empty() || name[0] < 'a' || name[0] > 'z' || ParseDataType(name)) {
      errors.Add(Code::kUnknownType, map.key_places[i],
                 "'" + name +
                     "' cannot be a set: their names begin with a small letter, and are no "
                     "element types");
      continue;
    }
    sets[name] = ReadTypeSet(value, sets, errors);
  }
}

std::vector<TypeRow> ReadTypeRows(const Yaml& yaml, const ReadContext& context, bool& is_list) {
  is_list = yaml.IsSequence();
  std::vector<TypeRow> rows;
  const std::vector<Yaml> maps = is_list ? yaml.items : std::vector<Yaml>{yaml};
  for (const Yaml& map : maps) {
    TypeRow row;
    row.where = map.where;
    if (!map.IsMap()) {
      context.errors.Add(Code::kBadValue, map.where,
                         "a row of types is a map of type variables, as {T: int8, W: [int8, uint8]}");
      continue;
    }
    for (size_t i = 0; i < map.entries.size(); ++i) {
      const auto& [name, value] = map.entries[i];
      if (name == "needs") {
        row.needs = value.scalar;
        const bool is_option = context.rules.options.count(row.needs) > 0;
        if (!is_option) context.CheckFact(row.needs, value.where);
      } else if (name.empty() || name[0] < 'A' || name[0] > 'Z') {
        context.errors.Add(Code::kUnknownType, map.key_places[i],
                           "'" + name + "' is no type variable: their names begin with a capital");
      } else {
        row.variables.emplace_back(name, ReadTypeSet(value, context.sets, context.errors));
      }
    }
    if (row.variables.empty()) context.errors.Add(Code::kBadValue, map.where, "a row of types without a type variable");
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace rulerun
