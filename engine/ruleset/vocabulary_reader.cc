// `ops:` of a manifest: the words that rules share.
#include <algorithm>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/op_names.h"
#include "engine/ruleset/reading.h"

namespace rulerun {
namespace {

// A map written in place, in a file, or a list of both: all the maps, in order.
std::vector<Yaml> Sources(const Yaml& yaml, std::string_view what, Diagnostics& errors) {
  std::vector<Yaml> maps;
  for (const Yaml& source : yaml.IsSequence() ? yaml.items : std::vector<Yaml>{yaml}) {
    if (source.IsMap()) {
      maps.push_back(source);
      continue;
    }
    if (!source.IsScalar()) {
      errors.Add(Code::kBadValue, source.where,
                 "'" + std::string(what) + "' takes a map, or the path of a file with one");
      continue;
    }
    auto file = ReadYaml(ResolvePath(source));
    if (!file.ok()) {
      errors.Add(file.error().code, source.where, ToString(file.error()));
    } else if (!file->IsMap()) {
      errors.Add(Code::kBadValue, file->where, "this file holds a map of operators");
    } else {
      maps.push_back(std::move(file).value());
    }
  }
  return maps;
}

class VocabularyReader {
 public:
  VocabularyReader(RuleSet& rules, Diagnostics& errors) : rules_(rules), errors_(errors) {}

  void Read(const Yaml& ops) {
    if (!CheckMap(ops, KeyTable::kOps, errors_)) return;
    if (const Yaml* sets = ops.Get("sets")) ReadSets(*sets);
    if (const Yaml* tables = ops.Get("tables")) ReadTables(*tables);
    if (const Yaml* names = ops.Get("commutative")) {
      for (const std::string& name : names->AsNames().value_or(std::vector<std::string>{})) {
        if (CheckOp(name, names->where)) words().commutative.insert(name);
      }
    }
    if (const Yaml* copy = ops.Get("copy"); copy != nullptr && CheckOp(copy->scalar, copy->where)) {
      words().copy = copy->scalar;
    }
    if (const Yaml* since = ops.Get("since")) ReadSince(*since);
  }

 private:
  Vocabulary& words() { return rules_.vocabulary; }

  bool CheckOp(const std::string& name, const Location& where) {
    if (KnownOperator(rules_.schemas, name)) return true;
    errors_.Add(Code::kUnknownOperator, where,
                "there is no operator '" + name + "'" + DidYouMean(name, OperatorNames(rules_)));
    return false;
  }

  void ReadSets(const Yaml& sets) {
    for (const auto& [name, value] : sets.entries) {
      const auto ops = value.AsNames();
      if (!ops) {
        errors_.Add(Code::kBadValue, value.where, "a set of operators is a list of names");
        continue;
      }
      for (const std::string& op : *ops) CheckOp(op, value.where);
      words().op_sets[name] = *ops;
    }
  }

  // Rows are operators; a table's name also stands for all of them.
  void ReadTables(const Yaml& yaml) {
    for (const Yaml& map : Sources(yaml, "tables", errors_)) {
      for (const auto& [name, rows] : map.entries) {
        OpTable& table = words().tables[name];
        table.name = name;
        for (size_t i = 0; i < rows.entries.size(); ++i) {
          const auto& [op, columns] = rows.entries[i];
          CheckOp(op, rows.key_places[i]);
          if (!columns.IsMap() && columns.kind != Yaml::Kind::kNull)
            errors_.Add(Code::kBadValue, columns.where, "a row is a map of columns");
          table.rows.emplace_back(op, columns);
          words().op_sets[name].push_back(op);
        }
      }
    }
  }

  void ReadSince(const Yaml& yaml) {
    for (const Yaml& map : Sources(yaml, "since", errors_)) {
      for (size_t i = 0; i < map.entries.size(); ++i) {
        const auto& [op, versions] = map.entries[i];
        if (CheckOp(op, map.key_places[i])) words().since[op] = ReadVersions(op, versions);
      }
    }
  }

  std::vector<int> ReadVersions(const std::string& op, const Yaml& yaml) {
    std::vector<int> versions;
    const std::vector<int> known = OperatorVersions(rules_.schemas, op);
    for (const Yaml& item : yaml.IsSequence() ? yaml.items : std::vector<Yaml>{yaml}) {
      const auto version = item.AsInt();
      const bool exists = version && std::find(known.begin(), known.end(), *version) != known.end();
      if (!exists) {
        std::vector<std::string> texts;
        for (const int one : known) texts.push_back(std::to_string(one));
        errors_.Add(Code::kUnknownOperator, item.where,
                    "'" + op + "' has no version '" + item.scalar + "'; it has " + Join(texts, ", "));
        continue;
      }
      versions.push_back(static_cast<int>(*version));
    }
    return versions;
  }

  RuleSet& rules_;
  Diagnostics& errors_;
};

}  // namespace

const Yaml* OpTable::Row(std::string_view op) const {
  for (const auto& [row_op, row] : rows) {
    if (row_op == op) return &row;
  }
  return nullptr;
}

void ReadVocabulary(const Yaml& ops, RuleSet& rules, Diagnostics& errors) { VocabularyReader(rules, errors).Read(ops); }

}  // namespace rulerun
