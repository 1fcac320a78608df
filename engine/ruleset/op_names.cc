#include "engine/ruleset/op_names.h"

namespace rulerun {

OpName SplitOpName(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {"", std::string(name)};
  return {std::string(name.substr(0, dot)), std::string(name.substr(dot + 1))};
}

bool KnownOperator(const ExternalSchemas& external, std::string_view name) {
  return !OperatorVersions(external, name).empty();
}

std::vector<int> OperatorVersions(const ExternalSchemas& external, std::string_view name) {
  const OpName op = SplitOpName(name);
  std::vector<int> versions = SinceVersions(op.domain, op.type);
  // A rule set may bring an operator that ONNX has too, for opsets before ONNX's first version.
  const OpSchema* brought = external.Find(op.domain, op.type);
  if (brought != nullptr && (versions.empty() || brought->since_version < versions.front())) {
    versions.insert(versions.begin(), brought->since_version);
  }
  return versions;
}

std::vector<const OpSchema*> SchemasOf(const RuleSet& rules, const std::string& name) {
  const OpName op = SplitOpName(name);
  const auto listed = rules.vocabulary.since.find(name);
  std::vector<const OpSchema*> schemas;
  for (const int version :
       listed != rules.vocabulary.since.end() ? listed->second : OperatorVersions(rules.schemas, name)) {
    if (const OpSchema* schema = FindSchema(rules.schemas, op.domain, op.type, version)) schemas.push_back(schema);
  }
  return schemas;
}

std::vector<std::string> OperatorNames(const RuleSet& rules) {
  std::vector<std::string> names = OnnxOperators();
  for (const auto& [key, schema] : rules.schemas.all()) {
    names.push_back(schema.domain.empty() ? schema.op_type : schema.domain + "." + schema.op_type);
  }
  for (const auto& [set, unused] : rules.vocabulary.op_sets) names.push_back(set);
  return names;
}

}  // namespace rulerun
