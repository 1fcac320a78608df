#include <algorithm>
#include <cmath>

#include "tests/kernels/ops/run_op.h"

namespace rulerun {
namespace {

// Weights by their definition, and the node's inputs for them.
struct Weights {
  int64_t depth, columns, block;
  int bits;
  std::vector<int> values;       // [columns, padded depth]
  std::vector<int> zero_points;  // [columns, blocks]
  std::vector<float> scales;

  int64_t blocks() const { return (depth + block - 1) / block; }

  Weights(int64_t k, int64_t n, int64_t size, int width) : depth(k), columns(n), block(size), bits(width) {
    const int range = 1 << bits;
    for (int64_t i = 0; i < columns * blocks() * block; ++i) values.push_back(static_cast<int>(i * 13 % 31) % range);
    for (int64_t i = 0; i < columns * blocks(); ++i) {
      zero_points.push_back(static_cast<int>(i * 5 % 7) % range);
      scales.push_back(static_cast<float>(i % 5 + 1) / 16);
    }
  }
  double Value(int64_t n, int64_t k, bool zero_points_given) const {
    const int64_t index = n * blocks() + k / block;
    const int zero_point = zero_points_given ? zero_points[static_cast<size_t>(index)] : 1 << (bits - 1);
    return (values[static_cast<size_t>(n * blocks() * block + k)] - zero_point) *
           static_cast<double>(scales[static_cast<size_t>(index)]);
  }
  // Rows of `length` fields, each row in whole bytes.
  Tensor Pack(const std::vector<int>& fields, int64_t length) const {
    const int64_t bytes = (length * bits + 7) / 8;
    Tensor packed(DataType::kUint8, {static_cast<int64_t>(fields.size()) / length, bytes});
    for (size_t i = 0; i < fields.size(); ++i) {
      const int64_t row = static_cast<int64_t>(i) / length, at = static_cast<int64_t>(i) % length * bits;
      auto& byte = packed.mutable_data<uint8_t>()[row * bytes + at / 8];
      byte = static_cast<uint8_t>(byte | fields[i] << (at % 8));
    }
    return packed;
  }
  Tensor Data() const { return Pack(values, blocks() * block).Reshaped({columns, blocks(), block * bits / 8}); }
};

Tensor Activations(int64_t rows, int64_t depth) {
  Tensor a(DataType::kFloat, {rows, depth});
  for (int64_t i = 0; i < a.count(); ++i) a.mutable_data<float>()[i] = static_cast<float>(i * 29 % 41 - 20) / 8;
  return a;
}

// Rounded to 8 bits in blocks, as accuracy level 4 has it.
Tensor Rounded(const Tensor& a, int64_t block) {
  Tensor rounded(DataType::kFloat, a.dims());
  const int64_t depth = a.dims()[1];
  for (int64_t i = 0; i < a.count(); ++i) {
    const int64_t row = i / depth, first = i % depth / block * block;
    float largest = 0;
    for (int64_t k = first; k < std::min(depth, first + block); ++k) {
      largest = std::max(largest, std::abs(a.data<float>()[row * depth + k]));
    }
    rounded.mutable_data<float>()[i] =
        largest == 0 ? 0 : std::nearbyint(a.data<float>()[i] * (127 / largest)) * (largest / 127);
  }
  return rounded;
}

std::vector<double> Product(const Tensor& a, const Weights& w, bool zero_points, const Tensor& bias) {
  std::vector<double> y;
  for (int64_t row = 0; row < a.dims()[0]; ++row) {
    for (int64_t n = 0; n < w.columns; ++n) {
      double sum = static_cast<double>(bias.data<float>()[n]);
      for (int64_t k = 0; k < w.depth; ++k) {
        sum += static_cast<double>(a.data<float>()[row * w.depth + k]) * w.Value(n, k, zero_points);
      }
      y.push_back(sum);
    }
  }
  return y;
}

AttributeMap AttributesOf(const Weights& w, int64_t accuracy_level) {
  return {{"K", w.depth},
          {"N", w.columns},
          {"bits", int64_t{w.bits}},
          {"block_size", w.block},
          {"accuracy_level", accuracy_level}};
}

OpCall Call(std::vector<Tensor> inputs, AttributeMap attributes) {
  return {"MatMulNBits", std::move(inputs), std::move(attributes), 1, 1, "com.microsoft"};
}

TEST(MatMulNBits, EqualsItsDefinition) {
  for (const int bits : {2, 4, 8}) {
    for (const int64_t block : {16, 32, 128}) {
      for (const bool given : {false, true}) {
        SCOPED_TRACE(testing::Message() << bits << " bits in blocks of " << block);
        const Weights w(70, 37, block, bits);
        const Tensor a = Activations(3, w.depth), scales = Tensor::Vector(w.scales);
        const Tensor zero_points = given ? w.Pack(w.zero_points, w.blocks()) : Tensor();
        const Tensor bias = Activations(1, w.columns).Reshaped({w.columns});
        const std::vector<Tensor> inputs = {a, w.Data(), scales, zero_points, Tensor(), bias};
        ExpectOutput(Call(inputs, AttributesOf(w, 0)), {3, 37}, Product(a, w, given, bias), 1e-2);
        const bool rounds = bits != 2 || (block >= 32 && block <= 128);
        ExpectOutput(Call(inputs, AttributesOf(w, 4)), {3, 37}, Product(rounds ? Rounded(a, block) : a, w, given, bias),
                     1e-2);
      }
    }
  }
}

TEST(MatMulNBits, TakesFloatZeroPointsAndGroups) {
  const Weights w(48, 5, 16, 4);
  const Tensor a = Activations(2, w.depth), bias(DataType::kFloat, {5});
  std::vector<float> zero_points(w.zero_points.begin(), w.zero_points.end());
  std::vector<int32_t> groups;
  for (int32_t k = 0; k < 48; ++k) groups.push_back(k / 16);
  ExpectOutput(Call({a, w.Data(), Tensor::Vector(w.scales), Tensor::Vector(zero_points)}, AttributesOf(w, 4)), {2, 5},
               Product(a, w, true, bias), 1e-4);
  ExpectOutput(Call({a, w.Data(), Tensor::Vector(w.scales), Tensor::Vector(zero_points), Tensor::Vector(groups)},
                    AttributesOf(w, 4)),
               {2, 5}, Product(a, w, true, bias), 1e-4);
}

TEST(MatMulNBits, RefusesWhatDoesNotFit) {
  const Weights w(48, 5, 16, 4);
  const Tensor scales = Tensor::Vector(w.scales);
  EXPECT_NE(ErrorOf(Call({Activations(2, 47), w.Data(), scales}, AttributesOf(w, 0))), "");
  EXPECT_NE(ErrorOf(Call({Activations(2, 48), w.Data(), Tensor::Vector(std::vector<float>{1})}, AttributesOf(w, 0))),
            "");
  AttributeMap attributes = AttributesOf(w, 0);
  attributes["bits"] = int64_t{3};
  EXPECT_NE(ErrorOf(Call({Activations(2, 48), w.Data(), scales}, attributes)), "");
}

}  // namespace
}  // namespace rulerun
