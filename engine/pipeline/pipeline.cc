#include "engine/pipeline/pipeline.h"

#include <algorithm>
#include <set>

#include "engine/base/codes.h"
#include "engine/graph/node_name.h"
#include "engine/graph/resolve.h"
#include "engine/passes/pass.h"
#include "engine/pipeline/walk.h"

namespace rulerun {
namespace {

// What a stage hands down to the stages in it.
struct Inherited {
  std::vector<std::string> providers;
  bool first_round = true;
};

class Runner {
 public:
  Runner(Model& model, const RuleSet& rules, const Target& target, const KernelRegistry& kernels, Trace* trace,
         int64_t most_changes)
      : model_(model), rules_(rules), target_(target), kernels_(kernels), trace_(trace) {
    changes_.most = most_changes;
  }

  Status Run() {
    for (const Stage& stage : rules_.pipeline) {
      auto changed = RunStage(stage, {});
      if (!changed.ok()) return InModel(changed.error());
    }
    return {};
  }

 private:
  Error InModel(Error error) const {
    error.place = model_.path + (error.place.empty() ? "" : ": " + error.place);
    return error;
  }

  // The value of every Run* function: whether the graph changed.
  Result<bool> RunStage(const Stage& stage, const Inherited& inherited) {
    if (stage.level > target_.level) return false;
    if (stage.once && !inherited.first_round) return false;
    if (!Open(stage.gate_if, stage.gate_unless, target_, *model_.graph)) return false;
    Inherited own = inherited;
    if (!stage.providers.empty()) own.providers = stage.providers;
    switch (stage.kind) {
      case Stage::Kind::kGroup:
        return RunGroup(stage, own);
      case Stage::Kind::kPass:
        return RunPass(stage, own);
      case Stage::Kind::kRules:
        break;
    }
    return RunRules(stage, own);
  }

  Result<bool> RunGroup(const Stage& group, Inherited inherited) {
    bool any = false;
    for (int round = 0; round < group.loop; ++round) {
      std::set<std::string> changed_passes;
      bool changed = false;
      if (group.loop > 1) inherited.first_round = round == 0;
      for (const Stage& stage : group.stages) {
        auto result = RunStage(stage, inherited);
        if (!result.ok()) return result;
        if (*result && stage.kind == Stage::Kind::kPass) changed_passes.insert(stage.pass);
        changed = changed || *result;
      }
      any = any || changed;
      if (!GoesOn(group, changed, changed_passes)) break;
    }
    return any;
  }

  // Another round: after any change, or, where the rule set says so, only after a change by certain passes.
  bool GoesOn(const Stage& group, bool changed, const std::set<std::string>& changed_passes) const {
    if (!changed) return false;
    if (group.loop_by.empty()) return true;
    const auto found = group.again_if.find(target_.Lookup(group.loop_by).value_or(0));
    if (found == group.again_if.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(),
                       [&](const std::string& pass) { return pass == "any" || changed_passes.count(pass) > 0; });
  }

  Result<bool> RunPass(const Stage& stage, const Inherited& inherited) {
    if (target_.disabled.count(stage.pass) > 0 || changes_.exhausted()) return false;
    const Pass pass = FindPass(stage.pass);
    if (pass == nullptr) {
      return Error{Code::kNoSuchPass, "there is no pass '" + stage.pass + "'", stage.where.ToString(), ""};
    }
    PassScope scope;
    scope.graph = model_.graph.get();
    scope.rules = &rules_;
    scope.target = &target_;
    scope.kernels = &kernels_;
    scope.providers = inherited.providers;
    const auto table = rules_.tables.find(stage.table);
    scope.table = table == rules_.tables.end() ? nullptr : &table->second;
    const int round = rounds_[stage.pass]++;
    RULERUN_ASSIGN(PassResult result, pass(scope));
    if (result.modified) ++changes_.done;
    Record(stage, round, result);
    if (result.refused) return InPass(stage, std::move(*result.refused));
    changed_nodes_[stage.pass] = std::move(result.changed);
    if (result.modified) RULERUN_RETURN_IF_ERROR(Resolve(*model_.graph, rules_.schemas));
    return result.modified;
  }

