// The keys of every kind of map in a rule set. The reader checks files against these tables, and the JSON Schemas for
// editors are written from them.
#ifndef RULERUN_ENGINE_RULESET_KEYS_H_
#define RULERUN_ENGINE_RULESET_KEYS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ruleset/diagnostics.h"
#include "engine/ruleset/yaml.h"

namespace rulerun {

// What the value of a key looks like.
enum class KeyShape {
  kText,   // one word or sentence
  kBlock,  // ONNX text
  kNames,  // a word or a list of words
  kBoolean,
  kInteger,
  kScalar,      // a text, a number or a boolean
  kChoice,      // one of `choices`
  kConditions,  // a condition or a list of them
  kMapOfConditions,
  kMapOfAny,
  kMapOfTexts,
  kMapOfNames,
  kMap,        // a map whose keys are the table `inner`
  kMapOfMaps,  // names -> such maps
  kListOfMaps,
  kMapOrText,  // such a map, or a path
  kTypeRows,   // variable -> set, or a list of those
  kTypeSets,   // name -> set
  kNameTemplates,
  kAny,
};

enum class KeyTable {
  kManifest,
  kPlatform,
  kOption,
  kOps,
  kStage,
  kGate,
  kEverywhere,
  kEdit,
  kFile,
  kUnits,
  kUnsupported,
  kRule,
  kCase,
  kFault,
  kTest,
};

struct KeyInfo {
  std::string_view name;
  KeyShape shape = KeyShape::kAny;
  std::string_view doc;
  bool required = false;
  std::string_view choices{};            // of kChoice, separated by '|'
  KeyTable inner = KeyTable::kManifest;  // of the map shapes
};

std::span<const KeyInfo> Keys(KeyTable table);
std::string_view Name(KeyTable table);  // "rule", "stage", ..: what messages call such a map
std::vector<std::string> KeyNames(KeyTable table);

// Checks that `yaml` is a map with keys of the table only, all required ones among them, each value of the key's outer
// shape. False, with errors added, where something is wrong.
bool CheckMap(const Yaml& yaml, KeyTable table, Diagnostics& errors);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_KEYS_H_
