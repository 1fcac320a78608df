// com.microsoft's Attention and EmbedLayerNormalization, against their definitions in double.
#include <cmath>

#include "tests/kernels/ops/run_op.h"

namespace rulerun {
namespace {

Tensor Some(Dims dims, int64_t seed) {
  Tensor tensor(DataType::kFloat, std::move(dims));
  for (int64_t i = 0; i < tensor.count(); ++i) {
    tensor.mutable_data<float>()[i] = static_cast<float>((i * 37 + seed * 11) % 23 - 11) / 16;
  }
  return tensor;
}

Tensor Int32s(Dims dims, const std::vector<int32_t>& values) { return Tensor::Of(std::move(dims), values); }

double At(const Tensor& tensor, int64_t index) { return static_cast<double>(tensor.data<float>()[index]); }

constexpr int64_t kBatch = 2, kLength = 3, kInput = 5, kHeads = 2, kSize = 4, kHidden = kHeads * kSize;

// Attention by its definition. `seen` says what a mask adds to the score of a key.
struct SlowAttention {
  Tensor x = Some({kBatch, kLength, kInput}, 1);
  Tensor weights = Some({kInput, 3 * kHidden}, 2);
  Tensor bias = Some({3 * kHidden}, 3);
  Tensor past;  // [2, batch, heads, rows, size]

  int64_t past_rows() const { return past.empty() ? 0 : past.dims()[3]; }

  // Element of Q (0), K (1) or V (2).
  double Projected(int64_t which, int64_t b, int64_t head, int64_t row, int64_t i) const {
    if (which > 0 && row < past_rows()) {
      return At(past, ((((which - 1) * kBatch + b) * kHeads + head) * past_rows() + row) * kSize + i);
    }
    if (which > 0) row -= past_rows();
    const int64_t column = which * kHidden + head * kSize + i;
    double sum = At(bias, column);
    for (int64_t k = 0; k < kInput; ++k) {
      sum += At(x, (b * kLength + row) * kInput + k) * At(weights, k * 3 * kHidden + column);
    }
    return sum;
  }

