// The inspection report: operators at every level and what became of them, constants, sizes, dynamic dimensions.
#ifndef RULERUN_ENGINE_REPORT_INSPECT_H_
#define RULERUN_ENGINE_REPORT_INSPECT_H_

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/save.h"
#include "engine/report/constants.h"
#include "engine/ruleset/ruleset.h"
#include "engine/ruleset/target.h"
#include "kernels/kernel.h"

namespace rulerun {

constexpr std::array kLevels = {Level::kDisabled, Level::kBasic, Level::kExtended, Level::kLayout, Level::kAll};

// One operator: how many the file holds, and how many each level leaves.
struct OpCounts {
  std::string op;
  int original = 0;
  std::array<int, kLevels.size()> at{};
};

// What became of the original nodes of one operator that is no Q or DQ, at each level: in words, how often. "itself"
// stands for the operator.
struct Outcome {
  std::string op;
  std::string group;  // OpRules::Group
  int count = 0;
  std::array<std::map<std::string, int>, kLevels.size()> at;
};

// An original node of which level layout makes something else than level extended; or nodes that it inserts.
struct LayoutChange {
  std::string node;      // "" for inserted ones
  std::string op;        // in the original, or of the inserted
  std::string extended;  // what became of it, as in Outcome
  std::string layout;
  int inserted = 0;  // more of them at layout
  std::string rule;  // or pass
};

struct BoundaryValue {
  std::string name;
  bool is_input = false;
  std::string type;   // "float"
  std::string shape;  // "[batch, 3, 16, 16]"
  bool dynamic = false;
};

struct Inspection {
  std::string model;
  std::string rules;
  std::string provider;
  std::string platform;
  std::vector<OpCounts> ops;                                 // the most frequent in the original first, then by name
  std::vector<Outcome> outcomes;                             // likewise
  std::array<std::optional<Error>, kLevels.size()> refused;  // why ONNX Runtime refuses the model at a level
  bool layout_is_extended = false;                           // the same graph, node for node
  bool all_is_layout = false;
  std::vector<LayoutChange> layout_changes;
  std::vector<ConstantGroup> constants;
  ModelSizes sizes;
  std::vector<BoundaryValue> boundary;  // graph inputs without initializer, then outputs
};

// `target`'s level does not count.
Result<Inspection> Inspect(const std::string& path, const RuleSet& rules, const Target& target,
                           const KernelRegistry& kernels, const RoleWords& words);

// As schemas/inspect.schema.json describes.
std::string ToJson(const std::vector<Inspection>& inspections);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_INSPECT_H_
