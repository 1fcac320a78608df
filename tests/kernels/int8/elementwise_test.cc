// QLinearAdd, QLinearMul, the table operators, QLinearConcat and QLinearWhere against the reference, to the bit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/kernels/int8/harness.h"
#include "tests/kernels/int8/reference.h"

namespace rulerun::int8_test {
namespace {

using reference::Quant;

const std::vector<DataType> kTypes = {DataType::kUint8, DataType::kInt8};

Quant RandomQuant(Random& random, DataType type, float scale) {
  return {scale, ElementAsInt(random.Ints(type, {}), 0)};
}
Tensor ZeroOf(DataType type, Quant q) { return ScalarInt(type, q.zero); }

struct Pair {
  Dims a, b;
};
const std::vector<Pair> kPairs = {{{1003}, {1003}},
                                  {{5, 37}, {5, 37}},
                                  {{3, 64}, {1}},
                                  {{1}, {3, 64}},
                                  {{}, {5}},
                                  {{5}, {}},
                                  {{}, {}},
                                  {{1}, {1}},
                                  {{1, 77}, {1, 77}},
                                  {{4, 1, 5}, {4, 6, 1}},
                                  {{5, 1}, {1}},
                                  {{1}, {5, 1}},
                                  {{16, 16, 9}, {16, 1, 9}},
                                  {{2, 3, 4, 1}, {3, 1, 7}},
                                  {{0, 3}, {3}},
                                  {{2, 1}, {1, 0}},
                                  {{3, 4, 1, 1}, {3, 4, 5, 5}},
                                  {{40000}, {40000}}};
// a, b, c: scales whose ratios are not representable, so that exact sums are often ties and every rounding shows.
const std::vector<std::vector<float>> kScales = {{1, 1, 6},   {1, 3, 10},
                                                 {3, 1, 14},  {0.1f, 0.3f, 0.6f},
                                                 {1, 5, 22},  {0.02f, 0.07f, 0.05f},
                                                 {1, 1, 300}, {0.5f, 0.25f, 0.0625f}};

TEST(QLinearAdd, EveryBroadcast) {
  Random random(51);
  size_t next = 0;
  for (const Pair& pair : kPairs) {
    for (const DataType type : kTypes) {
      for (int repeat = 0; repeat < 3; ++repeat) {
        const std::vector<float>& s = kScales[next++ % kScales.size()];
        const Quant qa = RandomQuant(random, type, s[0]);
        const Quant qb = RandomQuant(random, type, s[1]);
        const Quant qc = RandomQuant(random, type, s[2]);
        const Tensor a = random.Ints(type, pair.a);
        const Tensor b = random.Ints(type, pair.b);
        const std::vector<Tensor> inputs = {a,
                                            Tensor::Scalar(qa.scale),
                                            ZeroOf(type, qa),
                                            b,
                                            Tensor::Scalar(qb.scale),
                                            ZeroOf(type, qb),
                                            Tensor::Scalar(qc.scale),
                                            ZeroOf(type, qc)};
        ExpectOutputs({"QLinearAdd", "com.microsoft", 1, {}, inputs, 1}, {reference::QLinearAdd(a, qa, b, qb, qc)}, "");
        ExpectOutputs({"QLinearMul", "com.microsoft", 1, {}, inputs, 1}, {reference::QLinearMul(a, qa, b, qb, qc)}, "");
      }
    }
  }
}

// All pairs of bytes, with scales that reach every branch of the rounding: far apart, overflowing, 0.
TEST(QLinearAdd, EveryPairOfBytes) {
  Random random(52);
  Tensor a(DataType::kUint8, {256, 256});
  Tensor b(DataType::kUint8, {256, 256});
  for (int64_t i = 0; i < a.count(); ++i) {
    a.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i / 256);
    b.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i % 256);
  }
  const float scales[][3] = {{1, 1, 6}, {1e-30f, 1, 2}, {1, 1e-9f, 2},  {3e7f, 1e-3f, 1},   {1e20f, 1e20f, 1},
                             {1, 1, 0}, {0, 0, 0},      {1e-44f, 1, 3}, {0.7f, 1.1f, 0.9f}, {16777216.0f, 3, 5e5f}};
  for (const auto& s : scales) {
    for (const DataType type : kTypes) {
      const Quant qa = RandomQuant(random, type, s[0]);
      const Quant qb = RandomQuant(random, type, s[1]);
      const Quant qc = RandomQuant(random, type, s[2]);
      const Tensor x = a.WithType(type);
      const Tensor y = b.WithType(type);
      const std::vector<Tensor> inputs = {x,
                                          Tensor::Scalar(qa.scale),
                                          ZeroOf(type, qa),
                                          y,
                                          Tensor::Scalar(qb.scale),
                                          ZeroOf(type, qb),
                                          Tensor::Scalar(qc.scale),
                                          ZeroOf(type, qc)};
      ExpectOutputs({"QLinearAdd", "com.microsoft", 1, {}, inputs, 1}, {reference::QLinearAdd(x, qa, y, qb, qc)}, "");
      ExpectOutputs({"QLinearMul", "com.microsoft", 1, {}, inputs, 1}, {reference::QLinearMul(x, qa, y, qb, qc)}, "");
    }
  }
}

