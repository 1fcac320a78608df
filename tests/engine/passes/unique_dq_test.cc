#include "pass_test_util.h"

namespace rulerun {
namespace {

class UniqueDq : public testing::TestWithParam<PassCase> {};
TEST_P(UniqueDq, Run) { Check("unique-dq", GetParam()); }

constexpr char kHead[] = "g (uint8[2] x, bool c) => (float[2] y, float[2] z) <float s = {0.5}, uint8 p = {3}>";

INSTANTIATE_TEST_SUITE_P(
    Cases, UniqueDq,
    testing::Values(
        PassCase{"TwoReaders",
                 std::string(kHead) + "{ [dq] d = DequantizeLinear(x, s, p) [a] y = Relu(d) [b] z = Abs(d) }",
                 "[dq/duplicated] d/duplicated = DequantizeLinear(x, s, p)\n[b] z = Abs(d/duplicated)\n"
                 "[dq] d = DequantizeLinear(x, s, p)\n[a] y = Relu(d)"},
        PassCase{"TwiceByOneNode",
                 "g (uint8[2] x) => (float[2] y) <float s = {0.5}, uint8 p = {3}>"
                 "{ [dq] d = DequantizeLinear(x, s, p) [a] y = Mul(d, d) }",
                 "[dq/duplicated] d/duplicated = DequantizeLinear(x, s, p)\n[dq] d = DequantizeLinear(x, s, p)\n"
                 "[a] y = Mul(d, d/duplicated)"},
        PassCase{"GraphOutput",
                 "g (uint8[2] x) => (float[2] d, float[2] y) <float s = {0.5}, uint8 p = {3}>"
                 "{ [dq] d = DequantizeLinear(x, s, p) [a] y = Relu(d) }",
                 "[dq/duplicated] d/duplicated = DequantizeLinear(x, s, p)\n[a] y = Relu(d/duplicated)\n"
                 "[dq] d = DequantizeLinear(x, s, p)"},
        PassCase{"ReadBySubgraph",
                 std::string(kHead) + "{ [dq] d = DequantizeLinear(x, s, p) [a] y = Relu(d)"
                                      " [i] z = If(c) <then_branch = t () => (float[2] u) { [b] u = Abs(d) },"
                                      " else_branch = e () => (float[2] v) { [n] v = Neg(d) }> }",
                 "[dq] d = DequantizeLinear(x, s, p)\n[i] z = If<else_branch={[n] v = Neg(d)}, then_branch={[b] u = "
                 "Abs(d)}>(c)\n"
                 "[dq/duplicated] d/duplicated = DequantizeLinear(x, s, p)\n[a] y = Relu(d/duplicated)"},
        PassCase{"InSubgraph",
                 "g (uint8[2] x, bool c) => (float[2] z) <float s = {0.5}, uint8 p = {3}>"
                 "{ [i] z = If(c) <then_branch = t () => (float[2] u) { [dq] d = DequantizeLinear(x, s, p) [m] u = "
                 "Mul(d, d) },"
                 " else_branch = e () => (float[2] v) { [o] v = DequantizeLinear(x, s, p) }> }",
                 "[i] z = If<else_branch={[o] v = DequantizeLinear(x, s, p)}, then_branch={"
                 "[dq/duplicated] d/duplicated = DequantizeLinear(x, s, p)\n[dq] d = DequantizeLinear(x, s, p)\n"
                 "[m] u = Mul(d, d/duplicated)}>(c)"},
        PassCase{"OneReader",
                 "g (uint8[2] x) => (float[2] y) <float s = {0.5}, uint8 p = {3}>"
                 "{ [dq] d = DequantizeLinear(x, s, p) [a] y = Relu(d) }",
                 ""},
        PassCase{"OtherOperator",
                 "g (float[2] x) => (float[2] y, float[2] z) { [r] d = Relu(x) [a] y = Abs(d) [b] z = Neg(d) }", ""}),
    NameOfCase);

TEST(UniqueDqNames, AreCounted) {
  Model model = ParseGraph(
      "g (uint8[2] x) => (float[2] y, float[2] z, float[2] w) <float s = {0.5}, uint8 p = {3}>"
      "{ [dq] d = DequantizeLinear(x, s, p) [a] y = Relu(d) [b] z = Abs(d) [c] w = Neg(d) }");
  const auto result = RunPass("unique-dq", model);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->events.size(), 2U);
  EXPECT_EQ(result->events[0].created, std::vector<std::string>{"dq/duplicated"});
  EXPECT_EQ(result->events[1].created, std::vector<std::string>{"dq/duplicated_token_1"});
  EXPECT_TRUE(model.graph->Find("d/duplicated_token_0"));
  EXPECT_EQ(result->events[1].sources, std::vector<std::string>{"dq"});
}

}  // namespace
}  // namespace rulerun
