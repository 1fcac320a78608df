#include "pass_test_util.h"

namespace rulerun {
namespace {

class DqWeightsS8ToU8 : public testing::TestWithParam<PassCase> {};
TEST_P(DqWeightsS8ToU8, Run) { Check("dq-weights-s8-to-u8", GetParam()); }

const RunOptions kCpu = {.provider = "cpu"};

INSTANTIATE_TEST_SUITE_P(
    Cases, DqWeightsS8ToU8,
    testing::Values(
        PassCase{"Large",
                 "g (float[2] x) => (float[2] y) <int8[2] w = {1, -65}, float s = {0.5}, int8 z = {2}>"
                 " { [d] d = DequantizeLinear(w, s, z) [a] y = Add(x, d) }",
                 "[d] d = DequantizeLinear(w_s8_2_u8, s, z_s8_2_u8)\n[a] y = Add(x, d)", kCpu},
        PassCase{"WithoutZeroPoint",
                 "g (float[2] x) => (float[2] y) <int8[2] w = {1, 65}, float s = {0.5}>"
                 " { [d] d = DequantizeLinear(w, s) [a] y = Add(x, d) }",
                 "[d] d = DequantizeLinear(w_s8_2_u8, s, weight_zp_s8_2_u8)\n[a] y = Add(x, d)", kCpu},
        PassCase{"Small",
                 "g (float[2] x) => (float[2] y) <int8[2] w = {64, -64}, float s = {0.5}, int8 z = {2}>"
                 " { [d] d = DequantizeLinear(w, s, z) [a] y = Add(x, d) }",
                 "", kCpu},
        PassCase{"Unsigned",
                 "g (float[2] x) => (float[2] y) <uint8[2] w = {1, 255}, float s = {0.5}, uint8 z = {2}>"
                 " { [d] d = DequantizeLinear(w, s, z) [a] y = Add(x, d) }",
                 "", kCpu},
        PassCase{"NoConstant",
                 "g (int8[2] w) => (float[2] y) <float s = {0.5}, int8 z = {2}> { [d] y = DequantizeLinear(w, s, z) }",
                 "", kCpu},
        PassCase{"OtherOperator",
                 "g (uint8[2,2] x) => (int32[2,2] y) <int8[2,2] w = {1, -65, 0, 0}> { [d] y = MatMulInteger(x, w) }",
                 "", kCpu}),
    NameOfCase);

class WeightsS8ToU8 : public testing::TestWithParam<PassCase> {};
TEST_P(WeightsS8ToU8, Run) { Check("weights-s8-to-u8", GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Cases, WeightsS8ToU8,
    testing::Values(
        PassCase{"MatMulInteger",
                 "g (uint8[2,2] x) => (int32[2,2] y) <int8[2,2] w = {1, -65, 0, 0}> { [d] y = MatMulInteger(x, w) }",
                 "[d] y = MatMulInteger(x, w_s8_2_u8, -, weight_zp_s8_2_u8)", kCpu},
        PassCase{
            "QLinearMatMul",
            "g (uint8[2,2] x) => (uint8[2,2] y) <int8[2,2] w = {1, -65, 0, 0}, float s = {0.5}, uint8 z = {2}, int8 zw "
            "= {0}>"
            " { [d] y = QLinearMatMul(x, s, z, w, s, zw, s, z) }",
            "[d] y = QLinearMatMul(x, s, z, w_s8_2_u8, s, zw_s8_2_u8, s, z)",
            kCpu,
        },
        PassCase{"NewerVersion",
                 "g (uint8[2,2] x) => (uint8[2,2] y) <int8[2,2] w = {1, -65, 0, 0}, float s = {0.5}, uint8 z = {2}, "
                 "int8 zw = {0}>"
                 " { [d] y = QLinearMatMul(x, s, z, w, s, zw, s, z) }",
                 "",
                 {.opset = 21, .provider = "cpu"}},
        PassCase{"Dequantize",
                 "g (float[2] x) => (float[2] y) <int8[2] w = {1, -65}, float s = {0.5}, int8 z = {2}>"
                 " { [d] d = DequantizeLinear(w, s, z) [a] y = Add(x, d) }",
                 "", kCpu}),
    NameOfCase);

TEST(WeightsS8ToU8Result, AreShiftedBy128) {
  Model model = ParseGraph(
      "g (uint8[1,2] x) => (int32[1,2] y) <int8[2,2] w = {1, -65, 127, -128}, uint8 a = {1}, int8 z = {-3}>"
      " { [d] y = MatMulInteger(x, w, a, z) }",
      kCpu);
  ASSERT_TRUE(RunPass("weights-s8-to-u8", model, kCpu).ok());
  EXPECT_EQ(ShowInitializers(*model.graph), "a = uint8{1}\nw_s8_2_u8 = uint8{129, 63, 255, 0}\nz_s8_2_u8 = uint8{125}");
}

TEST(WeightsS8ToU8Result, SharedConstantsAreRefused) {
  Model model = ParseGraph(
      "g (uint8[2,2] x) => (int32[2,2] y, int32[2,2] v) <int8[2,2] w = {1, -65, 0, 0}>"
      " { [d] y = MatMulInteger(x, w) [e] v = MatMulInteger(x, w) }",
      kCpu);
  const auto result = RunPass("weights-s8-to-u8", model, kCpu);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind(), ErrorKind::kRefused);
}

}  // namespace
}  // namespace rulerun
