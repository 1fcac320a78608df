// One test per handler of the transpose optimizer: T(perm) -> op -> T(inverse perm) has to cancel.
#include <gtest/gtest.h>

#include <string>

#include "layout_test_util.h"

namespace rulerun {
namespace {

std::string Optimize(const std::string& text, int opset = 17) {
  PassRun run;
  run.opset = opset;
  return Run("transpose-optimizer", text, run);
}

std::string OnCpu(const std::string& text, int opset = 17) {
  PassRun run;
  run.opset = opset;
  run.provider = "cpu";
  return Run("transpose-optimizer", text, run);
}

TEST(TransposeHandlers, Simple) {
  EXPECT_EQ(Optimize("g (float[1,2,3,4] x) => (float[1,2,3,4] y) { "
                     "a = Transpose<perm=[0,3,1,2]>(x) b = Relu(a) y = Transpose<perm=[0,2,3,1]>(b) }"),
            "y = Relu(x)");
}

TEST(TransposeHandlers, SimpleWithConstantsBeside) {
  EXPECT_EQ(Optimize("g (float[2,3] x) => (float[2,3] y) <float lo = {0}, float hi = {6}> { "
                     "a = Transpose<perm=[1,0]>(x) b = Clip(a, lo, hi) y = Transpose<perm=[1,0]>(b) }"),
            "y = Clip(x, 0, 6)");
}

TEST(TransposeHandlers, SimpleOnlyWithoutABias) {
  const std::string head = "g (float[2,3] x, float[2] bias) => (float[2,3] y) { a = Transpose<perm=[1,0]>(x) b = ";
  const std::string tail = " y = Transpose<perm=[1,0]>(b) }";
  EXPECT_EQ(Optimize(head + "com.microsoft.FastGelu(a)" + tail), "y = FastGelu(x)");
  EXPECT_EQ(Optimize(head + "com.microsoft.FastGelu(a, bias)" + tail),
            "y = Transpose<perm=[1, 0]>(FastGelu(Transpose<perm=[1, 0]>(x), bias))");
}

TEST(TransposeHandlers, BroadcastUnsqueezesAndTransposesConstants) {
  EXPECT_EQ(Optimize("g (float[1,2,2,3] x) => (float[1,2,2,3] y) <float[3,1,1] c = {1, 2, 3}, float s = {2}> { "
                     "a = Transpose<perm=[0,3,1,2]>(x) b = Add(a, c) d = Mul(b, s) y = Transpose<perm=[0,2,3,1]>(d) }"),
            "y = Mul(Add(x, [1, 1, 1, 3]{1, 2, 3}), 2)");
}

TEST(TransposeHandlers, BroadcastNeedsRanks) {
  EXPECT_EQ(Optimize("g (float[2,3,4] x, int64[N] s, float[2,3,4] z) => (float[2,3,4] y, float[4,3,2] v) { "
                     "a = Transpose<perm=[2,1,0]>(x) c = Transpose<perm=[2,1,0]>(z) r = Reshape(z, s) "
                     "b = Sum(a, c, r) y = Transpose<perm=[2,1,0]>(b) v = Sum(c, a) }"),
            "y = Transpose<perm=[2, 1, 0]>(Sum(Transpose<perm=[2, 1, 0]>(x), Transpose<perm=[2, 1, 0]>(z), "
            "Reshape(z, s))); v = Transpose<perm=[2, 1, 0]>(Sum(z, x))");
}

TEST(TransposeHandlers, Axis) {
  EXPECT_EQ(Optimize("g (float[2,3,4] x, float[2,3,4] z) => (float[2,6,4] y) { a = Transpose<perm=[0,2,1]>(x) "
                     "b = Transpose<perm=[0,2,1]>(z) c = Concat<axis=-1>(a, b) y = Transpose<perm=[0,2,1]>(c) }"),
            "y = Concat<axis=1>(x, z)");
}

TEST(TransposeHandlers, AxisOfSeveralOutputs) {
  EXPECT_EQ(Optimize("g (float[2,3,4] x) => (float[1,3,4] y, float[1,3,4] z) { a = Transpose<perm=[1,0,2]>(x) "
                     "b, c = Split<axis=1, num_outputs=2>(a) y = Transpose<perm=[1,0,2]>(b) "
                     "z = Transpose<perm=[1,0,2]>(c) }",
                     18),
            "y = Split<num_outputs=2>(x); z = Split.1<num_outputs=2>(x)");
}

TEST(TransposeHandlers, SoftMax) {
  EXPECT_EQ(Optimize("g (float[2,3,4] x) => (float[2,3,4] y) { a = Transpose<perm=[0,2,1]>(x) b = Softmax(a) "
                     "y = Transpose<perm=[0,2,1]>(b) }"),
            "y = Softmax<axis=1>(x)");
}

TEST(TransposeHandlers, SoftMaxOfTwoSides) {
  const std::string inside =
      "g (float[2,3,4] x) => (float[2,3,4] y) { a = Transpose<perm=[0,2,1]>(x) b = Softmax<axis=1>(a) "
      "y = Transpose<perm=[0,2,1]>(b) }";
  EXPECT_EQ(Optimize(inside, 11), "y = Softmax(x)");
  const std::string across =
      "g (float[2,3,4] x) => (float[2,3,4] y) { a = Transpose<perm=[0,2,1]>(x) b = Softmax<axis=2>(a) "
      "y = Transpose<perm=[0,2,1]>(b) }";
  EXPECT_EQ(Optimize(across, 11), "y = Transpose<perm=[0, 2, 1]>(Softmax<axis=2>(Transpose<perm=[0, 2, 1]>(x)))");
}

TEST(TransposeHandlers, Quantize) {
  EXPECT_EQ(Optimize("g (float[1,2,2,3] x) => (uint8[1,2,2,3] y) <float[3] s = {1, 2, 3}, uint8[3] z = {0, 0, 0}> { "
                     "a = Transpose<perm=[0,3,1,2]>(x) b = QuantizeLinear(a, s, z) "
                     "y = Transpose<perm=[0,2,3,1]>(b) }"),
            "y = QuantizeLinear<axis=3>(x, {1, 2, 3}, {0, 0, 0})");
}

TEST(TransposeHandlers, QuantizeByScalars) {
  EXPECT_EQ(Optimize("g (float[2,3] x) => (uint8[2,3] y) <float s = {2}, uint8 z = {0}> { a = Transpose<perm=[1,0]>(x) "
                     "b = QuantizeLinear(a, s, z) y = Transpose<perm=[1,0]>(b) }"),
            "y = QuantizeLinear(x, 2, 0)");
}

TEST(TransposeHandlers, ReduceByInput) {
  EXPECT_EQ(Optimize("g (float[2,3,4] x) => (float[2,1,4] y) <int64[1] axes = {-1}> { a = Transpose<perm=[0,2,1]>(x) "
                     "b = ReduceMean(a, axes) y = Transpose<perm=[0,2,1]>(b) }",
                     18),
            "y = ReduceMean(x, {1})");
}

TEST(TransposeHandlers, ReduceByAttribute) {
  EXPECT_EQ(Optimize("g (float[2,3,4,5] x) => (float[3,4] y) { a = Transpose<perm=[0,3,1,2]>(x) "
                     "y = ReduceMean<axes=[0,1], keepdims=0>(a) }"),
            "y = ReduceMean<axes=[0, 3], keepdims=0>(x)");
}

TEST(TransposeHandlers, ReduceOfAll) {
  EXPECT_EQ(Optimize("g (float[2,3] x) => (float y) { a = Transpose<perm=[1,0]>(x) y = ReduceSum<keepdims=0>(a) }"),
            "y = ReduceSum<keepdims=0>(x)");
}

TEST(TransposeHandlers, ReduceNeedsConstantAxes) {
  EXPECT_EQ(Optimize("g (float[2,3] x, int64[1] axes) => (float y) { a = Transpose<perm=[1,0]>(x) "
                     "y = ReduceSum<keepdims=0>(a, axes) }"),
            "y = ReduceSum<keepdims=0>(Transpose<perm=[1, 0]>(x), axes)");
}

TEST(TransposeHandlers, Arg) {
  EXPECT_EQ(Optimize("g (float[2,3,4] x) => (int64[3,4] y) { a = Transpose<perm=[1,2,0]>(x) "
                     "y = ArgMax<axis=2, keepdims=0>(a) }"),
            "y = ArgMax<keepdims=0>(x)");
}

TEST(TransposeHandlers, Squeeze) {
  EXPECT_EQ(Optimize("g (float[1,3,4] x) => (float[3,4] y) <int64[1] axes = {2}> { a = Transpose<perm=[2,1,0]>(x) "
                     "b = Squeeze(a, axes) y = Transpose<perm=[1,0]>(b) }"),
            "y = Squeeze(x, {0})");
}

TEST(TransposeHandlers, SqueezeByAttribute) {
  EXPECT_EQ(Optimize("g (float[1,3,4] x) => (float[3,4] y) { a = Transpose<perm=[2,1,0]>(x) "
                     "b = Squeeze<axes=[2]>(a) y = Transpose<perm=[1,0]>(b) }",
                     11),
            "y = Squeeze<axes=[0]>(x)");
}

TEST(TransposeHandlers, Unsqueeze) {
  EXPECT_EQ(Optimize("g (float[3,4] x) => (float[1,3,4] y) <int64[1] axes = {0}> { a = Transpose<perm=[1,0]>(x) "
                     "b = Unsqueeze(a, axes) y = Transpose<perm=[0,2,1]>(b) }"),
            "y = Unsqueeze(x, {0})");
}

TEST(TransposeHandlers, Slice) {
  EXPECT_EQ(Optimize("g (float[4,3] x) => (float y) <int64[1] s = {0}, int64[1] e = {2}, int64[1] axes = {1}> { "
                     "a = Transpose<perm=[1,0]>(x) b = Slice(a, s, e, axes) y = Transpose<perm=[1,0]>(b) }"),
            "y = Slice(x, {0}, {2}, {0})");
}

TEST(TransposeHandlers, SliceWithoutAxes) {
  EXPECT_EQ(Optimize("g (float[4,3] x) => (float y) <int32[1] s = {0}, int32[1] e = {2}> { "
                     "a = Transpose<perm=[1,0]>(x) b = Slice(a, s, e) y = Transpose<perm=[1,0]>(b) }"),
            "y = Slice(x, {0}, {2}, {1})");
}

TEST(TransposeHandlers, SliceByAttribute) {
  EXPECT_EQ(Optimize("g (float[4,3] x) => (float y) { a = Transpose<perm=[1,0]>(x) "
                     "b = Slice<starts=[0], ends=[2]>(a) y = Transpose<perm=[1,0]>(b) }",
                     9),
            "y = Slice<axes=[1], ends=[2], starts=[0]>(x)");
}

TEST(TransposeHandlers, GatherOfOneIndex) {
  EXPECT_EQ(Optimize("g (float[2,3,4] x) => (float[2,3] y) <int64 i = {1}> { a = Transpose<perm=[2,0,1]>(x) "
                     "y = Gather(a, i) }"),
            "y = Gather<axis=2>(x, 1)");
  EXPECT_EQ(Optimize("g (float[2,3,4] x) => (float y) <int64[1] i = {1}> { a = Transpose<perm=[2,0,1]>(x) "
                     "y = Gather(a, i) }"),
            "y = Gather(Transpose<perm=[2, 0, 1]>(x), {1})");
}

TEST(TransposeHandlers, Pad) {
  EXPECT_EQ(Optimize("g (float[2,3] x) => (float y) <int64[4] p = {1, 2, 3, 4}> { a = Transpose<perm=[1,0]>(x) "
                     "b = Pad(a, p) y = Transpose<perm=[1,0]>(b) }"),
            "y = Pad(x, {2, 1, 4, 3})");
  EXPECT_EQ(Optimize("g (float[2,3] x) => (float y) { a = Transpose<perm=[1,0]>(x) "
                     "b = Pad<pads=[1,2,3,4]>(a) y = Transpose<perm=[1,0]>(b) }",
                     9),
            "y = Pad<pads=[2, 1, 4, 3]>(x)");
}

TEST(TransposeHandlers, PadByInput) {
  EXPECT_EQ(Optimize("g (float[2,3] x, int64[4] p) => (float y) { a = Transpose<perm=[1,0]>(x) "
                     "b = Pad(a, p) y = Transpose<perm=[1,0]>(b) }"),
            "y = Pad(x, Gather(p, {1, 0, 3, 2}))");
}

TEST(TransposeHandlers, Tile) {
  EXPECT_EQ(Optimize("g (float[2,3,4] x) => (float y) <int64[3] r = {1, 2, 3}> { a = Transpose<perm=[1,2,0]>(x) "
                     "b = Tile(a, r) y = Transpose<perm=[2,0,1]>(b) }"),
            "y = Tile(x, {3, 1, 2})");
  EXPECT_EQ(Optimize("g (float[2,3,4] x, int64[3] r) => (float y) { a = Transpose<perm=[1,2,0]>(x) "
                     "b = Tile(a, r) y = Transpose<perm=[2,0,1]>(b) }"),
            "y = Tile(x, Gather(r, {2, 0, 1}))");
}

TEST(TransposeHandlers, Shape) {
  EXPECT_EQ(Optimize("g (float[N,3,4] x) => (int64[2] y) { a = Transpose<perm=[2,0,1]>(x) y = Shape<start=-2>(a) }"),
            "y = Gather(Shape(x), {0, 1})");
  EXPECT_EQ(Optimize("g (float[N,3,4] x) => (int64[3] y) { a = Transpose<perm=[2,0,1]>(x) y = Shape(a) }", 13),
            "y = Gather(Shape(x), {2, 0, 1})");
}

TEST(TransposeHandlers, TransposesCancelOrCombine) {
  EXPECT_EQ(
      Optimize("g (float[2,3,4] x) => (float y) { a = Transpose<perm=[1,2,0]>(x) y = Transpose<perm=[0,2,1]>(a) }"),
      "y = Transpose<perm=[1, 0, 2]>(x)");
  // Both ends keep their names, so something has to copy.
  EXPECT_EQ(
      Optimize("g (float[2,3] x) => (float[2,3] y) { a = Transpose<perm=[1,0]>(x) y = Transpose<perm=[1,0]>(a) }"),
      "y = Identity(x)");
}

TEST(TransposeHandlers, ReshapeThatMovesOnes) {
  EXPECT_EQ(Optimize("g (float[1,4,5,1] x) => (float y) <int64[4] s = {1, 4, 5, -1}> { "
                     "a = Transpose<perm=[0,3,1,2]>(x) b = Reshape(a, s) y = Relu(b) }"),
            "y = Relu(x)");
  EXPECT_EQ(Optimize("g (float[4,5,1] x) => (float y) <int64[3] s = {1, 5, 4}> { "
                     "a = Transpose<perm=[1,0,2]>(x) b = Reshape(a, s) y = Relu(b) }"),
            "y = Relu(Transpose<perm=[2, 1, 0]>(x))");
}

TEST(TransposeHandlers, ReshapeThatPartsAxes) {
  EXPECT_EQ(Optimize("g (float[1,2,5,6] x) => (float[1,2,3,2,5] y) <int64[5] s = {1, 2, 3, 2, 5}> { "
                     "a = Transpose<perm=[0,3,1,2]>(x) y = Reshape(a, s) }"),
            "y = Transpose<perm=[0, 3, 4, 1, 2]>(Reshape(x, {1, 2, 5, 2, 3}))");
}

TEST(TransposeHandlers, ReshapeThatJoinsAxesStays) {
  EXPECT_EQ(Optimize("g (float[2,3,4] x) => (float y) <int64[2] s = {2, 12}> { "
                     "a = Transpose<perm=[0,2,1]>(x) y = Reshape(a, s) }"),
            "y = Reshape(Transpose<perm=[0, 2, 1]>(x), {2, 12})");
}

// --- operators that are looked up first

TEST(TransposeHandlers, PoolingIsReplacedOnCpu) {
  const std::string text =
      "g (uint8[1,4,4,8] x) => (uint8[1,8,2,2] y) { a = Transpose<perm=[0,3,1,2]>(x) "
      "y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(a) }";
  EXPECT_EQ(OnCpu(text), "y = Transpose<perm=[0, 3, 1, 2]>(NhwcMaxPool<kernel_shape=[2, 2], strides=[2, 2]>(x))");
  EXPECT_EQ(Optimize(text), "y = MaxPool<kernel_shape=[2, 2], strides=[2, 2]>(Transpose<perm=[0, 3, 1, 2]>(x))");
}

TEST(TransposeHandlers, FloatPoolingStays) {
  EXPECT_EQ(OnCpu("g (float[1,4,4,8] x) => (float[1,8,4,4] y) { a = Transpose<perm=[0,3,1,2]>(x) "
                  "y = MaxPool<kernel_shape=[1,1]>(a) }"),
            "y = MaxPool<kernel_shape=[1, 1]>(Transpose<perm=[0, 3, 1, 2]>(x))");
}

TEST(TransposeHandlers, ResizeOnCpu) {
  const std::string text =
      "g (uint8[1,4,4,8] x) => (uint8 y) <float[4] s = {1, 1, 2, 2}> { a = Transpose<perm=[0,3,1,2]>(x) "
      "y = Resize<mode=\"linear\", coordinate_transformation_mode=\"asymmetric\">(a, , s) }";
  EXPECT_EQ(OnCpu(text),
            "y = Transpose<perm=[0, 3, 1, 2]>(Resize<coordinate_transformation_mode=\"asymmetric\", mode=\"linear\">"
            "(x, -, {1, 2, 2, 1}))");
  EXPECT_EQ(Optimize(text),
            "y = Resize<coordinate_transformation_mode=\"asymmetric\", mode=\"linear\">"
            "(Transpose<perm=[0, 3, 1, 2]>(x), -, {1, 1, 2, 2})");
}

TEST(TransposeHandlers, ChannelsLastFlagIsFlipped) {
  EXPECT_EQ(OnCpu("g (uint8[1,4,4,8] x) => (uint8[1,1,1,8] y) <float s = {1}, uint8 z = {0}> { "
                  "a = Transpose<perm=[0,3,1,2]>(x) "
                  "b = com.microsoft.QLinearGlobalAveragePool(a, s, z, s, z) y = Transpose<perm=[0,2,3,1]>(b) }"),
            "y = QLinearGlobalAveragePool<channels_last=1>(x, 1, 0, 1, 0)");
}

TEST(TransposeHandlers, QuantizedOperators) {
  EXPECT_EQ(OnCpu("g (uint8[2,3] x, uint8[2,3] w) => (uint8[2,3] y) <float s = {1}, uint8 z = {0}> { "
                  "a = Transpose<perm=[1,0]>(x) b = Transpose<perm=[1,0]>(w) "
                  "c = com.microsoft.QLinearAdd(a, s, z, b, s, z, s, z) y = Transpose<perm=[1,0]>(c) }"),
            "y = QLinearAdd(x, 1, 0, w, 1, 0, 1, 0)");
  EXPECT_EQ(OnCpu("g (uint8[2,3] x, uint8[2,3] w) => (uint8 y) <float s = {1}, uint8 z = {0}> { "
                  "a = Transpose<perm=[1,0]>(x) b = Transpose<perm=[1,0]>(w) "
                  "c = com.microsoft.QLinearConcat<axis=0>(s, z, a, s, z, b, s, z) y = Transpose<perm=[1,0]>(c) }"),
            "y = QLinearConcat<axis=1>(1, 0, x, 1, 0, w, 1, 0)");
}

}  // namespace
}  // namespace rulerun