  static Error InPass(const Stage& stage, Error error) {
    error.place += (error.place.empty() ? "pass '" : ", pass '") + stage.pass + "'";
    return error;
  }

  void Record(const Stage& stage, int round, const PassResult& result) {
    if (trace_ == nullptr) return;
    for (const PassEvent& event : result.events) {
      TraceEntry entry;
      entry.verdict = event.changed ? TraceEntry::Verdict::kFired : TraceEntry::Verdict::kRefused;
      entry.stage = stage.pass;
      entry.round = round;
      if (event.changed) entry.change = changes_.done;
      entry.node = event.removed.empty() ? (event.created.empty() ? "" : event.created.front()) : event.removed.front();
      entry.sources = event.sources;
      entry.removed = event.removed;
      entry.created = event.created;
      entry.made_from = event.made_from;
      entry.what = event.what;
      entry.faults = event.faults;
      entry.where = stage.where;
      trace_->push_back(std::move(entry));
    }
    if (!result.refused || result.events.empty()) return;
    trace_->back().verdict = TraceEntry::Verdict::kError;
    trace_->back().refusal.message = result.refused->message;
  }

  Result<bool> RunRules(const Stage& stage, const Inherited& inherited) {
    const RuleFile& file = rules_.files.at(stage.file);
    std::vector<std::vector<const Rule*>> walks = Walks(stage, file);
    bool any = false;
    for (const std::vector<const Rule*>& rules : walks) {
      Walk walk;
      walk.scope.rules = &rules_;
      walk.scope.file = &file;
      walk.scope.target = &target_;
      walk.scope.kernels = &kernels_;
      walk.scope.providers = inherited.providers;
      walk.rules = rules;
      walk.visit_all = file.visit_all || stage.walk_together;
      if (!stage.not_after.empty()) walk.left_out = &changed_nodes_[stage.not_after];
      walk.recurse = stage.recurse;
      walk.round = rounds_[file.path]++;
      walk.trace = trace_;
      walk.changes = &changes_;
      RULERUN_ASSIGN(const bool changed, WalkGraph(walk, *model_.graph));
      if (changed) RULERUN_RETURN_IF_ERROR(Resolve(*model_.graph, rules_.schemas));
      any = any || changed;
    }
    return any;
  }

  // A file is one walk of all its rules; rules picked with `only` walk one after the other unless `walk: together`.
  static std::vector<std::vector<const Rule*>> Walks(const Stage& stage, const RuleFile& file) {
    std::vector<std::vector<const Rule*>> walks;
    if (stage.only.empty()) {
      walks.emplace_back();
      for (const auto& rule : file.rules) walks.back().push_back(rule.get());
      return walks;
    }
    if (stage.walk_together) walks.emplace_back();
    for (const std::string& name : stage.only) {
      for (const auto& rule : file.rules) {
        if (rule->name != name) continue;
        if (!stage.walk_together) walks.emplace_back();
        walks.back().push_back(rule.get());
      }
    }
    return walks;
  }

  Model& model_;
  const RuleSet& rules_;
  const Target& target_;
  const KernelRegistry& kernels_;
  Trace* trace_;
  ChangeCount changes_;
  std::map<std::string, int> rounds_;
  std::map<std::string, std::set<NodePlace>> changed_nodes_;  // by pass, of its last run
};

}  // namespace

void MarkOrigins(Graph& graph) {
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    Node* node = graph.node(index);
    if (node == nullptr) continue;
    if (node->origins.empty()) node->origins = {NameOf(*node)};
    for (Graph* subgraph : graph.Subgraphs(*node)) MarkOrigins(*subgraph);
  }
}

Status RunPipeline(Model& model, const RuleSet& rules, const Target& target, const KernelRegistry& kernels,
                   Trace* trace, int64_t most_changes) {
  MarkOrigins(*model.graph);
  return Runner(model, rules, target, kernels, trace, most_changes).Run();
}

}  // namespace rulerun
