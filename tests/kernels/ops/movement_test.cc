// Operators that move elements about, and those that read or make shapes.
#include <limits>

#include "tests/kernels/ops/run_op.h"

namespace rulerun {
namespace {

const std::vector<float> kSix = {1, 2, 3, 4, 5, 6};

TEST(Movement, Reshape) {
  const Tensor x = Floats({2, 3}, kSix);
  EXPECT_EQ(RunToTensor({"Reshape", {x, Ints({0, -1, 1})}}).dims(), (Dims{2, 3, 1}));
  EXPECT_EQ(RunToTensor({"Reshape", {Floats({0, 3}, {}), Ints({3, 0})}, {{"allowzero", int64_t{1}}}, 14}).dims(),
            (Dims{3, 0}));
  EXPECT_NE(ErrorOf({"Reshape", {x, Ints({4, -1})}}), "");
  EXPECT_NE(ErrorOf({"Reshape", {x, Ints({-1, -1})}}), "");
  EXPECT_NE(ErrorOf({"Reshape", {x, Ints({int64_t{1} << 62, 4, 4})}}), "");
  EXPECT_EQ(RunToTensor({"Flatten", {x}, {{"axis", int64_t{-1}}}}).dims(), (Dims{2, 3}));
  EXPECT_EQ(RunToTensor({"Squeeze", {Floats({1, 6, 1}, kSix), Ints({-1})}}).dims(), (Dims{1, 6}));
  EXPECT_EQ(RunToTensor({"Squeeze", {Floats({1, 6, 1}, kSix)}, {{"axes", std::vector<int64_t>{0}}}, 1}).dims(),
            (Dims{6, 1}));
  EXPECT_EQ(RunToTensor({"Unsqueeze", {x, Ints({0, -1})}}).dims(), (Dims{1, 2, 3, 1}));
  ExpectOutput({"Shape", {x}, {{"start", int64_t{-1}}}, 15}, {1}, {3});
}

TEST(Movement, TransposeOfEveryWidth) {
  const Tensor x = Floats({2, 3}, kSix);
  for (const DataType type : {DataType::kInt8, DataType::kInt16, DataType::kFloat, DataType::kInt64}) {
    const Tensor cast = RunToTensor({"Cast", {x}, {{"to", static_cast<int64_t>(type)}}});
    ExpectOutput({"Transpose", {cast}}, {3, 2}, {1, 4, 2, 5, 3, 6});
  }
  const Tensor text =
      RunToTensor({"Transpose", {Tensor({1, 2, 1}, {"a", "b"})}, {{"perm", std::vector<int64_t>{1, 0, 2}}}});
  EXPECT_EQ(text.strings(), (std::vector<std::string>{"a", "b"}));
  EXPECT_NE(ErrorOf({"Transpose", {x}, {{"perm", std::vector<int64_t>{0, 0}}}}), "");
}

TEST(Movement, ConcatAndSplit) {
  const Tensor x = Floats({2, 1}, {1, 2}), y = Floats({2, 2}, {3, 4, 5, 6});
  ExpectOutput({"Concat", {x, y}, {{"axis", int64_t{-1}}}}, {2, 3}, {1, 3, 4, 2, 5, 6});
  EXPECT_NE(ErrorOf({"Concat", {x, Floats({1, 2}, {1, 2})}, {{"axis", int64_t{1}}}}), "");
  const Result<std::vector<Tensor>> parts = RunOp({"Split", {Floats({5}, {1, 2, 3, 4, 5}), Ints({2, 3})}, {}, 13, 2});
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(ToDoubles(parts->at(1)), (std::vector<double>{3, 4, 5}));
  EXPECT_NE(ErrorOf({"Split", {Floats({5}, {1, 2, 3, 4, 5}), Ints({2, 2})}, {}, 13, 2}), "");
}

TEST(Movement, SliceCountsLikeNumpy) {
  const Tensor x = Floats({5}, {0, 1, 2, 3, 4});
  const auto slice = [&](int64_t start, int64_t end, int64_t step) {
    return ToDoubles(RunToTensor({"Slice", {x, Ints({start}), Ints({end}), Ints({0}), Ints({step})}}));
  };
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max(), kMin = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(slice(1, 4, 1), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(slice(-2, kMax, 1), (std::vector<double>{3, 4}));
  EXPECT_EQ(slice(-1, kMin, -2), (std::vector<double>{4, 2, 0}));
  EXPECT_EQ(slice(kMax, -4, -1), (std::vector<double>{4, 3, 2}));
  EXPECT_EQ(slice(3, 1, 1), (std::vector<double>{}));
  EXPECT_EQ(slice(0, 5, kMax), (std::vector<double>{0}));
  EXPECT_EQ(slice(4, kMin, kMin), (std::vector<double>{4}));
  EXPECT_NE(ErrorOf({"Slice", {x, Ints({0}), Ints({1}), Ints({0}), Ints({0})}}), "");
  EXPECT_NE(ErrorOf({"Slice", {x, Ints({0}), Ints({1, 2})}}), "");
}

TEST(Movement, GatherAndScatter) {
  const Tensor x = Floats({3, 2}, kSix);
  ExpectOutput({"Gather", {x, Ints({-1, 0})}}, {2, 2}, {5, 6, 1, 2});
  ExpectOutput({"Gather", {x, Tensor::Scalar<int32_t>(1)}, {{"axis", int64_t{1}}}}, {3}, {2, 4, 6});
  EXPECT_NE(ErrorOf({"Gather", {x, Ints({3})}}), "");
  const Tensor index = Tensor::Of<int64_t>({1, 2}, {2, 0});
  ExpectOutput({"GatherElements", {x, index}}, {1, 2}, {5, 2});
  ExpectOutput({"GatherND", {x, Tensor::Of<int64_t>({2, 2}, {0, 1, 2, 0})}}, {2}, {2, 5});
  ExpectOutput({"ScatterElements", {x, index, Floats({1, 2}, {9, 8})}}, {3, 2}, {1, 8, 3, 4, 9, 6});
  ExpectOutput({"ScatterND",
                {x, Tensor::Of<int64_t>({1, 1}, {1}), Floats({1, 2}, {7, 7})},
                {{"reduction", std::string("add")}},
                16},
               {3, 2}, {1, 2, 10, 11, 5, 6});
}

TEST(Movement, ExpandTilePad) {
  ExpectOutput({"Expand", {Floats({2, 1}, {1, 2}), Ints({2, 1, 2})}}, {2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2});
  ExpectOutput({"Tile", {Floats({1, 2}, {1, 2}), Ints({2, 2})}}, {2, 4}, {1, 2, 1, 2, 1, 2, 1, 2});
  const Tensor x = Floats({3}, {1, 2, 3});
  const auto pad = [&](const char* mode, int64_t begin, int64_t end) {
    return ToDoubles(RunToTensor({"Pad", {x, Ints({begin, end})}, {{"mode", std::string(mode)}}, 19}));
  };
  EXPECT_EQ(pad("constant", 1, -1), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(pad("edge", 1, 2), (std::vector<double>{1, 1, 2, 3, 3, 3}));
  EXPECT_EQ(pad("reflect", 2, 1), (std::vector<double>{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(pad("wrap", 1, 2), (std::vector<double>{3, 1, 2, 3, 1, 2}));
  EXPECT_EQ(pad("constant", -2, 3), (std::vector<double>{3, 0, 0, 0}));
  EXPECT_NE(ErrorOf({"Pad", {x, Ints({-4, 0})}}), "");
  EXPECT_NE(ErrorOf({"Pad", {x, Ints({0, int64_t{1} << 62})}}), "");
}

TEST(Movement, HostileSizesAreErrors) {
  EXPECT_NE(ErrorOf({"Expand", {Floats({1}, {1}), Ints({int64_t{1} << 40, int64_t{1} << 40})}}), "");
  EXPECT_NE(ErrorOf({"ConstantOfShape", {Ints({int64_t{1} << 45})}}), "");
  EXPECT_NE(ErrorOf({"ConstantOfShape", {Ints({-1})}}), "");
  EXPECT_NE(ErrorOf({"Tile", {Floats({2}, {1, 2}), Ints({int64_t{1} << 62})}}), "");
  EXPECT_NE(ErrorOf({"Range", {Ints({0}), Ints({std::numeric_limits<int64_t>::max()}), Ints({1})}}), "");
}

TEST(Movement, Makers) {
  ExpectOutput({"Range", {Ints({5}), Ints({0}), Ints({-2})}}, {3}, {5, 3, 1});
  ExpectOutput({"EyeLike", {Floats({2, 3}, kSix)}, {{"k", int64_t{1}}}, 9}, {2, 3}, {0, 1, 0, 0, 0, 1});
  ExpectOutput({"OneHot", {Ints({1, -1}), Ints({3}), Floats({2}, {0, 5})}}, {2, 3}, {0, 5, 0, 0, 0, 5});
  ExpectOutput({"NonZero", {Floats({2, 2}, {0, 1, 2, 0})}}, {2, 2}, {0, 1, 1, 0});
  ExpectOutput({"Trilu", {Floats({2, 2}, {1, 2, 3, 4})}, {{"upper", int64_t{0}}}, 14}, {2, 2}, {1, 0, 3, 4});
  ExpectOutput({"DepthToSpace", {Floats({1, 4, 1, 1}, {1, 2, 3, 4})}, {{"blocksize", int64_t{2}}}}, {1, 1, 2, 2},
               {1, 2, 3, 4});
  ExpectOutput({"Einsum", {Floats({1, 2}, {1, 2}), Floats({2, 1}, {3, 4})}, {{"equation", std::string("ij, jk")}}, 12},
               {1, 1}, {11});
}

TEST(Movement, CastRoundsAndTruncates) {
  const auto cast = [](const Tensor& x, DataType to) {
    return ToDoubles(RunToTensor({"Cast", {x}, {{"to", static_cast<int64_t>(to)}}}));
  };
  const Tensor x = Floats({4}, {-1.7f, 2.5f, 300, 3e9f});
  EXPECT_EQ(cast(x, DataType::kInt32), (std::vector<double>{-1, 2, 300, -2147483648.0}));
  EXPECT_EQ(cast(x, DataType::kUint8), (std::vector<double>{255, 2, 44, 0}));
  EXPECT_EQ(cast(x, DataType::kBool), (std::vector<double>{1, 1, 1, 1}));
  EXPECT_EQ(cast(Floats({1}, {1.0f + 0x1p-11f}), DataType::kFloat16), (std::vector<double>{1}));
  EXPECT_EQ(cast(Tensor({2}, {"1.5", "-2"}), DataType::kFloat), (std::vector<double>{1.5, -2}));
  EXPECT_NE(ErrorOf({"Cast", {Tensor({1}, {"x"})}, {{"to", int64_t{1}}}}), "");
  EXPECT_NE(ErrorOf({"Cast", {x}, {{"to", int64_t{99}}}}), "");
}

TEST(Movement, ResizeNearestAndLinear) {
  const Tensor x = Floats({1, 1, 1, 2}, {1, 2});
  const Tensor none(DataType::kFloat, {0});
  AttributeMap attributes = {{"mode", std::string("nearest")}};
  ExpectOutput({"Resize", {x, none, Floats({4}, {1, 1, 1, 2})}, attributes}, {1, 1, 1, 4}, {1, 1, 2, 2});
  ExpectOutput({"Resize", {Tensor::Of<uint8_t>({1, 2}, {7, 9}), none, none, Ints({2, 2})}, attributes}, {2, 2},
               {7, 9, 7, 9});
  attributes = {{"mode", std::string("linear")}};
  ExpectOutput({"Resize", {x, none, Floats({4}, {1, 1, 1, 2})}, attributes}, {1, 1, 1, 4}, {1, 1.25, 1.75, 2});
  EXPECT_NE(ErrorOf({"Resize", {x, none, Floats({4}, {1, 1, 1, -2})}, attributes}), "");
  EXPECT_NE(ErrorOf({"Resize", {x, none, Floats({4}, {1, 1, 1, 1e30f})}, attributes}), "");
}

}  // namespace
}  // namespace rulerun
