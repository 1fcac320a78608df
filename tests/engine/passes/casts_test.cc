// insert-casts with the removal of casts that follow each other, and fuse-fp16-initializers.
#include "pass_test_util.h"

namespace rulerun {
namespace {

class InsertCasts : public testing::TestWithParam<PassCase> {};
TEST_P(InsertCasts, Run) { Check("insert-casts", GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Unassigned, InsertCasts,
    testing::Values(
        PassCase{"OneNode", "g (float16[2] x) => (float16[2] y) { [a] y = Add(x, x) }",
                 "[InsertedPrecisionFreeCast_x] InsertedPrecisionFreeCast_x = Cast<to=1>(x)\n"
                 "[a] InsertedPrecisionFreeCast_y = Add(InsertedPrecisionFreeCast_x, InsertedPrecisionFreeCast_x)\n"
                 "[InsertedPrecisionFreeCast_y] y = Cast<to=10>(InsertedPrecisionFreeCast_y)"},
        PassCase{"NodesInARow", "g (float16[2] x) => (float16[2] y) { [a] t = Sin(x) [b] y = Cos(t) }",
                 "[InsertedPrecisionFreeCast_x] InsertedPrecisionFreeCast_x = Cast<to=1>(x)\n"
                 "[a] InsertedPrecisionFreeCast_t = Sin(InsertedPrecisionFreeCast_x)\n"
                 "[b] InsertedPrecisionFreeCast_y = Cos(InsertedPrecisionFreeCast_t)\n"
                 "[InsertedPrecisionFreeCast_y] y = Cast<to=10>(InsertedPrecisionFreeCast_y)"},
        PassCase{"TypeInAnAttribute",
                 "g (float16[2,2] x) => (float16[2,2] y) { [a] y = RandomNormalLike<dtype = 10>(x) }",
                 "[InsertedPrecisionFreeCast_x] InsertedPrecisionFreeCast_x = Cast<to=1>(x)\n"
                 "[a] InsertedPrecisionFreeCast_y = RandomNormalLike<dtype=1>(InsertedPrecisionFreeCast_x)\n"
                 "[InsertedPrecisionFreeCast_y] y = Cast<to=10>(InsertedPrecisionFreeCast_y)"},
        PassCase{"Float", "g (float[2] x) => (float[2] y) { [a] y = Add(x, x) }", ""},
        PassCase{"Assigned", "g (float16[2] x) => (float16[2] y) { [a] y = Identity(x) }", "", {.provider = "cpu"}}),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    DuplicateCasts, InsertCasts,
    testing::Values(
        PassCase{"WidenAndBack",
                 "g (float[2] x) => (float[2] y) { [c] a = Cast<to = 11>(x) [d] b = Cast<to = 1>(a) [n] y = Neg(b) }",
                 "[n] y = Neg(x)",
                 {.provider = "cpu"}},
        PassCase{"NarrowAndBack",
                 "g (float[2] x) => (float[2] y) { [c] a = Cast<to = 10>(x) [d] b = Cast<to = 1>(a) [n] y = Neg(b) }",
                 "",
                 {.provider = "cpu"}},
        PassCase{"WidenAndFurther",
                 "g (float16[2] x) => (double[2] y) { [c] a = Cast<to = 1>(x) [d] y = Cast<to = 11>(a) }",
                 "[d] y = Cast<to=11>(x)",
                 {.provider = "cpu"}},
        PassCase{"FirstIsAnOutput",
                 "g (float16[2] x) => (float[2] a, double[2] y) { [c] a = Cast<to = 1>(x) [d] y = Cast<to = 11>(a) }",
                 "",
                 {.provider = "cpu"}},
        PassCase{"BackIsAnOutput",
                 "g (float[2] x) => (float[2] y) { [c] a = Cast<to = 11>(x) [d] y = Cast<to = 1>(a) }",
                 "[d] y = Cast<to=1>(x)",
                 {.provider = "cpu"}},
        PassCase{"OtherReader",
                 "g (float[2] x) => (float[2] y, double[2] z) { [c] a = Cast<to = 11>(x) [d] b = Cast<to = 1>(a)"
                 " [n] y = Neg(b) [m] z = Neg(a) }",
                 "[c] a = Cast<to=11>(x)\n[m] z = Neg(a)\n[n] y = Neg(x)",
                 {.provider = "cpu"}},
        PassCase{"LossyThenBool",
                 "g (float[2] x) => (bool[2] y) { [c] a = Cast<to = 6>(x) [d] y = Cast<to = 9>(a) }",
                 "",
                 {.provider = "cpu"}},
        PassCase{"NoCastBehind",
                 "g (float[2] x) => (double[2] y) { [c] a = Cast<to = 11>(x) [d] y = Neg(a) }",
                 "",
                 {.provider = "cpu"}}),
    NameOfCase);

TEST(InsertCastsIsolated, ANodeBetweenUnassignedOnesRunsInFloatToo) {
  Model model = ParseGraph("g (float16[2] x) => (float16[2] y) { [a] t = Sin(x) [b] u = Identity(t) [c] y = Cos(u) }");
  model.graph->node(1)->provider = "cpu";
  ASSERT_TRUE(RunPass("insert-casts", model).ok());
  EXPECT_EQ(ShowNodes(*model.graph),
            "[InsertedPrecisionFreeCast_x] InsertedPrecisionFreeCast_x = Cast<to=1>(x)\n"
            "[a] InsertedPrecisionFreeCast_t = Sin(InsertedPrecisionFreeCast_x)\n"
            "[b] InsertedPrecisionFreeCast_u = Identity(InsertedPrecisionFreeCast_t)\n"
            "[c] InsertedPrecisionFreeCast_y = Cos(InsertedPrecisionFreeCast_u)\n"
            "[InsertedPrecisionFreeCast_y] y = Cast<to=10>(InsertedPrecisionFreeCast_y)");
  EXPECT_EQ(model.graph->node(1)->provider, "cpu");
}

// ONNX Runtime has a schema of its own for older opsets, whose type variables are others.
TEST(InsertCastsIsolated, TypesAreThoseOfTheSchemaThatTheOpsetHas) {
  Model model = ParseGraph(
      "g (float16[2,4] x, float16[4] s) => (float16[2,4] y) { [a] t = Sin(x) [b] u = LayerNormalization(t, s) [c] y = "
      "Cos(u) }");
  model.graph->node(1)->provider = "cpu";
  ASSERT_TRUE(RunPass("insert-casts", model).ok());
  const std::string shown = ShowNodes(*model.graph);
  EXPECT_NE(shown.find("InsertedPrecisionFreeCast_u = LayerNormalization(InsertedPrecisionFreeCast_t, "
                       "InsertedPrecisionFreeCast_s)"),
            std::string::npos)
      << shown;
}

TEST(InsertCastsIsolated, ANodeBesideAnAssignedOneStays) {
  Model model =
      ParseGraph("g (float16[2] x) => (float16[2] y) { [a] t = Sin(x) [b] u = Identity(t) [c] y = Identity(u) }");
  model.graph->node(1)->provider = "cpu";
  model.graph->node(2)->provider = "cpu";
  ASSERT_TRUE(RunPass("insert-casts", model).ok());
  EXPECT_EQ(ShowNodes(*model.graph),
            "[InsertedPrecisionFreeCast_x] InsertedPrecisionFreeCast_x = Cast<to=1>(x)\n"
            "[a] InsertedPrecisionFreeCast_t = Sin(InsertedPrecisionFreeCast_x)\n"
            "[InsertedPrecisionFreeCast_t] t = Cast<to=10>(InsertedPrecisionFreeCast_t)\n"
            "[b] u = Identity(t)\n[c] y = Identity(u)");
}

class FuseFp16Initializers : public testing::TestWithParam<PassCase> {};
TEST_P(FuseFp16Initializers, Run) { Check("fuse-fp16-initializers", GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Cases, FuseFp16Initializers,
    testing::Values(
        PassCase{"InsertedCast",
                 "g (float[2] x) => (float[2] y) <float16[2] w = {1, 2}>"
                 " { [InsertedPrecisionFreeCast_w] InsertedPrecisionFreeCast_w = Cast<to = 1>(w) [a] y = Add(x, "
                 "InsertedPrecisionFreeCast_w) }",
                 "[a] y = Add(x, FusedBack_w)"},
        PassCase{"OwnCast",
                 "g (float[2] x) => (float[2] y) <float16[2] w = {1, 2}> { [c] v = Cast<to = 1>(w) [a] y = Add(x, v) }",
                 "[a] y = Add(x, FusedBack_v)"},
        PassCase{"TwoReaders",
                 "g (float[2] x) => (float[2] y) <float16[2] w = {1, 2}> { [c] v = Cast<to = 1>(w) [a] t = Add(x, v) "
                 "[b] y = Mul(t, v) }",
                 ""},
        PassCase{
            "OtherType",
            "g (double[2] x) => (double[2] y) <float16[2] w = {1, 2}> { [c] v = Cast<to = 11>(w) [a] y = Add(x, v) }",
            ""},
        PassCase{"NoConstant",
                 "g (float[2] x, float16[2] w) => (float[2] y) { [c] v = Cast<to = 1>(w) [a] y = Add(x, v) }", ""}),
    NameOfCase);

TEST(FuseFp16InitializersResult, HasTheSameNumbers) {
  // ONNX text takes the bits of 1.5 and -2.
  Model model = ParseGraph(
      "g (float[2] x) => (float[2] y) <float16[2] w = {15872, 49152}> { [c] v = Cast<to = 1>(w) [a] y = Add(x, v) }");
  ASSERT_TRUE(RunPass("fuse-fp16-initializers", model).ok());
  EXPECT_EQ(ShowInitializers(*model.graph), "FusedBack_v = float{1.5, -2}");
}

}  // namespace
}  // namespace rulerun
