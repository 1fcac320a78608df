#include "kernels/ops/gemm.h"
#include "tests/kernels/ops/run_op.h"

namespace rulerun {
namespace {

Tensor Small(Dims dims, int seed) {
  Tensor tensor(DataType::kFloat, std::move(dims));
  for (int64_t i = 0; i < tensor.count(); ++i) {
    tensor.mutable_data<float>()[i] = static_cast<float>((i * 5 + seed) % 13 - 6) / 8;
  }
  return tensor;
}

std::vector<double> SlowProduct(const Tensor& a, const Tensor& b) {
  const int64_t rows = a.dims()[0], depth = a.dims()[1], columns = b.dims()[1];
  std::vector<double> c;
  for (int64_t i = 0; i < rows * columns; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      sum += ElementAsDouble(a, i / columns * depth + k) * ElementAsDouble(b, k * columns + i % columns);
    }
    c.push_back(sum);
  }
  return c;
}

TEST(MatMul, EverySizeOfTile) {
  for (const int64_t rows : {1, 5, 6, 7, 13}) {
    for (const int64_t columns : {1, 31, 32, 33, 70}) {
      for (const int64_t depth : {0, 1, 9, 300}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << depth << " x " << columns);
        const Tensor a = Small({rows, depth}, 1), b = Small({depth, columns}, 2);
        ExpectOutput({"MatMul", {a, b}}, {rows, columns}, SlowProduct(a, b), 1e-4);
      }
    }
  }
}

TEST(MatMul, BatchesBroadcast) {
  const Tensor a = Floats({2, 1, 1, 2}, {1, 2, 3, 4});
  const Tensor b = Floats({2, 2, 1}, {1, 1, 10, 10});
  ExpectOutput({"MatMul", {a, b}}, {2, 2, 1, 1}, {3, 30, 7, 70});
  ExpectOutput({"MatMul", {Floats({2}, {1, 2}), Floats({2}, {3, 4})}}, {}, {11});
  ExpectOutput({"MatMul", {Floats({2}, {1, 2}), Floats({2, 2}, {1, 2, 3, 4})}}, {2}, {7, 10});
  ExpectOutput({"MatMul", {Tensor::Of<int32_t>({1, 2}, {2, 3}), Tensor::Of<int32_t>({2, 1}, {4, 5})}}, {1, 1}, {23});
  EXPECT_NE(ErrorOf({"MatMul", {Floats({1, 2}, {1, 2}), Floats({3, 1}, {1, 2, 3})}}), "");
  EXPECT_NE(ErrorOf({"MatMul", {Floats({}, {1}), Floats({1}, {1})}}), "");
}

TEST(MatMul, FusedTransposesAndScales) {
  const AttributeMap attributes = {{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 0.5f}};
  const OpCall call = {"FusedMatMul",  {Floats({2, 1}, {1, 2}), Floats({1, 2}, {3, 4})}, attributes, 1, 1,
                       "com.microsoft"};
  ExpectOutput(call, {1, 1}, {5.5});
}

TEST(MatMul, FusedMovesRowsBehindTheBatch) {
  // a[row][batch][k], b[k][batch][column]
  const Tensor a = Floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), b = Floats({2, 2, 1}, {1, 10, -1, 20});
  const AttributeMap attributes = {{"transBatchA", int64_t{1}}, {"transBatchB", int64_t{1}}};
  ExpectOutput({"FusedMatMul", {a, b}, attributes, 1, 1, "com.microsoft"}, {2, 2, 1}, {-1, -1, 110, 230});
}

TEST(Gemm, TakesDoubles) {
  const Tensor a = Tensor::Of<double>({2, 1}, {1, 2}), b = Tensor::Of<double>({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor c = Tensor::Of<double>({1}, {10});
  const AttributeMap attributes = {{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 2.0f}, {"beta", 0.5f}};
  ExpectOutput({"Gemm", {a, b, c}, attributes}, {1, 3}, {15, 27, 39});
  EXPECT_NE(ErrorOf({"Gemm", {a, b, Floats({1}, {1})}, attributes}), "");
}

TEST(Gemm, AddsAScaledMatrix) {
  const Tensor a = Floats({2, 2}, {1, 2, 3, 4}), b = Floats({2, 2}, {1, 0, 0, 1});
  ExpectOutput({"Gemm", {a, b, Floats({2}, {10, 20})}}, {2, 2}, {11, 22, 13, 24});
  ExpectOutput({"Gemm", {a, b, Floats({2, 1}, {10, 20})}, {{"beta", 0.5f}, {"alpha", 2.0f}}}, {2, 2}, {7, 9, 16, 18});
  ExpectOutput({"Gemm", {a, b}, {{"transA", int64_t{1}}}}, {2, 2}, {1, 3, 2, 4});
  EXPECT_NE(ErrorOf({"Gemm", {a, b, Floats({3}, {1, 2, 3})}}), "");
}

TEST(Gemm, DoesNotDependOnTheNumberOfThreads) {
  const Tensor a = Small({100, 270}, 1), b = Small({270, 90}, 2);
  PackedMatrix packed(270, 90);
  packed.Pack({b.data<float>(), 90, 1}, nullptr);
  std::vector<float> one(9000), three(9000);
  ThreadPool alone(1), together(3);
  Gemm(a.data<float>(), 270, 100, packed, one.data(), 90, alone);
  Gemm(a.data<float>(), 270, 100, packed, three.data(), 90, together);
  EXPECT_EQ(one, three);
}

}  // namespace
}  // namespace rulerun
