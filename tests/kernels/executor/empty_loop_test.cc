// Loops whose body never runs.
#include <gtest/gtest.h>

#include "engine/graph/load.h"
#include "kernels/executor/executor.h"

namespace rulerun {
namespace {

TensorMap RunText(std::string_view text, const TensorMap& inputs) {
  Result<Model> model = ParseModelText(text, {{"", 17}}, ExternalSchemas());
  if (!model.ok()) {
    ADD_FAILURE() << ToString(model.error());
    return {};
  }
  const auto executor = Executor::Prepare(*model->graph);
  if (!executor.ok()) {
    ADD_FAILURE() << ToString(executor.error());
    return {};
  }
  Result<TensorMap> outputs = (*executor)->Run(inputs);
  if (!outputs.ok()) {
    ADD_FAILURE() << ToString(outputs.error());
    return {};
  }
  return std::move(outputs).value();
}

TEST(EmptyLoop, CollectsNothingInTheBodysShape) {
  const TensorMap outputs = RunText(R"(g (int64 n, float[2] x) => (float[2] last, float[a, b, c] all) {
    last, all = Loop (n, , x) <
      body = b (int64 i, bool go, float[2] v) => (bool again, float[2] w, float[2, 3] copy)
      <float[2, 3] three = {1, 2, 3, 4, 5, 6}> {
        again = Identity(go)
        w = Add(v, v)
        copy = Identity(three)
      }
    >
  })",
                                    {{"n", Tensor::Scalar(int64_t{0})}, {"x", Tensor::Of<float>({2}, {1, 2})}});
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(ToDoubles(outputs.at("last")), (std::vector<double>{1, 2}));
  EXPECT_EQ(outputs.at("all").dims(), (Dims{0, 2, 3}));
  EXPECT_EQ(outputs.at("all").type(), DataType::kFloat);
}

TEST(EmptyLoop, ScansOverNothing) {
  const TensorMap outputs =
      RunText(R"(g (float[2] start, float[n, 2] x) => (float[2] last, float[a, b] all) {
    last, all = Scan <num_scan_inputs = 1, scan_output_axes = [1],
      body = b (float[2] v, float[2] e) => (float[2] w, float[2] copy) {
        w = Add(v, e)
        copy = Identity(w)
      }
    > (start, x)
  })",
              {{"start", Tensor::Of<float>({2}, {1, 2})}, {"x", Tensor(DataType::kFloat, {0, 2})}});
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(ToDoubles(outputs.at("last")), (std::vector<double>{1, 2}));
  EXPECT_EQ(outputs.at("all").dims(), (Dims{2, 0}));
}

}  // namespace
}  // namespace rulerun
