// constant-sharing, common-subexpressions and constant-folding.
#include "pass_test_util.h"

namespace rulerun {
namespace {

class ConstantSharing : public testing::TestWithParam<PassCase> {};
TEST_P(ConstantSharing, Run) { Check("constant-sharing", GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Cases, ConstantSharing,
    testing::Values(
        PassCase{"Equal",
                 "g (float[2] x) => (float[2] y) <float a = {1}, float b = {1}>"
                 "{ [m] t = Mul(x, a) [n] y = Add(t, b) }",
                 "[m] t = Mul(x, b)\n[n] y = Add(t, b)"},
        PassCase{"OtherValue",
                 "g (float[2] x) => (float[2] y) <float a = {1}, float b = {2}>"
                 "{ [m] t = Mul(x, a) [n] y = Add(t, b) }",
                 ""},
        PassCase{"OtherShape",
                 "g (float[2] x) => (float[2] y) <float a = {1}, float[1] b = {1}>"
                 "{ [m] t = Mul(x, a) [n] y = Add(t, b) }",
                 ""},
        PassCase{"TooLarge",
                 "g (float[9] x) => (float[9] y) <float[9] a = {1,2,3,4,5,6,7,8,9}, float[9] b = {1,2,3,4,5,6,7,8,9}>"
                 "{ [m] t = Mul(x, a) [n] y = Add(t, b) }",
                 ""},
        PassCase{"TypeLeftAlone",
                 "g (int8[2] x) => (int8[2] y) <int8 a = {1}, int8 b = {1}>"
                 "{ [m] t = Mul(x, a) [n] y = Add(t, b) }",
                 ""},
        PassCase{"Overridable",
                 "g (float[2] x, float a) => (float[2] y) <float a = {1}, float b = {1}>"
                 "{ [m] t = Mul(x, a) [n] y = Add(t, b) }",
                 ""},
        PassCase{"ReadBySubgraph",
                 "g (float[2] x, bool c) => (float[2] y) <float a = {1}, float b = {1}>"
                 "{ [m] t = Mul(x, a) [i] y = If(c) <then_branch = t1 () => (float[2] u) { [n] u = Add(t, b) },"
                 " else_branch = e () => (float[2] v) { [o] v = Neg(t) }> }",
                 ""}),
    NameOfCase);

class CommonSubexpressions : public testing::TestWithParam<PassCase> {};
TEST_P(CommonSubexpressions, Run) { Check("common-subexpressions", GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Cases, CommonSubexpressions,
    testing::Values(
        PassCase{"Chain",
                 "g (float[2] x) => (float[2] y) { [a] a = Relu(x) [b] b = Relu(x) [c] c = Abs(a) [d] d = Abs(b)"
                 " [e] y = Add(c, d) }",
                 "[b] b = Relu(x)\n[d] d = Abs(b)\n[e] y = Add(d, d)"},
        PassCase{"FirstIsAGraphOutput",
                 "g (float[2] x) => (float[2] b, float[2] y) { [a] a = Relu(x) [b] b = Relu(x) [c] y = Add(a, b) }",
                 "[b] b = Relu(x)\n[c] y = Add(b, b)"},
        PassCase{"BothAreGraphOutputs",
                 "g (float[2] x) => (float[2] a, float[2] b, float[2] y) { [a] a = Relu(x) [b] b = Relu(x)"
                 " [c] y = Add(a, b) }",
                 ""},
        PassCase{"OtherAttribute",
                 "g (float[2] x) => (float[2] y) { [a] a = LeakyRelu<alpha = 0.1>(x)"
                 " [b] b = LeakyRelu<alpha = 0.2>(x) [c] y = Add(a, b) }",
                 ""},
        PassCase{"OtherOrder",
                 "g (float[2] x, float[2] z) => (float[2] y) { [a] a = Add(x, z) [b] b = Add(z, x)"
                 " [c] y = Mul(a, b) }",
                 ""},
        PassCase{"TrailingOmittedInput",
                 "g (float[2] x) => (float[2] y) <float lo = {0}> { [a] a = Clip(x, lo)"
                 " [b] b = Clip(x, lo, ) [c] y = Add(a, b) }",
                 "[b] b = Clip(x, lo)\n[c] y = Add(b, b)"},
        PassCase{"Dequantize",
                 "g (uint8[2] x) => (float[2] y) <float s = {0.5}> { [a] a = DequantizeLinear(x, s)"
                 " [b] b = DequantizeLinear(x, s) [c] y = Add(a, b) }",
                 ""},
        PassCase{"Random",
                 "g (float[2] x) => (float[2] y) { [a] a = RandomNormalLike(x) [b] b = RandomNormalLike(x)"
                 " [c] y = Add(a, b) }",
                 ""},
        PassCase{"OtherDomain",
                 "g (float[2] x) => (float[2] y) { [a] a = com.microsoft.QuickGelu(x)"
                 " [b] b = com.microsoft.QuickGelu(x) [c] y = Add(a, b) }",
                 ""},
        PassCase{"InSubgraph",
                 "g (float[2] x, bool c) => (float[2] z) { [i] z = If(c) <then_branch = t () => (float[2] u)"
                 " { [a] a = Relu(x) [b] b = Relu(x) [m] u = Mul(a, b) }, else_branch = e () => (float[2] v) { [n] v = "
                 "Neg(x) }> }",
                 "[i] z = If<else_branch={[n] v = Neg(x)}, then_branch={[b] b = Relu(x)\n[m] u = Mul(b, b)}>(c)"}),
    NameOfCase);

class ConstantFolding : public testing::TestWithParam<PassCase> {};
TEST_P(ConstantFolding, Run) { Check("constant-folding", GetParam()); }

constexpr char kUnit[] =
    "g (float[2] x) => (float[2] y) <uint8[2] w = {1, 2}, float s = {0.5}, uint8 p = {3}>"
    "{ [d] d = DequantizeLinear(w, s, p) [a] y = Add(x, d) }";

INSTANTIATE_TEST_SUITE_P(
    Cases, ConstantFolding,
    testing::Values(
        PassCase{"Chain",
                 "g (float[2] x) => (float[2] y) <float[2] a = {1, 2}> { [r] b = Neg(a) [s] c = Add(b, a) [t] y = "
                 "Mul(x, c) }",
                 "[t] y = Mul(x, c)"},
        PassCase{"InputIsNoConstant", "g (float[2] x) => (float[2] y) { [r] y = Neg(x) }", ""},
        PassCase{
            "Overridable",
            "g (float[2] x, float[2] a) => (float[2] y) <float[2] a = {1, 2}> { [r] b = Neg(a) [t] y = Mul(x, b) }",
            ""},
        PassCase{"UnknownResultShape",
                 "g (int64[N] x) => (int64[N] y) <int64[2] a = {1, 0}> { [r] b = NonZero(a) [t] y = Mul(x, b) }", ""},
        PassCase{
            "Random",
            "g (float[2] x) => (float[2] y) <float[2] a = {1, 2}> { [r] b = RandomNormalLike(a) [t] y = Mul(x, b) }",
            ""},
        PassCase{"NoKernelOfThePlatform",
                 "g (float16[2] x) => (float16[2] y) <float16[2] a = {1, 2}> { [r] b = Add(a, a) [t] y = Mul(x, b) }",
                 ""},
        PassCase{"KernelOfThePlatform",
                 "g (float16[2] x) => (float16[2] y) <float16[2] a = {1, 2}> { [r] b = Add(a, a) [t] y = Mul(x, b) }",
                 "[t] y = Mul(x, b)",
                 {.platform = "arm64"}},
        PassCase{"ShapeOfAnything",
                 "g (float[2,3] x) => (int64[1] y, float[2,3] z) { [n] z = Neg(x) [r] y = Shape<start = 1>(z) }",
                 "[n] z = Neg(x)"},
        PassCase{"ShapeTakesItsProducersAlong",
                 "g (float[2,3] x) => (int64[2] y, float[2,3] z) { [n] z = Neg(x) [a] a = Abs(z)"
                 " [b] b = Relu(a) [r] s = Shape(b) [m] y = Mul(s, s) }",
                 "[n] z = Neg(x)"},
        PassCase{"ShapeIsOpen", "g (float[2,N] x) => (int64[2] y) { [r] y = Shape(x) }", ""},
        PassCase{"DequantizeIsKept", kUnit, ""},
        PassCase{"DequantizeOnceUnitsDoNotMatter", kUnit, "[a] y = Add(x, d)", {.options = {"disable_quant_qdq=1"}}},
        PassCase{"DequantizeKeptByOption", kUnit, "", {.options = {"disable_quant_qdq=1", "disable_fold=1"}}},
        PassCase{"WholeUnit",
                 "g (uint8[2] x) => (uint8[2] y) <uint8[2] w = {1, 2}, float s = {0.5}, uint8 p = {3}>"
                 "{ [d] d = DequantizeLinear(w, s, p) [n] n = Neg(d) [q] q = QuantizeLinear(n, s, p) [a] y = "
                 "BitwiseAnd(x, q) }",
                 "[a] y = BitwiseAnd(x, q)",
                 {.opset = 18}},
        PassCase{"UnitWithSecondInput",
                 "g (uint8[2] x) => (uint8[2] y) <uint8[2] w = {1, 2}, float s = {0.5}, uint8 p = {3}>"
                 "{ [d] d = DequantizeLinear(w, s, p) [n] n = Mul(d, s) [q] q = QuantizeLinear(n, s, p) [a] y = "
                 "BitwiseAnd(x, q) }",
                 "",
                 {.opset = 18}},
        PassCase{"TrueBranch",
                 "g (float[2] x) => (float[2] y) <bool c = {1}> { [i] z = If(c) <then_branch = t () => (float[2] u)"
                 " { [a] a = Relu(x) [b] u = Abs(a) }, else_branch = e () => (float[2] v) { [n] v = Neg(x) }> [o] y = "
                 "Neg(z) }",
                 "[_if_then_branch_Relu] _if_then_branch_a = Relu(x)\n[_if_then_branch_Abs] z = "
                 "Abs(_if_then_branch_a)\n[o] y = Neg(z)"},
        PassCase{"OpenCondition",
                 "g (float[2] x, bool c) => (float[2] y) { [i] y = If(c) <then_branch = t () => (float[2] u)"
                 " { [a] u = Relu(x) }, else_branch = e () => (float[2] v) { [n] v = Neg(x) }> }",
                 ""},
        PassCase{"FalseBranchWithSubgraph",
                 "g (float[2] x, bool d) => (float[2] y) <bool c = {0}> { [i] y = If(c) <"
                 "then_branch = t () => (float[2] u) { [a] u = Relu(x) }, else_branch = e () => (float[2] v) <float[2] "
                 "w = {1, 2}> {"
                 " [p] p = Mul(x, w) [j] v = If(d) <then_branch = t2 () => (float[2] q) { [k] q = Neg(p) },"
                 " else_branch = e2 () => (float[2] r) { [l] r = Abs(p) }> }> }",
                 "[_if_else_branch_Mul] _if_else_branch_p = Mul(x, _if_else_branch_w)\n[_if_else_branch_If] y = If<"
                 "else_branch={[l] r = Abs(_if_else_branch_p)}, then_branch={[k] q = Neg(_if_else_branch_p)}>(d)"},
        PassCase{"InSubgraph",
                 "g (float[2] x, bool c) => (float[2] z) <float[2] a = {1, 2}> { [i] z = If(c) <"
                 "then_branch = t () => (float[2] u) { [k] b = Neg(a) [m] u = Mul(x, b) }, else_branch = e () => "
                 "(float[2] v)"
                 " { [n] v = Neg(x) }> }",
                 "[i] z = If<else_branch={[n] v = Neg(x)}, then_branch={[m] u = Mul(x, b)}>(c)"}),
    NameOfCase);

TEST(ConstantFoldingResult, IsAnInitializerOfTheSameName) {
  Model model = ParseGraph(
      "g (float[2] x) => (float[2] y, float[2] b) <float[2] a = {1, 2}> { [r] b = Neg(a) [t] y = Mul(x, b) }");
  const auto result = RunPass("constant-folding", model);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(ShowInitializers(*model.graph), "b = float{-1, -2}");
  ASSERT_EQ(result->events.size(), 1U);
  EXPECT_EQ(result->events[0].removed, std::vector<std::string>{"r"});
  EXPECT_EQ(result->events[0].created, std::vector<std::string>{"b"});
}

TEST(ConstantFoldingResult, ShapeIsCutLikeASlice) {
  for (const auto& [attributes, wanted] :
       std::vector<std::pair<std::string, std::string>>{{"", "2, 3, 4"},
                                                        {"<start = -2>", "3, 4"},
                                                        {"<start = 1, end = 2>", "3"},
                                                        {"<start = 2, end = 1>", ""},
                                                        {"<start = -9, end = 9>", "2, 3, 4"}}) {
    Model model = ParseGraph("g (float[2,3,4] x) => (int64[N] y) { y = Shape" + attributes + "(x) }");
    ASSERT_TRUE(RunPass("constant-folding", model).ok());
    EXPECT_EQ(ShowInitializers(*model.graph), "y = int64{" + wanted + "}") << attributes;
  }
}

TEST(ConstantFoldingResult, TellsWhyNot) {
  Model model =
      ParseGraph("g (float16[2] x) => (float16[2] y) <float16[2] a = {1, 2}> { [r] b = Add(a, a) [t] y = Mul(x, b) }");
  const auto result = RunPass("constant-folding", model);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->events.size(), 1U);
  EXPECT_FALSE(result->events[0].changed);
  EXPECT_EQ(result->events[0].what, "not folded 'r' (Add): the platform has no kernel for Add(float16, float16)");
}

TEST(ConstantFoldingResult, StaysBelowTheLimit) {
  Model model = ParseGraph(
      "g (float[N,M] x) => (float[N,M] y) <int64[2] a = {40000, 40000}> { [r] b = ConstantOfShape(a) [t] y = Mul(x, b) "
      "}");
  const auto result = RunPass("constant-folding", model);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->modified);
  ASSERT_EQ(result->events.size(), 1U);
  EXPECT_EQ(result->events[0].what, "not folded 'r' (ConstantOfShape): its result would be too large");
}

}  // namespace
}  // namespace rulerun
