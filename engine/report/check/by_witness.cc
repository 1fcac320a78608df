// Rules run against each other on graphs made for one of them.
#include <algorithm>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/graph/resolve.h"
#include "engine/match/match.h"
#include "engine/report/check/analyses.h"
#include "engine/report/check/witness.h"
#include "kernels/executor/executor.h"

namespace rulerun {
namespace {

class Finder {
 public:
  Finder(const RuleSet& rules, const KernelRegistry& kernels)
      : rules_(rules), kernels_(kernels), runner_(rules, kernels) {}

  std::vector<Finding> Find() {
    for (const auto& [path, file] : rules_.files) {
      for (const auto& rule : file.rules) {
        witnesses_[rule.get()] = FindWitnesses(rules_, file, *rule, runner_);
        CheckAlone(file, *rule);
      }
    }
    for (const WalkRules& walk : WalksOf(rules_)) {
      for (size_t later = 1; later < walk.rules.size(); ++later) {
        for (size_t earlier = 0; earlier < later; ++earlier) CheckPair(walk, *walk.rules[earlier], *walk.rules[later]);
        CheckShadowed(walk, later);
      }
    }
    return std::move(findings_);
  }

 private:
  Finding Make(Code code, Severity severity, const Rule& rule, std::string message, std::string remedy) const {
    Finding finding;
    finding.code = code;
    finding.severity = severity;
    finding.where = rule.where;
    finding.rule = rule.name;
    finding.message = std::move(message);
    finding.remedy = std::move(remedy);
    return finding;
  }

  // --- one rule

  void CheckAlone(const RuleFile& file, const Rule& rule) {
    // A rule whose cases all end in an error or a refusal changes no graph.
    const auto stops = [](const Rewrite& rewrite) {
      return rewrite.kind == Rewrite::Kind::kError || rewrite.kind == Rewrite::Kind::kRefuse;
    };
    const bool only_stops = stops(rule.rewrite) ||
                            (!rule.cases.empty() && std::all_of(rule.cases.begin(), rule.cases.end(),
                                                                [&](const Case& one) { return stops(one.rewrite); }));
    const std::vector<Witness>& witnesses = witnesses_.at(&rule);
    if (witnesses.empty() && !only_stops) {
      findings_.push_back(Make(Code::kNotShown, Severity::kNote, rule,
                               "no graph was found on which the rule '" + rule.name + "' fires",
                               "give it a test with 'becomes'"));
    }
    std::set<std::string> told;
    for (const Witness& witness : witnesses) CheckKernels(file, rule, witness, told);
  }

  // Whether what the rule built can be run.
  void CheckKernels(const RuleFile& file, const Rule& rule, const Witness& witness, std::set<std::string>& told) {
    auto run = runner_.Run(witness, file, {&rule}, false);
    if (!run.ok()) return;
    Graph& graph = *run->model.graph;
    if (!Resolve(graph, rules_.schemas).ok()) return;
    std::set<std::string> built;
    for (const TraceEntry& entry : run->trace) built.insert(entry.created_ops.begin(), entry.created_ops.end());
    for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
      const Node* node = graph.node(index);
      if (node == nullptr || built.count(node->Op()) == 0) continue;
      const auto missing = MissingKernel(graph, *node);
      if (!missing || !told.insert(*missing).second) continue;
      Finding finding = Make(Code::kReplacementWithoutKernel, Severity::kWarning, rule,
                             "the rule '" + rule.name + "' builds what no kernel runs: " + *missing,
                             "add a kernel, or narrow the rule's types: 'rulerun run' refuses such a model");
      finding.witness = WitnessText(witness);
      findings_.push_back(std::move(finding));
    }
  }

