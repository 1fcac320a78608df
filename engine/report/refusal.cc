#include "engine/report/refusal.h"

#include <algorithm>

#include "engine/graph/load.h"
#include "engine/pipeline/pipeline.h"
#include "engine/report/inspect.h"

namespace rulerun {
namespace {

std::string OperatorOf(const Model& model, const RuleSet& rules, const std::string& name) {
  const Model copy = CloneModel(model);
  MarkOrigins(*copy.graph);
  for (const OriginalNode& node : ListNodes(*copy.graph, rules)) {
    if (node.name == name) return node.op;
  }
  return "";
}

// The platform that was asked for, then the others.
std::vector<std::string> Platforms(const RuleSet& rules, const Target& target) {
  std::vector<std::string> names = {target.platform->name};
  for (const auto& [name, platform] : rules.platforms) {
    if (name != names.front()) names.push_back(name);
  }
  return names;
}

}  // namespace

ModelRefusal RefusalOf(const Error& error, const Trace& trace) {
  ModelRefusal refusal;
  refusal.message = error.message;
  if (trace.empty() || trace.back().verdict != TraceEntry::Verdict::kError) return refusal;
  const TraceEntry& last = trace.back();
  refusal.by_pass = last.rule.empty();
  refusal.by = refusal.by_pass ? last.stage : last.rule;
  refusal.place = last.where.ToString();
  refusal.node = last.sources.empty() ? last.node : last.sources.front();
  refusal.faults = FaultsOf(last);
  std::erase_if(refusal.faults, IsByDesign);
  return refusal;
}

Result<RefusedModel> AskWhereItLoads(const Model& model, const Error& error, const Trace& trace, const RuleSet& rules,
                                     const Target& target, const KernelRegistry& kernels, const MacTable* macs,
                                     int threads) {
  RefusedModel refused;
  refused.refusal = RefusalOf(error, trace);
  refused.level = Name(target.level);
  refused.platform = target.platform->name;
  refused.refusal.op = OperatorOf(model, rules, refused.refusal.node);
  for (FaultHit& hit : refused.refusal.faults) {
    if (hit.op.empty()) hit.op = refused.refusal.op;
  }
  RULERUN_ASSIGN(refused.loads, FindLoads(model, rules, target, kernels, threads));
  for (const std::string& platform : Platforms(rules, target)) {
    for (auto level = kLevels.rbegin(); level != kLevels.rend(); ++level) {
      if (*level > target.level) continue;
      RULERUN_ASSIGN(const Target lower, TargetAt(rules, target, platform, *level));
      Model again = CloneModel(model);
      auto coverage = MeasureCoverage(again, rules, lower, kernels, nullptr, macs);
      if (!coverage.ok()) continue;
      refused.coverage = std::move(coverage).value();
      return refused;
    }
  }
  return error;
}

}  // namespace rulerun
