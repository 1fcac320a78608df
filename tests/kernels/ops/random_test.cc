// Operators that draw random numbers. The numbers wanted here are what ONNX Runtime 1.30 gives for the same seeds.
#include <cmath>
#include <numeric>

#include "tests/kernels/ops/run_op.h"

namespace rulerun {
namespace {

const std::vector<int64_t> kThree = {3};

TEST(Random, SeededNumbersAreOnnxRuntimes) {
  ExpectOutput(
      {"RandomNormal", {}, {{"seed", 5.0f}, {"mean", 1.0f}, {"scale", 2.0f}, {"shape", std::vector<int64_t>{4}}}, 1},
      {4}, {-0.4456028938293457, 2.9439773559570312, -0.36004936695098877, 1.5499088764190674});
  AttributeMap uniform = {{"seed", 7.0f}, {"low", -1.0f}, {"high", 3.0f}, {"shape", kThree}};
  ExpectOutput({"RandomUniform", {}, uniform, 1}, {3}, {-0.9997808933258057, 2.683058023452759, 0.15694904327392578});
  uniform["dtype"] = static_cast<int64_t>(DataType::kDouble);
  ExpectOutput({"RandomUniform", {}, uniform, 1}, {3}, {2.683058067861169, -0.15779630707513714, 1.1308572176747012});
  ExpectOutput({"RandomUniformLike", {Ints({1, 2, 3})}, uniform, 1}, {3},
               {2.683058067861169, -0.15779630707513714, 1.1308572176747012});
}

TEST(Random, WithoutASeedEveryRunIsTheSame) {
  const Tensor like(DataType::kFloat, {10000});
  const std::vector<double> first = ToDoubles(RunToTensor({"RandomNormalLike", {like}, {{"mean", 3.0f}}, 1}));
  EXPECT_EQ(first, ToDoubles(RunToTensor({"RandomNormalLike", {like}, {{"mean", 3.0f}}, 1})));
  EXPECT_NEAR(std::accumulate(first.begin(), first.end(), 0.0) / 10000, 3, 0.05);
}

TEST(Dropout, DropsOnlyInTraining) {
  const Tensor x = Floats({8}, {1, 2, 3, 4, 5, 6, 7, 8}), ratio = Tensor::Scalar(0.25f);
  OpCall call{"Dropout", {x, ratio, Tensor::Scalar(true)}, {{"seed", int64_t{9}}}, 13, 2};
  ExpectOutput(call, {8}, {0, 0, 4, 0, 6.666666507720947, 8, 9.333333015441895, 0});
  call.inputs[2] = Tensor::Scalar(false);
  ExpectOutput(call, {8}, {1, 2, 3, 4, 5, 6, 7, 8});
  call.inputs = {x, Tensor::Scalar(1.0f), Tensor::Scalar(true)};
  EXPECT_NE(ErrorOf(call), "");
}

}  // namespace
}  // namespace rulerun
