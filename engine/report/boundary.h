// What it costs to go from int8 to float and back: the Qs and DQs that a graph holds.
#ifndef RULERUN_ENGINE_REPORT_BOUNDARY_H_
#define RULERUN_ENGINE_REPORT_BOUNDARY_H_

#include <cstdint>

#include "engine/graph/graph.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {

// Qs and DQs at work, those of constants aside.
struct Conversions {
  int count = 0;
  int64_t bytes = 0;  // read and written, of those whose shapes are known
  int unknown = 0;    // whose shapes are not

  void Add(const Conversions& other) {
    count += other.count;
    bytes += other.bytes;
    unknown += other.unknown;
  }
};

struct BoundaryCost {
  Conversions activations;
  Conversions constants;  // a DQ of a weight that some float operator reads
};

// All in the graph and its subgraphs, each once.
BoundaryCost BoundaryOf(const Graph& graph, const RuleSet& rules);

// Those right in front of the node and right behind it, of activations.
Conversions ConversionsAround(const Graph& graph, const Node& node, const RuleSet& rules);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_BOUNDARY_H_
