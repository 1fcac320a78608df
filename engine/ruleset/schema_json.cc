#include "engine/ruleset/schema_json.h"

#include <nlohmann/json.hpp>

#include "engine/base/text.h"
#include "engine/graph/tensor.h"
#include "engine/ruleset/keys.h"
#include "engine/ruleset/predicates.h"

namespace rulerun {
namespace {

using Json = nlohmann::ordered_json;

constexpr KeyTable kTables[] = {
    KeyTable::kManifest,    KeyTable::kPlatform,   KeyTable::kOption, KeyTable::kOps,   KeyTable::kStage,
    KeyTable::kGate,        KeyTable::kEverywhere, KeyTable::kEdit,   KeyTable::kFile,  KeyTable::kUnits,
    KeyTable::kUnsupported, KeyTable::kRule,       KeyTable::kCase,   KeyTable::kFault, KeyTable::kTest,
};

Json Ref(std::string_view name) { return {{"$ref", "#/definitions/" + std::string(name)}}; }

Json Either(std::initializer_list<Json> schemas) {
  Json all = Json::array();
  for (const Json& schema : schemas) all.push_back(schema);
  return {{"anyOf", all}};
}

Json ListOf(const Json& items, int at_least = 0, int at_most = -1) {
  Json list{{"type", "array"}, {"items", items}};
  if (at_least > 0) list["minItems"] = at_least;
  if (at_most >= 0) list["maxItems"] = at_most;
  return list;
}

Json MapOf(const Json& values, int at_least = 0) {
  Json map{{"type", "object"}, {"additionalProperties", values}};
  if (at_least > 0) map["minProperties"] = at_least;
  return map;
}

Json Whole() { return {{"type", "integer"}}; }
Json Number() { return {{"type", "number"}}; }

// --- arguments of predicates

Json Close() {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", {"of"}},
          {"properties", {{"of", ListOf(Ref("scalar"), 2, 2)}, {"atol", Number()}, {"rtol", Number()}}}};
}

Json Blocks() {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", {"axis", "sizes"}},
          {"properties", {{"axis", Whole()}, {"sizes", ListOf(Whole())}}}};
}

Json Range(bool level) {
  const Json bound = level ? Ref("level") : Whole();
  Json map{{"type", "object"}, {"additionalProperties", false}, {"minProperties", 1}};
  map["properties"] = {{"min", bound}, {"below", bound}};
  return level ? Either({bound, map}) : map;
}

Json Argument(const PredicateInfo& predicate) {
  const Json scalar = Ref("scalar");
  const Json names = Ref("names");
  switch (predicate.args) {
    case ArgKind::kValues:
    case ArgKind::kLabels:
      return Either({scalar, ListOf(scalar, 1)});
    case ArgKind::kPair:
      return ListOf(scalar, 2);
    case ArgKind::kValueToSet:
      return MapOf(Ref("types"), 1);
    case ArgKind::kValueToNumber:
    case ArgKind::kLabelToNumber:
      return MapOf(Whole(), 1);
    case ArgKind::kValueToValue:
    case ArgKind::kValueToScalar:
      return MapOf(scalar, 1);
    case ArgKind::kValueToShape:
      return MapOf(ListOf(scalar), 1);
    case ArgKind::kValueToMap:
      return MapOf(Blocks(), 1);
    case ArgKind::kValueToRange:
      return MapOf(ListOf(Number(), 2, 2), 1);
    case ArgKind::kPairOfNumbers:
    case ArgKind::kMapOfNumbers:
      return Either({ListOf(scalar, 2, 2), MapOf(scalar, 1)});
    case ArgKind::kLabelToSet:
      return MapOf(names, 1);
    case ArgKind::kLabelToList:
      return MapOf(ListOf(Number()), 1);
    case ArgKind::kLabelAttr: {
      Json map = MapOf(names, 1);
      map["propertyNames"] = {{"pattern", "\\."}};
      return map;
    }
    case ArgKind::kClose:
      return Close();
    case ArgKind::kName:
      return Either({scalar, ListOf(scalar, 1), MapOf(Whole(), 1)});
    case ArgKind::kRange:
      return Range(predicate.name == "level");
    case ArgKind::kConditionLists:
      return ListOf(Ref("conditions"), 1);
    case ArgKind::kConditions:
    case ArgKind::kIfThen:
      return Ref("conditions");
  }
  return Json::object();
}

Json Condition() {
  Json properties = Json::object();
  for (const PredicateInfo& predicate : Predicates()) {
    Json argument = Argument(predicate);
    argument["description"] = predicate.doc;
    properties[std::string(predicate.name)] = argument;
  }
  properties["then"] = Ref("conditions");
  properties["why"] = {{"type", "string"}, {"description", "The reason that reports quote."}};
  return {{"type", "object"},
          {"minProperties", 1},
          {"additionalProperties", false},
          {"dependencies", {{"if", {"then"}}, {"then", {"if"}}}},
          {"properties", properties}};
}

// --- values of keys

Json Choice(const KeyInfo& key) {
  Json values = Json::array();
  for (const std::string& choice : Split(key.choices, '|')) {
    values.push_back(choice);
    if (choice == "true" || choice == "false") values.push_back(choice == "true");
  }
  return {{"enum", values}};
}

Json NameTemplateMap() {
  const Json text = Ref("scalar");
  const auto one = [&](const char* key) {
    return Json{
        {"type", "object"}, {"additionalProperties", false}, {"required", {key}}, {"properties", {{key, text}}}};
  };
  return MapOf(Either({text, one("exact"), one("value")}));
}

