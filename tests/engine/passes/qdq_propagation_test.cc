#include "pass_test_util.h"

namespace rulerun {
namespace {

class QdqPropagation : public testing::TestWithParam<PassCase> {};
TEST_P(QdqPropagation, Run) { Check("qdq-propagation", GetParam()); }

constexpr char kConstants[] = "<float s = {0.5}, uint8 p = {3}, int64[2] shape = {3, 2}>";

std::string Text(const std::string& head, const std::string& nodes) {
  return "g " + head + kConstants + " { " + nodes + " }";
}

INSTANTIATE_TEST_SUITE_P(
    Backward, QdqPropagation,
    testing::Values(
        PassCase{"ToTheProducer",
                 Text("(float[2,3] x) => (uint8[3,2] y)",
                      "[r] a = Relu(x) [t] b = Transpose(a) [q] y = QuantizeLinear(b, s, p)"),
                 "[r] a_pre_q = Relu(x)\n[a_q] a_q_to_dq = QuantizeLinear(a_pre_q, s, p)\n"
                 "[a_dq] a_post_dq = DequantizeLinear(a_q_to_dq, s, p)\n[t] b = Transpose(a_post_dq)\n"
                 "[q] y = QuantizeLinear(b, s, p)"},
        PassCase{"ToTheGraphInput",
                 Text("(float[2,3] x) => (uint8[3,2] y)", "[t] b = Transpose(x) [q] y = QuantizeLinear(b, s, p)"),
                 "[x_q] x_q_to_dq = QuantizeLinear(x, s, p)\n[x_dq] x_post_dq = DequantizeLinear(x_q_to_dq, s, p)\n"
                 "[t] b = Transpose(x_post_dq)\n[q] y = QuantizeLinear(b, s, p)"},
        PassCase{"ThroughTwo",
                 Text("(float[2,3] x) => (uint8[2,3] y)",
                      "[t] b = Transpose(x) [u] c = Transpose(b) [q] y = QuantizeLinear(c, s, p)"),
                 "[x_q] x_q_to_dq = QuantizeLinear(x, s, p)\n[x_dq] x_post_dq = DequantizeLinear(x_q_to_dq, s, p)\n"
                 "[t] b_pre_q = Transpose(x_post_dq)\n[b_q] b_q_to_dq = QuantizeLinear(b_pre_q, s, p)\n"
                 "[b_dq] b_post_dq = DequantizeLinear(b_q_to_dq, s, p)\n[u] c = Transpose(b_post_dq)\n"
                 "[q] y = QuantizeLinear(c, s, p)"},
        PassCase{"StopsAtDequantize",
                 Text("(uint8[2,3] x) => (uint8[3,2] y)",
                      "[d] a = DequantizeLinear(x, s, p) [t] b = Transpose(a) [q] y = QuantizeLinear(b, s, p)"),
                 ""},
        PassCase{"ValueHasAnotherReader",
                 Text("(float[2,3] x) => (uint8[3,2] y, float[2,3] z)",
                      "[r] a = Relu(x) [n] z = Neg(a) [t] b = Transpose(a) [q] y = QuantizeLinear(b, s, p)"),
                 ""},
        PassCase{"OperatorComputes",
                 Text("(float[2,3] x) => (uint8[2,3] y)", "[r] a = Relu(x) [q] y = QuantizeLinear(a, s, p)"), ""}),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Forward, QdqPropagation,
    testing::Values(
        PassCase{"ToTheReader",
                 Text("(uint8[2,3] x) => (float[3,2] y)",
                      "[d] a = DequantizeLinear(x, s, p) [t] b = Transpose(a) [r] y = Relu(b)"),
                 "[d] a = DequantizeLinear(x, s, p)\n[t] b_pre_q = Transpose(a)\n[b_q] b_q_to_dq = "
                 "QuantizeLinear(b_pre_q, s, p)\n"
                 "[b_dq] b_post_dq = DequantizeLinear(b_q_to_dq, s, p)\n[r] y = Relu(b_post_dq)"},
        PassCase{
            "ForEachReaderAndTheOutput",
            Text("(uint8[2,3] x) => (float[3,2] b, float[3,2] y, float[3,2] z)",
                 "[d] a = DequantizeLinear(x, s, p) [t] b = Transpose(a) [r] y = Relu(b) [n] z = Neg(b)"),
            "[d] a = DequantizeLinear(x, s, p)\n[t] b_pre_q = Transpose(a)\n[b_q] b_q_to_dq = QuantizeLinear(b_pre_q, "
            "s, p)\n"
            "[b_dq2] b = DequantizeLinear(b_q_to_dq, s, p)\n[b_dq1] b_post_dq1 = DequantizeLinear(b_q_to_dq, s, p)\n"
            "[n] z = Neg(b_post_dq1)\n[b_dq] b_post_dq = DequantizeLinear(b_q_to_dq, s, p)\n[r] y = Relu(b_post_dq)"},
        PassCase{"SaysItsTypeFromOpset21",
                 "g (int8[2,3] x) => (float[3,2] y) <float s = {0.5}> { [d] a = DequantizeLinear(x, s) [t] b = "
                 "Transpose(a) [r] y = Relu(b) }",
                 "[d] a = DequantizeLinear(x, s)\n[t] b_pre_q = Transpose(a)\n"
                 "[b_q] b_q_to_dq = QuantizeLinear<output_dtype=3>(b_pre_q, s)\n"
                 "[b_dq] b_post_dq = DequantizeLinear(b_q_to_dq, s)\n[r] y = Relu(b_post_dq)",
                 {.opset = 21}},
        PassCase{"EndsInQuantize",
                 Text("(uint8[2,3] x) => (uint8[3,2] y)",
                      "[d] a = DequantizeLinear(x, s, p) [t] b = Transpose(a) [q] y = QuantizeLinear(b, s, p)"),
                 ""},
        PassCase{"Weight",
                 "g (float[3,2] x) => (float[3,2] y) <uint8[2,3] w = {1,2,3,4,5,6}, float s = {0.5}, uint8 p = {3}>"
                 " { [d] a = DequantizeLinear(w, s, p) [t] b = Transpose(a) [r] y = Mul(x, b) }",
                 ""},
        PassCase{"ScalePerChannel",
                 "g (uint8[2,3] x) => (float[3,2] y) <float[2] s = {0.5, 1}, uint8[2] p = {3, 3}>"
                 " { [d] a = DequantizeLinear<axis = 0>(x, s, p) [t] b = Transpose(a) [r] y = Relu(b) }",
                 ""},
        PassCase{"SecondInput",
                 "g (int64[2] x) => (float[3,2] y, float[2,3] a) <uint8[6] w = {1,2,3,4,5,6}, float s = {0.5}>"
                 " { [d] a0 = DequantizeLinear(w, s) [n] a = Reshape(a0, x) [r] y = Transpose(a) }",
                 ""}),
    NameOfCase);

TEST(QdqPropagationRefuses, WhatCannotBeQuantized) {
  Model model = ParseGraph(
      "g (int32[2,3] x) => (float[3,2] y) <float s = {0.5}, int32 p = {0}>"
      " { [d] a = DequantizeLinear(x, s, p) [t] b = Transpose(a) [r] y = Relu(b) }");
  const auto result = RunPass("qdq-propagation", model);
  ASSERT_TRUE(result.ok());
  ASSERT_TRUE(result->refused);
  EXPECT_EQ(result->refused->kind(), ErrorKind::kRefused);
  EXPECT_EQ(result->refused->place, "node 'b_q'");
  ASSERT_EQ(result->events.back().faults.size(), 1U);
  EXPECT_EQ(result->events.back().faults.front().id, "C10");
}

TEST(QdqPropagationOrigins, AreThoseOfTheOriginal) {
  Model model = ParseGraph(Text("(uint8[2,3] x) => (float[3,2] y)",
                                "[d] a = DequantizeLinear(x, s, p) [t] b = Transpose(a) [r] y = Relu(b)"));
  const auto result = RunPass("qdq-propagation", model);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->events.size(), 1U);
  EXPECT_EQ(result->events[0].created, (std::vector<std::string>{"b_q", "b_dq"}));
  EXPECT_EQ(model.graph->node(3)->origins, std::vector<std::string>{"d"});
}

}  // namespace
}  // namespace rulerun
