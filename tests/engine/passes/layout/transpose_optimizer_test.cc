// The walk, the cost, constants that others read too, and node units.
#include "engine/passes/layout/transpose_optimizer.h"

#include <gtest/gtest.h>

#include <string>

#include "layout_test_util.h"

namespace rulerun {
namespace {

std::string Optimize(const std::string& text, int opset = 17, const std::string& provider = "") {
  PassRun run;
  run.opset = opset;
  run.provider = provider;
  return Run("transpose-optimizer", text, run);
}

TEST(TransposeOptimizer, StaysWhereNothingIsGained) {
  EXPECT_EQ(Optimize("g (float[2,3] x) => (float[3,2] y) { a = Transpose<perm=[1,0]>(x) y = Relu(a) }"),
            "y = Relu(Transpose<perm=[1, 0]>(x))");
}

TEST(TransposeOptimizer, TwoForOne) {
  EXPECT_EQ(Optimize("g (float[2,3] x, float[2,3] z) => (float[3,2] y) { a = Transpose<perm=[1,0]>(x) "
                     "b = Transpose<perm=[1,0]>(z) y = Add(a, b) }"),
            "y = Transpose<perm=[1, 0]>(Add(x, z))");
}

TEST(TransposeOptimizer, ReaderWithoutHandlerKeepsTheTranspose) {
  EXPECT_EQ(Optimize("g (float[2,3] x, float[2,3] w) => (float y, float z) { a = Transpose<perm=[1,0]>(x) "
                     "b = Relu(a) y = Transpose<perm=[1,0]>(b) z = MatMul(a, w) }"),
            "y = Transpose<perm=[1, 0]>(Relu(Transpose<perm=[1, 0]>(x))); z = MatMul(Transpose<perm=[1, 0]>(x), w)");
}

TEST(TransposeOptimizer, SmallerTensorIsTransposed) {
  // Three dimensions that count above, one beside: the cost falls.
  EXPECT_EQ(Optimize("g (float[2,3,4] x, float[1,4,1] z) => (float[2,3,4] y) { a = Transpose<perm=[0,2,1]>(x) "
                     "b = Add(a, z) y = Transpose<perm=[0,2,1]>(b) }"),
            "y = Add(x, Transpose<perm=[0, 2, 1]>(z))");
}

TEST(TransposeOptimizer, PermWithoutAttributeIsLeftAlone) {
  EXPECT_EQ(Optimize("g (float[2,3] x) => (float[2,3] y) { a = Transpose(x) y = Transpose(a) }"),
            "y = Transpose(Transpose(x))");
}

TEST(TransposeOptimizer, ConstantOfOthersGetsATransposeBack) {
  EXPECT_EQ(Optimize("g (float[2,3] x, float[3,2] w) => (float[2,3] y, float z) <float[3,2] c = {1, 2, 3, 4, 5, 6}> { "
                     "a = Transpose<perm=[1,0]>(x) b = Add(a, c) y = Transpose<perm=[1,0]>(b) z = Sub(w, c) }"),
            "y = Add(x, [2, 3]{1, 3, 5, 2, 4, 6}); "
            "z = Sub(w, Transpose<perm=[1, 0]>([2, 3]{1, 3, 5, 2, 4, 6}))");
}

TEST(TransposeOptimizer, ProviderOfNodesCounts) {
  const std::string text =
      "g (float[2,3] x) => (float[2,3] y) { a = Transpose<perm=[1,0]>(x) b = Relu(a) y = Transpose<perm=[1,0]>(b) }";
  EXPECT_EQ(Optimize(text, 17, "cpu"), "y = Relu(x)");
  Model model = ParseGraph(text);
  for (NodeIndex index = 0; index < model.graph->node_limit(); ++index) model.graph->node(index)->provider = "other";
  const auto result = RunOn("transpose-optimizer", model);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->modified);
}

TEST(TransposeOptimizer, NewNodesKnowWhereTheyComeFrom) {
  Model model = ParseGraph(
      "g (float[2,3] x, float[2,3] z) => (float[3,2] y) { a = Transpose<perm=[1,0]>(x) "
      "b = Transpose<perm=[1,0]>(z) y = Add(a, b) }");
  Graph& graph = *model.graph;
  graph.Producer(*graph.Find("a"))->origins = {"first"};
  PassRun run;
  run.provider = "cpu";
  const auto result = RunOn("transpose-optimizer", model, run);
  ASSERT_TRUE(result.ok());
  const Node* made = graph.Producer(*graph.Find("y"));
  EXPECT_EQ(made->name, "Transpose");
  EXPECT_EQ(made->origins, (std::vector<std::string>{"first"}));
  EXPECT_EQ(made->provider, "cpu");
  ASSERT_EQ(result->events.size(), 1U);
  EXPECT_EQ(result->events[0].created, (std::vector<std::string>{"Transpose"}));
}

TEST(TransposeOptimizer, Subgraphs) {
  Model model = ParseGraph(
      "g (bool c, float[2,3] x) => (float[2,3] y) { y = If (c) <"
      "then_branch = t () => (float[2,3] p) { a = Transpose<perm=[1,0]>(x) b = Relu(a) p = Transpose<perm=[1,0]>(b) },"
      "else_branch = e () => (float[2,3] q) { q = Relu(x) }> }");
  const auto result = RunOn("transpose-optimizer", model);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->modified);
  const Node& node = *model.graph->Producer(*model.graph->Find("y"));
  EXPECT_EQ(Show(*model.graph->Subgraphs(node)[1]), "p = Relu(x)");
}

