// JSON Schemas of rule files, for editors. Written from the tables that the reader itself uses (keys.h, predicates.h).
#ifndef RULERUN_ENGINE_RULESET_SCHEMA_JSON_H_
#define RULERUN_ENGINE_RULESET_SCHEMA_JSON_H_

#include <string>

namespace rulerun {

std::string RulesSchemaJson();    // of a file of rules: schemas/rules.schema.json
std::string RuleSetSchemaJson();  // of a manifest: schemas/ruleset.schema.json

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_SCHEMA_JSON_H_
