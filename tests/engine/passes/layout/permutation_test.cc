#include "engine/passes/layout/permutation.h"

#include <gtest/gtest.h>

namespace rulerun {
namespace {

TEST(Permutation, InverseAndCompose) {
  const Perm perm = {1, 2, 0};
  EXPECT_EQ(Inverse(perm), (Perm{2, 0, 1}));
  EXPECT_TRUE(IsIdentity(Compose(perm, Inverse(perm))));
  EXPECT_EQ(Compose({1, 2, 0}, {0, 2, 1}), (Perm{1, 0, 2}));
}

TEST(Permutation, Valid) {
  EXPECT_TRUE(IsPermutation({1, 0}));
  EXPECT_FALSE(IsPermutation({}));
  EXPECT_FALSE(IsPermutation({1, 1}));
  EXPECT_FALSE(IsPermutation({0, -1}));
  EXPECT_FALSE(IsPermutation({0, 2}));
}

TEST(Permutation, Channels) {
  EXPECT_EQ(ChannelsLastToFirst(4), (Perm{0, 3, 1, 2}));
  EXPECT_EQ(ChannelsFirstToLast(4), (Perm{0, 2, 3, 1}));
  EXPECT_EQ(ChannelsFirstToLast(3), (Perm{0, 2, 1}));
  EXPECT_TRUE(ChannelsLastToFirst(1).empty());
}

TEST(Permutation, AxesTakenAwayAndPutIn) {
  EXPECT_EQ(SqueezePerm({0}, {2, 0, 1}), (Perm{1, 0}));
  EXPECT_EQ(UnsqueezePerm({0, 3}, {2, 0, 1}), (Perm{0, 4, 1, 3, 2}));
  EXPECT_EQ(UnsqueezedAxis({3, 0, 1}, 1), 4);
  EXPECT_EQ(UnsqueezedDims({2, 3}, {0, 2}), (Dims{1, 2, 1, 3}));
  EXPECT_EQ(SqueezedDims({1, 2, 1}, {-1}), (Dims{1, 2}));
  EXPECT_EQ(SqueezedDims({1, 2, 1}, {}), (Dims{2}));
}

TEST(Permutation, Axes) {
  Axes axes = {-1, 0};
  EXPECT_TRUE(NormalizeAxes(axes, 3));
  EXPECT_EQ(axes, (Axes{2, 0}));
  EXPECT_EQ(MapAxes(axes, {1, 2, 0}), (Axes{0, 1}));
  EXPECT_EQ(MapAxesSorted({0, 1}, {2, 0, 1}), (Axes{0, 2}));
  Axes twice = {1, -2};
  EXPECT_FALSE(NormalizeAxes(twice, 3));
  Axes outside = {3};
  EXPECT_FALSE(NormalizeAxes(outside, 3));
}

TEST(Permutation, TensorsOfEveryWidth) {
  const Tensor floats = Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(ToDoubles(Transposed(floats, {1, 0})), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  Tensor nibbles(DataType::kInt4, {2, 3});
  for (int64_t i = 0; i < 6; ++i) SetInt(nibbles, i, i - 3);
  EXPECT_EQ(ToInts(Transposed(nibbles, {1, 0})), (std::vector<int64_t>{-3, 0, -2, 1, -1, 2}));
  const Tensor strings({1, 2}, std::vector<std::string>{"a", "b"});
  EXPECT_EQ(Transposed(strings, {1, 0}).strings(), (std::vector<std::string>{"a", "b"}));
  const Tensor cube = Tensor::Of<int8_t>({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(ToInts(Transposed(cube, {2, 1, 0})), (std::vector<int64_t>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(Transposed(Tensor(DataType::kFloat, {0, 3}), {1, 0}).dims(), (Dims{3, 0}));
}

TEST(Permutation, Picked) {
  EXPECT_EQ(ToInts(Picked(Tensor::Vector<int64_t>({5, 6, 7}), {2, 0, 1})), (std::vector<int64_t>{7, 5, 6}));
}

}  // namespace
}  // namespace rulerun
