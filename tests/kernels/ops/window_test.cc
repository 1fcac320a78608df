// Convolutions and pools.
#include <numeric>

#include "tests/kernels/ops/run_op.h"

namespace rulerun {
namespace {

Tensor Counting(Dims dims, float first = 1) {
  Tensor tensor(DataType::kFloat, std::move(dims));
  std::iota(tensor.mutable_data<float>(), tensor.mutable_data<float>() + tensor.count(), first);
  return tensor;
}

// The convolution by its definition, in double, for 2-D and any group, stride, dilation and padding.
std::vector<double> SlowConv(const Tensor& x, const Tensor& w, int64_t group, int64_t stride, int64_t dilation,
                             int64_t pad, int64_t out_h, int64_t out_w) {
  std::vector<double> y;
  const int64_t in_group = w.dims()[1], out_group = w.dims()[0] / group, height = x.dims()[2], width = x.dims()[3];
  const int64_t kernel_h = w.dims()[2], kernel_w = w.dims()[3];
  for (int64_t n = 0; n < x.dims()[0]; ++n) {
    for (int64_t m = 0; m < w.dims()[0]; ++m) {
      for (int64_t o = 0; o < out_h * out_w; ++o) {
        double sum = 0;
        for (int64_t k = 0; k < in_group * kernel_h * kernel_w; ++k) {
          const int64_t c = m / out_group * in_group + k / (kernel_h * kernel_w);
          const int64_t h = o / out_w * stride - pad + k / kernel_w % kernel_h * dilation;
          const int64_t v = o % out_w * stride - pad + k % kernel_w * dilation;
          if (h < 0 || h >= height || v < 0 || v >= width) continue;
          sum += static_cast<double>(x.data<float>()[((n * x.dims()[1] + c) * height + h) * width + v]) *
                 static_cast<double>(w.data<float>()[m * in_group * kernel_h * kernel_w + k]);
        }
        y.push_back(sum);
      }
    }
  }
  return y;
}

Tensor Small(Dims dims, int seed) {
  Tensor tensor(DataType::kFloat, std::move(dims));
  for (int64_t i = 0; i < tensor.count(); ++i) {
    tensor.mutable_data<float>()[i] = static_cast<float>((i * 7 + seed) % 11 - 5) / 4;
  }
  return tensor;
}

TEST(Conv, EqualsItsDefinition) {
  struct Case {
    int64_t in_channels, out_channels, group, kernel, stride, dilation, pad, size;
  };
  const std::vector<Case> cases = {
      {3, 5, 1, 3, 1, 1, 1, 7}, {4, 6, 2, 3, 2, 1, 1, 9},  {6, 6, 6, 3, 1, 1, 1, 6}, {6, 12, 6, 3, 2, 1, 0, 8},
      {8, 3, 1, 1, 1, 1, 0, 5}, {40, 7, 1, 3, 1, 1, 1, 6}, {2, 2, 1, 3, 1, 2, 2, 9}, {5, 5, 5, 5, 3, 1, 2, 11},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << c.in_channels << " to " << c.out_channels << " in " << c.group << " groups");
    const Tensor x = Small({2, c.in_channels, c.size, c.size}, 1);
    const Tensor w = Small({c.out_channels, c.in_channels / c.group, c.kernel, c.kernel}, 3);
    const int64_t out = (c.size + 2 * c.pad - (c.kernel - 1) * c.dilation - 1) / c.stride + 1;
    const AttributeMap attributes = {{"group", c.group},
                                     {"strides", std::vector<int64_t>(2, c.stride)},
                                     {"dilations", std::vector<int64_t>(2, c.dilation)},
                                     {"pads", std::vector<int64_t>(4, c.pad)}};
    ExpectOutput({"Conv", {x, w}, attributes, 11}, {2, c.out_channels, out, out},
                 SlowConv(x, w, c.group, c.stride, c.dilation, c.pad, out, out), 1e-4);
  }
}

TEST(Conv, OneAndThreeSpatialAxes) {
  ExpectOutput({"Conv", {Counting({1, 1, 5}), Floats({1, 1, 2}, {1, -1})}, {}, 11}, {1, 1, 4}, {-1, -1, -1, -1});
  ExpectOutput({"Conv", {Counting({1, 2, 2, 2, 2}), Floats({1, 2, 2, 2, 2}, std::vector<float>(16, 1))}, {}, 11},
               {1, 1, 1, 1, 1}, {136});
}

TEST(Conv, AutoPadAndBias) {
  const std::vector<float> ones(9, 1);
  const OpCall call = {"Conv",
                       {Counting({1, 1, 3, 3}), Floats({1, 1, 3, 3}, ones), Floats({1}, {100})},
                       {{"auto_pad", std::string("SAME_UPPER")}},
                       11};
  ExpectOutput(call, {1, 1, 3, 3}, {112, 121, 116, 127, 145, 133, 124, 139, 128});
}

TEST(Conv, FusedFormAddsThenActivates) {
  const OpCall call = {
      "FusedConv",
      {Floats({1, 1, 1, 2}, {1, -3}), Floats({1, 1, 1, 1}, {2}), Floats({1}, {1}), Floats({1, 1, 1, 2}, {0.5f, 0.5f})},
      {{"activation", std::string("LeakyRelu")}, {"activation_params", std::vector<float>{0.1f}}},
      1,
      1,
      "com.microsoft"};
  ExpectOutput(call, {1, 1, 1, 2}, {3.5, -0.45}, 1e-6);
}

TEST(Conv, RefusesWhatDoesNotFit) {
  const Tensor x = Counting({1, 2, 4, 4});
  EXPECT_NE(ErrorOf({"Conv", {x, Counting({1, 3, 3, 3})}, {}, 11}), "");
  EXPECT_NE(ErrorOf({"Conv", {x, Counting({1, 2, 6, 6})}, {}, 11}), "");
  EXPECT_NE(ErrorOf({"Conv", {x, Counting({1, 2, 3, 3})}, {{"strides", std::vector<int64_t>{0, 1}}}, 11}), "");
  EXPECT_NE(ErrorOf({"Conv", {x, Counting({1, 2, 3, 3})}, {{"group", int64_t{0}}}, 11}), "");
  ExpectOutput({"Conv", {Counting({0, 2, 4, 4}), Counting({1, 2, 3, 3})}, {}, 11}, {0, 1, 2, 2}, {});
}

TEST(ConvTranspose, SpreadsEachElement) {
  const OpCall call = {"ConvTranspose",
                       {Floats({1, 1, 2, 2}, {1, 2, 3, 4}), Floats({1, 1, 2, 2}, {1, 1, 1, 1})},
                       {{"strides", std::vector<int64_t>{2, 2}}},
                       11};
  ExpectOutput(call, {1, 1, 4, 4}, {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4});
}

TEST(Pool, MaximumOverTypes) {
  const AttributeMap attributes = {{"kernel_shape", std::vector<int64_t>{2, 2}}};
  ExpectOutput({"MaxPool", {Counting({1, 1, 3, 3})}, attributes, 12}, {1, 1, 2, 2}, {5, 6, 8, 9});
  ExpectOutput({"MaxPool", {Tensor::Of<int8_t>({1, 1, 2, 2}, {-1, -2, -3, -4})}, attributes, 12}, {1, 1, 1, 1}, {-1});
  ExpectOutput({"MaxPool", {Tensor::Of<uint8_t>({1, 1, 2, 2}, {1, 200, 3, 4})}, attributes, 12}, {1, 1, 1, 1}, {200});
}

TEST(Pool, MaximumWithIndicesAndCeiling) {
  const AttributeMap attributes = {
      {"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}, {"ceil_mode", int64_t{1}}};
  const Result<std::vector<Tensor>> both = RunOp({"MaxPool", {Counting({1, 1, 3, 3})}, attributes, 12, 2});
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(ToDoubles(both->at(0)), (std::vector<double>{5, 6, 8, 9}));
  EXPECT_EQ(ToInts(both->at(1)), (std::vector<int64_t>{4, 5, 7, 8}));
}

// ONNX Runtime divides towards zero, so that one window may hang over by less than a stride.
TEST(Pool, OneWindowMayHangOver) {
  const AttributeMap attributes = {{"kernel_shape", std::vector<int64_t>{2}}, {"strides", std::vector<int64_t>{2}}};
  ExpectOutput({"MaxPool", {Counting({1, 1, 1})}, attributes, 12}, {1, 1, 1}, {1});
  EXPECT_NE(ErrorOf({"MaxPool", {Counting({1, 1, 1})}, {{"kernel_shape", std::vector<int64_t>{3}}}, 12}), "");
}

TEST(Pool, AverageCountsPaddingOnlyWhereAsked) {
  AttributeMap attributes = {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"pads", std::vector<int64_t>{1, 1, 0, 0}}};
  ExpectOutput({"AveragePool", {Counting({1, 1, 2, 2})}, attributes, 19}, {1, 1, 2, 2}, {1, 1.5, 2, 2.5});
  attributes["count_include_pad"] = int64_t{1};
  ExpectOutput({"AveragePool", {Counting({1, 1, 2, 2})}, attributes, 19}, {1, 1, 2, 2}, {0.25, 0.75, 1, 2.5});
  ExpectOutput({"GlobalAveragePool", {Counting({1, 2, 3})}, {}, 1}, {1, 2, 1}, {2, 5});
  ExpectOutput({"GlobalMaxPool", {Counting({1, 2, 3})}, {}, 1}, {1, 2, 1}, {3, 6});
}

}  // namespace
}  // namespace rulerun