TEST(TransposeOptimizer, OpsetOutOfRange) {
  Model model = ParseGraph(
      "g (float[2,3] x) => (float[2,3] y) { a = Transpose<perm=[1,0]>(x) b = Relu(a) "
      "y = Transpose<perm=[1,0]>(b) }");
  model.graph->SetOpset("", 28);
  EXPECT_FALSE(RunOn("transpose-optimizer", model)->modified);
}

// --- node units

TEST(TransposeOptimizer, NewTransposeBehindADequantizeGetsAUnit) {
  EXPECT_EQ(Optimize("g (float[2,3,4] x, uint8[1,4,1] q) => (float[2,3,4] y) <float s = {2}, uint8 z = {1}> { "
                     "a = Transpose<perm=[0,2,1]>(x) d = DequantizeLinear(q, s, z) b = Add(a, d) "
                     "y = Transpose<perm=[0,2,1]>(b) }"),
            "y = Add(x, DequantizeLinear(QuantizeLinear(Transpose<perm=[0, 2, 1]>(DequantizeLinear(q, 2, 1)), 2, 1), "
            "2, 1))");
}

TEST(TransposeOptimizer, TransposeBehindADequantizeGetsAUnit) {
  EXPECT_EQ(Optimize("g (uint8[3,2] q) => (float[2,3] y) <float s = {2}, uint8 z = {1}> { "
                     "d = DequantizeLinear(q, s, z) y = Transpose<perm=[1,0]>(d) }"),
            "y = DequantizeLinear(QuantizeLinear(Transpose<perm=[1, 0]>(DequantizeLinear(q, 2, 1)), 2, 1), 2, 1)");
}

TEST(TransposeOptimizer, UnitPerAxisGetsTheAxisBehind) {
  EXPECT_EQ(Optimize("g (uint8[3,2] q) => (float[2,3] y) <float[3] s = {1, 2, 3}, uint8[3] z = {0, 0, 0}> { "
                     "d = DequantizeLinear<axis=0>(q, s, z) y = Transpose<perm=[1,0]>(d) }"),
            "y = DequantizeLinear(QuantizeLinear(Transpose<perm=[1, 0]>(DequantizeLinear<axis=0>"
            "(q, {1, 2, 3}, {0, 0, 0})), {1, 2, 3}, {0, 0, 0}), {1, 2, 3}, {0, 0, 0})");
}

TEST(TransposeOptimizer, UnitWithoutZeroPointNeedsOutputType) {
  const std::string text =
      "g (int8[3,2] q) => (float[2,3] y) <float s = {2}> { d = DequantizeLinear(q, s) y = Transpose<perm=[1,0]>(d) }";
  EXPECT_EQ(Optimize(text, 19), "y = Transpose<perm=[1, 0]>(DequantizeLinear(q, 2))");
  EXPECT_EQ(
      Optimize(text, 21),
      "y = DequantizeLinear(QuantizeLinear<output_dtype=3>(Transpose<perm=[1, 0]>(DequantizeLinear(q, 2)), 2), 2)");
}

