#include "engine/report/condition_text.h"

#include <vector>

#include "engine/base/text.h"

namespace rulerun {
namespace {

using Rename = std::function<std::string(const std::string&)>;

std::string Text(const Yaml& yaml, const Rename& rename) {
  if (yaml.IsScalar()) return rename(yaml.scalar);
  std::vector<std::string> parts;
  for (const Yaml& item : yaml.items) parts.push_back(Text(item, rename));
  for (const auto& [key, value] : yaml.entries) parts.push_back(key + ": " + Text(value, rename));
  return yaml.IsMap() ? "{" + Join(parts, ", ") + "}" : "[" + Join(parts, ", ") + "]";
}

std::string Text(const Conditions& conditions, const Rename& rename) {
  std::vector<std::string> parts;
  for (const Condition& condition : conditions) parts.push_back(ConditionText(condition, rename));
  return "(" + Join(parts, " and ") + ")";
}

}  // namespace

std::string ConditionText(const Condition& condition) {
  return ConditionText(condition, [](const std::string& name) { return name; });
}

std::string ConditionText(const Condition& condition, const Rename& rename) {
  const std::string name(condition.predicate->name);
  std::vector<std::string> groups;
  for (const Conditions& group : condition.groups) groups.push_back(Text(group, rename));
  if (condition.predicate->args == ArgKind::kIfThen) return "if " + Join(groups, " then ");
  if (!groups.empty()) return name + " " + Join(groups, ", ");
  std::vector<std::string> parts;
  for (const std::string& value : condition.values) parts.push_back(rename(value));
  for (const auto& [key, value] : condition.pairs) parts.push_back(rename(key) + ": " + Text(value, rename));
  for (const Yaml& item : condition.items) parts.push_back(Text(item, rename));
  return parts.empty() ? name : name + " " + Join(parts, ", ");
}

}  // namespace rulerun
