// The matrix products against the reference, to the bit.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/kernels/int8/harness.h"
#include "tests/kernels/int8/reference.h"

namespace rulerun::int8_test {
namespace {

struct Shape {
  int64_t m, k, n;
};
const std::vector<Shape> kShapes = {{1, 1, 1},    {3, 5, 7},    {1, 64, 130}, {5, 4, 64},   {6, 8, 16}, {7, 13, 65},
                                    {2, 700, 33}, {97, 31, 40}, {200, 16, 9}, {13, 3, 129}, {4, 0, 5},  {0, 4, 5},
                                    {4, 5, 0},    {1, 2, 300},  {50, 66, 70}, {3, 4096, 18}};
struct Types {
  DataType a, b;
};
const std::vector<Types> kTypes = {{DataType::kUint8, DataType::kUint8},
                                   {DataType::kUint8, DataType::kInt8},
                                   {DataType::kInt8, DataType::kInt8},
                                   {DataType::kInt8, DataType::kUint8}};

// The operands of a product, with zero points and scales of all sorts.
struct Product {
  Product(Random& random, const Shape& shape, Types types) {
    const bool extreme = random.Chance(25);
    a = random.Ints(types.a, {shape.m, shape.k}, extreme ? 127 : INT64_MIN);
    b = random.Ints(types.b, {shape.k, shape.n}, INT64_MIN, extreme ? -127 : INT64_MAX);
    if (extreme && types.b == DataType::kUint8) b = random.Ints(types.b, {shape.k, shape.n}, 254);
    const Dims per = random.Chance(50) ? Dims{shape.n} : Dims{};
    a_zero = random.Ints(types.a, {});
    b_zero = random.Chance(60) ? random.Ints(types.b, per) : Tensor(types.b, per);
    a_scale = random.Scale(1e-3f, 0.1f);
    b_scale = random.Scales(per);
    sums = reference::MatMulInteger(a, b, ElementAsInt(a_zero, 0), b_zero);
  }
  // f(f(a_scale * b_scale) / by)
  std::vector<float> Multiplier(float by) const {
    std::vector<float> m;
    for (const float s : b_scale.values<float>()) {
      const float product = a_scale * s;
      m.push_back(product / by);
    }
    if (m.empty()) m.push_back(1.0f);
    return m;
  }
  Tensor a, b, a_zero, b_zero, b_scale, sums;
  float a_scale = 1;
};

std::string Text(const Shape& shape, Types types) {
  return std::string(Name(types.a)) + "[" + std::to_string(shape.m) + ", " + std::to_string(shape.k) + "] x " +
         std::string(Name(types.b)) + "[.., " + std::to_string(shape.n) + "]";
}

template <typename Check>
void ForEachProduct(uint32_t seed, const Check& check) {
  Random random(seed);
  for (const Shape& shape : kShapes) {
    for (const Types types : kTypes) check(random, Product(random, shape, types), shape, Text(shape, types));
  }
}

TEST(MatMulInteger, EveryShapeAndType) {
  ForEachProduct(41, [](Random&, const Product& p, const Shape&, const std::string& what) {
    ExpectOutputs({"MatMulInteger", "", 10, {}, {p.a, p.b, p.a_zero, p.b_zero}, 1}, {p.sums}, what);
  });
}

TEST(MatMulInteger, WithoutZeroPoints) {
  Random random(42);
  const Tensor a = random.Ints(DataType::kUint8, {5, 9});
  const Tensor b = random.Ints(DataType::kUint8, {9, 4});
  ExpectOutputs({"MatMulInteger", "", 10, {}, {a, b}, 1}, {reference::MatMulInteger(a, b, 0, {})}, "none");
}

TEST(QLinearMatMul, EveryShapeAndType) {
  ForEachProduct(43, [](Random& random, const Product& p, const Shape&, const std::string& what) {
    const float y_scale = random.Chance(30) ? p.a_scale * 2000 : random.Scale(0.1f, 3.0f);
    const Tensor y_zero = random.Ints(p.a.type(), {});
    const Tensor expected = reference::Requantize(p.sums, p.Multiplier(y_scale), ElementAsInt(y_zero, 0), p.a.type());
    ExpectOutputs(
        {"QLinearMatMul",
         "",
         21,
         {},
         {p.a, Tensor::Scalar(p.a_scale), p.a_zero, p.b, p.b_scale, p.b_zero, Tensor::Scalar(y_scale), y_zero},
         1},
        {expected}, what);
  });
}

TEST(MatMulIntegerToFloat, EveryShapeAndType) {
  ForEachProduct(44, [](Random& random, const Product& p, const Shape& shape, const std::string& what) {
    const Tensor bias = random.Chance(60) ? random.Reals({shape.n}, -5.0f, 5.0f) : Tensor();
    ExpectOutputs({"MatMulIntegerToFloat",
                   "com.microsoft",
                   1,
                   {},
                   {p.a, p.b, Tensor::Scalar(p.a_scale), p.b_scale, p.a_zero, p.b_zero, bias},
                   1},
                  {reference::Scale(p.sums, p.Multiplier(1.0f), bias)}, what);
  });
}

TEST(DynamicQuantizeMatMul, EveryShapeAndType) {
  ForEachProduct(45, [](Random& random, const Product& p, const Shape& shape, const std::string& what) {
    if (p.a.type() == DataType::kInt8) return;
    const Tensor a = random.Reals({shape.m, shape.k}, -2.0f, 3.0f);
    const std::vector<Tensor> quantized = reference::DynamicQuantizeLinear(a);
    const float a_scale = quantized[1].data<float>()[0];
    std::vector<float> multiplier;
    for (const float s : p.b_scale.values<float>()) multiplier.push_back(a_scale * s);
    if (multiplier.empty()) multiplier.push_back(1.0f);
    const Tensor sums = reference::MatMulInteger(quantized[0], p.b, ElementAsInt(quantized[2], 0), p.b_zero);
    const Tensor bias = random.Chance(60) ? random.Reals({shape.n}, -5.0f, 5.0f) : Tensor();
    ExpectOutputs({"DynamicQuantizeMatMul", "com.microsoft", 1, {}, {a, p.b, p.b_scale, p.b_zero, bias}, 1},
                  {reference::Scale(sums, multiplier, bias)}, what);
  });
}

TEST(QGemm, EveryShapeAndType) {
  ForEachProduct(46, [](Random& random, const Product& p, const Shape& shape, const std::string& what) {
    const bool trans_a = random.Chance(50);
    const bool trans_b = random.Chance(50);
    const float alpha = random.Chance(50) ? 1.0f : 0.7f;
    const Dims c_dims[] = {{}, {1}, {shape.n}, {1, shape.n}, {shape.m, 1}, {shape.m, shape.n}};
    const Tensor c =
        random.Chance(20) ? Tensor() : random.Ints(DataType::kInt32, c_dims[random.Int(0, 5)], -4000, 4000);
    Tensor sums(DataType::kInt32, p.sums.dims());
    for (int64_t m = 0; m < shape.m; ++m) {
      for (int64_t n = 0; n < shape.n; ++n) {
        int64_t add = 0;
        if (!c.empty()) {
          const int64_t columns = c.rank() == 0 ? 1 : c.dims().back();
          const int64_t rows = c.rank() == 2 ? c.dims()[0] : 1;
          add = ElementAsInt(c, (rows == 1 ? 0 : m) * columns + (columns == 1 ? 0 : n));
        }
        const auto sum = static_cast<uint32_t>(p.sums.data<int32_t>()[m * shape.n + n]) + static_cast<uint32_t>(add);
        sums.mutable_data<int32_t>()[m * shape.n + n] = static_cast<int32_t>(sum);
      }
    }
    const auto straight = [](const Tensor& t, bool transposed) {
      return transposed ? reference::Transpose(t, {1, 0}) : t;
    };
    Node node{
        "QGemm",
        "com.microsoft",
        1,
        {{"transA", int64_t{trans_a}}, {"transB", int64_t{trans_b}}, {"alpha", alpha}},
        {straight(p.a, trans_a), Tensor::Scalar(p.a_scale), p.a_zero, straight(p.b, trans_b), p.b_scale, p.b_zero, c},
        1};
    std::vector<float> multiplier;
    for (const float s : p.b_scale.values<float>()) {
      const float left = alpha * p.a_scale;
      multiplier.push_back(left * s);
    }
    if (multiplier.empty()) multiplier.push_back(1.0f);
    ExpectOutputs(node, {reference::Scale(sums, multiplier, {})}, what + " to float");
    const float y_scale = random.Scale(0.1f, 3.0f);
    const Tensor y_zero = random.Ints(p.a.type(), {});
    for (float& m : multiplier) m = m / y_scale;
    node.inputs.push_back(Tensor::Scalar(y_scale));
    node.inputs.push_back(y_zero);
    ExpectOutputs(node, {reference::Requantize(sums, multiplier, ElementAsInt(y_zero, 0), p.a.type())}, what);
  });
}

// Matrix `index` of a stack.
Tensor Slice(const Tensor& stack, int64_t index) {
  const Dims dims(stack.dims().end() - 2, stack.dims().end());
  Tensor matrix(stack.type(), dims);
  std::memcpy(matrix.mutable_raw(), stack.raw() + index * matrix.count(), static_cast<size_t>(matrix.count()));
  return matrix;
}

TEST(MatMulInteger, Stacks) {
  Random random(47);
  const struct {
    Dims a, b, out;
    std::vector<int64_t> from_a, from_b;  // matrices
  } cases[] = {
      {{2, 3, 5}, {5, 4}, {2, 3, 4}, {0, 1}, {0, 0}},
      {{2, 3, 5}, {2, 5, 4}, {2, 3, 4}, {0, 1}, {0, 1}},
      {{3, 5}, {2, 5, 4}, {2, 3, 4}, {0, 0}, {0, 1}},
      {{2, 1, 3, 5}, {2, 5, 4}, {2, 2, 3, 4}, {0, 0, 1, 1}, {0, 1, 0, 1}},
      {{2, 3, 0}, {2, 0, 4}, {2, 3, 4}, {0, 1}, {0, 1}},
      {{0, 3, 5}, {5, 4}, {0, 3, 4}, {}, {}},
  };
  for (const auto& c : cases) {
    const Tensor a = random.Ints(DataType::kUint8, c.a);
    const Tensor b = random.Ints(DataType::kInt8, c.b);
    Tensor expected(DataType::kInt32, c.out);
    int64_t at = 0;
    for (size_t i = 0; i < c.from_a.size(); ++i) {
      const Tensor y = reference::MatMulInteger(Slice(a, c.from_a[i]), Slice(b, c.from_b[i]), 7, {});
      for (const int32_t v : y.values<int32_t>()) expected.mutable_data<int32_t>()[at++] = v;
    }
    ExpectOutputs({"MatMulInteger", "", 10, {}, {a, b, ScalarInt(DataType::kUint8, 7)}, 1}, {expected}, "stack");
  }
}

TEST(MatMulInteger, Vectors) {
  Random random(48);
  const Tensor row = random.Ints(DataType::kUint8, {1, 9});
  const Tensor matrix = random.Ints(DataType::kUint8, {9, 4});
  const Tensor column = random.Ints(DataType::kUint8, {9, 1});
  ExpectOutputs({"MatMulInteger", "", 10, {}, {row.Reshaped({9}), matrix}, 1},
                {reference::MatMulInteger(row, matrix, 0, {}).Reshaped({4})}, "vector x matrix");
  ExpectOutputs({"MatMulInteger", "", 10, {}, {row, column.Reshaped({9})}, 1},
                {reference::MatMulInteger(row, column, 0, {}).Reshaped({1})}, "matrix x vector");
  ExpectOutputs({"MatMulInteger", "", 10, {}, {row.Reshaped({9}), column.Reshaped({9})}, 1},
                {reference::MatMulInteger(row, column, 0, {}).Reshaped({})}, "vector x vector");
}

// Scales and zero points [.., 1, N]: others for each matrix of B.
TEST(QLinearMatMul, ParametersPerMatrix) {
  Random random(49);
  const Tensor a = random.Ints(DataType::kUint8, {2, 3, 6});
  const Tensor b = random.Ints(DataType::kUint8, {2, 6, 5});
  const Tensor b_zero = random.Ints(DataType::kUint8, {2, 1, 5});
  const Tensor b_scale = random.Scales({2, 1, 5});
  Tensor expected(DataType::kUint8, {2, 3, 5});
  for (int64_t i = 0; i < 2; ++i) {
    const Tensor sums = reference::MatMulInteger(Slice(a, i), Slice(b, i), 100, Slice(b_zero, i));
    std::vector<float> multiplier;
    for (int64_t n = 0; n < 5; ++n) {
      const float product = 0.05f * b_scale.data<float>()[i * 5 + n];
      multiplier.push_back(product / 0.5f);
    }
    const Tensor y = reference::Requantize(sums, multiplier, 9, DataType::kUint8);
    std::memcpy(expected.mutable_raw() + i * 15, y.raw(), 15);
  }
  ExpectOutputs({"QLinearMatMul",
                 "",
                 10,
                 {},
                 {a, Tensor::Scalar(0.05f), ScalarInt(DataType::kUint8, 100), b, b_scale, b_zero, Tensor::Scalar(0.5f),
                  ScalarInt(DataType::kUint8, 9)},
                 1},
                {expected}, "per matrix");
}

// The sums leave int32 and wrap.
TEST(MatMulInteger, Wraps) {
  const Tensor a = Random(50).Ints(DataType::kUint8, {2, 70000}, 255, 255);
  const Tensor b = Random(50).Ints(DataType::kUint8, {70000, 3}, 255, 255);
  ExpectOutputs({"MatMulInteger", "", 10, {}, {a, b}, 1}, {reference::MatMulInteger(a, b, 0, {})}, "wraps");
}

TEST(Int8MatMul, Errors) {
  const Tensor a(DataType::kUint8, {2, 3});
  ExpectError({"MatMulInteger", "", 10, {}, {a, Tensor(DataType::kInt8, {4, 5})}, 1},
              "cannot multiply shapes [2, 3] and [4, 5]");
  ExpectError({"MatMulInteger", "", 10, {}, {a, Tensor(DataType::kInt8, {})}, 1}, "cannot multiply");
  ExpectError({"MatMulInteger", "", 10, {}, {a, Tensor(DataType::kInt8, {3, 5}), Tensor(DataType::kUint8, {2})}, 1},
              "'a_zero_point' is uint8[2], but must be one uint8");
  // Operands without elements whose product would not fit in memory.
  constexpr int64_t kHuge = int64_t{1} << 45;
  const Tensor nothing(DataType::kUint8, {2, 0});
  ExpectError({"MatMulInteger", "", 10, {}, {nothing, Tensor(DataType::kInt8, {0, kHuge})}, 1}, "");
  ExpectError({"MatMulInteger", "", 10, {}, {nothing, Tensor(DataType::kInt8, {kHuge, 0, 3})}, 1}, "");
  ExpectError({"QGemm",
               "com.microsoft",
               1,
               {},
               {a, Tensor::Scalar(1.0f), ScalarInt(DataType::kUint8, 0), Tensor(DataType::kInt8, {3, 5}),
                Tensor::Scalar(1.0f), ScalarInt(DataType::kInt8, 0), Tensor(DataType::kInt32, {4})},
               1},
              "C is int32[4], which is not int32 that can be broadcast to [2, 5]");
}

}  // namespace
}  // namespace rulerun::int8_test