Json TypeRow() {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"properties", {{"needs", Ref("scalar")}}},
          {"patternProperties", {{"^[A-Z]", Ref("types")}}}};
}

Json ValueOf(const KeyInfo& key) {
  Json inner = Ref(Name(key.inner));
  switch (key.shape) {
    case KeyShape::kText:
    case KeyShape::kBlock:
    case KeyShape::kScalar:
      return Ref("scalar");
    case KeyShape::kNames:
      return Ref("names");
    case KeyShape::kBoolean:
      return {{"type", "boolean"}};
    case KeyShape::kInteger:
      return Whole();
    case KeyShape::kChoice:
      return Choice(key);
    case KeyShape::kConditions:
      return Ref("conditions");
    case KeyShape::kMapOfConditions:
      return MapOf(Ref("conditions"));
    case KeyShape::kMapOfAny:
      return {{"type", "object"}};
    case KeyShape::kMapOfTexts:
      return MapOf(Ref("scalar"));
    case KeyShape::kMapOfNames:
      return MapOf(Ref("names"));
    case KeyShape::kMap:
      return inner;
    case KeyShape::kMapOfMaps:
      return MapOf(inner);
    case KeyShape::kListOfMaps:
      return ListOf(inner);
    case KeyShape::kMapOrText:
      return Either({{{"type", "string"}}, inner});
    case KeyShape::kTypeRows:
      return Either({TypeRow(), ListOf(TypeRow())});
    case KeyShape::kTypeSets: {
      Json sets = MapOf(Ref("types"));
      sets["propertyNames"] = {{"pattern", "^[a-z]"}};
      return sets;
    }
    case KeyShape::kNameTemplates:
      return NameTemplateMap();
    case KeyShape::kAny:
      return Json::object();
  }
  return Json::object();
}

// Of several keys, exactly or at most one.
Json OneOf(std::initializer_list<const char*> keys) {
  Json one = Json::array();
  for (const char* key : keys) one.push_back({{"required", {key}}});
  return {{"oneOf", one}};
}

Json AtMostOne(std::initializer_list<const char*> keys) {
  Json pairs = Json::array();
  for (const char* const* a = keys.begin(); a != keys.end(); ++a) {
    for (const char* const* b = a + 1; b != keys.end(); ++b) pairs.push_back({{"not", {{"required", {*a, *b}}}}});
  }
  return {{"allOf", pairs}};
}

// What the tables do not say: keys that exclude each other.
void AddExclusions(KeyTable table, Json& map) {
  Json all = Json::array();
  if (table == KeyTable::kRule) {
    all.push_back(AtMostOne({"unit", "match"}));
    all.push_back({{"anyOf", {{{"required", {"unit"}}}, {{"required", {"match"}}}, {{"required", {"like"}}}}}});
    all.push_back(AtMostOne({"replace", "becomes", "error"}));
  }
  if (table == KeyTable::kCase) all.push_back(AtMostOne({"replace", "error", "refuse"}));
  if (table == KeyTable::kStage) all.push_back(OneOf({"rules", "pass", "stages"}));
  if (table == KeyTable::kTest) all.push_back(OneOf({"becomes", "refused", "no-match", "error"}));
  if (table == KeyTable::kEdit) all.push_back(OneOf({"override", "disable", "insert"}));
  if (!all.empty()) map["allOf"] = all;
}

Json MapOfTable(KeyTable table) {
  if (table == KeyTable::kPlatform) return MapOf(Ref("scalar"));
  const bool takes_away = table == KeyTable::kEdit;
  Json properties = Json::object();
  Json required = Json::array();
  for (const KeyInfo& key : Keys(table)) {
    Json value = ValueOf(key);
    const bool may_be_null = takes_away || (table == KeyTable::kTest && key.shape == KeyShape::kBlock);
    if (may_be_null && key.shape != KeyShape::kAny) value = Either({value, {{"type", "null"}}});
    // Draft 7 ignores what stands beside "$ref".
    Json described = value.contains("$ref") ? Json{{"allOf", Json::array({value})}} : value;
    described["description"] = key.doc;
    properties[std::string(key.name)] = described;
    if (key.required) required.push_back(key.name);
  }
  Json map{{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
  if (!required.empty()) map["required"] = required;
  AddExclusions(table, map);
  return map;
}

Json Definitions() {
  Json definitions = Json::object();
  definitions["scalar"] = {{"type", {"string", "number", "boolean"}}};
  definitions["names"] = Either({Ref("scalar"), ListOf(Ref("scalar"))});
  definitions["level"] = Ref("scalar");
  definitions["types"] = Either({Ref("scalar"),
                                 ListOf(Ref("scalar"), 1),
                                 {{"type", "object"},
                                  {"additionalProperties", false},
                                  {"required", {"not"}},
                                  {"properties", {{"not", Ref("types")}}}}});
  definitions["types"]["description"] =
      "A type, a set, a list of them, or {not: ...}. Types: " + Join(DataTypeNames(), ", ");
  definitions["condition"] = Condition();
  definitions["conditions"] = Either({Ref("condition"), ListOf(Ref("condition"))});
  for (const KeyTable table : kTables) definitions[std::string(Name(table))] = MapOfTable(table);
  return definitions;
}

std::string Schema(std::string_view title, KeyTable root) {
  Json schema;
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = title;
  schema["allOf"] = Json::array({Ref(Name(root))});
  schema["definitions"] = Definitions();
  return schema.dump(1) + "\n";
}

}  // namespace

std::string RulesSchemaJson() { return Schema("A file of rulerun rules", KeyTable::kFile); }
std::string RuleSetSchemaJson() { return Schema("A rulerun rule set", KeyTable::kManifest); }

}  // namespace rulerun
