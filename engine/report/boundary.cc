#include "engine/report/boundary.h"

#include <set>

#include "engine/report/rule_ops.h"

namespace rulerun {
namespace {

Conversions CostOf(const Graph& graph, const Node& quantizer) {
  const ValueType& from = graph.TypeOf(quantizer.input(0));
  const ValueType& to = graph.TypeOf(quantizer.output(0));
  const auto dims = Static(to.shape ? to.shape : from.shape);
  const auto count = dims ? ElementCount(*dims) : std::nullopt;
  if (!count) return {1, 0, 1};
  return {1, static_cast<int64_t>(ByteSize(from.element, *count) + ByteSize(to.element, *count)), 0};
}

bool OfConstant(const Graph& graph, const Node& quantizer) { return graph.Constant(quantizer.input(0)) != nullptr; }

}  // namespace

BoundaryCost BoundaryOf(const Graph& graph, const RuleSet& rules) {
  BoundaryCost cost;
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    const Node* node = graph.node(index);
    if (node == nullptr) continue;
    if (IsQuantizer(rules, node->Op()) && node->input(0) != kNoValue && node->output(0) != kNoValue) {
      (OfConstant(graph, *node) ? cost.constants : cost.activations).Add(CostOf(graph, *node));
    }
    for (const Graph* subgraph : graph.Subgraphs(*node)) {
      const BoundaryCost inner = BoundaryOf(*subgraph, rules);
      cost.activations.Add(inner.activations);
      cost.constants.Add(inner.constants);
    }
  }
  return cost;
}

Conversions ConversionsAround(const Graph& graph, const Node& node, const RuleSet& rules) {
  std::set<NodeIndex> seen;
  Conversions around;
  const auto add = [&](const Node* other) {
    if (other == nullptr || !IsQuantizer(rules, other->Op()) || OfConstant(graph, *other)) return;
    if (seen.insert(other->index).second) around.Add(CostOf(graph, *other));
  };
  for (const ValueId input : node.inputs) {
    if (input != kNoValue) add(graph.Producer(input));
  }
  for (const ValueId output : node.outputs) {
    if (output == kNoValue) continue;
    for (const Use& use : graph.value(output).uses) add(graph.node(use.node));
  }
  return around;
}

}  // namespace rulerun
