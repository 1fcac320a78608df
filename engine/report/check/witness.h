// Smallest graphs on which a rule fires, made from its own text.
#ifndef RULERUN_ENGINE_REPORT_CHECK_WITNESS_H_
#define RULERUN_ENGINE_REPORT_CHECK_WITNESS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/model.h"
#include "engine/pipeline/trace.h"
#include "engine/ruleset/ruleset.h"
#include "engine/ruleset/target.h"
#include "kernels/kernel.h"

namespace rulerun {

// A graph and what it is rewritten for.
struct Witness {
  std::string graph;                                       // ONNX text
  std::vector<std::pair<std::string, std::string>> facts;  // as a test's `given`
  bool generated = true;                                   // false: from a test that the rule carries
};

// The graph as a file that `rulerun` reads (.onnxtxt): with the opset where it is not the usual one, and a comment that
// says what else it is rewritten for.
std::string WitnessText(const Witness& witness);

// What came of running rules over a witness.
struct WitnessRun {
  Trace trace;
  Model model;  // rewritten
};

class WitnessRunner {
 public:
  WitnessRunner(const RuleSet& rules, const KernelRegistry& kernels) : rules_(rules), kernels_(kernels) {}

  // Walks `walk` over the graph, all nodes on provider "cpu" (or `provider`). An error where the graph does not load,
  // or a rule stops with one.
  Result<WitnessRun> Run(const Witness& witness, const RuleFile& file, const std::vector<const Rule*>& walk,
                         bool visit_all) const;
  // The names of the anchors at which `rule` alone fires.
  std::vector<std::string> FiresAt(const Witness& witness, const RuleFile& file, const Rule& rule) const;

 private:
  const RuleSet& rules_;
  const KernelRegistry& kernels_;
};

// Graphs on which the rule, alone, was seen to fire: generated ones, one for each way to choose among the alternatives
// and cases of its text that works, and the graphs of its tests. Smallest first; empty where nothing was found.
std::vector<Witness> FindWitnesses(const RuleSet& rules, const RuleFile& file, const Rule& rule,
                                   const WitnessRunner& runner);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_CHECK_WITNESS_H_
