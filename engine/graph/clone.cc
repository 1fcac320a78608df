#include "engine/graph/graph_copier.h"
#include "engine/graph/load.h"

namespace rulerun {
namespace {

// Gives `node` its own copies of the subgraphs that it shares with the node it was copied from.
void CopySubgraphs(Node& node, Graph* parent) {
  for (auto& [name, attribute] : node.attributes) {
    if (auto* one = std::get_if<GraphRef>(&attribute)) {
      *one = GraphCopier::Copy(**one, parent);
    } else if (auto* many = std::get_if<std::vector<GraphRef>>(&attribute)) {
      for (GraphRef& ref : *many) ref = GraphCopier::Copy(*ref, parent);
    }
  }
}

}  // namespace

std::unique_ptr<Graph> GraphCopier::Copy(const Graph& graph, Graph* parent) {
  auto copy = std::make_unique<Graph>(graph.opsets_, graph.ir_version_, parent);
  copy->name_ = graph.name_;
  copy->doc_ = graph.doc_;
  copy->parent_node_ = graph.parent_node_;
  copy->values_ = graph.values_;
  copy->by_name_ = graph.by_name_;
  copy->nodes_.reserve(graph.nodes_.size());
  for (const auto& node : graph.nodes_) {
    copy->nodes_.push_back(node == nullptr ? nullptr : std::make_unique<Node>(*node));
    if (node != nullptr) CopySubgraphs(*copy->nodes_.back(), copy.get());
  }
  copy->live_nodes_ = graph.live_nodes_;
  copy->inputs_ = graph.inputs_;
  copy->outputs_ = graph.outputs_;
  copy->name_counter_ = graph.name_counter_;
  copy->node_names_ = graph.node_names_;
  copy->given_value_names_ = graph.given_value_names_;
  copy->given_node_names_ = graph.given_node_names_;
  copy->modified_ = graph.modified_;
  return copy;
}

void GraphCopier::ClearModified(Graph& graph) {
  graph.modified_ = false;
  for (const auto& node : graph.nodes_) {
    if (node == nullptr) continue;
    for (Graph* subgraph : graph.Subgraphs(*node)) ClearModified(*subgraph);
  }
}

Model CloneModel(const Model& model) {
  Model copy;
  copy.path = model.path;
  copy.header = model.header;
  copy.stamp = model.stamp;
  copy.external_data = model.external_data;
  copy.constants_moved = model.constants_moved;
  if (model.graph) copy.graph = GraphCopier::Copy(*model.graph, nullptr);
  return copy;
}

}  // namespace rulerun
