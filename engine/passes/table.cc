#include "engine/passes/table.h"

#include <algorithm>

#include "engine/base/codes.h"
#include "engine/base/text.h"

namespace rulerun {
namespace {

Error TableError(const Yaml& where, const std::string& message, const std::string& remedy) {
  return {Code::kBadTable, message, where.where.ToString(), remedy};
}

// A whole number or a list of them.
std::optional<std::vector<int>> Versions(const Yaml& yaml) {
  std::vector<int> versions;
  for (const Yaml& item : yaml.IsSequence() ? yaml.items : std::vector<Yaml>{yaml}) {
    const auto version = item.AsInt();
    if (!version || *version < 1) return std::nullopt;
    versions.push_back(static_cast<int>(*version));
  }
  return versions;
}

}  // namespace

bool Contains(const OpVersions& ops, const Node& node) {
  const auto found = ops.find(node.Op());
  if (found == ops.end()) return false;
  const std::vector<int>& versions = found->second;
  return versions.empty() || std::find(versions.begin(), versions.end(), node.since_version) != versions.end();
}

std::vector<Fault> FaultsAt(const PassFaults& faults, std::string_view when, const Node& node) {
  std::vector<Fault> found;
  for (const PassFault& one : faults) {
    if (one.when == when && (one.ops.empty() || Contains(one.ops, node))) found.push_back(one.fault);
  }
  return found;
}

Result<Table> Table::Read(const PassScope& scope, std::string_view pass) {
  const std::string name(pass);
  if (scope.table == nullptr) {
    return Error{Code::kBadTable, "pass '" + name + "' needs a table", scope.rules->path,
                 "Give its stage `table:`, the path of the table."};
  }
  const Yaml* section = scope.table->IsMap() ? scope.table->Get(pass) : nullptr;
  if (section == nullptr || !section->IsMap()) {
    return TableError(*scope.table, "the table says nothing about pass '" + name + "'", "Add a map '" + name + "'.");
  }
  return Table(section, &scope.rules->vocabulary);
}

Error Table::Wrong(std::string_view key, const std::string& wanted) const {
  const std::string name(key);
  if (const Yaml* value = Find(key)) return TableError(*value, "'" + name + "' must be " + wanted, "");
  return TableError(*yaml_, "'" + name + "' is missing" + DidYouMean(key, yaml_->Keys()), "It is " + wanted + ".");
}

Result<Table> Table::Sub(std::string_view key) const {
  const Yaml* value = Find(key);
  if (value == nullptr || !value->IsMap()) return Wrong(key, "a map");
  return Table(value, vocabulary_);
}

Result<std::vector<Table>> Table::Maps(std::string_view key) const {
  const Yaml* value = Find(key);
  if (value == nullptr || !value->IsSequence()) return Wrong(key, "a list of maps");
  std::vector<Table> maps;
  for (const Yaml& item : value->items) {
    if (!item.IsMap()) return TableError(item, "an entry of '" + std::string(key) + "' must be a map", "");
    maps.push_back(Table(&item, vocabulary_));
  }
  return maps;
}

Result<std::string> Table::Text(std::string_view key) const {
  const Yaml* value = Find(key);
  if (value == nullptr || !value->IsScalar()) return Wrong(key, "a text");
  return value->scalar;
}

Result<int64_t> Table::Int(std::string_view key) const {
  const Yaml* value = Find(key);
  const auto number = value == nullptr ? std::nullopt : value->AsInt();
  if (!number) return Wrong(key, "a whole number");
  return *number;
}

Result<std::vector<std::string>> Table::Names(std::string_view key) const {
  const Yaml* value = Find(key);
  auto names = value == nullptr ? std::nullopt : value->AsNames();
  if (!names) return Wrong(key, "a name or a list of names");
  return *std::move(names);
}

void Table::AddOps(const std::string& name, OpNames& ops) const {
  const auto set = vocabulary_->op_sets.find(name);
  if (set == vocabulary_->op_sets.end()) {
    ops.insert(name);
  } else {
    ops.insert(set->second.begin(), set->second.end());
  }
}

Result<OpNames> Table::Ops(std::string_view key) const {
  RULERUN_ASSIGN(const std::vector<std::string> names, Names(key));
  OpNames ops;
  for (const std::string& name : names) AddOps(name, ops);
  return ops;
}

Result<OpVersions> Table::Versions(std::string_view key) const {
  const Yaml* value = Find(key);
  OpVersions result;
  if (value == nullptr || !value->IsMap()) {
    RULERUN_ASSIGN(const OpNames ops, Ops(key));
    for (const std::string& op : ops) result[op] = {};
    return result;
  }
  for (const auto& [name, item] : value->entries) {
    const auto versions = rulerun::Versions(item);
    if (!versions) return TableError(item, "versions of '" + name + "' must be whole numbers", "");
    OpNames ops;
    AddOps(name, ops);
    for (const std::string& op : ops) result[op] = *versions;
  }
  return result;
}

Result<std::set<DataType>> Table::Types(std::string_view key) const {
  RULERUN_ASSIGN(const std::vector<std::string> names, Names(key));
  std::set<DataType> types;
  for (const std::string& name : names) {
    const auto type = ParseDataType(name);
    if (!type) {
      return TableError(*Find(key), "there is no type '" + name + "'" + DidYouMean(name, DataTypeNames()), "");
    }
    types.insert(*type);
  }
  return types;
}

Result<PassFaults> Table::Faults(const std::vector<std::string>& words) const {
  PassFaults faults;
  if (Find("faults") == nullptr) return faults;
  RULERUN_ASSIGN(const std::vector<Table> entries, Maps("faults"));
  for (const Table& entry : entries) {
    PassFault one;
    RULERUN_ASSIGN(one.when, entry.Text("when"));
    if (std::find(words.begin(), words.end(), one.when) == words.end()) {
      return entry.Wrong("when", "one of " + Join(words, ", "));
    }
    if (entry.Find("ops") != nullptr) {
      RULERUN_ASSIGN(one.ops, entry.Versions("ops"));
    }
    RULERUN_ASSIGN(one.fault.id, entry.Text("id"));
    RULERUN_ASSIGN(one.fault.effect, entry.Text("effect"));
    RULERUN_ASSIGN(one.fault.note, entry.Text("note"));
    if (entry.Find("link") != nullptr) {
      RULERUN_ASSIGN(one.fault.link, entry.Text("link"));
    }
    one.fault.where = entry.yaml().where;
    faults.push_back(std::move(one));
  }
  return faults;
}

std::string Fill(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& words) {
  std::string filled(text);
  for (const auto& [word, value] : words) {
    const std::string sign = "${" + std::string(word) + "}";
    for (size_t at = filled.find(sign); at != std::string::npos; at = filled.find(sign, at + value.size())) {
      filled.replace(at, sign.size(), value);
    }
  }
  return filled;
}

}  // namespace rulerun
