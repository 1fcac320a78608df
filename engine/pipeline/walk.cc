#include "engine/pipeline/walk.h"

#include <map>
#include <optional>

#include "engine/base/codes.h"
#include "engine/graph/checkpoint.h"
#include "engine/graph/node_name.h"
#include "engine/match/conditions.h"
#include "engine/match/match.h"
#include "engine/rewrite/rewrite.h"
#include "engine/ruleset/predicates.h"

namespace rulerun {
namespace {

class Walker {
 public:
  Walker(const Walk& walk, Graph& graph) : walk_(walk), graph_(graph), scope_(walk.scope) {
    scope_.graph = &graph;
    scope_.first_new = graph.node_limit();
  }

  Result<bool> Run() {
    const size_t told = walk_.trace == nullptr ? 0 : walk_.trace->size();
    while (true) {
      RULERUN_RETURN_IF_ERROR(WalkOnce());
      if (!spoilt_) return changed_;
      // Walks are the same every time, so this one gets to where it went wrong, and goes on from there.
      before_->Restore();
      if (walk_.trace != nullptr) walk_.trace->resize(told);
      spoilt_ = false;
      changed_ = false;
    }
  }

 private:
  Status WalkOnce() {
    for (const NodeIndex index : TopologicalOrder(graph_)) {
      if (graph_.node(index) == nullptr) continue;
      if (walk_.recurse == Stage::Recurse::kBefore) RULERUN_RETURN_IF_ERROR(Recurse(index));
      RULERUN_RETURN_IF_ERROR(Visit(index));
      if (spoilt_) return {};
      if (walk_.recurse == Stage::Recurse::kAfter && graph_.node(index) != nullptr) {
        RULERUN_RETURN_IF_ERROR(Recurse(index));
      }
    }
    return {};
  }

  Status Recurse(NodeIndex index) {
    for (Graph* subgraph : graph_.Subgraphs(*graph_.node(index))) {
      KeepForUndoing();
      auto changed = WalkGraph(walk_, *subgraph);
      if (!changed.ok()) return changed.error();
      if (*changed) graph_.RefreshImplicit(index);
      changed_ = changed_ || *changed;
    }
    return {};
  }

  Status Visit(NodeIndex index) {
    if (walk_.left_out != nullptr && walk_.left_out->count({&graph_, index}) > 0) return {};
    for (const Rule* rule : walk_.rules) {
      if (graph_.node(index) == nullptr) return {};
      if (walk_.changes != nullptr && walk_.changes->exhausted()) return {};
      if (scope_.target->disabled.count(rule->name) > 0) continue;
      auto fired = Try(*rule, index);
      if (!fired.ok()) return fired.error();
      if (spoilt_ || (*fired && !walk_.visit_all)) return {};
    }
    return {};
  }

  Result<bool> Try(const Rule& rule, NodeIndex index) {
    MatchResult match = MatchRule(scope_, rule, index);
    switch (match.kind) {
      case MatchResult::Kind::kNoMatch:
        return false;
      case MatchResult::Kind::kRefused:
        if (walk_.trace != nullptr) Record(rule, index, TraceEntry::Verdict::kRefused).refusal = match.refusal;
        return false;
      case MatchResult::Kind::kError:
        if (RefusesInvalid()) return RefuseInvalid(rule, index, match.refusal.message);
        if (walk_.trace != nullptr) {
          TraceEntry& entry = Record(rule, index, TraceEntry::Verdict::kError);
          entry.refusal = match.refusal;
          entry.faults = FaultsOf(rule, *match.binding);
        }
        return Refused(rule, NameOf(*graph_.node(index)), match.refusal.message);
      case MatchResult::Kind::kMatched:
        break;
    }
    return Fire(rule, index, *match.binding);
  }

