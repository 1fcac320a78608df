// What the readers of rule files share. Internal to engine/ruleset.
#ifndef RULERUN_ENGINE_RULESET_READING_H_
#define RULERUN_ENGINE_RULESET_READING_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/ruleset/diagnostics.h"
#include "engine/ruleset/keys.h"
#include "engine/ruleset/rule.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {

using TypeSets = std::map<std::string, TypeSet>;

// Reads parts of one file, once the manifest's platforms, options and vocabulary are known.
struct ReadContext {
  const RuleSet& rules;
  const TypeSets& sets;
  Diagnostics& errors;

  // Whether a fact, or an option, has that name; adds an error where not.
  bool CheckFact(const std::string& name, const Location& where) const;
  bool CheckOption(const std::string& name, const Location& where) const;
};

// The path that a scalar of a manifest gives, seen from the folder of the file it stands in.
std::string ResolvePath(const Yaml& scalar);

// The text of key `key`, or "".
std::string TextOf(const Yaml& map, std::string_view key);
std::vector<std::string> NamesOf(const Yaml& map, std::string_view key);

// Parses a text block; errors are added, and nothing comes back.
std::vector<Statement> ReadBlock(const Yaml& scalar, TextMode mode, Diagnostics& errors);

// types.cc
TypeSet ReadTypeSet(const Yaml& yaml, const TypeSets& sets, Diagnostics& errors);
void ReadTypeSets(const Yaml& map, TypeSets& sets, Diagnostics& errors);
// `is_list` tells rows from one map.
std::vector<TypeRow> ReadTypeRows(const Yaml& yaml, const ReadContext& context, bool& is_list);

// gates.cc
Gate ReadGate(const Yaml* yaml, const ReadContext& context);
// {min: 17, below: 20}, or for levels also their names; a level alone means from it on.
std::optional<Gate::Item> ReadRange(const Yaml& yaml, Gate::Kind kind, Diagnostics& errors);

// conditions.cc
Conditions ReadConditions(const Yaml& yaml, const ReadContext& context);

// rule_reader.cc
std::shared_ptr<Rule> ReadRule(const Yaml& yaml, Group group, const Yaml* file_types, const ReadContext& context);
// Adds the conditions of `everywhere` to a unit, `in` and `out` written out.
void AddEverywhere(const Conditions& everywhere, Rule& rule);

// tests_reader.cc
std::vector<RuleTest> ReadTests(const Yaml& list, const ReadContext& context);

// file_reader.cc
RuleFile ReadRuleFile(const Yaml& yaml, const std::string& key, const RuleSet& rules, Diagnostics& errors);
// The groups of a rule file, in the order their rules are tried.
inline constexpr Group kGroups[] = {Group::kPattern, Group::kReplace, Group::kDropQdq, Group::kDropDq};

// vocabulary_reader.cc; the schemas must be known before.
void ReadVocabulary(const Yaml& ops, RuleSet& rules, Diagnostics& errors);

// schemas_reader.cc
void ReadSchemas(const std::string& path, ExternalSchemas& schemas, Diagnostics& errors);

// pipeline_reader.cc; `keys` gives the name of a file or table by its path.
using FileKeys = std::map<std::string, std::string>;
std::vector<Stage> ReadPipeline(const Yaml& list, const RuleSet& rules, const FileKeys& keys, Diagnostics& errors);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_READING_H_
