#include "engine/ruleset/condition_text.h"

#include "engine/base/text.h"

namespace rulerun {
namespace {

std::string FlowText(const Yaml& yaml) {
  std::vector<std::string> parts;
  switch (yaml.kind) {
    case Yaml::Kind::kNull:
      return "null";
    case Yaml::Kind::kScalar:
      return yaml.scalar;
    case Yaml::Kind::kSequence:
      for (const Yaml& item : yaml.items) parts.push_back(FlowText(item));
      return "[" + Join(parts, ", ") + "]";
    case Yaml::Kind::kMap:
      for (const auto& [key, value] : yaml.entries) parts.push_back(key + ": " + FlowText(value));
      return "{" + Join(parts, ", ") + "}";
  }
  return "";
}

std::string Listed(const std::vector<std::string>& names) {
  return names.size() == 1 ? names.front() : "[" + Join(names, ", ") + "]";
}

std::string Arguments(const Condition& condition) {
  std::vector<std::string> parts;
  switch (condition.predicate->args) {
    case ArgKind::kConditionLists:
      for (const Conditions& group : condition.groups) parts.push_back("{" + Text(group) + "}");
      return "[" + Join(parts, ", ") + "]";
    case ArgKind::kConditions:
      return "{" + Text(condition.groups[0]) + "}";
    case ArgKind::kIfThen:
      return "{" + Text(condition.groups[0]) + "}, then: {" + Text(condition.groups[1]) + "}";
    case ArgKind::kClose:
      parts.push_back("of: [" + Join(condition.values, ", ") + "]");
      break;
    default:
      break;
  }
  for (const auto& [name, value] : condition.pairs) parts.push_back(name + ": " + FlowText(value));
  if (!parts.empty()) return "{" + Join(parts, ", ") + "}";
  for (const Yaml& item : condition.items) parts.push_back(FlowText(item));
  return parts.empty() ? Listed(condition.values) : "[" + Join(parts, ", ") + "]";
}

}  // namespace

std::string Text(const Condition& condition) {
  return std::string(condition.predicate->name) + ": " + Arguments(condition);
}

std::string Text(const Conditions& conditions) {
  std::vector<std::string> parts;
  for (const Condition& condition : conditions) parts.push_back(Text(condition));
  return Join(parts, ", ");
}

}  // namespace rulerun
