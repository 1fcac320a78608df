// A rule set: manifest, stage files, vocabulary and pipeline.
#ifndef RULERUN_ENGINE_RULESET_RULESET_H_
#define RULERUN_ENGINE_RULESET_RULESET_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/schema.h"
#include "engine/ruleset/rule.h"

namespace rulerun {

enum class Level { kDisabled = 0, kBasic = 1, kExtended = 2, kLayout = 3, kAll = 4 };
std::string_view Name(Level level);
// "extended", "2", "ORT_ENABLE_EXTENDED", ...; 99 is all.
std::optional<Level> ParseLevel(std::string_view text);

// Facts of a target: numbers and booleans (as 0 and 1) and texts (paths).
struct Platform {
  std::string name;
  std::map<std::string, int64_t> facts;
  std::map<std::string, std::string> texts;  // kernels: path of the kernel table
};

struct Option {
  std::string name;
  std::string key;               // ONNX Runtime's session config key
  std::optional<int64_t> value;  // default; std::nullopt: the platform's fact of the same name
  int64_t min = INT64_MIN;
  int64_t max = INT64_MAX;
};

// A table of operators with columns: row name -> column -> value.
struct OpTable {
  std::string name;
  std::vector<std::pair<std::string, Yaml>> rows;
  const Yaml* Row(std::string_view op) const;
};

// What ops: says: the words that rules share.
struct Vocabulary {
  std::map<std::string, std::vector<std::string>> op_sets;  // Q, DQ, ...: operator names with domain
  std::set<std::string> commutative;
  std::string copy;                               // the operator that copies a value
  std::map<std::string, std::vector<int>> since;  // operator -> since-versions its name stands for
  std::map<std::string, OpTable> tables;          // each is an op set of that name, too
  std::map<std::string, TypeSet> type_sets;       // `sets` of the manifest; every file has them
};

// Settings of the units of a stage file.
struct UnitSettings {
  std::vector<std::string> between;  // operators that may stand alone between the op and its Q
  bool redundant_is_error = false;
  std::vector<std::pair<std::string, std::string>> zero_point;  // element type or "other" -> initializer name
};

struct Unsupported {
  std::vector<std::string> ops;
  std::string reason;  // with ${op}
  Location where;
};

// One file of rules.
struct RuleFile {
  std::string path;  // as the manifest names it
  Location where;
  std::string stage;  // ONNX Runtime's name for it, or ""
  bool visit_all = false;
  std::map<std::string, TypeSet> sets;
  UnitSettings units;
  std::vector<std::shared_ptr<Rule>> rules;  // in file order; of the four groups: replace, drop-qdq, drop-dq
  std::vector<Unsupported> unsupported;
};

struct Stage {
  enum class Kind { kRules, kPass, kGroup };
  enum class Recurse { kBefore, kAfter, kNever };
  Kind kind = Kind::kGroup;
  Location where;
  std::string file;                    // kRules: path of the RuleFile
  std::vector<std::string> only;       // kRules: these rules, in this order; empty: all
  bool walk_together = false;          // kRules: one walk for all rules of `only`; else a walk each
  std::string pass;                    // kPass: name of the pass
  std::string table;                   // kPass: path of its table
  std::vector<Stage> stages;           // kGroup
  Level level = Level::kDisabled;      // from this level on
  std::vector<std::string> providers;  // `ep`; empty: inherited; "any"
  Gate gate_if;
  Gate gate_unless;
  int loop = 1;           // kGroup: passes over it, at most; stops when nothing changed
  bool once = false;      // only in the first round of the enclosing loop
  std::string not_after;  // kRules: nodes that this pass changed when it last ran are left out
  Recurse recurse = Recurse::kBefore;
  std::string loop_by;                                   // kGroup: option that picks the entry of again_if
  std::map<int64_t, std::vector<std::string>> again_if;  // option value -> passes whose change asks for another round
};

struct RuleSet {
  std::string id;
  std::string version;
  std::string describes;
  std::string path;                         // of the manifest
  std::vector<std::string> extends;         // ids, nearest first
  bool refuse_invalid_replacement = false;  // `invalid-replacement: refuse`; otherwise an error
  std::map<std::string, Platform> platforms;
  std::map<std::string, Option> options;
  Vocabulary vocabulary;
  ExternalSchemas schemas;
  std::map<std::string, RuleFile> files;  // by path
  std::map<std::string, Yaml> tables;     // pass tables, by path
  std::vector<Stage> pipeline;

  const Rule* FindRule(std::string_view name) const;
};

// Reads a manifest and all it names, applies `extends`, checks names and types as far as a file can tell. Every error
// has file:line:column and the nearest valid spelling; several are joined by newlines.
// What it extends by id lies beside the manifest, or in one of the folders `search`.
Result<std::shared_ptr<const RuleSet>> ReadRuleSet(const std::string& path,
                                                   const std::vector<std::string>& search = {});

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_RULESET_H_
