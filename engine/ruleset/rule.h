// A rule, as read from YAML: typed, with the place of everything.
#ifndef RULERUN_ENGINE_RULESET_RULE_H_
#define RULERUN_ENGINE_RULESET_RULE_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/tensor.h"
#include "engine/ruleset/location.h"
#include "engine/ruleset/predicates.h"
#include "engine/ruleset/text.h"
#include "engine/ruleset/yaml.h"

namespace rulerun {

// One predicate with its arguments.
struct Condition {
  const PredicateInfo* predicate = nullptr;
  Location where;
  std::vector<std::string> values;                  // kValues, kPair, kLabels, and `of` of kClose
  std::vector<std::pair<std::string, Yaml>> pairs;  // every map-shaped argument, in file order
  std::vector<Yaml> items;                          // kPairOfNumbers
  std::vector<std::vector<Condition>> groups;       // any: one group per item; not: one; if: two (if, then)
  std::string why;                                  // the writer's reason, quoted by reports
};
// All must hold, in order. A YAML map with several keys is several conditions in a row, each in its own right.
using Conditions = std::vector<Condition>;

// A set of element types: those listed, or all but those.
struct TypeSet {
  std::vector<DataType> types;
  bool except = false;
  bool Has(DataType type) const;
};
std::string ToString(const TypeSet& set);  // "int8 or uint8", "a type other than int16"

// One row of `types`: variable -> set, tried in order.
struct TypeRow {
  std::vector<std::pair<std::string, TypeSet>> variables;
  std::string needs;  // a fact or option that must be true, or ""
  Location where;
};

// What a rule or a stage depends on beside the graph.
struct Gate {
  enum class Kind { kOption, kFact, kOpset, kLevel };
  struct Item {
    Kind kind = Kind::kOption;
    std::string name;               // option or fact
    std::optional<int64_t> equals;  // of an option or fact; otherwise: must be set and not 0
    int64_t min = 0;                // opset, level
    int64_t below = INT64_MAX;
  };
  std::vector<Item> items;  // all must hold
};

// `names:` entry.
struct NameTemplate {
  enum class Kind { kUnique, kExact, kFromValues };
  Kind kind = Kind::kUnique;
  std::string text;  // with ${..}
};
using NameTemplates = std::vector<std::pair<std::string, NameTemplate>>;  // in drawing order

struct Rewrite {
  enum class Kind { kNone, kReplace, kBecomes, kError, kRefuse };
  Kind kind = Kind::kNone;
  std::vector<Statement> statements;  // kReplace: the block; kBecomes: one statement
  std::string error;                  // kError, kRefuse: template
  Location where;
};

struct Case {
  Location where;
  std::vector<Statement> match;
  Conditions conditions;
  std::vector<Statement> compute;
  NameTemplates names;
  Rewrite rewrite;
};

struct Fault {
  std::string id;
  std::string effect;  // wrong-numbers, load-error, run-error, invalid-model
  std::string note;
  std::string link;  // where it was reported, or ""
  Conditions when;   // empty: always
  Location where;
};

struct RuleTest {
  enum class Kind { kBecomes, kRefused, kNoMatch, kError };
  Kind kind = Kind::kBecomes;
  std::string graph;                                       // ONNX text
  std::string into;                                        // kBecomes: ONNX text
  std::string refused;                                     // kRefused: predicate or builtin check
  std::string name;                                        // other tests' `like:` refer to it
  std::vector<std::pair<std::string, std::string>> facts;  // facts, options, level, platform set for this test
  Location where;
};

enum class Group { kPattern, kReplace, kDropQdq, kDropDq };
std::string_view Name(Group group);  // "rules", "replace", "drop-qdq", "drop-dq"

struct Rule {
  std::string name;
  Group group = Group::kPattern;
  Location where;
  bool is_unit = false;
  std::vector<Statement> match;  // a unit: exactly one statement
  std::string anchor;            // label of the anchor, or "" for the first statement
  std::set<std::string> shared;
  std::set<std::string> outputs_ok;
  bool private_dq = true;                         // units: a DQ has no other user
  std::map<std::string, std::vector<int>> since;  // label or op -> since-versions
  std::vector<TypeRow> types;                     // the rule's own or the file's
  bool types_are_rows = false;                    // written as a list: the first row whose first entry fits decides
  Conditions conditions;
  std::vector<std::pair<std::string, Conditions>> flags;
  std::vector<Statement> compute;
  std::vector<Case> cases;
  Rewrite rewrite;
  NameTemplates names;
  std::map<std::string, std::string> shapes;  // new value -> the value whose type it begins with
  std::vector<std::string> prune;
  std::vector<std::string> overlaps;   // rules that may match the same nodes, on purpose
  std::vector<std::string> closed;     // ids of faults that a derived rule set has closed
  std::vector<std::string> providers;  // `ep`, empty: the stage's
  Gate gate_if;
  Gate gate_unless;
  std::vector<RuleTest> tests;
  std::vector<Fault> faults;
  std::string source;
  std::string since_ort;
  std::string summary;  // the comment or `summary:` of the rule
  Yaml yaml;            // as written (after extends); for `docs` and `extends`
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_RULE_H_
