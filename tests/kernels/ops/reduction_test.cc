// Reductions, normalizations and orders.
#include <cmath>
#include <limits>

#include "tests/kernels/ops/run_op.h"

namespace rulerun {
namespace {

const std::vector<float> kSix = {1, 2, 3, 4, 5, 6};

TEST(Reduce, AxesAreAttributesOrInputs) {
  const Tensor x = Floats({2, 3}, kSix);
  ExpectOutput({"ReduceSum", {x}, {{"axes", std::vector<int64_t>{0}}}, 11}, {1, 3}, {5, 7, 9});
  ExpectOutput({"ReduceSum", {x, Ints({-1})}, {{"keepdims", int64_t{0}}}}, {2}, {6, 15});
  ExpectOutput({"ReduceSum", {x}}, {1, 1}, {21});
  ExpectOutput({"ReduceSum", {x}, {{"noop_with_empty_axes", int64_t{1}}}}, {2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_NE(ErrorOf({"ReduceSum", {x, Ints({2})}}), "");
  EXPECT_NE(ErrorOf({"ReduceSum", {x, Ints({0, 0})}}), "");
}

TEST(Reduce, EveryKind) {
  const Tensor x = Floats({1, 3}, {1, -2, 4});
  const std::vector<std::pair<std::string_view, double>> wanted = {
      {"ReduceSum", 3},
      {"ReduceMean", 1},
      {"ReduceProd", -8},
      {"ReduceMax", 4},
      {"ReduceMin", -2},
      {"ReduceL1", 7},
      {"ReduceSumSquare", 21},
      {"ReduceL2", std::sqrt(21.0)},
      {"ReduceLogSum", std::log(3.0)},
      {"ReduceLogSumExp", std::log(std::exp(1.0) + std::exp(-2.0) + std::exp(4.0))},
  };
  for (const auto& [op, value] : wanted) {
    ExpectOutput({op, {x}, {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}}, 11}, {1}, {value}, 1e-5);
  }
  ExpectOutput({"ReduceMax", {Tensor::Of<int8_t>({2, 2}, {1, -1, -5, 7}), Ints({0})}, {}, 18}, {1, 2}, {1, 7});
  ExpectOutput({"ReduceMin", {Tensor::Of<uint8_t>({2, 2}, {1, 9, 5, 7}), Ints({1})}, {}, 18}, {2, 1}, {1, 5});
}

TEST(Reduce, MiddleAxesAndEmptyOnes) {
  Tensor x(DataType::kFloat, {2, 2, 2, 2});
  for (int i = 0; i < 16; ++i) x.mutable_data<float>()[i] = static_cast<float>(i);
  ExpectOutput({"ReduceSum", {x, Ints({0, 2})}, {{"keepdims", int64_t{0}}}}, {2, 2}, {20, 24, 36, 40});
  ExpectOutput({"ReduceSum", {Floats({0, 2}, {}), Ints({0})}}, {1, 2}, {0, 0});
  ExpectOutput({"ReduceSum", {Floats({0, 2}, {}), Ints({1})}}, {0, 1}, {});
}

TEST(Reduce, ArgMaxTakesTheFirstUnlessToldOtherwise) {
  const Tensor x = Tensor::Of<int8_t>({1, 4}, {3, 7, 7, 1});
  ExpectOutput({"ArgMax", {x}, {{"axis", int64_t{1}}}}, {1, 1}, {1});
  ExpectOutput({"ArgMax", {x}, {{"axis", int64_t{1}}, {"select_last_index", int64_t{1}}}}, {1, 1}, {2});
  ExpectOutput({"ArgMin", {x}, {{"axis", int64_t{-1}}, {"keepdims", int64_t{0}}}}, {1}, {3});
  EXPECT_NE(ErrorOf({"ArgMax", {Floats({0}, {})}}), "");
}

TEST(Softmax, OneAxisOrAllFromOneOn) {
  const Tensor x = Floats({1, 2, 2}, {0, 0, 0, std::log(3.0f)});
  ExpectOutput({"Softmax", {x}}, {1, 2, 2}, {0.5, 0.5, 0.25, 0.75}, 1e-6);
  ExpectOutput({"Softmax", {x}, {{"axis", int64_t{1}}}}, {1, 2, 2}, {0.5, 0.25, 0.5, 0.75}, 1e-6);
  ExpectOutput({"Softmax", {x}, {}, 11}, {1, 2, 2}, {1 / 6.0, 1 / 6.0, 1 / 6.0, 0.5}, 1e-6);
  ExpectOutput({"LogSoftmax", {x}, {{"axis", int64_t{1}}}}, {1, 2, 2},
               {std::log(0.5), std::log(0.25), std::log(0.5), std::log(0.75)}, 1e-6);
  ExpectOutput({"Hardmax", {x}}, {1, 2, 2}, {1, 0, 0, 1});
}

TEST(Normalization, BatchInstanceGroup) {
  const Tensor x = Floats({1, 2, 2}, {1, 3, 2, 6});
  const Tensor one = Floats({2}, {1, 1}), zero = Floats({2}, {0, 0});
  ExpectOutput({"BatchNormalization", {x, one, zero, Floats({2}, {2, 4}), Floats({2}, {1, 4})}, {{"epsilon", 0.0f}}, 9},
               {1, 2, 2}, {-1, 1, -1, 1}, 1e-6);
  ExpectOutput({"InstanceNormalization", {x, one, zero}, {{"epsilon", 0.0f}}, 6}, {1, 2, 2}, {-1, 1, -1, 1}, 1e-6);
  ExpectOutput({"GroupNormalization",
                {Floats({1, 2, 1}, {1, 3}), one, zero},
                {{"num_groups", int64_t{1}}, {"epsilon", 0.0f}},
                21},
               {1, 2, 1}, {-1, 1}, 1e-6);
}

TEST(Normalization, Layer) {
  const Tensor x = Floats({2, 2}, {1, 3, -4, 4});
  const OpCall call = {"LayerNormalization", {x, Floats({2}, {1, 2}), Floats({2}, {0, 1})}, {{"epsilon", 0.0f}}, 17, 3};
  const Result<std::vector<Tensor>> outputs = RunOp(call);
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(ToDoubles(outputs->at(0)), (std::vector<double>{-1, 3, -1, 3}));
  EXPECT_EQ(ToDoubles(outputs->at(1)), (std::vector<double>{2, 0}));
  EXPECT_EQ(ToDoubles(outputs->at(2)), (std::vector<double>{1, 0.25}));
  ExpectOutput({"RMSNormalization", {Floats({2}, {3, 4}), Floats({2}, {1, 1})}, {{"epsilon", 0.0f}}, 23}, {2},
               {3 / std::sqrt(12.5), 4 / std::sqrt(12.5)}, 1e-6);
}

TEST(Normalization, SkipLayerOfMicrosoft) {
  const Tensor x = Floats({1, 2, 2}, {1, 2, 3, 4}), skip = Floats({2, 2}, {0, 1, 0, 1}), one = Floats({2}, {1, 1});
  const OpCall call = {"SkipLayerNormalization", {x, skip, one}, {{"epsilon", 0.0f}}, 1, 4, "com.microsoft"};
  const Result<std::vector<Tensor>> outputs = RunOp(call);
  ASSERT_TRUE(outputs.ok()) << ToString(outputs.error());
  EXPECT_EQ(ToDoubles(outputs->at(0)), (std::vector<double>{-1, 1, -1, 1}));
  EXPECT_EQ(ToDoubles(outputs->at(3)), (std::vector<double>{1, 3, 3, 5}));
}

// The order of the partial sums shows in the last bit.
TEST(Reduce, AddsInTheOrderOfOnnxRuntime) {
  const float big = 0x1p24f;
  ExpectOutput({"ReduceSum", {Floats({1, 8}, {big, 1, -big, 0, 0, 1, 0, 0}), Ints({1})}}, {1, 1}, {2});
  ExpectOutput({"ReduceSum", {Floats({3}, {big, 1, -big}), Ints({0})}}, {1}, {0});
}

TEST(Order, TopK) {
  const Tensor x = Floats({1, 4}, {1, 4, 4, 2});
  const Result<std::vector<Tensor>> top = RunOp({"TopK", {x, Ints({3})}, {}, 11, 2});
  ASSERT_TRUE(top.ok());
  EXPECT_EQ(ToDoubles(top->at(0)), (std::vector<double>{4, 4, 2}));
  EXPECT_EQ(ToInts(top->at(1)), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_NE(ErrorOf({"TopK", {x, Ints({5})}, {}, 11, 2}), "");
}

TEST(Order, CumSum) {
  const Tensor x = Floats({4}, {1, 2, 3, 4});
  ExpectOutput({"CumSum", {x, Ints({0})}, {}, 14}, {4}, {1, 3, 6, 10});
  ExpectOutput({"CumSum", {x, Ints({0})}, {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}}, 14}, {4}, {9, 7, 4, 0});
}

}  // namespace
}  // namespace rulerun