  Result<bool> Fire(const Rule& rule, NodeIndex index, Binding& binding) {
    const auto invalid = invalid_.find({&rule, index});
    if (invalid != invalid_.end()) return RefuseInvalid(rule, index, invalid->second);
    const std::string node = NameOf(*graph_.node(index));
    TraceEntry entry;
    if (walk_.trace != nullptr) {
      entry = Entry(rule, index, TraceEntry::Verdict::kFired);
      entry.faults = FaultsOf(rule, binding);
    }
    KeepForUndoing();
    auto change = Apply(binding);
    if (!change.ok() && RefusesInvalid()) {
      invalid_.emplace(std::pair(&rule, index), change.error().message);
      spoilt_ = true;
      return false;
    }
    if (!change.ok()) {
      if (walk_.trace != nullptr) {
        entry.verdict = TraceEntry::Verdict::kError;
        entry.refusal = {std::string(kInvalidReplacement), change.error().message, rule.where, {}, "", ""};
        walk_.trace->push_back(std::move(entry));
      }
      return Refused(rule, node, change.error().message);
    }
    changed_ = true;
    if (walk_.changes != nullptr) entry.change = ++walk_.changes->done;
    if (walk_.trace == nullptr) return true;
    entry.sources = change->sources;
    entry.removed = change->removed;
    entry.made_from = std::move(change->made_from);
    for (const auto* made : {&change->created, &change->edited}) {
      for (const NodeIndex created : *made) {
        if (graph_.node(created) == nullptr) continue;
        entry.created.push_back(graph_.node(created)->name);
        entry.created_ops.push_back(graph_.node(created)->Op());
      }
    }
    walk_.trace->push_back(std::move(entry));
    return true;
  }

  // --- `invalid-replacement: refuse`: what ONNX Runtime would build and then fail on is left as it is

  bool RefusesInvalid() const { return scope_.rules->refuse_invalid_replacement; }

  void KeepForUndoing() {
    if (RefusesInvalid() && !before_) before_.emplace(graph_);
  }

  bool RefuseInvalid(const Rule& rule, NodeIndex index, const std::string& why) const {
    if (walk_.trace != nullptr) {
      Record(rule, index, TraceEntry::Verdict::kRefused).refusal = {
          std::string(kInvalidReplacement), why, rule.where, {}, "", ""};
    }
    return false;
  }

  static std::vector<Fault> FaultsOf(const Rule& rule, const Binding& binding) {
    std::vector<Fault> faults;
    for (const Fault& fault : rule.faults) {
      Binding attempt = binding;
      if (Evaluate(attempt, fault.when) == Truth::kTrue) faults.push_back(fault);
    }
    return faults;
  }

  TraceEntry Entry(const Rule& rule, NodeIndex index, TraceEntry::Verdict verdict) const {
    const Node& node = *graph_.node(index);
    TraceEntry entry;
    entry.verdict = verdict;
    entry.stage = scope_.file->path;
    entry.rule = rule.name;
    entry.group = rule.group;
    entry.round = walk_.round;
    entry.node = node.name;
    entry.op = node.Op();
    entry.sources = node.origins;
    entry.where = rule.where;
    return entry;
  }

  TraceEntry& Record(const Rule& rule, NodeIndex index, TraceEntry::Verdict verdict) const {
    walk_.trace->push_back(Entry(rule, index, verdict));
    return walk_.trace->back();
  }

  static Error Refused(const Rule& rule, const std::string& node, const std::string& message) {
    return Error{Code::kRuleRefuses, message, "node '" + node + "', rule '" + rule.name + "'",
                 "ONNX Runtime refuses this model too; the rule stands at " + rule.where.ToString()};
  }

  const Walk& walk_;
  Graph& graph_;
  MatchScope scope_;
  bool changed_ = false;
  std::optional<Checkpoint> before_;                                  // the first change of this walk
  std::map<std::pair<const Rule*, NodeIndex>, std::string> invalid_;  // rewrites that went wrong, and why
  bool spoilt_ = false;                                               // by the last of them
};

}  // namespace

Result<bool> WalkGraph(const Walk& walk, Graph& graph) { return Walker(walk, graph).Run(); }

}  // namespace rulerun
