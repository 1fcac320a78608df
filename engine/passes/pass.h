// A named pass: an algorithm that no pattern rule can express. It knows no operator; its table in the rule set does.
#ifndef RULERUN_ENGINE_PASSES_PASS_H_
#define RULERUN_ENGINE_PASSES_PASS_H_

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/graph.h"
#include "engine/ruleset/ruleset.h"
#include "engine/ruleset/target.h"
#include "kernels/kernel.h"

namespace rulerun {

// What a pass runs on.
struct PassScope {
  Graph* graph = nullptr;  // the outermost graph; a pass that works in subgraphs goes there by itself
  const RuleSet* rules = nullptr;
  const Target* target = nullptr;
  const KernelRegistry* kernels = nullptr;
  const Yaml* table = nullptr;         // nullptr: the stage names none
  std::vector<std::string> providers;  // of the stage; empty: any
};

// One thing a pass did or declined to do, for the trace.
struct PassEvent {
  std::string what;                  // "duplicated", "folded", "not folded: no kernel for ..."
  bool changed = true;               // false: declined
  std::vector<std::string> sources;  // origins of the nodes it concerns
  std::vector<std::string> removed;  // names of nodes
  std::vector<std::string> created;  // names of nodes or initializers
  std::vector<std::pair<std::string, std::string>> made_from;  // names of new values, and of the ones they stem from
  std::vector<Fault> faults;                                   // known ones that this is
};

// A node, in whichever graph of the model.
using NodePlace = std::pair<const Graph*, NodeIndex>;

struct PassResult {
  bool modified = false;
  std::vector<PassEvent> events;
  std::optional<Error> refused;  // ONNX Runtime refuses the model here; the last event is what it was about to do
  std::set<NodePlace> changed;   // nodes that it did something about, where rules may ask for that (`not-after`)
};

// An Error stops the pipeline; where there is an event to tell of, `refused` does.
using Pass = Result<PassResult> (*)(const PassScope& scope);

// The pass of that name, or nullptr. The one list of passes is in pass.cc.
Pass FindPass(std::string_view name);
const std::vector<std::string>& PassNames();

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_PASS_H_
