#include "engine/ruleset/keys.h"

#include <algorithm>
#include <array>

#include "engine/base/codes.h"
#include "engine/base/text.h"

namespace rulerun {
namespace {

using enum KeyShape;
constexpr bool kRequired = true;
constexpr bool kOptional = false;

constexpr auto kManifestKeys = std::to_array<KeyInfo>({
    {"ruleset", kText, "Id of the rule set.", kRequired},
    {"version", kText, "Version of the rule set."},
    {"describes", kText, "What the rules describe, in a sentence."},
    {"extends", kText, "Id or path of the rule set that this one derives from."},
    {"invalid-replacement", kChoice,
     "What a rewrite does that breaks the schema of its operator: `error` refuses the "
     "model, `refuse` leaves the nodes as they are.",
     kOptional, "error|refuse"},
    {"platforms", kMapOfMaps, "The targets, with their facts.", kOptional, "", KeyTable::kPlatform},
    {"options", kMapOfMaps, "What a user may set, by the name that rules use.", kOptional, "", KeyTable::kOption},
    {"ops", kMapOrText, "The vocabulary: words that rules share. A map, or a file with that map.", kOptional, "",
     KeyTable::kOps},
    {"sets", kTypeSets, "Sets of element types for every file; a file's own come first."},
    {"pipeline", kListOfMaps, "The stages, in order.", kOptional, "", KeyTable::kStage},
    {"everywhere", kMap, "Conditions added to every unit.", kOptional, "", KeyTable::kEverywhere},
    {"rules", kListOfMaps, "Changes to the rule set it extends, in order.", kOptional, "", KeyTable::kEdit},
});

constexpr auto kOptionKeys = std::to_array<KeyInfo>({
    {"key", kText, "ONNX Runtime's session config key."},
    {"default", kScalar, "A number, or `platform`: the platform's fact of that name.", kRequired},
    {"range", kAny, "[lowest, highest]"},
    {"doc", kText, "What it does."},
});

constexpr auto kOpsKeys = std::to_array<KeyInfo>({
    {"sets", kMapOfNames, "Sets of operators: Q, DQ, ..."},
    {"commutative", kNames, "Operators whose operands may be swapped."},
    {"copy", kText, "The operator that copies a value."},
    {"since", kAny, "Operator -> the since-versions its name stands for; a map, a file with one, or a list of these."},
    {"schemas", kNames, "Files with schemas of operators that ONNX does not define."},
    {"tables", kAny, "Tables of operators with columns; a map, a file with one, or a list of these."},
});

constexpr auto kStageKeys = std::to_array<KeyInfo>({
    {"rules", kNames, "A file of rules; a list: their rules in one walk, as if they stood in the first."},
    {"pass", kText, "A named algorithm."},
    {"stages", kListOfMaps, "Stages run in order.", kOptional, "", KeyTable::kStage},
    {"table", kText, "The file with the table of the pass."},
    {"only", kNames, "These rules of the file, in this order."},
    {"walk", kChoice, "`together`: one walk for all rules of `only`; otherwise a walk each.", kOptional,
     "together|each"},
    {"level", kScalar, "From this optimization level on."},
    {"ep", kNames, "Execution providers whose nodes may be matched; `none`: of no provider; `any`."},
    {"if", kMap, "Only if this holds.", kOptional, "", KeyTable::kGate},
    {"unless", kMap, "Not if this holds.", kOptional, "", KeyTable::kGate},
    {"loop", kInteger, "Repeat until nothing changes, at most so often."},
    {"once", kBoolean, "Only in the first round of the loop around it."},
    {"not-after", kText, "Leaves out the nodes that the pass of this name changed when it last ran."},
    {"recurse", kChoice, "When subgraphs of a node are entered: before it is matched, after, or never (false).",
     kOptional, "before|after|false|true"},
    {"by", kMap, "The option that picks the entry of `again-if`.", kOptional, "", KeyTable::kGate},
    {"again-if", kMapOfNames, "Option value -> the passes whose change asks for another round; `never`, `any`."},
});

constexpr auto kGateKeys = std::to_array<KeyInfo>({
    {"option", kAny, "An option that is set; a list; or {name: value}."},
    {"fact", kAny, "A fact of the platform that is set; a list; or {name: value}."},
    {"opset", kAny, "{min: 20} or {below: 17}"},
    {"level", kAny, "A level from which on it holds, or {min: ..., below: ...}."},
});

constexpr auto kEverywhereKeys = std::to_array<KeyInfo>({
    {"where", kConditions, "Conditions; `in` and `out` stand for the operands and results of the unit.", kRequired},
});

constexpr auto kFileKeys = std::to_array<KeyInfo>({
    {"stage", kText, "ONNX Runtime's name of the stage."},
    {"visit", kChoice, "`first`: a node is done with after one rule fired; `all`: until the node is gone.", kOptional,
     "first|all"},
    {"summary", kText, "What the file holds."},
    {"sets", kTypeSets, "Sets of element types."},
    {"types", kTypeRows, "Type variables of rules that have no `types` of their own."},
    {"units", kMap, "Settings of the units.", kOptional, "", KeyTable::kUnits},
    {"rules", kListOfMaps, "Pattern rules.", kOptional, "", KeyTable::kRule},
    {"replace", kListOfMaps, "Units whose operator becomes an int8 operator.", kOptional, "", KeyTable::kRule},
    {"drop-qdq", kListOfMaps, "Units whose operator works on quantized values as it is.", kOptional, "",
     KeyTable::kRule},
    {"drop-dq", kListOfMaps, "Units whose result is the same for codes and values.", kOptional, "", KeyTable::kRule},
    {"unsupported", kListOfMaps, "Operators that stay as they are, with the reason.", kOptional, "",
     KeyTable::kUnsupported},
});

constexpr auto kUnitsKeys = std::to_array<KeyInfo>({
    {"between", kNames, "Operators that may stand alone between the operator and its Q."},
    {"redundant", kChoice, "What a redundant one of them does to a matching `replace` unit.", kOptional,
     "error|refuse"},
    {"zero_point", kMapOfTexts, "Element type, or `other` -> the name of a zero point that had to be made."},
});

constexpr auto kUnsupportedKeys = std::to_array<KeyInfo>({
    {"ops", kNames, "The operators.", kRequired},
    {"reason", kText, "Why; quoted by reports. ${op} is the operator.", kRequired},
});

#define RULERUN_RULE_BODY_KEYS                                                                                           \
  {"summary", kText, "What the rule does; without it, the comment at its first line."},                                  \
      {"unit", kBlock, "The quantized unit: y = Q(Op(DQ(x)))."}, {"match", kBlock, "The pattern, a node a line."},       \
      {"anchor", kText, "Label of the node that the walk visits; without it, the first line's."},                        \
      {"shared", kNames, "Values between matched nodes that others may read as well."},                                  \
      {"outputs-ok", kNames, "Values between matched nodes that may be graph outputs."},                                 \
      {"private", kBoolean, "false: a DQ of the unit may have other users."},                                            \
      {"types", kTypeRows, "Type variable -> set. A list: the first row whose first entry fits decides."},               \
      {"since", kMapOfAny, "Label or operator -> since-versions."},                                                      \
      {"where", kConditions, "What must hold, in order."},                                                               \
      {"flags", kMapOfConditions, "Names for conditions, used as `if FLAG` behind attributes."},                         \
      {"compute", kBlock, "Values computed from constants when first asked for."},                                       \
      {"cases",   kListOfMaps, "Choices, in order; the first whose `where` holds is taken.",                             \
       kOptional, "",          KeyTable::kCase},                                                                         \
      {"replace", kBlock, "What the matched nodes become."},                                                             \
      {"becomes", kBlock, "What the operator of the unit becomes: one call."},                                           \
      {"error", kText, "The model is refused, with this reason."},                                                       \
      {"names", kNameTemplates, "Names of new values and nodes, drawn in this order."},                                  \
      {"shapes", kMapOfTexts,                                                                                            \
       "New value -> the value whose shape it begins with; the inferred one is merged into it."},                        \
      {"prune", kNames, "Values whose producers go if nothing else reads them, and then what fed only these."},          \
      {"ep", kNames, "Execution providers, instead of the stage's."},                                                    \
      {"if", kMap, "Only if this holds.", kOptional, "", KeyTable::kGate},                                               \
      {"unless", kMap, "Not if this holds.", kOptional, "", KeyTable::kGate},                                            \
      {"uncovered", kMapOfTexts,                                                                                         \
       "What `rulerun test` says was never seen, word for word -> why no test can show it."},                            \
      {"overlaps", kNames, "Rules that may match the same nodes, on purpose."},                                          \
      {"tests", kListOfMaps, "Graphs that the rule must change, refuse, or not match.", kOptional, "", KeyTable::kTest}, \
      {"faults", kListOfMaps, "What is known to go wrong.", kOptional, "", KeyTable::kFault},                            \
      {"source", kText, "Where the fact was read."}, {                                                                   \
    "since-ort", kText, "The version of ONNX Runtime that brought it."                                                   \
  }

constexpr auto kRuleKeys = std::to_array<KeyInfo>({
    {"rule", kText, "Name of the rule, unique in the rule set.", kRequired},
    {"like", kText, "A rule of the file above this one whose keys are taken over, except for those written here."},
    RULERUN_RULE_BODY_KEYS,
});

constexpr auto kEditKeys = std::to_array<KeyInfo>({
    {"override", kNames, "Rules whose keys are replaced by those written here."},
    {"disable", kAny, "Rules, {group: ...} or {stage: ...} to leave out."},
    {"insert", kAny, "{into: group or file}, {before: rule} or {after: rule}: where `rules` go."},
    {"rules", kAny, "The rules to insert; other keys beside it are their defaults."},
    {"where+", kConditions, "Conditions appended."},
    {"faults+", kListOfMaps, "Faults appended.", kOptional, "", KeyTable::kFault},
    {"tests+", kListOfMaps, "Tests appended.", kOptional, "", KeyTable::kTest},
    {"closes", kNames, "Ids of faults that the change closes."},
    RULERUN_RULE_BODY_KEYS,
});
#undef RULERUN_RULE_BODY_KEYS

constexpr auto kCaseKeys = std::to_array<KeyInfo>({
    {"match", kBlock, "Lines added to the rule's."},
    {"where", kConditions, "When the case is taken."},
    {"compute", kBlock, "Lines added to the rule's."},
    {"names", kNameTemplates, "Names added to the rule's."},
    {"replace", kBlock, "What the matched nodes become."},
    {"error", kText, "The model is refused, with this reason."},
    {"refuse", kText, "The rule is not applied after all, with this reason; no other case is tried."},
    {"why", kText, "The reason for the case."},
});

constexpr auto kFaultKeys = std::to_array<KeyInfo>({
    {"id", kText, "Id of the fault.", kRequired},
    {"when", kConditions, "When the rewrite has it; always, if left out."},
    {"effect", kChoice, "What happens.", kRequired,
     "wrong-numbers|load-error|run-error|invalid-model|saturates|rounding|missed"},
    {"note", kText, "What is wrong."},
    {"link", kText, "Where it was reported: a URL."},
});

constexpr auto kTestKeys = std::to_array<KeyInfo>({
    {"name", kText, "Name that other tests' `like` refers to; the first `becomes` test is called fires by default."},
    {"becomes", kBlock, "A graph that the rule changes into `into`."},
    {"into", kBlock, "The graph after the rule."},
    {"refused", kText, "The condition that refuses `graph`: a predicate or a built-in check."},
    {"graph", kBlock, "The graph that is refused."},
    {"no-match", kBlock, "A graph in which the rule finds nothing."},
    {"error", kBlock, "A graph that makes the rule refuse the model."},
    {"like", kText, "The test whose graph is taken, with `change` and `edit`."},
    {"change", kMapOfAny, "Initializer -> its new value: 0.2, [1, 2], or a text with a type, \"int8 = {3}\"."},
    {"edit", kMapOfTexts, "A piece of the graph's text -> what stands there instead, wherever it does."},
    {"given", kMapOfAny, "Facts, options, `platform`, `level`, `opset`, `ep` of this test."},
});

std::vector<std::string> Choices(const KeyInfo& key) { return Split(key.choices, '|'); }

std::string Quote(const std::string& word) { return "'" + word + "'"; }

void CheckChoice(const KeyInfo& key, const Yaml& value, Diagnostics& errors) {
  const std::vector<std::string> choices = Choices(key);
  if (value.IsScalar() && std::find(choices.begin(), choices.end(), value.scalar) != choices.end()) return;
  errors.Add(Code::kBadValue, value.where,
             Quote(std::string(key.name)) + " is one of " + Join(choices, ", ") +
                 (value.IsScalar() ? DidYouMean(value.scalar, choices) : ""));
}

// What the value must look like, or nullptr where it does.
const char* WrongShape(KeyShape shape, const Yaml& value) {
  switch (shape) {
    case kText:
    case kBlock:
    case kScalar:
      return value.IsScalar() ? nullptr : "a text";
    case kNames:
      return value.AsNames() ? nullptr : "a name or a list of names";
    case kBoolean:
      return value.AsBool() ? nullptr : "true or false";
    case kInteger:
      return value.AsInt() ? nullptr : "a whole number";
    case kConditions:
      return value.IsMap() || value.IsSequence() ? nullptr : "a list of conditions";
    case kMapOfConditions:
    case kMapOfAny:
    case kMapOfTexts:
    case kMapOfNames:
    case kMap:
    case kMapOfMaps:
    case kTypeSets:
    case kNameTemplates:
      return value.IsMap() ? nullptr : "a map";
    case kListOfMaps:
      return value.IsSequence() ? nullptr : "a list";
    case kMapOrText:
      return value.IsMap() || value.IsScalar() ? nullptr : "a map, or the path of a file";
    case kTypeRows:
      return value.IsMap() || value.IsSequence() ? nullptr : "a map, or a list of maps";
    case kChoice:
    case kAny:
      return nullptr;
  }
  return nullptr;
}

// A test may leave a text to `like`; a change may take a key away.
bool MayBeNull(KeyTable table, const KeyInfo& key) {
  return (table == KeyTable::kTest && key.shape == kBlock) || table == KeyTable::kEdit;
}

}  // namespace

std::span<const KeyInfo> Keys(KeyTable table) {
  switch (table) {
    case KeyTable::kManifest:
      return kManifestKeys;
    case KeyTable::kPlatform:
      return {};
    case KeyTable::kOption:
      return kOptionKeys;
    case KeyTable::kOps:
      return kOpsKeys;
    case KeyTable::kStage:
      return kStageKeys;
    case KeyTable::kGate:
      return kGateKeys;
    case KeyTable::kEverywhere:
      return kEverywhereKeys;
    case KeyTable::kEdit:
      return kEditKeys;
    case KeyTable::kFile:
      return kFileKeys;
    case KeyTable::kUnits:
      return kUnitsKeys;
    case KeyTable::kUnsupported:
      return kUnsupportedKeys;
    case KeyTable::kRule:
      return kRuleKeys;
    case KeyTable::kCase:
      return kCaseKeys;
    case KeyTable::kFault:
      return kFaultKeys;
    case KeyTable::kTest:
      return kTestKeys;
  }
  return {};
}

std::string_view Name(KeyTable table) {
  switch (table) {
    case KeyTable::kManifest:
      return "rule set";
    case KeyTable::kPlatform:
      return "platform";
    case KeyTable::kOption:
      return "option";
    case KeyTable::kOps:
      return "vocabulary";
    case KeyTable::kStage:
      return "stage";
    case KeyTable::kGate:
      return "gate";
    case KeyTable::kEverywhere:
      return "everywhere";
    case KeyTable::kEdit:
      return "change";
    case KeyTable::kFile:
      return "rule file";
    case KeyTable::kUnits:
      return "units";
    case KeyTable::kUnsupported:
      return "unsupported";
    case KeyTable::kRule:
      return "rule";
    case KeyTable::kCase:
      return "case";
    case KeyTable::kFault:
      return "fault";
    case KeyTable::kTest:
      return "test";
  }
  return "";
}

std::vector<std::string> KeyNames(KeyTable table) {
  std::vector<std::string> names;
  for (const KeyInfo& key : Keys(table)) names.emplace_back(key.name);
  return names;
}

bool CheckMap(const Yaml& yaml, KeyTable table, Diagnostics& errors) {
  const size_t before = errors.size();
  const std::string what(Name(table));
  if (!yaml.IsMap()) {
    errors.Add(Code::kBadValue, yaml.where, "expected a map with the keys of a " + what);
    return false;
  }
  const auto keys = Keys(table);
  for (size_t i = 0; i < yaml.entries.size(); ++i) {
    const auto& [name, value] = yaml.entries[i];
    const auto key =
        std::find_if(keys.begin(), keys.end(), [&, &name = name](const KeyInfo& k) { return k.name == name; });
    if (key == keys.end()) {
      errors.Add(Code::kUnknownKey, yaml.key_places[i],
                 "a " + what + " has no key " + Quote(name) + DidYouMean(name, KeyNames(table)));
    } else if (value.kind == Yaml::Kind::kNull && MayBeNull(table, *key)) {
      continue;
    } else if (key->shape == kChoice) {
      CheckChoice(*key, value, errors);
    } else if (const char* wanted = WrongShape(key->shape, value)) {
      errors.Add(Code::kBadValue, yaml.key_places[i], Quote(name) + " takes " + wanted);
    }
  }
  for (const KeyInfo& key : keys) {
    if (key.required && yaml.Get(key.name) == nullptr) {
      errors.Add(Code::kMissingKey, yaml.where, "the " + what + " lacks the key " + Quote(std::string(key.name)));
    }
  }
  return errors.size() == before;
}

}  // namespace rulerun
