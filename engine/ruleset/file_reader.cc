// One file of rules.
#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/reading.h"

namespace rulerun {
namespace {

void ReadUnits(const Yaml& yaml, UnitSettings& units, Diagnostics& errors) {
  if (!CheckMap(yaml, KeyTable::kUnits, errors)) return;
  units.between = NamesOf(yaml, "between");
  units.redundant_is_error = TextOf(yaml, "redundant") == "error";
  const Yaml* names = yaml.Get("zero_point");
  if (names == nullptr) return;
  for (size_t i = 0; i < names->entries.size(); ++i) {
    const auto& [type, name] = names->entries[i];
    if (type != "other" && !ParseDataType(type)) {
      errors.Add(Code::kUnknownType, names->key_places[i], "'" + type + "' is neither an element type nor other");
    }
    if (!name.IsScalar()) errors.Add(Code::kBadValue, name.where, "expected the name of an initializer");
    units.zero_point.emplace_back(type, name.scalar);
  }
}

void ReadUnsupported(const Yaml& list, RuleFile& file, Diagnostics& errors) {
  for (const Yaml& item : list.items) {
    if (!CheckMap(item, KeyTable::kUnsupported, errors)) continue;
    Unsupported unsupported;
    unsupported.where = item.where;
    unsupported.ops = NamesOf(item, "ops");
    unsupported.reason = TextOf(item, "reason");
    file.unsupported.push_back(std::move(unsupported));
  }
}

}  // namespace

RuleFile ReadRuleFile(const Yaml& yaml, const std::string& key, const RuleSet& rules, Diagnostics& errors) {
  RuleFile file;
  file.path = key;
  file.where = yaml.where;
  if (!CheckMap(yaml, KeyTable::kFile, errors)) return file;
  file.stage = TextOf(yaml, "stage");
  file.visit_all = TextOf(yaml, "visit") == "all";
  file.sets = rules.vocabulary.type_sets;
  if (const Yaml* sets = yaml.Get("sets")) ReadTypeSets(*sets, file.sets, errors);
  if (const Yaml* units = yaml.Get("units")) ReadUnits(*units, file.units, errors);
  const ReadContext context{rules, file.sets, errors};
  bool has_rules = false;
  for (const Group group : kGroups) {
    const Yaml* list = yaml.Get(Name(group));
    if (list == nullptr) continue;
    has_rules = true;
    for (const Yaml& item : list->items) {
      if (auto rule = ReadRule(item, group, yaml.Get("types"), context)) file.rules.push_back(std::move(rule));
    }
  }
  if (const Yaml* list = yaml.Get("unsupported")) {
    has_rules = true;
    ReadUnsupported(*list, file, errors);
  }
  if (!has_rules) {
    errors.Add(Code::kMissingKey, yaml.where,
               "the file has no rules: they stand under 'rules', or under 'replace', 'drop-qdq', 'drop-dq' "
               "and 'unsupported'");
  }
  return file;
}

}  // namespace rulerun
