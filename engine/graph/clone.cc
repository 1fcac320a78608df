#include "engine/graph/checkpoint.h"
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

void GraphCopier::CopyContents(const Graph& from, Graph& to) {
  to.name_ = from.name_;
  to.doc_ = from.doc_;
  to.opsets_ = from.opsets_;
  to.ir_version_ = from.ir_version_;
  to.parent_node_ = from.parent_node_;
  to.values_ = from.values_;
  to.by_name_ = from.by_name_;
  to.nodes_.clear();
  to.nodes_.reserve(from.nodes_.size());
  for (const auto& node : from.nodes_) {
    to.nodes_.push_back(node == nullptr ? nullptr : std::make_unique<Node>(*node));
    if (node != nullptr) CopySubgraphs(*to.nodes_.back(), &to);
  }
  to.live_nodes_ = from.live_nodes_;
  to.inputs_ = from.inputs_;
  to.outputs_ = from.outputs_;
  to.name_counter_ = from.name_counter_;
  to.node_names_ = from.node_names_;
  to.given_value_names_ = from.given_value_names_;
  to.given_node_names_ = from.given_node_names_;
  to.modified_ = from.modified_;
}

std::unique_ptr<Graph> GraphCopier::Copy(const Graph& graph, Graph* parent) {
  auto copy = std::make_unique<Graph>(graph.opsets_, graph.ir_version_, parent);
  CopyContents(graph, *copy);
  return copy;
}

Checkpoint::Checkpoint(Graph& graph) : graph_(graph), saved_(GraphCopier::Copy(graph, graph.parent())) {}
Checkpoint::~Checkpoint() = default;

void Checkpoint::Restore() { GraphCopier::CopyContents(*saved_, graph_); }

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
