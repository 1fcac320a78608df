// One walk of rules over a graph.
#ifndef RULERUN_ENGINE_PIPELINE_WALK_H_
#define RULERUN_ENGINE_PIPELINE_WALK_H_

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "engine/base/result.h"
#include "engine/match/binding.h"
#include "engine/passes/pass.h"
#include "engine/pipeline/trace.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {

// Changes of the graph: applications of rules, and visits of passes that changed something.
struct ChangeCount {
  int64_t done = 0;
  int64_t most = INT64_MAX;  // nothing changes the graph any more when so many are done

  bool exhausted() const { return done >= most; }
};

struct Walk {
  MatchScope scope;
  std::vector<const Rule*> rules;                 // tried in this order at every node
  bool visit_all = false;                         // go on after a rule fired, until the node is gone
  const std::set<NodePlace>* left_out = nullptr;  // nodes that are not visited
  Stage::Recurse recurse = Stage::Recurse::kBefore;
  int round = 0;
  Trace* trace = nullptr;
  ChangeCount* changes = nullptr;
};

// Tries the rules at the nodes of `graph` in topological order, taken once; in subgraphs as the walk says. The value
// is whether anything changed.
Result<bool> WalkGraph(const Walk& walk, Graph& graph);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PIPELINE_WALK_H_
