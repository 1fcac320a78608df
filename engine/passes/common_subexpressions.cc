// Value numbering: every value gets the number of its class, and two nodes with the same operator, attributes and
// classes of inputs give values of the same classes.
#include <algorithm>
#include <map>
#include <tuple>

#include "engine/passes/determinism.h"
#include "engine/passes/passes.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

struct SameElements {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return a == b;
  }
  // As ONNX Runtime: of tensors only those of one element and rank 1, the value of a constant fill.
  bool operator()(const Tensor& a, const Tensor& b) const { return a.dims() == Dims{1} && SameContent(a, b); }
  bool operator()(const GraphRef&, const GraphRef&) const { return false; }
  bool operator()(const std::vector<GraphRef>&, const std::vector<GraphRef>&) const { return false; }
  bool operator()(const OpaqueAttribute&, const OpaqueAttribute&) const { return false; }
  template <typename T, typename U>
  bool operator()(const T&, const U&) const {
    return false;
  }
};

bool SameAttributes(const AttributeMap& a, const AttributeMap& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& left, const auto& right) {
    return left.first == right.first && std::visit(SameElements{}, left.second, right.second);
  });
}

class Merger {
 public:
  Merger(Determinism deterministic, OpNames never)
      : deterministic_(std::move(deterministic)), never_(std::move(never)) {}

  void Run(Graph& graph) {
    const std::vector<NodeIndex> order = TopologicalOrder(graph);
    for (const NodeIndex index : order) {
      for (Graph* subgraph : graph.Subgraphs(*graph.node(index))) Run(*subgraph);
    }
    const std::vector<NodeIndex> twins = FindTwins(graph, order);
    for (const NodeIndex index : order) {
      const NodeIndex twin = twins[static_cast<size_t>(index)];
      if (twin != kNoNode) Merge(graph, index, twin);
    }
  }

  PassResult TakeResult() { return std::move(result_); }

 private:
  static constexpr int kMissing = 0;  // class of an omitted input
  // Operator, domain, number of outputs apart, and the classes of the inputs.
  using Key = std::tuple<std::string, std::string, std::vector<int>>;

  bool Mergeable(const Graph& graph, const Node& node) const {
    return deterministic_.Has(node) && !never_.contains(node.Op()) && graph.Subgraphs(node).empty();
  }

  // For each node the first one that computes the same, or kNoNode.
  std::vector<NodeIndex> FindTwins(const Graph& graph, const std::vector<NodeIndex>& order) const {
    std::vector<NodeIndex> twins(static_cast<size_t>(graph.node_limit()), kNoNode);
    std::vector<int> classes(graph.value_count());
    for (size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<int>(i) + 1;
    std::map<Key, std::vector<NodeIndex>> known;
    for (const NodeIndex index : order) {
      const Node& node = *graph.node(index);
      if (!Mergeable(graph, node)) continue;
      std::vector<NodeIndex>& alike = known[{node.op_type, node.domain, InputClasses(node, classes)}];
      const auto twin = std::find_if(alike.begin(), alike.end(), [&](NodeIndex other) {
        return SameAttributes(graph.node(other)->attributes, node.attributes);
      });
      if (twin == alike.end()) {
        alike.push_back(index);
        continue;
      }
      twins[static_cast<size_t>(index)] = *twin;
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        const ValueId theirs = graph.node(*twin)->output(i);
        if (node.outputs[i] == kNoValue || theirs == kNoValue) continue;
        classes[static_cast<size_t>(node.outputs[i])] = classes[static_cast<size_t>(theirs)];
      }
    }
    return twins;
  }

  static std::vector<int> InputClasses(const Node& node, const std::vector<int>& classes) {
    std::vector<int> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(id == kNoValue ? kMissing : classes[static_cast<size_t>(id)]);
    while (!inputs.empty() && inputs.back() == kMissing) inputs.pop_back();
    return inputs;
  }

  // A graph output keeps its node and its readers.
  void Merge(Graph& graph, NodeIndex index, NodeIndex twin) {
    const Node& node = *graph.node(index);
    bool replaced = false;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId own = node.outputs[i];
      const ValueId theirs = graph.node(twin)->output(i);
      if (own == kNoValue || theirs == kNoValue || graph.value(own).graph_output) continue;
      graph.ReplaceUses(own, theirs);
      replaced = true;
    }
    if (!replaced) return;
    PassEvent event;
    event.what = "'" + NameOf(node) + "' computes the same as '" + NameOf(*graph.node(twin)) + "'";
    event.sources = node.origins;
    result_.modified = true;
    if (Lone(graph, node, 0)) {
      AddOrigins(node.origins, graph.node(twin)->origins);
      event.removed = {NameOf(node)};
      graph.RemoveNode(index);
    }
    result_.events.push_back(std::move(event));
  }

  const Determinism deterministic_;
  const OpNames never_;
  PassResult result_;
};

}  // namespace

Result<PassResult> CommonSubexpressions(const PassScope& scope) {
  RULERUN_ASSIGN(const Table table, Table::Read(scope, "common-subexpressions"));
  RULERUN_ASSIGN(Determinism deterministic, Determinism::Read(table));
  RULERUN_ASSIGN(OpNames never, table.Ops("never"));
  Merger merger(std::move(deterministic), std::move(never));
  merger.Run(*scope.graph);
  RefreshOuterReads(*scope.graph);
  return merger.TakeResult();
}

}  // namespace rulerun
