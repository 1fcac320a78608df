#include "tests/kernels/ops/run_op.h"

namespace rulerun {
namespace {

Tensor Small(Dims dims, int seed) {
  Tensor tensor(DataType::kFloat, std::move(dims));
  for (int64_t i = 0; i < tensor.count(); ++i) {
    tensor.mutable_data<float>()[i] = static_cast<float>((i * 7 + seed) % 11 - 5) / 4;
  }
  return tensor;
}

Tensor Last(const Tensor& t) { return RunToTensor({"Transpose", {t}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}}}); }

TEST(ChannelsLast, EqualsThePlainLayout) {
  const Tensor x = Small({2, 3, 5, 6}, 1), w = Small({4, 3, 3, 3}, 2), b = Small({4}, 3), z = Small({2, 4, 5, 6}, 4);
  const AttributeMap conv = {{"pads", std::vector<int64_t>{1, 1, 1, 1}}, {"activation", "Relu"}};
  const Tensor y = RunToTensor({"FusedConv", {x, w, b, z}, conv, 1, 1, "com.microsoft"});
  const Tensor last = RunToTensor({"NhwcFusedConv", {Last(x), w, b, Last(z)}, conv, 1, 1, "com.microsoft"});
  EXPECT_TRUE(SameContent(Last(y), last));

  const AttributeMap pool = {{"kernel_shape", std::vector<int64_t>{2, 3}}};
  for (const char* op : {"MaxPool", "AveragePool"}) {
    EXPECT_TRUE(SameContent(Last(RunToTensor({op, {x}, pool, 12})),
                            RunToTensor({op, {Last(x)}, pool, 12, 1, "com.ms.internal.nhwc"})))
        << op;
  }
  EXPECT_TRUE(SameContent(Last(RunToTensor({"GlobalAveragePool", {x}, {}, 1})),
                          RunToTensor({"GlobalAveragePool", {Last(x)}, {}, 1, 1, "com.ms.internal.nhwc"})));
}

}  // namespace
}  // namespace rulerun
