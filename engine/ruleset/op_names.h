// Names of operators as rules write them: "Op", or with the domain in front, "com.microsoft.Op".
#ifndef RULERUN_ENGINE_RULESET_OP_NAMES_H_
#define RULERUN_ENGINE_RULESET_OP_NAMES_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ruleset/ruleset.h"

namespace rulerun {

struct OpName {
  std::string domain;  // "" for ai.onnx
  std::string type;
};

OpName SplitOpName(std::string_view name);  // the domain is what stands before the last dot
bool KnownOperator(const ExternalSchemas& external, std::string_view name);
// Every since-version of a known operator, ascending.
std::vector<int> OperatorVersions(const ExternalSchemas& external, std::string_view name);
// The schemas that a name stands for: of the versions listed in the vocabulary, or of all.
std::vector<const OpSchema*> SchemasOf(const RuleSet& rules, const std::string& name);
// For messages: operators, and sets of them.
std::vector<std::string> OperatorNames(const RuleSet& rules);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_OP_NAMES_H_
