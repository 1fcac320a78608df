#include <cmath>
#include <limits>

#include "tests/kernels/ops/run_op.h"

namespace rulerun {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Elementwise, BroadcastsBothWays) {
  ExpectOutput({"Add", {Floats({2, 1}, {1, 2}), Floats({3}, {10, 20, 30})}}, {2, 3}, {11, 21, 31, 12, 22, 32});
  ExpectOutput({"Sub", {Floats({2, 2}, {1, 2, 3, 4}), Floats({}, {1})}}, {2, 2}, {0, 1, 2, 3});
  ExpectOutput({"Mul", {Floats({1, 2, 1}, {2, 3}), Floats({2, 1, 2}, {1, 2, 3, 4})}}, {2, 2, 2},
               {2, 4, 3, 6, 6, 8, 9, 12});
  ExpectOutput({"Add", {Floats({0, 3}, {}), Floats({1, 3}, {1, 2, 3})}}, {0, 3}, {});
}

TEST(Elementwise, RefusesShapesThatDoNotBroadcast) {
  EXPECT_NE(ErrorOf({"Add", {Floats({2}, {1, 2}), Floats({3}, {1, 2, 3})}}).find("broadcast"), std::string::npos);
}

TEST(Elementwise, OldVersionsStretchFromAnAxis) {
  const AttributeMap attributes = {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}};
  ExpectOutput({"Add", {Floats({2, 3}, {0, 0, 0, 0, 0, 0}), Floats({2}, {1, 2})}, attributes, 6}, {2, 3},
               {1, 1, 1, 2, 2, 2});
}

TEST(Elementwise, IntegersWrapAndNeverTrap) {
  const auto ints = [](const std::vector<int32_t>& values) { return Tensor::Vector(values); };
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min(), kMax = std::numeric_limits<int32_t>::max();
  ExpectOutput({"Add", {ints({kMax}), ints({1})}}, {1}, {kMin});
  ExpectOutput({"Mul", {ints({1 << 20}), ints({1 << 20})}}, {1}, {0});
  ExpectOutput({"Div", {ints({7, -7, 7, kMin}), ints({2, 2, 0, -1})}}, {4}, {3, -3, 0, kMin});
  ExpectOutput({"Mod", {ints({7, -7, 7, kMin}), ints({3, 3, -3, -1})}}, {4}, {1, 2, -2, 0});
  ExpectOutput({"Mod", {ints({7, -7}), ints({3, 3})}, {{"fmod", int64_t{1}}}}, {2}, {1, -1});
  ExpectOutput({"Neg", {ints({kMin, 5})}}, {2}, {kMin, -5});
  ExpectOutput({"Abs", {ints({kMin, -5})}}, {2}, {kMin, 5});
}

TEST(Elementwise, Powers) {
  ExpectOutput({"Pow", {Floats({3}, {1, 2, 3}), Floats({}, {3})}}, {3}, {1, 8, 27});
  ExpectOutput({"Pow", {Floats({2}, {4, 9}), Floats({2}, {0.5f, 2})}}, {2}, {2, 81}, 1e-5);
  ExpectOutput({"Pow", {Tensor::Vector<int64_t>({-2, 3}), Tensor::Vector<int32_t>({3, 2})}, {}, 15}, {2}, {-8, 9});
}

TEST(Elementwise, NanWinsInMaxAndMin) {
  const Tensor max = RunToTensor({"Max", {Floats({3}, {kNan, 1, 2}), Floats({3}, {1, kNan, 3})}});
  EXPECT_TRUE(std::isnan(max.data<float>()[0]));
  EXPECT_TRUE(std::isnan(max.data<float>()[1]));
  EXPECT_EQ(max.data<float>()[2], 3);
  ExpectOutput({"Min", {Tensor::Vector<int8_t>({1, -5}), Tensor::Vector<int8_t>({0, 9})}}, {2}, {0, -5});
  ExpectOutput({"Mean", {Floats({2}, {1, 2}), Floats({1}, {3}), Floats({2}, {5, 4})}}, {2}, {3, 3});
}

TEST(Elementwise, ClipBoundsAreAttributesOrInputs) {
  const Tensor x = Floats({3}, {-2, 0, 2});
  ExpectOutput({"Clip", {x}, {{"min", -1.0f}, {"max", 1.0f}}, 6}, {3}, {-1, 0, 1});
  ExpectOutput({"Clip", {x, {}, Floats({}, {1})}}, {3}, {-2, 0, 1});
  ExpectOutput({"Clip", {Tensor::Vector<int8_t>({-9, 9}), Tensor::Scalar<int8_t>(-3)}}, {2}, {-3, 9});
}

