// What the operators' schemas say about the element types of a rule's values, before any graph is seen.
#ifndef RULERUN_ENGINE_RULESET_TYPE_CLASSES_H_
#define RULERUN_ENGINE_RULESET_TYPE_CLASSES_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/ruleset/ruleset.h"

namespace rulerun {

// Values of a pattern that have the same type whatever the graph, because a schema names one constraint for them.
class TypeClasses {
 public:
  // Of the lines of `match` (not of units, whose values stand behind a DQ or Q). Alternatives are all taken together:
  // a type is possible where one of them allows it, two values share a type where all of them say so.
  TypeClasses(const RuleSet& rules, const std::vector<Statement>& match);

  // A name for the class of a value; the same for two values that always have one type.
  std::string ClassOf(const std::string& value) const;
  // The types that the schemas leave for a value; std::nullopt: no schema says anything.
  std::optional<std::set<DataType>> Allowed(const std::string& value) const;

 private:
  void Add(const RuleSet& rules, const Statement& line);
  void Join(const std::string& a, const std::string& b);
  void Narrow(const std::string& value, const std::set<DataType>& types);

  std::map<std::string, std::string> parent_;
  std::map<std::string, std::set<DataType>> allowed_;  // by value; narrowed by every line that has it
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_TYPE_CLASSES_H_