TEST(QLinearUnary, EveryByte) {
  Random random(53);
  for (const DataType type : kTypes) {
    const Tensor x = random.Ints(type, {3, 5, 31});
    for (int repeat = 0; repeat < 20; ++repeat) {
      const Quant qx = RandomQuant(random, type, random.Scale(1e-3f, 0.5f));
      const Quant qy = RandomQuant(random, type, repeat % 4 == 0 ? 1.0f / 256 : random.Scale(2e-3f, 0.02f));
      const std::vector<Tensor> inputs = {x, Tensor::Scalar(qx.scale), ZeroOf(type, qx), Tensor::Scalar(qy.scale),
                                          ZeroOf(type, qy)};
      ExpectOutputs({"QLinearSigmoid", "com.microsoft", 1, {}, inputs, 1},
                    {reference::Unary(x, qx, qy, reference::Logistic)}, "");
      const float alpha = repeat % 2 == 0 ? 0.01f : 0.3f;
      const AttributeMap attributes = repeat % 2 == 0 ? AttributeMap{} : AttributeMap{{"alpha", alpha}};
      ExpectOutputs({"QLinearLeakyRelu", "com.microsoft", 1, attributes, inputs, 1},
                    {reference::Unary(x, qx, qy, [=](float v) { return v >= 0 ? v : alpha * v; })}, "");
    }
  }
}

// 9 * scale is a tie between 2.5 and the next float. What b adds is too small for double, but decides: 2.5 is rounded
// to 2, anything above to 3.
TEST(QLinearAdd, RoundsOnce) {
  const Quant qa{2330169 * 0x1p-23f, 0};
  const Quant qb{1e-25f, 0};
  const Quant qc{1.0f, 0};
  const Tensor a = Tensor::Of<int8_t>({4}, {9, 9, 9, 8});
  const Tensor b = Tensor::Of<int8_t>({4}, {1, 0, -1, 1});
  const Tensor expected = Tensor::Of<int8_t>({4}, {3, 2, 2, 2});
  const Tensor zero = ScalarInt(DataType::kInt8, 0);
  const std::vector<Tensor> inputs = {a,    Tensor::Scalar(qa.scale), zero, b, Tensor::Scalar(qb.scale),
                                      zero, Tensor::Scalar(qc.scale), zero};
  ASSERT_TRUE(SameContent(reference::QLinearAdd(a, qa, b, qb, qc), expected));
  ExpectOutputs({"QLinearAdd", "com.microsoft", 1, {}, inputs, 1}, {expected}, "rounds once");
}

float Identity(float v) { return v; }

TEST(QLinearConcat, AxesAndQuantizations) {
  Random random(54);
  for (const DataType type : kTypes) {
    for (const int64_t axis : {0, 1, -1}) {
      const Quant qy = RandomQuant(random, type, 0.05f);
      const Quant q1 = RandomQuant(random, type, 0.03f);
      Dims dims1 = {2, 3, 5};
      Dims dims2 = {2, 3, 5};
      Dims dims3 = {2, 3, 5};
      const auto at = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      dims2[at] = 4;
      dims3[at] = 0;
      const Tensor x1 = random.Ints(type, dims1);
      const Tensor x2 = random.Ints(type, dims2);
      const Tensor x3 = random.Ints(type, dims3);
      const Tensor y1 = reference::Unary(x1, q1, qy, Identity);
      Dims dims = dims1;
      dims[at] += dims2[at];
      Tensor expected(type, dims);
      const int64_t inner = at == 0 ? 15 : at == 1 ? 5 : 1;
      const int64_t row1 = dims1[at] * inner;
      const int64_t row2 = dims2[at] * inner;
      for (int64_t i = 0; i < expected.count(); ++i) {
        const int64_t row = i / (row1 + row2);
        const int64_t column = i % (row1 + row2);
        SetInt(expected, i,
               column < row1 ? ElementAsInt(y1, row * row1 + column) : ElementAsInt(x2, row * row2 + column - row1));
      }
      ExpectOutputs({"QLinearConcat",
                     "com.microsoft",
                     1,
                     {{"axis", axis}},
                     {Tensor::Scalar(qy.scale), ZeroOf(type, qy), x1, Tensor::Scalar(q1.scale), ZeroOf(type, q1), x2,
                      Tensor::Scalar(qy.scale), ZeroOf(type, qy), x3, Tensor::Scalar(1.0f), ZeroOf(type, q1)},
                     1},
                    {expected}, "axis " + std::to_string(axis));
    }
  }
}