TEST(Elementwise, ComparisonsAndLogic) {
  ExpectOutput({"Less", {Floats({3}, {1, 2, kNan}), Floats({}, {2})}}, {3}, {1, 0, 0});
  ExpectOutput({"GreaterOrEqual", {Tensor::Vector<uint8_t>({1, 200}), Tensor::Vector<uint8_t>({1, 201})}, {}, 16}, {2},
               {1, 0});
  ExpectOutput({"Equal", {Tensor({2}, {"a", "b"}), Tensor({1}, {"b"})}, {}, 19}, {2}, {0, 1});
  const Tensor yes_no = Tensor::Vector<int64_t>({1, 0});
  const Tensor mask = RunToTensor({"Cast", {yes_no}, {{"to", int64_t{9}}}});
  ExpectOutput({"Not", {mask}, {}, 1}, {2}, {0, 1});
  ExpectOutput({"Where", {mask, Floats({}, {1}), Floats({2, 1}, {5, 6})}, {}, 16}, {2, 2}, {1, 5, 1, 6});
}

TEST(Elementwise, UnarySpotChecks) {
  const Tensor x = Floats({5}, {-2, -0.5f, 0, 0.5f, 2});
  ExpectOutput({"Relu", {x}}, {5}, {0, 0, 0, 0.5, 2});
  ExpectOutput({"Sigmoid", {x}}, {5}, {0.119203, 0.377541, 0.5, 0.622459, 0.880797}, 1e-6);
  ExpectOutput({"Tanh", {x}}, {5}, {-0.964028, -0.462117, 0, 0.462117, 0.964028}, 1e-6);
  ExpectOutput({"Erf", {x}}, {5}, {-0.995322, -0.520500, 0, 0.520500, 0.995322}, 1e-6);
  ExpectOutput({"Exp", {x}}, {5}, {0.135335, 0.606531, 1, 1.648721, 7.389056}, 1e-6);
  ExpectOutput({"Round", {Floats({4}, {0.5f, 1.5f, -2.5f, 2.4f})}, {}, 11}, {4}, {0, 2, -2, 2});
  ExpectOutput({"HardSwish", {x}, {}, 14}, {5}, {-1.0 / 3, -0.5 * 2.5 / 6, 0, 0.5 * 3.5 / 6, 2.0 * 5 / 6}, 1e-6);
  ExpectOutput({"Gelu", {x}, {}, 20}, {5}, {-0.0455003, -0.154269, 0, 0.345731, 1.9545}, 1e-5);
  ExpectOutput({"LeakyRelu", {x}, {{"alpha", 0.5f}}, 6}, {5}, {-1, -0.25, 0, 0.5, 2});
  ExpectOutput({"IsInf", {Floats({3}, {kInf, -kInf, kNan})}, {{"detect_negative", int64_t{0}}}, 10}, {3}, {1, 0, 0});
}

TEST(Elementwise, VectorFunctionsKeepNanAndSaturate) {
  for (const std::string_view op : {"Sigmoid", "Tanh", "Erf", "Exp"}) {
    SCOPED_TRACE(op);
    const Tensor y = RunToTensor({op, {Floats({3}, {kNan, 1000, -1000})}});
    EXPECT_TRUE(std::isnan(y.data<float>()[0]));
    EXPECT_EQ(y.data<float>()[1], op == "Exp" ? kInf : 1.0f);
    EXPECT_NEAR(y.data<float>()[2], op == "Sigmoid" || op == "Exp" ? 0.0f : -1.0f, 1e-7);
  }
}

TEST(Elementwise, GeluOfMicrosoft) {
  const Tensor x = Floats({1, 2}, {-1, 0.5f}), bias = Floats({2}, {0.5f, 0.5f});
  const std::vector<double> exact = {-0.158655, 0.345731}, shifted = {-0.154269, 0.841345};
  ExpectOutput({"Gelu", {x}, {}, 1, 1, "com.microsoft"}, {1, 2}, exact, 1e-5);
  ExpectOutput({"BiasGelu", {x, bias}, {}, 1, 1, "com.microsoft"}, {1, 2}, shifted, 1e-5);
  ExpectOutput({"FastGelu", {x, bias}, {}, 1, 1, "com.microsoft"}, {1, 2}, shifted, 1e-3);
  ExpectOutput({"QuickGelu", {x}, {{"alpha", 1.0f}}, 1, 1, "com.microsoft"}, {1, 2}, {-0.268941, 0.311230}, 1e-5);
  EXPECT_NE(ErrorOf({"BiasGelu", {x, Floats({3}, {1, 2, 3})}, {}, 1, 1, "com.microsoft"}), "");
}

TEST(Elementwise, HalfTypesRunTheFloatKernelAndRoundOnce) {
  Tensor half(DataType::kFloat16, {2});
  half.mutable_data<uint16_t>()[0] = FloatToHalf(1.0f);
  half.mutable_data<uint16_t>()[1] = FloatToHalf(3.0f);
  const Tensor y = RunToTensor({"Div", {half, half}});
  EXPECT_EQ(y.type(), DataType::kFloat16);
  ExpectOutput({"Reciprocal", {half}}, {2}, {1, HalfToFloat(FloatToHalf(1.0f / 3))});
}

TEST(Elementwise, SaysWhichTypesHaveAKernel) {
  EXPECT_NE(ErrorOf({"Sin", {Ints({1})}, {}, 7}).find("no kernel for Sin(int64)"), std::string::npos);
  EXPECT_NE(ErrorOf({"NoSuchOperator", {Ints({1})}}).find("NoSuchOperator"), std::string::npos);
}

}  // namespace
}  // namespace rulerun
