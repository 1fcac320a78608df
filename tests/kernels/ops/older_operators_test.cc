// Operators that ONNX has no node test for.
#include <cmath>

#include "tests/kernels/ops/run_op.h"

namespace rulerun {
namespace {

TEST(GlobalLpPool, TakesTheNormOfEachChannel) {
  const Tensor x = Floats({1, 2, 2, 2}, {1, -2, 2, 4, 0, 3, 0, -4});
  ExpectOutput({"GlobalLpPool", {x}}, {1, 2, 1, 1}, {5, 5}, 1e-6);
  ExpectOutput({"GlobalLpPool", {x}, {{"p", int64_t{1}}}}, {1, 2, 1, 1}, {9, 7}, 1e-6);
  ExpectOutput({"GlobalLpPool", {x}, {{"p", int64_t{3}}}}, {1, 2, 1, 1}, {std::cbrt(81.0), std::cbrt(91.0)}, 1e-5);
}

TEST(ImageScaler, ScalesAndAddsTheBiasOfTheChannel) {
  const Tensor x = Floats({2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const AttributeMap attributes = {{"scale", 2.0f}, {"bias", std::vector<float>{10, -1}}};
  ExpectOutput({"ImageScaler", {x}, attributes, 1}, {2, 2, 1, 2}, {12, 14, 5, 7, 20, 22, 13, 15});
  EXPECT_NE(ErrorOf({"ImageScaler", {x}, {{"bias", std::vector<float>{1}}}, 1}), "");
}

TEST(SimplifiedLayerNormalization, DividesByTheRootMeanSquare) {
  const Tensor x = Floats({2, 2}, {3, 4, 0, -5}), scale = Floats({2}, {2, 10});
  const double first = std::sqrt(12.5);
  ExpectOutput({"SimplifiedLayerNormalization", {x, scale}, {}, 1}, {2, 2}, {6 / first, 40 / first, 0, -50 / first},
               1e-4);
}

}  // namespace
}  // namespace rulerun
