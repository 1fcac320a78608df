#include "engine/passes/layout/nchwc.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/passes/layout/filter_layout.h"
#include "layout_test_util.h"

namespace rulerun {
namespace {

// Blocks of 8 channels. Weights named w8 read 8 channels, w3 3; both make 8.
std::string Block(const std::string& outputs, const std::string& nodes, int opset = 17, int64_t block = 8) {
  PassRun run;
  run.opset = opset;
  run.provider = "cpu";
  run.block = block;
  const std::string constants = Zeros("float", {8, 8, 1, 1}, "w8") + ", " + Zeros("float", {8, 3, 1, 1}, "w3") + ", " +
                                Zeros("float", {4, 8, 1, 1}, "w84") + ", " + Zeros("float", {4}, "b4") + ", " +
                                Zeros("float", {8, 1, 3, 3}, "depth") + ", " + Zeros("float", {12, 8, 1, 1}, "w12") +
                                ", " + Zeros("float", {8, 8, 3, 3}, "k3") + ", " + Zeros("float", {8, 1, 1}, "scale") +
                                ", " + Zeros("float", {8}, "zeros");
  return Run("nchwc",
             "g (float[1,8,6,6] x, float[1,3,6,6] rgb, float[1,6,6,8] last, float[1,8,H,W] open) => (" + outputs +
                 ") <" + constants + "> { " + nodes + " }",
             run);
}

constexpr const char* kConv = "Conv(ReorderInput(x), float[8, 8, 1, 1])";

TEST(Nchwc, Convolution) {
  EXPECT_EQ(Block("float y", "y = Conv(x, w8)"), "y = ReorderOutput<channels=8>(" + std::string(kConv) + ")");
}

TEST(Nchwc, PlainInputOfFewChannels) {
  EXPECT_EQ(Block("float y", "y = Conv(rgb, w3)"), "y = ReorderOutput<channels=8>(Conv(rgb, float[8, 3, 1, 1]))");
}

TEST(Nchwc, OutputChannelsAreRoundedUp) {
  EXPECT_EQ(Block("float y", "y = Conv(x, w84, b4)"),
            "y = ReorderOutput<channels=4>(Conv(ReorderInput(x), float[8, 8, 1, 1], {0, 0, 0, 0, 0, 0, 0, 0}))");
}

TEST(Nchwc, Depthwise) {
  EXPECT_EQ(Block("float y", "y = Conv<group=8, kernel_shape=[3,3]>(x, depth)", 17, 16),
            "y = ReorderOutput<channels=8>(Conv<group=16, kernel_shape=[3, 3]>(ReorderInput(x), float[16, 1, 3, 3]))");
}

TEST(Nchwc, WhatIsNotConverted) {
  EXPECT_EQ(Block("float y", "y = Conv(x, x)"), "y = Conv(x, x)");  // weights that are no constant
  EXPECT_EQ(Block("float y", "y = Conv(x, w8)", 17, 0), "y = Conv(x, " + std::string("float[8, 8, 1, 1])"));
  EXPECT_EQ(Block("float y", "y = Relu(x)"), "y = Relu(x)");  // nothing blocked before
  EXPECT_EQ(Block("float y", "y = MaxPool<kernel_shape=[2,2]>(rgb)"), "y = MaxPool<kernel_shape=[2, 2]>(rgb)");
}

TEST(Nchwc, ChainsStayBlocked) {
  EXPECT_EQ(Block("float y", "a = Conv(x, w8) p = GlobalAveragePool(a) y = Conv(p, w8)"),
            "y = ReorderOutput<channels=8>(Conv(GlobalAveragePool(" + std::string(kConv) + "), float[8, 8, 1, 1]))");
}

TEST(Nchwc, PlainReadersGetThePlainLayout) {
  EXPECT_EQ(Block("float y, float z", "a = Conv(x, w8) y = Elu(a) z = Conv(a, w8)"),
            "y = Elu(ReorderOutput<channels=8>(" + std::string(kConv) + ")); z = ReorderOutput<channels=8>(Conv(" +
                kConv + ", float[8, 8, 1, 1]))");
}

TEST(Nchwc, Pooling) {
  Model model = ParseGraph("g (float[1,8,6,6] x) => (float y) { y = MaxPool<kernel_shape=[2,2], strides=[2,1]>(x) }");
  PassRun run;
  run.provider = "cpu";
  ASSERT_TRUE(RunOn("nchwc", model, run)->modified);
  const Node& reorder = *model.graph->Producer(*model.graph->Find("y"));
  const Node& pool = *model.graph->Producer(reorder.input(0));
  EXPECT_EQ(pool.Op(), "com.microsoft.nchwc.MaxPool");
  EXPECT_EQ(IntsOr(pool.attributes, "strides", {}), (std::vector<int64_t>{2, 1}));
}

TEST(Nchwc, PoolingThatDividesOtherwise) {
  const std::string attributes = "<ceil_mode=1, count_include_pad=1, kernel_shape=[2,2]>";
  EXPECT_EQ(Block("float y", "y = AveragePool" + attributes + "(x)"),
            "y = AveragePool<ceil_mode=1, count_include_pad=1, kernel_shape=[2, 2]>(x)");
}

TEST(Nchwc, GlobalPoolingNotBehindAPlainNode) {
  EXPECT_EQ(Block("float y", "a = Elu(x) y = GlobalMaxPool(a)"), "y = GlobalMaxPool(Elu(x))");
  EXPECT_EQ(Block("float y", "a = Conv(x, w8) y = GlobalMaxPool(a)"),
            "y = ReorderOutput<channels=8>(GlobalMaxPool(" + std::string(kConv) + "))");
}

TEST(Nchwc, ActivationBecomesPartOfTheConvolution) {
  EXPECT_EQ(Block("float y", "a = Conv(x, w8) y = Relu(a)"),
            "y = ReorderOutput<channels=8>(Conv<activation=\"Relu\">(ReorderInput(x), float[8, 8, 1, 1]))");
  EXPECT_EQ(Block("float y", "a = Conv(x, w8) y = HardSigmoid(a)"),
            "y = ReorderOutput<channels=8>(Conv<activation=\"HardSigmoid\", activation_params=[0.2, 0.5]>("
            "ReorderInput(x), float[8, 8, 1, 1]))");
}

TEST(Nchwc, ActivationOfASharedValueRunsOnBlocks) {
  EXPECT_EQ(Block("float y, float z", "a = Conv(x, w8) y = Relu(a) z = Tanh(a)"),
            "y = ReorderOutput<channels=8>(Relu(" + std::string(kConv) + ")); z = ReorderOutput<channels=8>(Tanh(" +
                kConv + "))");
}

TEST(Nchwc, GateBecomesAnActivation) {
  EXPECT_EQ(
      Block("float y", "a = Conv(x, w8) g = HardSigmoid<alpha=0.16666667, beta=0.5>(a) y0 = Mul(a, g) y = Elu(y0)"),
      "y = Elu(ReorderOutput<channels=8>(Conv<activation=\"HardSwish\">(ReorderInput(x), float[8, 8, 1, 1])))");
}

TEST(Nchwc, SumBecomesPartOfTheConvolution) {
  EXPECT_EQ(Block("float y", "a = Conv(x, w8) c = Conv(rgb, w3) y = Add(a, c)"),
            "y = ReorderOutput<channels=8>(Conv(ReorderInput(x), float[8, 8, 1, 1], -, Conv(rgb, float[8, 3, 1, 1])))");
}

TEST(Nchwc, SumOfShapesThatMayDiffer) {
  EXPECT_EQ(Block("float y", "a = Conv(x, w8) c = Conv(open, w8) y = Add(a, c)"),
            "y = ReorderOutput<channels=8>(Reshape(Add(Reshape(" + std::string(kConv) +
                ", {0, -1, 0, 0, 8}), Reshape(Conv(ReorderInput(open), float[8, 8, 1, 1]), {0, -1, 0, 0, 8})), "
                "{0, -1, 0, 0}))");
}

TEST(Nchwc, SumOfOneOpenShape) {
  // Both sides come from the same sizes, though nobody knows them.
  EXPECT_EQ(
      Block("float y", "a = Conv(open, w8) c = Conv<pads=[1,1,1,1]>(a, k3) d = Sigmoid(c) e = Elu(d) y = Add(a, d)"),
      "y = ReorderOutput<channels=8>(Add(Conv(ReorderInput(open), float[8, 8, 1, 1]), "
      "Conv<activation=\"Sigmoid\", pads=[1, 1, 1, 1]>(Conv(ReorderInput(open), float[8, 8, 1, 1]), "
      "float[8, 8, 3, 3])))");
}

TEST(Nchwc, ProductWithAConstantPerChannel) {
  EXPECT_EQ(
      Block("float y", "a = Conv(x, w8) y = Mul(scale, a)"),
      "y = ReorderOutput<channels=8>(Conv<group=8>(" + std::string(kConv) + ", [8, 1, 1, 1]{0, 0, 0, 0, 0, 0, 0, 0}))");
}

TEST(Nchwc, ProductOfBlockedValues) {
  EXPECT_EQ(Block("float y", "a = Conv(x, w8) y = Mul(a, a)"),
            "y = ReorderOutput<channels=8>(Mul(" + std::string(kConv) + ", " + kConv + "))");
}

TEST(Nchwc, NormalizationBecomesAConvolution) {
  EXPECT_EQ(Block("float y", "a = Conv(x, w8) y = BatchNormalization<epsilon=1.0>(a, zeros, zeros, zeros, zeros)"),
            "y = ReorderOutput<channels=8>(Conv<group=8>(" + std::string(kConv) +
                ", [8, 1, 1, 1]{0, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0, 0, 0}))");
}

TEST(Nchwc, ConcatenationAlongChannels) {
  EXPECT_EQ(Block("float y", "a = Conv(x, w8) c = Conv(rgb, w3) y = Concat<axis=1>(a, c)"),
            "y = ReorderOutput<channels=16>(Concat<axis=1>(" + std::string(kConv) + ", Conv(rgb, float[8, 3, 1, 1])))");
  // Twelve channels are one and a half blocks.
  EXPECT_EQ(Block("float y", "a = Conv(x, w8) c = Conv(x, w12) y = Concat<axis=1>(a, c)"),
            "y = Concat<axis=1>(ReorderOutput<channels=8>(" + std::string(kConv) +
                "), ReorderOutput<channels=12>(Conv(ReorderInput(x), float[16, 8, 1, 1])))");
}

TEST(Nchwc, TransposesAreDoneOnTheWay) {
  EXPECT_EQ(Block("float y", "t = Transpose<perm=[0,3,1,2]>(last) a = Conv(t, w8) y = Transpose<perm=[0,2,3,1]>(a)"),
            "y = ReorderOutput<channels=8, channels_last=1>(Conv(ReorderInput<channels_last=1>(last), "
            "float[8, 8, 1, 1]))");
}

TEST(Nchwc, Resize) {
  const std::string floor = "coordinate_transformation_mode=\"asymmetric\", nearest_mode=\"floor\"";
  EXPECT_EQ(Block("float y", "a = Conv(x, w8) s = Constant<value_floats=[1.0, 1.0, 2.0, 3.0]>() y = Resize<" + floor +
                                 ">(a, , s)"),
            "y = ReorderOutput<channels=8>(Upsample<scales=[1, 1, 2, 3]>(" + std::string(kConv) + "))");
  EXPECT_EQ(
      Block("float y", "a = Conv(x, w8) s = Constant<value_ints=[1, 8, 12, 6]>() y = Resize<" + floor + ">(a, , , s)"),
      "y = ReorderOutput<channels=8>(Upsample<scales=[1, 1, 2, 1]>(" + std::string(kConv) + "))");
  EXPECT_EQ(Block("float y",
                  "a = Conv(x, w8) s = Constant<value_floats=[1.0, 1.0, 2.0, 2.0]>() y = "
                  "Resize<mode=\"linear\">(a, , s)"),
            "y = ReorderOutput<channels=8>(Upsample<coordinate_transformation_mode=\"half_pixel\", mode=\"linear\", "
            "scales=[1, 1, 2, 2]>(" +
                std::string(kConv) + "))");
  EXPECT_EQ(Block("float y", "a = Conv(x, w8) s = Constant<value_floats=[1.0, 1.0, 1.5, 2.0]>() y = Resize<" + floor +
                                 ">(a, , s)"),
            "y = Resize<" + floor + ">(ReorderOutput<channels=8>(" + std::string(kConv) + "), -, {1, 1, 1.5, 2})");
}

TEST(Nchwc, ConvertedNodesAreTold) {
  Model model =
      ParseGraph("g (float[1,8,6,6] x) => (float y) <" + Zeros("float", {8, 8, 1, 1}, "w") + "> { y = Conv(x, w) }");
  model.graph->node(0)->name = "conv";
  model.graph->node(0)->origins = {"conv"};
  PassRun run;
  run.provider = "cpu";
  const auto result = RunOn("nchwc", model, run);
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->events.size(), 2U);
  EXPECT_EQ(result->events[0].removed, (std::vector<std::string>{"conv"}));
  EXPECT_EQ(result->events[0].created, (std::vector<std::string>{"reorder", "y_nchwc", "ReorderInput"}));
  EXPECT_EQ(result->events[1].created, (std::vector<std::string>{"ReorderOutput"}));
  EXPECT_EQ(model.graph->Producer(*model.graph->Find("y"))->origins, (std::vector<std::string>{"conv"}));
}

// --- filters

TEST(FilterLayout, OutputsInBlocks) {
  const Tensor filter = Tensor::Of<float>({3, 1, 1, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor blocked = BlockedFilter(filter, 2, false);
  EXPECT_EQ(blocked.dims(), (Dims{4, 1, 1, 2}));
  EXPECT_EQ(ToDoubles(blocked), (std::vector<double>{1, 3, 2, 4, 5, 0, 6, 0}));
}

TEST(FilterLayout, InputsInBlocksToo) {
  const Tensor filter = Tensor::Of<float>({2, 3, 1, 1}, {1, 2, 3, 4, 5, 6});
  const Tensor blocked = BlockedFilter(filter, 2, true);
  EXPECT_EQ(blocked.dims(), (Dims{2, 4, 1, 1}));
  EXPECT_EQ(ToDoubles(blocked), (std::vector<double>{1, 4, 2, 5, 3, 6, 0, 0}));
}

}  // namespace
}  // namespace rulerun
