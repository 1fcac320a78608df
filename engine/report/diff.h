// How two rewritings of one model differ: for two targets, with other options, or by two rule sets.
#ifndef RULERUN_ENGINE_REPORT_DIFF_H_
#define RULERUN_ENGINE_REPORT_DIFF_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/model.h"
#include "engine/pipeline/trace.h"
#include "engine/report/fates.h"
#include "engine/ruleset/ruleset.h"
#include "engine/ruleset/target.h"
#include "kernels/kernel.h"

namespace rulerun {

// One side: a rewritten model, and all that was said on the way.
struct Rewriting {
  Model model;
  const RuleSet* rules = nullptr;
  Target target;
  Trace trace;
  Fates fates;
  std::optional<Error> refused;  // why ONNX Runtime refuses the model, where it does; there are no fates then
};

// Runs the pipeline over `model`. That ONNX Runtime refuses it is a value, not an error.
Result<Rewriting> RewriteModel(Model model, const RuleSet& rules, const Target& target, const KernelRegistry& kernels);

enum class Side { kLeft = 0, kRight = 1 };
std::string_view Name(Side side);  // "left", "right"

template <typename T>
struct Sides {
  std::array<T, 2> of;

  T& operator[](Side side) { return of[static_cast<size_t>(side)]; }
  const T& operator[](Side side) const { return of[static_cast<size_t>(side)]; }
};
inline constexpr std::array<Side, 2> kSides = {Side::kLeft, Side::kRight};
inline constexpr Side Other(Side side) { return side == Side::kLeft ? Side::kRight : Side::kLeft; }

// The first rule or pass that fired at a node on one side only, and what came of it on the other.
struct DiffCause {
  enum class Kind {
    kRefused,   // it was tried there, and refused
    kAbsent,    // that rule set has none of this name
    kDisabled,  // it is switched off there
    kLevel,     // it begins at a higher level
    kNoMatch,   // it was not tried, or its text fitted nothing here
  };
  Kind kind = Kind::kNoMatch;
  Side fired = Side::kLeft;
  std::string rule;     // or pass
  std::string place;    // file:line:column of the rule
  std::string check;    // kRefused
  std::string message;  // a clause about the other side
  std::string refusal_place;
};
std::string_view Name(DiffCause::Kind kind);  // "refused", "absent", "disabled", "level", "no-match"
Code CodeOf(DiffCause::Kind kind);

// An original node of which something else became.
struct NodeDiff {
  OriginalNode node;
  Sides<NodeFate> fates;
  // The final nodes that go by its origin: "Op(float, int8 constant) <axis=1>", sorted.
  Sides<std::vector<std::string>> forms;
  std::optional<DiffCause> cause;  // none: the same rules fired
};

// A rule or pass that did not fire as often, or not at the same nodes.
struct RuleDiff {
  std::string rule;
  bool pass = false;
  Sides<int> fired{};
  Sides<std::vector<std::string>> only;  // nodes where it fired on that side only
};

// Nodes that stand for no single original one.
struct InsertedDiff {
  std::string op;
  std::string rule;  // or pass
  Sides<int> count{};
};

struct DiffSide {
  std::string rules;  // id and version
  std::string level;
  std::string provider;
  std::string platform;
  std::vector<std::string> options;   // "name=value" of those that are not at their default
  std::vector<std::string> disabled;  // rules and passes
  std::optional<Error> refused;
};

struct Diff {
  std::string model;  // path
  Sides<DiffSide> sides;
  bool same = true;       // the same graph, names aside; or refused with the same words
  size_t node_count = 0;  // of the original
  std::vector<NodeDiff> nodes;
  std::vector<InsertedDiff> inserted;
  std::vector<RuleDiff> rules;         // by first firing; also where the graphs are the same
  std::vector<std::string> structure;  // where no node differs by itself: how the graphs do
};

Diff Compare(const Rewriting& left, const Rewriting& right);

// As schemas/diff.schema.json describes.
std::string ToJson(const Diff& diff);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DIFF_H_
