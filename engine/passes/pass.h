// A named pass: an algorithm that no pattern rule can express. It knows no operator; its table in the rule set does.
#ifndef RULERUN_ENGINE_PASSES_PASS_H_
#define RULERUN_ENGINE_PASSES_PASS_H_

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
};

// A node, in whichever graph of the model.
using NodePlace = std::pair<const Graph*, NodeIndex>;

struct PassResult {
  bool modified = false;
  std::vector<PassEvent> events;
  std::set<NodePlace> changed;  // nodes that it did something about, where rules may ask for that (`not-after`)
};

// An Error refuses the model.
using Pass = Result<PassResult> (*)(const PassScope& scope);

// The pass of that name, or nullptr. The one list of passes is in pass.cc.
Pass FindPass(std::string_view name);
const std::vector<std::string>& PassNames();

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_PASS_H_
