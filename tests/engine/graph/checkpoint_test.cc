// Going back to a graph as it was.
#include "engine/graph/checkpoint.h"

#include <gmock/gmock.h>

#include "tests/engine/graph/graph_test_util.h"

namespace rulerun {
namespace {

std::string Describe(const Graph& graph) {
  std::string text;
  for (const NodeIndex index : TopologicalOrder(graph)) {
    const Node& node = *graph.node(index);
    text += node.name + ":" + node.op_type + "(";
    for (const ValueId input : node.inputs) text += graph.value(input).name + " ";
    text += ") ";
    for (const Graph* subgraph : graph.Subgraphs(node)) text += "{" + Describe(*subgraph) + "} ";
  }
  return text;
}

Model Branches() {
  auto model = ParseModelText(
      "g (bool c, float[2] x) => (float[2] y) { [neg] n = Neg(x)  "
      "[choose] y = If(c) <then_branch = a () => (float[2] p) { [inner] p = Relu(n) }, "
      "else_branch = b () => (float[2] q) { q = Exp(n) }> }",
      {{"", 17}}, {});
  EXPECT_TRUE(model.ok()) << ToString(model.error());
  return model.ok() ? std::move(model).value() : NoModel();
}

TEST(Checkpoint, UndoesNodesNamesAndUses) {
  const Model model = Branches();
  Graph& graph = *model.graph;
  const std::string before = Describe(graph);
  Checkpoint checkpoint(graph);
  Node extra;
  extra.name = graph.UniqueNodeName("extra");
  extra.op_type = "Abs";
  extra.inputs = {*graph.Find("x")};
  extra.outputs = {graph.AddValue(graph.UniqueValueName("extra"))};
  const ValueId made = extra.outputs[0];
  graph.AddNode(std::move(extra));
  graph.ReplaceUses(*graph.Find("n"), made);
  ASSERT_NE(Describe(graph), before);
  checkpoint.Restore();
  EXPECT_EQ(Describe(graph), before);
  EXPECT_FALSE(graph.Find("extra").has_value());
  EXPECT_EQ(graph.UniqueNodeName("extra"), "extra");
  EXPECT_EQ(graph.UseCount(*graph.Find("x")), 1);
  EXPECT_EQ(graph.UseCount(*graph.Find("n")), 1);  // by the If, for its branches
}

TEST(Checkpoint, SubgraphsKeepTheirParents) {
  const Model model = Branches();
  Graph& graph = *model.graph;
  Checkpoint checkpoint(graph);
  for (Graph* subgraph : graph.Subgraphs(*graph.Producer(*graph.Find("y")))) subgraph->set_name("changed");
  checkpoint.Restore();
  for (const Graph* subgraph : graph.Subgraphs(*graph.Producer(*graph.Find("y")))) {
    EXPECT_NE(subgraph->name(), "changed");
    EXPECT_EQ(subgraph->parent(), &graph);
  }
  EXPECT_TRUE(Resolve(graph, {}).ok());
}

// A rewrite works on one graph, which may be a branch.
TEST(Checkpoint, OfABranchLeavesItInPlace) {
  const Model model = Branches();
  Graph& branch = *model.graph->Subgraphs(*model.graph->Producer(*model.graph->Find("y"))).front();
  const std::string before = Describe(*model.graph);
  Checkpoint checkpoint(branch);
  branch.RemoveNode(branch.Producer(branch.outputs().front())->index);
  ASSERT_NE(Describe(*model.graph), before);
  checkpoint.Restore();
  EXPECT_EQ(Describe(*model.graph), before);
  EXPECT_EQ(branch.parent(), model.graph.get());
}

}  // namespace
}  // namespace rulerun
