// The names that the text of a rule declares. Internal to engine/ruleset.
#ifndef RULERUN_ENGINE_RULESET_RULE_NAMES_H_
#define RULERUN_ENGINE_RULESET_RULE_NAMES_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ruleset/rule.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {

struct RuleNames {
  std::map<std::string, std::vector<std::string>> labels;  // -> operators, sets and templates written out; unit: "op"
  std::set<std::string> values;                            // of the pattern
  std::set<std::string> quantized;                         // units: those behind a DQ or a Q
  std::set<std::string> captures;
  std::set<std::string> dims;
  std::map<std::string, Location> computed;
  std::set<std::string> each;                  // values that an `each` line binds
  std::map<std::string, Location> type_names;  // in front of values: types, sets, variables

  // Of the rule, and of one of its cases (nullptr: of none; `every_case`: of all).
  static RuleNames Of(const Rule& rule, const Vocabulary& words, const Case* one = nullptr, bool every_case = false);

  bool Has(const std::string& name) const;
  std::vector<std::string> All() const;  // for messages

 private:
  void AddMatch(const std::vector<Statement>& statements, const Vocabulary& words, bool unit);
  void AddCompute(const std::vector<Statement>& statements);
  void AddConditions(const Conditions& conditions);
  void AddCall(const Call& call);
  void AddType(const TypePattern& type, const Location& where);
};

// The operators that the name of one in a text stands for: a set's members, ${label.op} of those labels, or itself.
std::vector<std::string> WrittenOutOperators(const std::string& name, const RuleNames& names, const Vocabulary& words);

// "x.scale" -> {"x", "scale"}.
struct DottedName {
  std::string base;
  std::string member;  // "" without a dot
};
DottedName SplitMember(const std::string& name);
bool IsNumber(const std::string& text);

// The references in "${a.op}_x${b|text}", without `|text`.
std::vector<std::string> ReferencesIn(std::string_view text);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_RULE_NAMES_H_