  template <typename F>
  std::vector<double> Run(F added, double scale) const {
    const int64_t keys = past_rows() + kLength;
    std::vector<double> y(static_cast<size_t>(kBatch * kLength * kHidden));
    for (int64_t item = 0; item < kBatch * kHeads * kLength; ++item) {
      const int64_t b = item / (kHeads * kLength), head = item / kLength % kHeads, row = item % kLength;
      std::vector<double> weight;
      double total = 0;
      for (int64_t key = 0; key < keys; ++key) {
        double score = 0;
        for (int64_t i = 0; i < kSize; ++i) score += Projected(0, b, head, row, i) * Projected(1, b, head, key, i);
        weight.push_back(std::exp(score * scale + added(b, head, row, key)));
        total += weight.back();
      }
      for (int64_t i = 0; i < kSize; ++i) {
        double& out = y[static_cast<size_t>((b * kLength + row) * kHidden + head * kSize + i)];
        for (int64_t key = 0; key < keys; ++key) {
          out += weight[static_cast<size_t>(key)] / total * Projected(2, b, head, key, i);
        }
      }
    }
    return y;
  }
};

const Dims kOutput = {kBatch, kLength, kHidden};
const auto kNothing = [](int64_t, int64_t, int64_t, int64_t) { return 0.0; };

OpCall Attention(const SlowAttention& slow, std::vector<Tensor> more = {}, AttributeMap attributes = {}) {
  attributes["num_heads"] = kHeads;
  OpCall call{"Attention", {slow.x, slow.weights, slow.bias}, std::move(attributes), 1, 1, "com.microsoft"};
  call.inputs.insert(call.inputs.end(), more.begin(), more.end());
  return call;
}

TEST(Attention, EqualsItsDefinition) {
  const SlowAttention slow;
  ExpectOutput(Attention(slow), kOutput, slow.Run(kNothing, 0.5), 1e-5);
  ExpectOutput(Attention(slow, {}, {{"scale", 0.25f}}), kOutput, slow.Run(kNothing, 0.25), 1e-5);
}

TEST(Attention, TakesEveryKindOfMask) {
  const SlowAttention slow;
  const auto behind = [](int64_t, int64_t, int64_t row, int64_t key) { return key > row ? -1e30 : 0.0; };
  ExpectOutput(Attention(slow, {}, {{"unidirectional", int64_t{1}}}), kOutput, slow.Run(behind, 0.5), 1e-5);
  const AttributeMap masked = {{"mask_filter_value", -3.0f}};
  const auto ends = [](int64_t b, int64_t, int64_t, int64_t key) { return key >= 2 - b ? -3.0 : 0.0; };
  ExpectOutput(Attention(slow, {Int32s({2}, {2, 1})}, masked), kOutput, slow.Run(ends, 0.5), 1e-5);
  ExpectOutput(Attention(slow, {Int32s({2, 3}, {1, 1, 0, 1, 0, 0})}, masked), kOutput, slow.Run(ends, 0.5), 1e-5);
  const auto middle = [](int64_t b, int64_t, int64_t, int64_t key) { return key >= 2 || key < b ? -3.0 : 0.0; };
  ExpectOutput(Attention(slow, {Int32s({4}, {2, 2, 0, 1})}, masked), kOutput, slow.Run(middle, 0.5), 1e-5);
  const auto square = [](int64_t b, int64_t, int64_t row, int64_t key) { return (b + row + key) % 2 ? -3.0 : 0.0; };
  const Tensor squares = Int32s({2, 3, 3}, {1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0});
  ExpectOutput(Attention(slow, {squares}, masked), kOutput, slow.Run(square, 0.5), 1e-5);
  ExpectOutput(Attention(slow, {Int32s({2, 1}, {0, 0})}, masked), kOutput, slow.Run(kNothing, 0.5), 1e-5);
}

TEST(Attention, AddsABias) {
  const SlowAttention slow;
  const Tensor bias = Some({1, kHeads, kLength, kLength}, 5);
  const auto added = [&](int64_t, int64_t head, int64_t row, int64_t key) {
    return At(bias, (head * kLength + row) * kLength + key);
  };
  ExpectOutput(Attention(slow, {Tensor(), Tensor(), bias}), kOutput, slow.Run(added, 0.5), 1e-5);
}

TEST(Attention, GoesOnFromAPast) {
  SlowAttention slow;
  slow.past = Some({2, kBatch, kHeads, 2, kSize}, 7);
  const auto behind = [](int64_t, int64_t, int64_t row, int64_t key) { return key > row + 2 ? -1e30 : 0.0; };
  OpCall call = Attention(slow, {Tensor(), slow.past}, {{"unidirectional", int64_t{1}}});
  ExpectOutput(call, kOutput, slow.Run(behind, 0.5), 1e-5);
  call.outputs = 2;
  const Result<std::vector<Tensor>> outputs = RunOp(call);
  ASSERT_TRUE(outputs.ok());
  const Tensor& present = outputs->at(1);
  ASSERT_EQ(present.dims(), (Dims{2, kBatch, kHeads, 5, kSize}));
  for (int64_t i = 0; i < present.count(); ++i) {
    const int64_t row = i / kSize, head = row / 5;
    const double wanted =
        slow.Projected(1 + head / (kBatch * kHeads), head / kHeads % kBatch, head % kHeads, row % 5, i % kSize);
    EXPECT_NEAR(At(present, i), wanted, 1e-5) << i;
  }
}

TEST(Attention, RefusesWhatDoesNotFit) {
  SlowAttention slow;
  EXPECT_NE(ErrorOf(Attention(slow, {Int32s({3}, {1, 1, 1})})), "");
  EXPECT_NE(ErrorOf(Attention(slow, {Tensor(), Tensor(), Some({1, 1, 2, 3}, 1)})), "");
  EXPECT_NE(ErrorOf(Attention(slow, {Tensor(), Some({2, kBatch, kHeads, 2, 5}, 1)})), "");
  EXPECT_NE(ErrorOf(Attention(slow, {}, {{"qkv_hidden_sizes", std::vector<int64_t>{8, 4, 12}}})), "");
  slow.bias = Some({5}, 1);
  EXPECT_NE(ErrorOf(Attention(slow)), "");
}

// Q, K or V as [batch, length, hidden].
Tensor Rows(const SlowAttention& slow, int64_t which) {
  Tensor rows(DataType::kFloat, kOutput);
  for (int64_t i = 0; i < rows.count(); ++i) {
    const int64_t row = i / kHidden, column = i % kHidden;
    rows.mutable_data<float>()[i] =
        static_cast<float>(slow.Projected(which, row / kLength, column / kSize, row % kLength, column % kSize));
  }
  return rows;
}

TEST(MultiHeadAttention, EqualsItsDefinition) {
  const SlowAttention slow;
  OpCall call{"MultiHeadAttention", {}, {{"num_heads", kHeads}}, 1, 1, "com.microsoft"};
  for (const int64_t which : {0, 1, 2}) call.inputs.push_back(Rows(slow, which));
  ExpectOutput(call, kOutput, slow.Run(kNothing, 0.5), 1e-5);
  const auto ends = [](int64_t b, int64_t, int64_t, int64_t key) { return key >= 2 - b ? -3.0 : 0.0; };
  call.inputs.insert(call.inputs.end(), {Tensor(), Int32s({2}, {2, 1})});
  call.attributes["mask_filter_value"] = -3.0f;
  ExpectOutput(call, kOutput, slow.Run(ends, 0.5), 1e-5);
}

TEST(MultiHeadAttention, AddsABiasToItsInputs) {
  SlowAttention slow;
  slow.bias = Tensor(DataType::kFloat, {3 * kHidden});
  OpCall call{"MultiHeadAttention", {}, {{"num_heads", kHeads}}, 1, 1, "com.microsoft"};
  for (const int64_t which : {0, 1, 2}) call.inputs.push_back(Rows(slow, which));
  slow.bias = Some({3 * kHidden}, 3);
  call.inputs.push_back(slow.bias);
  ExpectOutput(call, kOutput, slow.Run(kNothing, 0.5), 1e-5);
}

TEST(MultiHeadAttention, GoesOnFromAPast) {
  SlowAttention slow;
  OpCall call{"MultiHeadAttention", {}, {{"num_heads", kHeads}}, 1, 3, "com.microsoft"};
  for (const int64_t which : {0, 1, 2}) call.inputs.push_back(Rows(slow, which));
  slow.past = Some({2, kBatch, kHeads, 2, kSize}, 7);
  const auto half = [&](int64_t which) {
    const float* from = slow.past.data<float>() + which * slow.past.count() / 2;
    return Tensor::Of<float>({kBatch, kHeads, 2, kSize}, {from, from + slow.past.count() / 2});
  };
  call.inputs.insert(call.inputs.end(), {Tensor(), Tensor(), Tensor(), half(0), half(1)});
  ExpectOutput(call, kOutput, slow.Run(kNothing, 0.5), 1e-5);
  call.inputs[6] = Some({kBatch, kHeads, 2, kSize + 1}, 1);
  EXPECT_NE(ErrorOf(call), "");
}

TEST(EmbedLayerNormalization, AddsAndNormalizes) {
  const Tensor ids = Int32s({1, 2}, {1, 0}), segments = Int32s({1, 2}, {0, 1});
  const Tensor words = Floats({2, 2}, {1, 2, 3, 5}), places = Floats({3, 2}, {0, 1, 2, 0, 9, 9});
  const Tensor parts = Floats({2, 2}, {10, 20, 30, 40});
  const Tensor gamma = Floats({2}, {1, 2}), beta = Floats({2}, {0, 1});
  OpCall call{"EmbedLayerNormalization", {ids, segments, words, places, parts, gamma, beta}, {}, 1, 3, "com.microsoft"};
  call.inputs.push_back(Int32s({1, 2}, {1, 0}));
  Result<std::vector<Tensor>> outputs = RunOp(call);
  ASSERT_TRUE(outputs.ok()) << ToString(outputs.error());
  EXPECT_EQ(ToDoubles(outputs->at(2)), (std::vector<double>{13, 26, 33, 42}));
  EXPECT_EQ(ToInts(outputs->at(1)), (std::vector<int64_t>{1}));
  ExpectOutput(call, {1, 2, 2}, {-1, 3, -1, 3}, 1e-5);
  call.inputs = {ids, Tensor(), words, places, Tensor(), gamma, beta, Tensor(), Int32s({1, 2}, {2, 1})};
  outputs = RunOp(call);
  ASSERT_TRUE(outputs.ok()) << ToString(outputs.error());
  EXPECT_EQ(ToDoubles(outputs->at(2)), (std::vector<double>{12, 14, 3, 2}));
  call.inputs[8] = Int32s({1, 2}, {3, 0});
  EXPECT_NE(ErrorOf(call), "");
}

}  // namespace
}  // namespace rulerun
