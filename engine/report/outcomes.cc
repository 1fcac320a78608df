#include "engine/report/outcomes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/graph/load.h"
#include "engine/pipeline/pipeline.h"
#include "engine/report/inspect.h"
#include "engine/report/refusal.h"
#include "kernels/thread_pool.h"

namespace rulerun {
namespace {

NodeOutcome AsOutcome(const ModelRefusal& refusal) {
  return {Fate::kOther, "", refusal.by, refusal.place, refusal.message};
}

struct Run {
  Target target;
  std::vector<NodeOutcome> outcomes;  // by node
  Status failed;
};

// One outcome for each node of the original, all the same where the model is refused.
void FindOutcomesOf(const Model& model, const RuleSet& rules, const KernelRegistry& kernels, Run& run) {
  Model copy = CloneModel(model);
  MarkOrigins(*copy.graph);
  const std::vector<OriginalNode> original = ListNodes(*copy.graph, rules);
  Trace trace;
  const Status status = RunPipeline(copy, rules, run.target, kernels, &trace);
  if (!status.ok() && status.error().kind() == ErrorKind::kRefused) {
    run.outcomes.assign(original.size(), AsOutcome(RefusalOf(status.error(), trace)));
    return;
  }
  if (!status.ok()) {
    run.failed = status;
    return;
  }
  for (const NodeFate& fate : FindFates(original, *copy.graph, trace, rules, run.target).nodes) {
    run.outcomes.push_back({fate.fate, fate.into, fate.rule, fate.place, ""});
  }
}

// One outcome, of the model.
void FindLoad(const Model& model, const RuleSet& rules, const KernelRegistry& kernels, Run& run) {
  Model copy = CloneModel(model);
  Trace trace;
  const Status status = RunPipeline(copy, rules, run.target, kernels, &trace);
  const bool refused = !status.ok() && status.error().kind() == ErrorKind::kRefused;
  if (!status.ok() && !refused) run.failed = status;
  run.outcomes = {refused ? AsOutcome(RefusalOf(status.error(), trace)) : NodeOutcome()};
}

std::vector<LevelRun> LevelRuns(const std::vector<Run>& runs, size_t first, size_t node) {
  std::vector<LevelRun> levels;
  for (size_t i = first; i < first + kLevels.size(); ++i) {
    const NodeOutcome& outcome = runs[i].outcomes[node];
    if (levels.empty() || !(levels.back().outcome == outcome)) levels.push_back({{}, outcome});
    levels.back().levels.push_back(runs[i].target.level);
  }
  return levels;
}

using FindOne = void (*)(const Model&, const RuleSet&, const KernelRegistry&, Run&);

Result<Outcomes> ForAll(const Model& model, const RuleSet& rules, const Target& target, const KernelRegistry& kernels,
                        int threads, FindOne find) {
  std::vector<Run> runs;
  for (const auto& [name, platform] : rules.platforms) {
    for (const Level level : kLevels) {
      RULERUN_ASSIGN(Target one, TargetAt(rules, target, name, level));
      runs.push_back({std::move(one), {}, {}});
    }
  }
  ThreadPool pool(threads);
  pool.ParallelFor(static_cast<int64_t>(runs.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) find(model, rules, kernels, runs[static_cast<size_t>(i)]);
  });
  for (const Run& run : runs) RULERUN_RETURN_IF_ERROR(run.failed);
  Outcomes outcomes(runs.empty() ? 0 : runs.front().outcomes.size());
  for (size_t node = 0; node < outcomes.size(); ++node) {
    for (size_t first = 0; first < runs.size(); first += kLevels.size()) {
      std::vector<LevelRun> levels = LevelRuns(runs, first, node);
      auto& platforms = outcomes[node];
      auto same = std::find_if(platforms.begin(), platforms.end(),
                               [&](const PlatformRuns& known) { return known.levels == levels; });
      if (same == platforms.end()) same = platforms.insert(platforms.end(), PlatformRuns{{}, std::move(levels)});
      same->platforms.push_back(runs[first].target.platform->name);
    }
  }
  return outcomes;
}

}  // namespace

Result<Target> TargetAt(const RuleSet& rules, const Target& asked, const std::string& platform, Level level) {
  RULERUN_ASSIGN(Target target, MakeTarget(rules, platform, level, asked.provider));
  RULERUN_ASSIGN(const Target usual, MakeTarget(rules, asked.platform->name, asked.level, asked.provider));
  for (const auto& [name, value] : asked.options) {
    const auto by_default = usual.options.find(name);
    if (by_default == usual.options.end() || by_default->second != value) target.options[name] = value;
  }
  target.disabled = asked.disabled;
  target.assumed = asked.assumed;
  return target;
}

Result<Outcomes> FindOutcomes(const Model& model, const RuleSet& rules, const Target& target,
                              const KernelRegistry& kernels, int threads) {
  return ForAll(model, rules, target, kernels, threads, FindOutcomesOf);
}

Result<std::vector<PlatformRuns>> FindLoads(const Model& model, const RuleSet& rules, const Target& target,
                                            const KernelRegistry& kernels, int threads) {
  RULERUN_ASSIGN(Outcomes loads, ForAll(model, rules, target, kernels, threads, FindLoad));
  return loads.empty() ? std::vector<PlatformRuns>{} : std::move(loads.front());
}

}  // namespace rulerun
