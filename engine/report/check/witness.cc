#include "engine/report/check/witness.h"

#include <algorithm>
#include <map>

#include "engine/base/text.h"
#include "engine/graph/load.h"
#include "engine/pipeline/pipeline.h"
#include "engine/pipeline/walk.h"
#include "engine/report/check/generate.h"
#include "engine/report/test_target.h"

namespace rulerun {
namespace {

constexpr size_t kMostAlternatives = 4;
constexpr size_t kMostOperators = 12;

// Tries every way to choose and keeps the first graph of each operator, alternative and case that the rule fires on.
class Searcher {
 public:
  Searcher(const RuleSet& rules, const RuleFile& file, const Rule& rule, const WitnessRunner& runner)
      : rules_(rules), file_(file), rule_(rule), runner_(runner) {
    for (const Statement& line : rule.match) {
      alternatives_ = std::max(alternatives_, line.alternatives.size());
      for (const Alternative& alternative : line.alternatives) {
        if (alternative.call) operators_ = std::max(operators_, alternative.call->ops.size());
      }
    }
    alternatives_ = std::min(alternatives_, kMostAlternatives);
    operators_ = std::min(operators_, kMostOperators);
  }

  std::vector<Witness> Search() {
    for (Choice choice; choice.alternative < alternatives_; ++choice.alternative) {
      for (choice.op = 0; choice.op < operators_; ++choice.op) TryCases(choice);
    }
    return std::move(found_);
  }

 private:
  void TryCases(Choice choice) {
    if (rule_.cases.empty()) TryShapes(choice);
    for (const Case& one : rule_.cases) {
      choice.taken = &one;
      TryShapes(choice);
    }
  }

  // With and without the operands that may be left out: the smallest graph, and the one that says most.
  void TryShapes(Choice choice) {
    for (const bool optionals : {false, true}) {
      choice.optionals = optionals;
      TryTypes(choice);
    }
  }

  void TryTypes(Choice choice) {
    for (const DataType preferred : {DataType::kFloat, DataType::kUint8, DataType::kInt64, DataType::kFloat16}) {
      choice.preferred = preferred;
      for (const int rank : {2, 4, 3, 1, 0, 5}) {
        choice.rank = rank;
        if (Try(choice)) return;
      }
    }
  }

  bool Try(const Choice& choice) {
    auto graph = GenerateGraph(rules_, file_, rule_, choice);
    if (!graph) return false;
    const auto [tried, fresh] = tried_.emplace(*graph, false);
    if (!fresh) return tried->second;
    Witness witness;
    witness.graph = std::move(*graph);
    if (!rule_.providers.empty()) witness.facts.emplace_back("ep", rule_.providers.front());
    if (runner_.FiresAt(witness, file_, rule_).empty()) return false;
    found_.push_back(std::move(witness));
    tried->second = true;
    return true;
  }

  const RuleSet& rules_;
  const RuleFile& file_;
  const Rule& rule_;
  const WitnessRunner& runner_;
  size_t alternatives_ = 1;
  size_t operators_ = 1;
  std::map<std::string, bool> tried_;  // graph -> the rule fires on it
  std::vector<Witness> found_;
};

}  // namespace

std::string WitnessText(const Witness& witness) {
  std::string opset;
  std::string others;
  for (const auto& [name, value] : witness.facts) {
    if (name == "opset") {
      opset = value;
    } else {
      if (!others.empty()) others += ", ";
      others.append(name).append(": ").append(value);
    }
  }
  std::string text = witness.graph;
  const bool whole = StartsWith(text, "<");
  if (!opset.empty() && !whole) text = "<ir_version: 10, opset_import: [\"\" : " + opset + "]>\n" + text;
  return others.empty() ? text : "# given " + others + "\n" + text;
}

Result<WitnessRun> WitnessRunner::Run(const Witness& witness, const RuleFile& file,
                                      const std::vector<const Rule*>& walk, bool visit_all) const {
  RULERUN_ASSIGN(TestTarget given, ReadTestTarget(rules_, witness.facts));
  given.Use();
  WitnessRun run;
  RULERUN_ASSIGN(run.model, ParseModelText(witness.graph, given.opsets, rules_.schemas));
  Graph& graph = *run.model.graph;
  Claim(graph, given.provider);
  MarkOrigins(graph);
  Walk rules = WalkFor(given, graph, rules_, file, kernels_, run.trace);
  rules.rules = walk;
  rules.visit_all = visit_all;
  RULERUN_ASSIGN([[maybe_unused]] const bool changed, WalkGraph(rules, graph));
  return run;
}

std::vector<std::string> WitnessRunner::FiresAt(const Witness& witness, const RuleFile& file, const Rule& rule) const {
  std::vector<std::string> anchors;
  const auto run = Run(witness, file, {&rule}, false);
  if (!run.ok()) return anchors;
  for (const TraceEntry& entry : run->trace) {
    // Where the model gives no names, nodes are told apart by their origins.
    if (entry.verdict == TraceEntry::Verdict::kFired) {
      anchors.push_back(entry.sources.empty() ? entry.node : entry.sources.front());
    }
  }
  return anchors;
}

std::vector<Witness> FindWitnesses(const RuleSet& rules, const RuleFile& file, const Rule& rule,
                                   const WitnessRunner& runner) {
  std::vector<Witness> witnesses = Searcher(rules, file, rule, runner).Search();
  for (const RuleTest& test : rule.tests) {
    if (test.kind != RuleTest::Kind::kBecomes) continue;
    Witness witness{test.graph, test.facts, false};
    if (!runner.FiresAt(witness, file, rule).empty()) witnesses.push_back(std::move(witness));
  }
  std::stable_sort(witnesses.begin(), witnesses.end(), [](const Witness& a, const Witness& b) {
    return a.generated != b.generated ? a.generated : a.graph.size() < b.graph.size();
  });
  return witnesses;
}

}  // namespace rulerun