  std::optional<std::string> MissingKernel(const Graph& graph, const Node& node) const {
    KernelRequest request;
    request.domain = node.domain;
    request.op_type = node.op_type;
    request.since_version = node.since_version;
    std::vector<DataType> types;
    for (const ValueId input : node.inputs) {
      types.push_back(input == kNoValue ? DataType::kUndefined : graph.TypeOf(input).element);
    }
    request.input_types = types;
    if (kernels_.Find(request) != nullptr) return std::nullopt;
    return kernels_.Make(request).error().message;
  }

  // --- two rules

  // Verified on a graph that was made for one of them: each alone fires at the same node.
  void CheckPair(const WalkRules& walk, const Rule& earlier, const Rule& later) {
    for (const Rule* owner : {&later, &earlier}) {
      for (const Witness& witness : witnesses_.at(owner)) {
        const std::vector<std::string> first = runner_.FiresAt(witness, *walk.file, earlier);
        if (first.empty()) continue;
        const std::vector<std::string> second = runner_.FiresAt(witness, *walk.file, later);
        const auto common = std::find_first_of(first.begin(), first.end(), second.begin(), second.end());
        if (common == first.end()) continue;
        return ReportOverlap(walk, earlier, later, *common, witness);
      }
    }
  }

  void ReportOverlap(const WalkRules& walk, const Rule& earlier, const Rule& later, const std::string& node,
                     const Witness& witness) {
    const auto names = [](const Rule& a, const Rule& b) {
      return std::find(a.overlaps.begin(), a.overlaps.end(), b.name) != a.overlaps.end();
    };
    if (names(earlier, later) || names(later, earlier)) return;
    Finding finding = Make(Code::kOverlap, Severity::kNote, later,
                           "the rules '" + earlier.name + "', at " + earlier.where.ToString() + ", and '" + later.name +
                               "' both match at node '" + node + "' of the graph below; '" + earlier.name +
                               "' is tried first" + (walk.visit_all ? "" : " and wins"),
                           "if that is meant, write 'overlaps: [" + earlier.name + "]'");
    finding.other = earlier.name;
    finding.other_where = earlier.where;
    finding.witness = WitnessText(witness);
    findings_.push_back(std::move(finding));
  }

  // On every graph that is known for the rule another one, tried before it, fires in its place.
  void CheckShadowed(const WalkRules& walk, size_t index) {
    const Rule& rule = *walk.rules[index];
    const std::vector<Witness>& witnesses = witnesses_.at(&rule);
    if (witnesses.empty()) return;
    const std::vector<const Rule*> until(walk.rules.begin(), walk.rules.begin() + static_cast<ptrdiff_t>(index) + 1);
    std::string winner;
    for (const Witness& witness : witnesses) {
      const auto run = runner_.Run(witness, *walk.file, until, walk.visit_all);
      if (!run.ok()) return;
      winner.clear();
      for (const TraceEntry& entry : run->trace) {
        if (entry.verdict != TraceEntry::Verdict::kFired) continue;
        if (entry.rule == rule.name) return;
        if (winner.empty()) winner = entry.rule;
      }
      if (winner.empty()) return;
    }
    Finding finding = Make(
        Code::kShadowed, Severity::kWarning, rule,
        (witnesses.size() == 1 ? "on the one graph" : "on each of " + std::to_string(witnesses.size()) + " graphs") +
            (" known for the rule '" + rule.name + "', '" + winner + "' fires before it"),
        "put the narrower rule first, or add a test that shows where this one fires");
    finding.other = winner;
    const auto other = std::find_if(until.begin(), until.end(), [&](const Rule* one) { return one->name == winner; });
    if (other != until.end()) finding.other_where = (*other)->where;
    finding.witness = WitnessText(witnesses.front());
    findings_.push_back(std::move(finding));
  }

  const RuleSet& rules_;
  const KernelRegistry& kernels_;
  WitnessRunner runner_;
  std::map<const Rule*, std::vector<Witness>> witnesses_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> FindByWitness(const RuleSet& rules, const KernelRegistry& kernels) {
  return Finder(rules, kernels).Find();
}

}  // namespace rulerun
