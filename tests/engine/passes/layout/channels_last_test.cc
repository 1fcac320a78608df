#include "engine/passes/layout/channels_last.h"

#include <gtest/gtest.h>

#include <string>

#include "layout_test_util.h"

namespace rulerun {
namespace {

std::string Convert(const std::string& text, bool fp16 = false) {
  PassRun run;
  run.provider = "cpu";
  run.fp16 = fp16;
  return Run("channels-last", text, run);
}

std::string Parameters() { return "<float s = {1}, uint8 z = {0}, " + Zeros("uint8", {4, 8, 1, 1}, "w") + ">"; }

TEST(ChannelsLast, Convolution) {
  EXPECT_EQ(Convert("g (uint8[1,8,5,5] x) => (uint8[1,4,5,5] y) " + Parameters() +
                    " { y = QLinearConv(x, s, z, w, s, z, s, z) }"),
            "y = Transpose<perm=[0, 3, 1, 2]>(QLinearConv<channels_last=1>(Transpose<perm=[0, 2, 3, 1]>(x), 1, 0, "
            "uint8[4, 8, 1, 1], 1, 0, 1, 0))");
}

TEST(ChannelsLast, TransposesAreOptimizedAfterwards) {
  EXPECT_EQ(Convert("g (uint8[1,8,5,5] x) => (uint8[1,4,2,2] y) " + Parameters() +
                    " { a = QLinearConv(x, s, z, w, s, z, s, z) y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(a) }"),
            "y = Transpose<perm=[0, 3, 1, 2]>(NhwcMaxPool<kernel_shape=[2, 2], strides=[2, 2]>("
            "QLinearConv<channels_last=1>(Transpose<perm=[0, 2, 3, 1]>(x), 1, 0, uint8[4, 8, 1, 1], 1, 0, 1, 0)))");
}

TEST(ChannelsLast, IsDoneOnce) {
  Model model = ParseGraph("g (uint8[1,8,5,5] x) => (uint8[1,4,5,5] y) " + Parameters() +
                           " { y = QLinearConv(x, s, z, w, s, z, s, z) }");
  PassRun run;
  run.provider = "cpu";
  EXPECT_TRUE(RunOn("channels-last", model, run)->modified);
  EXPECT_FALSE(RunOn("channels-last", model, run)->modified);
}

TEST(ChannelsLast, NodesOfOthersStay) {
  Model model = ParseGraph("g (uint8[1,8,5,5] x) => (uint8[1,4,5,5] y) " + Parameters() +
                           " { y = QLinearConv(x, s, z, w, s, z, s, z) }");
  EXPECT_FALSE(RunOn("channels-last", model)->modified);  // no one runs the node
}

TEST(ChannelsLast, HalfPrecisionWhereThePlatformHasIt) {
  const std::string text =
      "g (float16[1,8,5,5] x, float16[4,8,1,1] w) => (float16[1,4,5,5] y) { y = Conv<kernel_shape=[1,1]>(x, w) }";
  EXPECT_EQ(Convert(text, true),
            "y = Transpose<perm=[0, 3, 1, 2]>(NhwcFusedConv<kernel_shape=[1, 1]>(Transpose<perm=[0, 2, 3, 1]>(x), w))");
  EXPECT_EQ(Convert(text), "y = Conv<kernel_shape=[1, 1]>(x, w)");
}

TEST(ChannelsLast, AttributesThatTheRowExcludes) {
  const std::string text =
      "g (float16[1,8,5,5] x, float16[4,8,1,1] w) => (float16 y) { y = Conv<dilations=[1,2]>(x, w) }";
  EXPECT_EQ(Convert(text, true), "y = Conv<dilations=[1, 2]>(x, w)");
}

TEST(ChannelsLast, UnknownRankStays) {
  EXPECT_EQ(Convert("g (uint8[1,8,5,5] x, int64[N] n) => (uint8 y) " + Parameters() +
                    " { r = Reshape(x, n) y = QLinearConv(r, s, z, w, s, z, s, z) }"),
            "y = QLinearConv(Reshape(x, n), 1, 0, uint8[4, 8, 1, 1], 1, 0, 1, 0)");
}

}  // namespace
}  // namespace rulerun
