#include "engine/passes/passes.h"
#include "engine/passes/table.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

class Duplicator {
 public:
  Duplicator(OpNames ops, std::string value_name, std::string node_name)
      : ops_(std::move(ops)), value_name_(std::move(value_name)), node_name_(std::move(node_name)) {}

  void Run(Graph& graph) {
    for (const NodeIndex index : TopologicalOrder(graph)) {
      const Node& node = *graph.node(index);
      for (Graph* subgraph : graph.Subgraphs(node)) Run(*subgraph);
      if (ops_.contains(node.Op())) Separate(graph, node);
    }
  }

  PassResult TakeResult() { return std::move(result_); }

 private:
  // Units are made of nodes of one graph: a DQ that subgraphs or the caller read as well must stay out of every unit.
  void Separate(Graph& graph, const Node& node) {
    if (node.output(0) == kNoValue) return;
    const std::vector<Use> uses = graph.value(node.output(0)).uses;
    const bool is_output = graph.ProducesGraphOutput(node);
    if (uses.empty() || (uses.size() == 1 && !is_output)) return;
    std::vector<Use> own;
    for (const Use& use : uses) {
      if (static_cast<size_t>(use.slot) < graph.node(use.node)->inputs.size()) own.push_back(use);
    }
    const bool keep = is_output || own.size() < uses.size();
    for (size_t i = keep ? 0 : 1; i < own.size(); ++i) Duplicate(graph, node, own[i]);
  }

  void Duplicate(Graph& graph, const Node& node, const Use& use) {
    const std::string of = graph.value(node.output(0)).name;
    const ValueType type = graph.value(node.output(0)).type;
    const ValueId output = graph.AddValue(graph.UniqueValueName(Fill(value_name_, {{"value", of}})), type);
    Node copy = node;
    copy.name = graph.UniqueNodeName(Fill(node_name_, {{"node", node.name}}));
    copy.doc = "A copy, so that every reader has its own";
    copy.outputs = {output};
    PassEvent event;
    event.what = "duplicated '" + NameOf(node) + "', which has several readers";
    event.sources = node.origins;
    event.created = {copy.name};
    event.made_from = {{graph.value(output).name, of}};
    graph.AddNode(std::move(copy));
    graph.SetInput(use.node, use.slot, output);
    result_.modified = true;
    result_.events.push_back(std::move(event));
  }

  const OpNames ops_;
  const std::string value_name_;
  const std::string node_name_;
  PassResult result_;
};

}  // namespace

Result<PassResult> UniqueDq(const PassScope& scope) {
  RULERUN_ASSIGN(const Table table, Table::Read(scope, "unique-dq"));
  RULERUN_ASSIGN(OpNames ops, table.Ops("ops"));
  RULERUN_ASSIGN(const Table names, table.Sub("names"));
  RULERUN_ASSIGN(std::string value_name, names.Text("value"));
  RULERUN_ASSIGN(std::string node_name, names.Text("node"));
  Duplicator duplicator(std::move(ops), std::move(value_name), std::move(node_name));
  duplicator.Run(*scope.graph);
  RefreshOuterReads(*scope.graph);
  return duplicator.TakeResult();
}

}  // namespace rulerun
