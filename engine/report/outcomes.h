// What became of every node at every level on every platform.
#ifndef RULERUN_ENGINE_REPORT_OUTCOMES_H_
#define RULERUN_ENGINE_REPORT_OUTCOMES_H_

#include <map>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/model.h"
#include "engine/report/fates.h"
#include "engine/ruleset/ruleset.h"
#include "engine/ruleset/target.h"
#include "kernels/kernel.h"

namespace rulerun {

// What became of a node in one rewriting.
struct NodeOutcome {
  Fate fate = Fate::kOther;
  std::string into;     // operator that does its work, "" for none
  std::string rule;     // or pass
  std::string place;    // file:line:column of it
  std::string refused;  // why ONNX Runtime refuses the model there; rule and place then say by which

  bool operator==(const NodeOutcome&) const = default;
};

// Levels in a row with the same outcome.
struct LevelRun {
  std::vector<Level> levels;
  NodeOutcome outcome;

  bool operator==(const LevelRun&) const = default;
};

// Platforms on which the same happens at every level.
struct PlatformRuns {
  std::vector<std::string> platforms;
  std::vector<LevelRun> levels;
};

// `asked` for another platform and level. Options that a user set stay as they are; the others take the platform's
// fact.
Result<Target> TargetAt(const RuleSet& rules, const Target& asked, const std::string& platform, Level level);

// By node: in the order of ListNodes.
using Outcomes = std::vector<std::vector<PlatformRuns>>;

// For the model as a whole: whether ONNX Runtime loads it. Only `refused`, `rule` and `place` are set.
Result<std::vector<PlatformRuns>> FindLoads(const Model& model, const RuleSet& rules, const Target& target,
                                            const KernelRegistry& kernels, int threads);

// Rewrites copies of the model, as it is before the pipeline runs, for all levels and platforms, on `threads` threads
// (0: one per core). `target` gives everything else: provider, options, what is disabled. An option at its default
// follows the platform.
Result<Outcomes> FindOutcomes(const Model& model, const RuleSet& rules, const Target& target,
                              const KernelRegistry& kernels, int threads);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_OUTCOMES_H_