TEST(TransposeOptimizer, TransposeBeforeAQuantizeGetsAUnit) {
  EXPECT_EQ(Optimize("g (float[2,3] x, uint8[2] o) => (uint8[3,2] y, float[2] p) <float s = {2}, uint8 z = {1}> { "
                     "p = DequantizeLinear(o, s, z) a = Relu(x) b = Transpose<perm=[1,0]>(a) "
                     "y = QuantizeLinear(b, s, z) }"),
            "y = QuantizeLinear(Transpose<perm=[1, 0]>(DequantizeLinear(QuantizeLinear(Relu(x), 2, 1), 2, 1)), 2, 1); "
            "p = DequantizeLinear(o, 2, 1)");
}

TEST(TransposeOptimizer, EmptyPairGoes) {
  EXPECT_EQ(Optimize("g (float[2,3] x) => (uint8[2,3] y) <float s = {2}, uint8 z = {1}> { a = Transpose<perm=[1,0]>(x) "
                     "q = QuantizeLinear(a, s, z) d = DequantizeLinear(q, s, z) t = Transpose<perm=[1,0]>(d) "
                     "y = QuantizeLinear(t, s, z) }"),
            "y = QuantizeLinear(x, 2, 1)");
}

TEST(TransposeOptimizer, ConstantsBehindADequantizeAreTransposed) {
  EXPECT_EQ(Optimize("g (float[2,3] x) => (float[2,3] y) <uint8[3,2] c = {1, 2, 3, 4, 5, 6}, float s = {2}, "
                     "uint8 z = {1}> { a = Transpose<perm=[1,0]>(x) d = DequantizeLinear(c, s, z) b = Add(a, d) "
                     "y = Transpose<perm=[1,0]>(b) }"),
            "y = Add(x, DequantizeLinear([2, 3]{1, 3, 5, 2, 4, 6}, 2, 1))");
}

TEST(TransposeOptimizer, TransposesBackAreFoldedWhereThereAreUnits) {
  EXPECT_EQ(Optimize("g (float[2,3] x, float[3,2] w) => (float[2,3] y, float v) <uint8[3,2] c = {1, 2, 3, 4, 5, 6}, "
                     "float s = {2}, uint8 z = {1}> { a = Transpose<perm=[1,0]>(x) d = DequantizeLinear(c, s, z) "
                     "b = Add(a, d) y = Transpose<perm=[1,0]>(b) e = DequantizeLinear(c, s, z) v = Sub(w, e) }"),
            "y = Add(x, DequantizeLinear([2, 3]{1, 3, 5, 2, 4, 6}, 2, 1)); "
            "v = Sub(w, DequantizeLinear([3, 2]{1, 2, 3, 4, 5, 6}, 2, 1))");
}

// --- the table

TEST(TransposeOptimizer, TableErrorsHaveAPlace) {
  const auto error = [](const std::string& text) {
    const auto yaml = ParseYaml(text, "t.yaml");
    const auto table = ReadTransposeTable(&*yaml);
    return table.ok() ? "" : ToString(table.error());
  };
  EXPECT_NE(error("pass: nchwc\n").find("t.yaml:1:1"), std::string::npos);
  const std::string head =
      "pass: transpose-optimizer\nconstant: c\nhelpers: {transpose: T, squeeze: S, unsqueeze: U, gather: G, copy: I,\n"
      "  quantize: [Q], dequantize: [D]}\nhandlers:\n";
  EXPECT_EQ(error(head + "  - {handler: simple, slots: all, ops: [A]}\n"), "");
  const std::string misspelt = error(head + "  - {handler: simpel, slots: all, ops: [A]}\n");
  EXPECT_NE(misspelt.find("t.yaml:6:"), std::string::npos) << misspelt;
  EXPECT_NE(misspelt.find("did you mean 'simple'"), std::string::npos) << misspelt;
  EXPECT_NE(error(head + "  - {handler: simple, slot: all, ops: [A]}\n").find("unknown key 'slot'"), std::string::npos);
}

}  // namespace
}  // namespace rulerun
