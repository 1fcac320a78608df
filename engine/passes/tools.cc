#include "engine/passes/tools.h"

#include <algorithm>
#include <deque>

#include "engine/graph/type_name.h"

namespace rulerun {

bool Serves(const PassScope& scope, const std::string& provider) {
  const auto& served = scope.providers;
  return served.empty() || std::find(served.begin(), served.end(), provider) != served.end() ||
         std::find(served.begin(), served.end(), "any") != served.end();
}

bool Lone(const Graph& graph, const Node& node, int edges) {
  if (graph.ProducesGraphOutput(node) || graph.OutputEdgeCount(node) != edges) return false;
  return std::none_of(node.outputs.begin(), node.outputs.end(),
                      [&](ValueId id) { return id != kNoValue && graph.UsedBySubgraph(id); });
}

bool IsScalar(const Graph& graph, ValueId id) {
  if (id == kNoValue) return false;
  const auto& shape = graph.TypeOf(id).shape;
  return shape && (shape->empty() || (shape->size() == 1 && shape->front().size == 1));
}

void AddOrigins(const std::vector<std::string>& more, std::vector<std::string>& origins) {
  for (const std::string& origin : more) {
    if (std::find(origins.begin(), origins.end(), origin) == origins.end()) origins.push_back(origin);
  }
}

void RefreshOuterReads(Graph& graph) {
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    if (graph.node(index) == nullptr) continue;
    const std::vector<Graph*> subgraphs = graph.Subgraphs(*graph.node(index));
    for (Graph* subgraph : subgraphs) RefreshOuterReads(*subgraph);
    if (!subgraphs.empty()) graph.RefreshImplicit(index);
  }
}

std::string Described(const Graph& graph, const Node& node) {
  std::string types;
  for (const ValueId input : node.inputs) {
    if (input != kNoValue) types += (types.empty() ? "" : ", ") + TypeName(graph.TypeOf(input));
  }
  return node.Op() + "(" + types + ")";
}

void PruneUp(Graph& graph, NodeIndex start, std::vector<std::string>& removed) {
  std::deque<NodeIndex> open{start};
  while (!open.empty()) {
    const NodeIndex index = open.front();
    open.pop_front();
    const Node* node = graph.node(index);
    if (node == nullptr || graph.OutputEdgeCount(*node) > 1 || graph.ProducesGraphOutput(*node)) continue;
    for (const ValueId input : node->inputs) {
      if (input == kNoValue || graph.value(input).graph_input) continue;
      if (const Node* parent = graph.Producer(input)) open.push_back(parent->index);
    }
    if (index != start && graph.OutputEdgeCount(*node) > 0) continue;
    removed.push_back(NameOf(*node));
    graph.RemoveNode(index);
  }
}

}  // namespace rulerun
