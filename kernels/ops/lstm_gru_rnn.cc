// One step of LSTM, GRU and RNN. The order of additions is the one of ONNX Runtime: products with R on top of those
// with W, then peepholes, then the sum of both biases.
#include <algorithm>

#include "kernels/ops/op.h"
#include "kernels/ops/recurrent.h"

namespace rulerun {
namespace {

void AddProducts(const float* a, const float* b, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] += a[i] * b[i];
}

// Gates: input, output, forget, cell. Activations: f of the gates, g of the cell, h of the output.
void LstmStep(bool input_forget, RecurrentStep& step) {
  const int64_t hidden = step.hidden;
  Gemm(step.h, hidden, step.batch, step.recurrent->front(), step.gates, 4 * hidden, *step.pool, {}, true);
  const RecurrentActivation& f = step.activations[0];
  const RecurrentActivation& g = step.activations[1];
  const RecurrentActivation& h = step.activations[2];
  for (int64_t row = 0; row < step.batch; ++row) {
    float* input = step.gates + row * 4 * hidden;
    float* output = input + step.part(1);
    float* forget = input + step.part(2);
    float* cell = input + step.part(3);
    const float* c = step.c + row * hidden;
    float* c_next = step.c_next + row * hidden;
    float* h_next = step.h_next + row * hidden;
    if (step.peephole != nullptr) AddProducts(c, step.peephole, input, hidden);
    step.Finish(0, 4, input, f);
    if (input_forget) {
      for (int64_t i = 0; i < hidden; ++i) forget[i] = 1 - input[i];
    } else {
      if (step.peephole != nullptr) AddProducts(c, step.peephole + step.part(2), forget, hidden);
      step.Finish(2, 4, forget, f);
    }
    step.Finish(3, 4, cell, g);
    for (int64_t i = 0; i < hidden; ++i) c_next[i] = c[i] * forget[i] + input[i] * cell[i];
    if (step.peephole != nullptr) AddProducts(c_next, step.peephole + step.part(1), output, hidden);
    step.Finish(1, 4, output, f);
    std::copy(c_next, c_next + hidden, h_next);
    h.Apply(h_next, hidden);
    for (int64_t i = 0; i < hidden; ++i) h_next[i] *= output[i];
  }
}

// Gates: update, reset, hidden. R comes in two parts, since the hidden gate's may see what the reset gate let through.
void GruStep(bool linear_before_reset, RecurrentStep& step) {
  const int64_t hidden = step.hidden, width = 3 * hidden;
  Gemm(step.h, hidden, step.batch, step.recurrent->at(0), step.gates, width, *step.pool, {}, true);
  std::vector<float> through(static_cast<size_t>(step.batch * hidden));
  for (int64_t row = 0; row < step.batch; ++row) {
    float* update = step.gates + row * width;
    step.Finish(0, 3, update, step.activations[0]);
    step.Finish(1, 3, update + hidden, step.activations[0]);
    const float* reset = update + hidden;
    for (int64_t i = 0; i < hidden; ++i) {
      through[static_cast<size_t>(row * hidden + i)] = reset[i] * step.h[row * hidden + i];
    }
  }
  const float* bias = step.bias;
  if (linear_before_reset) {
    Gemm(step.h, hidden, step.batch, step.recurrent->at(1), through.data(), hidden, *step.pool);
    for (int64_t row = 0; row < step.batch; ++row) {
      const float* reset = step.gates + row * width + hidden;
      float* to = step.gates + row * width + step.part(2);
      for (int64_t i = 0; i < hidden; ++i) {
        const float linear =
            through[static_cast<size_t>(row * hidden + i)] + (bias == nullptr ? 0 : bias[5 * hidden + i]);
        to[i] += reset[i] * linear + (bias == nullptr ? 0 : bias[2 * hidden + i]);
      }
    }
    step.bias = nullptr;  // has been added
  } else {
    Gemm(through.data(), hidden, step.batch, step.recurrent->at(1), step.gates + step.part(2), width, *step.pool, {},
         true);
  }
  for (int64_t row = 0; row < step.batch; ++row) {
    const float* update = step.gates + row * width;
    float* fresh = step.gates + row * width + step.part(2);
    step.Finish(2, 3, fresh, step.activations[1]);
    const float* h = step.h + row * hidden;
    float* to = step.h_next + row * hidden;
    for (int64_t i = 0; i < hidden; ++i) to[i] = (1 - update[i]) * fresh[i] + update[i] * h[i];
  }
  step.bias = bias;
}

void RnnStep(RecurrentStep& step) {
  Gemm(step.h, step.hidden, step.batch, step.recurrent->front(), step.gates, step.hidden, *step.pool, {}, true);
  for (int64_t row = 0; row < step.batch; ++row) {
    step.Finish(0, 1, step.gates + row * step.hidden, step.activations[0]);
  }
  std::copy(step.gates, step.gates + step.batch * step.hidden, step.h_next);
}

Result<std::unique_ptr<Kernel>> MakeLstm(const KernelRequest& request) {
  const bool input_forget = IntOr(*request.attributes, "input_forget", 0) != 0;
  return MakeRecurrent(request, {{4}, {"Sigmoid", "Tanh", "Tanh"}, true, [input_forget](RecurrentStep& step) {
                                   LstmStep(input_forget, step);
                                 }});
}

Result<std::unique_ptr<Kernel>> MakeGru(const KernelRequest& request) {
  const bool linear = IntOr(*request.attributes, "linear_before_reset", 0) != 0;
  return MakeRecurrent(request,
                       {{2, 1}, {"Sigmoid", "Tanh"}, false, [linear](RecurrentStep& step) { GruStep(linear, step); }});
}

Result<std::unique_ptr<Kernel>> MakeRnn(const KernelRequest& request) {
  return MakeRecurrent(request, {{1}, {"Tanh"}, false, RnnStep});
}

}  // namespace

void Register_ops_lstm_gru_rnn(KernelRegistry& registry) {
  const Types floats = {DataType::kFloat};
  const std::vector<Types> types = {floats, floats, floats, floats, {DataType::kInt32}, floats};
  std::vector<Types> lstm = types;
  lstm.insert(lstm.end(), {floats, floats});
  AddOp(registry, "LSTM", {7, kLatest}, lstm, MakeLstm);
  AddOp(registry, "GRU", {7, kLatest}, types, MakeGru);
  AddOp(registry, "RNN", {7, kLatest}, types, MakeRnn);
}

}  // namespace rulerun