TEST(QLinearWhere, EveryBroadcast) {
  Random random(55);
  const std::vector<std::vector<Dims>> shapes = {{{4, 6}, {4, 6}, {4, 6}}, {{4, 6}, {1}, {4, 6}}, {{1}, {4, 6}, {1}},
                                                 {{4, 1}, {1, 6}, {4, 6}}, {{}, {}, {3}},         {{2, 0}, {1}, {1}}};
  for (const DataType type : kTypes) {
    for (const auto& dims : shapes) {
      const Quant qz = RandomQuant(random, type, 0.05f);
      const Quant qx = RandomQuant(random, type, 0.02f);
      const Quant qy = random.Chance(50) ? qz : RandomQuant(random, type, 0.1f);
      Tensor condition(DataType::kBool, dims[0]);
      for (int64_t i = 0; i < condition.count(); ++i) condition.mutable_data<uint8_t>()[i] = random.Chance(50) ? 1 : 0;
      const Tensor x = random.Ints(type, dims[1]);
      const Tensor y = random.Ints(type, dims[2]);
      // The reference of a binary operator broadcasts for us: adding 0 * scale is the identity.
      const Tensor ones(type, {1});
      const Dims out = dims[0] == Dims{2, 0} ? Dims{2, 0} : dims[0] == Dims{} ? Dims{3} : Dims{4, 6};
      Tensor expected(type, out);
      const Tensor from_x = reference::Unary(x, qx, qz, Identity);
      const Tensor from_y = qy.scale == qz.scale && qy.zero == qz.zero ? y : reference::Unary(y, qy, qz, Identity);
      const auto at = [&](const Tensor& t, int64_t i) {
        const int64_t columns = out.back();
        const int64_t r = t.rank() < 2 || t.dims()[0] == 1 ? 0 : i / columns;
        const int64_t c = t.rank() == 0 || t.dims().back() == 1 ? 0 : i % columns;
        return ElementAsInt(t, r * (t.rank() == 0 ? 1 : t.dims().back()) + c);
      };
      for (int64_t i = 0; i < expected.count(); ++i) {
        SetInt(expected, i, at(condition, i) != 0 ? at(from_x, i) : at(from_y, i));
      }
      ExpectOutputs({"QLinearWhere",
                     "com.microsoft",
                     1,
                     {},
                     {condition, x, Tensor::Scalar(qx.scale), ZeroOf(type, qx), y, Tensor::Scalar(qy.scale),
                      ZeroOf(type, qy), Tensor::Scalar(qz.scale), ZeroOf(type, qz)},
                     1},
                    {expected}, "where");
    }
  }
}

TEST(Int8Elementwise, Errors) {
  const Tensor s = Tensor::Scalar(1.0f);
  const Tensor z = ScalarInt(DataType::kUint8, 0);
  const Tensor x(DataType::kUint8, {2, 3});
  ExpectError({"QLinearAdd", "com.microsoft", 1, {}, {x, s, z, Tensor(DataType::kUint8, {4}), s, z, s, z}, 1},
              "shapes cannot be broadcast together: [2, 3] [4]");
  ExpectError({"QLinearMul", "com.microsoft", 1, {}, {x, s, z, Tensor(DataType::kInt8, {3}), s, z, s, z}, 1},
              "A is uint8, but B is int8");
  ExpectError({"QLinearAdd", "com.microsoft", 1, {}, {x, Tensor(DataType::kFloat, {2}), z, x, s, z, s, z}, 1},
              "'A_scale' is float[2], but must be one float");
  ExpectError({"QLinearConcat", "com.microsoft", 1, {{"axis", int64_t{1}}}, {s, z, x, s}, 1}, "groups of three");
  ExpectError({"QLinearConcat", "com.microsoft", 1, {{"axis", int64_t{2}}}, {s, z, x, s, z}, 1}, "axis 2 is outside");
  ExpectError({"QLinearConcat", "com.microsoft", 1, {}, {s, z, x, s, z}, 1}, "'axis' is missing");
  ExpectError({"QLinearConcat",
               "com.microsoft",
               1,
               {{"axis", int64_t{1}}},
               {s, z, x, s, z, Tensor(DataType::kUint8, {3, 3}), s, z},
               1},
              "cannot join [3, 3] to [2, 3]");
}

}  // namespace
}  // namespace rulerun::int8_test
