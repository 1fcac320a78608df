// LSTM, GRU and RNN against their definitions, one row at a time.
#include <cmath>

#include "tests/kernels/ops/run_op.h"

namespace rulerun {
namespace {

constexpr int64_t kSteps = 4, kBatch = 2, kFeatures = 3, kHidden = 5;

Tensor Small(Dims dims, int seed) {
  Tensor tensor(DataType::kFloat, std::move(dims));
  for (int64_t i = 0; i < tensor.count(); ++i) {
    tensor.mutable_data<float>()[i] = static_cast<float>((i * 7 + seed) % 23 - 11) / 20;
  }
  return tensor;
}

double At(const Tensor& tensor, int64_t index) { return static_cast<double>(tensor.data<float>()[index]); }
double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Inputs {
  Tensor x, w, r, b, h;
  int64_t gates;

  explicit Inputs(int64_t count, int64_t directions = 1) : gates(count) {
    x = Small({kSteps, kBatch, kFeatures}, 1);
    w = Small({directions, gates * kHidden, kFeatures}, 2);
    r = Small({directions, gates * kHidden, kHidden}, 3);
    b = Small({directions, 2 * gates * kHidden}, 4);
    h = Small({directions, kBatch, kHidden}, 5);
  }
  // W * x + bias of W; R * h + bias of R, of one gate's element.
  double OfInput(int64_t step, int64_t row, int64_t gate, int64_t i) const {
    double sum = At(b, gate * kHidden + i);
    for (int64_t k = 0; k < kFeatures; ++k) {
      sum += At(w, (gate * kHidden + i) * kFeatures + k) * At(x, (step * kBatch + row) * kFeatures + k);
    }
    return sum;
  }
  double OfState(const std::vector<double>& state, int64_t gate, int64_t i) const {
    double sum = At(b, (gates + gate) * kHidden + i);
    for (int64_t k = 0; k < kHidden; ++k) {
      sum += At(r, (gate * kHidden + i) * kHidden + k) * state[static_cast<size_t>(k)];
    }
    return sum;
  }
};

std::vector<double> StartOf(const Tensor& h, int64_t row) {
  std::vector<double> state;
  for (int64_t i = 0; i < kHidden; ++i) state.push_back(At(h, row * kHidden + i));
  return state;
}

std::vector<Tensor> RunAll(const OpCall& call) {
  Result<std::vector<Tensor>> outputs = RunOp(call);
  if (!outputs.ok()) {
    ADD_FAILURE() << ToString(outputs.error());
    return std::vector<Tensor>(call.outputs, Tensor(DataType::kFloat, {0}));
  }
  return *outputs;
}

TEST(Recurrent, LstmEqualsItsDefinition) {
  const Inputs in(4);
  const Tensor c0 = Small({1, kBatch, kHidden}, 6), p = Small({1, 3 * kHidden}, 7);
  const OpCall call = {"LSTM", {in.x, in.w, in.r, in.b, Tensor(), in.h, c0, p}, {{"hidden_size", kHidden}}, 14, 3};
  const std::vector<Tensor> y = RunAll(call);
  ASSERT_EQ(y[0].dims(), (Dims{kSteps, 1, kBatch, kHidden}));
  for (int64_t row = 0; row < kBatch; ++row) {
    std::vector<double> h = StartOf(in.h, row), c = StartOf(c0, row);
    for (int64_t step = 0; step < kSteps; ++step) {
      std::vector<double> next(kHidden);
      for (int64_t i = 0; i < kHidden; ++i) {
        const auto gate = [&](int64_t g) { return in.OfInput(step, row, g, i) + in.OfState(h, g, i); };
        double& cell = c[static_cast<size_t>(i)];
        const double input = Sigmoid(gate(0) + At(p, i) * cell);
        const double forget = Sigmoid(gate(2) + At(p, 2 * kHidden + i) * cell);
        cell = forget * cell + input * std::tanh(gate(3));
        next[static_cast<size_t>(i)] = Sigmoid(gate(1) + At(p, kHidden + i) * cell) * std::tanh(cell);
        EXPECT_NEAR(At(y[0], (step * kBatch + row) * kHidden + i), next[static_cast<size_t>(i)], 1e-5);
      }
      h = next;
    }
    for (int64_t i = 0; i < kHidden; ++i) {
      EXPECT_NEAR(At(y[1], row * kHidden + i), h[static_cast<size_t>(i)], 1e-5);
      EXPECT_NEAR(At(y[2], row * kHidden + i), c[static_cast<size_t>(i)], 1e-5);
    }
  }
}

TEST(Recurrent, GruEqualsItsDefinition) {
  const Inputs in(3);
  for (const bool linear : {false, true}) {
    SCOPED_TRACE(linear);
    const Tensor y = RunToTensor({"GRU",
                                  {in.x, in.w, in.r, in.b, Tensor(), in.h},
                                  {{"hidden_size", kHidden}, {"linear_before_reset", int64_t{linear}}},
                                  14,
                                  2});
    ASSERT_EQ(y.dims(), (Dims{kSteps, 1, kBatch, kHidden}));
    for (int64_t row = 0; row < kBatch; ++row) {
      std::vector<double> h = StartOf(in.h, row);
      for (int64_t step = 0; step < kSteps; ++step) {
        std::vector<double> reset(kHidden), through(kHidden), next(kHidden);
        for (size_t i = 0; i < kHidden; ++i) {
          const auto at = static_cast<int64_t>(i);
          reset[i] = Sigmoid(in.OfInput(step, row, 1, at) + in.OfState(h, 1, at));
          through[i] = reset[i] * h[i];
        }
        for (size_t i = 0; i < kHidden; ++i) {
          const auto at = static_cast<int64_t>(i);
          const double update = Sigmoid(in.OfInput(step, row, 0, at) + in.OfState(h, 0, at));
          const double state = linear ? reset[i] * in.OfState(h, 2, at) : in.OfState(through, 2, at);
          next[i] = (1 - update) * std::tanh(in.OfInput(step, row, 2, at) + state) + update * h[i];
          EXPECT_NEAR(At(y, (step * kBatch + row) * kHidden + at), next[i], 1e-5);
        }
        h = next;
      }
    }
  }
}

TEST(Recurrent, ReadsAttributesOfTheActivations) {
  const Inputs in(1);
  const OpCall call = {"RNN",
                       {in.x, in.w, in.r, in.b},
                       {{"hidden_size", kHidden},
                        {"activations", std::vector<std::string>{"Affine"}},
                        {"activation_alpha", std::vector<float>{2}},
                        {"activation_beta", std::vector<float>{0.5f}},
                        {"clip", 0.25f}},
                       14};
  const Tensor y = RunToTensor(call);
  ASSERT_EQ(y.dims(), (Dims{kSteps, 1, kBatch, kHidden}));
  const std::vector<double> zeros(kHidden);
  for (int64_t i = 0; i < kHidden; ++i) {
    const double sum = in.OfInput(0, 0, 0, i) + in.OfState(zeros, 0, i);
    EXPECT_NEAR(At(y, i), 2 * std::min(std::max(sum, -0.25), 0.25) + 0.5, 1e-5);
  }
  OpCall unknown = call;
  unknown.attributes["activations"] = std::vector<std::string>{"Sine"};
  EXPECT_NE(ErrorOf(unknown).find("Sine"), std::string::npos);
}

// The second direction is the first one on the sequence turned around, within each row's length.
TEST(Recurrent, RunsBothDirectionsAndShortRows) {
  const Inputs in(1);
  const Tensor lengths = Tensor::Vector(std::vector<int32_t>{2, kSteps});
  Inputs both(1, 2);
  for (int64_t i = 0; i < both.w.count(); ++i) both.w.mutable_data<float>()[i] = in.w.data<float>()[i % in.w.count()];
  for (int64_t i = 0; i < both.r.count(); ++i) both.r.mutable_data<float>()[i] = in.r.data<float>()[i % in.r.count()];
  const std::vector<Tensor> y = RunAll({"RNN",
                                        {both.x, both.w, both.r, Tensor(), lengths},
                                        {{"direction", "bidirectional"}, {"hidden_size", kHidden}},
                                        14,
                                        2});
  ASSERT_EQ(y[0].dims(), (Dims{kSteps, 2, kBatch, kHidden}));
  Tensor turned(DataType::kFloat, in.x.dims());
  for (int64_t row = 0; row < kBatch; ++row) {
    const int64_t length = lengths.data<int32_t>()[row];
    for (int64_t step = 0; step < length; ++step) {
      const float* from = in.x.data<float>() + (step * kBatch + row) * kFeatures;
      std::copy(from, from + kFeatures,
                turned.mutable_data<float>() + ((length - 1 - step) * kBatch + row) * kFeatures);
    }
  }
  const Tensor forward = RunToTensor({"RNN", {turned, in.w, in.r}, {{"hidden_size", kHidden}}, 14});
  for (int64_t row = 0; row < kBatch; ++row) {
    const int64_t length = lengths.data<int32_t>()[row];
    for (int64_t step = 0; step < kSteps; ++step) {
      for (int64_t i = 0; i < kHidden; ++i) {
        const double found = At(y[0], ((step * 2 + 1) * kBatch + row) * kHidden + i);
        const double wanted = step < length ? At(forward, ((length - 1 - step) * kBatch + row) * kHidden + i) : 0;
        EXPECT_NEAR(found, wanted, 1e-6) << "step " << step << " of row " << row;
      }
    }
    for (int64_t i = 0; i < kHidden; ++i) {
      EXPECT_NEAR(At(y[1], (kBatch + row) * kHidden + i), At(forward, ((length - 1) * kBatch + row) * kHidden + i),
                  1e-6);
    }
  }
}

TEST(Recurrent, TakesTheBatchFirst) {
  const Inputs in(4);
  const auto swap = [](const Tensor& t, std::vector<int64_t> perm) {
    return RunToTensor({"Transpose", {t}, {{"perm", std::move(perm)}}});
  };
  const std::vector<Tensor> plain =
      RunAll({"LSTM", {in.x, in.w, in.r, in.b, Tensor(), in.h}, {{"hidden_size", kHidden}}, 14, 3});
  const std::vector<Tensor> first = RunAll({"LSTM",
                                            {swap(in.x, {1, 0, 2}), in.w, in.r, in.b, Tensor(), swap(in.h, {1, 0, 2})},
                                            {{"hidden_size", kHidden}, {"layout", int64_t{1}}},
                                            14,
                                            3});
  EXPECT_TRUE(SameContent(swap(plain[0], {2, 0, 1, 3}), first[0]));
  EXPECT_TRUE(SameContent(swap(plain[1], {1, 0, 2}), first[1]));
  EXPECT_TRUE(SameContent(swap(plain[2], {1, 0, 2}), first[2]));
}

TEST(Recurrent, RefusesWrongShapes) {
  const Inputs in(4);
  EXPECT_NE(ErrorOf({"LSTM", {in.x, in.r, in.r}, {{"hidden_size", kHidden}}, 14}), "");
  EXPECT_NE(ErrorOf({"GRU", {in.x, in.w, in.r}, {{"hidden_size", kHidden}}, 14}), "");
  EXPECT_NE(ErrorOf({"LSTM", {in.x, in.w, in.r}, {{"direction", "sideways"}}, 14}), "");
}

}  // namespace
}  // namespace rulerun
