// What LSTM, GRU and RNN share: attributes, inputs, outputs, and the walk along the sequence.
#ifndef RULERUN_KERNELS_OPS_RECURRENT_H_
#define RULERUN_KERNELS_OPS_RECURRENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "kernels/kernel.h"
#include "kernels/ops/gemm.h"

namespace rulerun {

// One entry of the attribute `activations`.
class RecurrentActivation {
 public:
  static size_t ParameterCount(const std::string& name);  // of those that activation_alpha and activation_beta hold
  static Result<RecurrentActivation> Make(const std::string& name, std::optional<float> alpha,
                                          std::optional<float> beta);

  void Apply(float* data, int64_t count) const;

 private:
  enum class Kind {
    kRelu,
    kTanh,
    kSigmoid,
    kAffine,
    kLeakyRelu,
    kThresholdedRelu,
    kScaledTanh,
    kHardSigmoid,
    kElu,
    kSoftsign,
    kSoftplus
  };
  float Value(float x) const;

  Kind kind_ = Kind::kTanh;
  float alpha_ = 0;
  float beta_ = 0;
};

// One step of one direction, for every row of the batch.
struct RecurrentStep {
  int64_t batch = 0, hidden = 0;
  float* gates = nullptr;                                // [batch, gates * hidden]: X * W^T; may be overwritten
  const float* h = nullptr;                              // [batch, hidden], before the step
  const float* c = nullptr;                              // the same; LSTM only
  const float* bias = nullptr;                           // [2 * gates * hidden], of W and of R, or nullptr
  const float* peephole = nullptr;                       // [3 * hidden], or nullptr
  const std::vector<PackedMatrix>* recurrent = nullptr;  // R^T, in the parts that RecurrentOp names
  std::span<const RecurrentActivation> activations;
  std::optional<float> clip;
  ThreadPool* pool = nullptr;
  float* h_next = nullptr;  // [batch, hidden], to be filled
  float* c_next = nullptr;

  int64_t part(int64_t gate) const { return gate * hidden; }
  // data[i] becomes f(clipped(data[i] + bias of W + bias of R)).
  void Finish(int64_t gate, int64_t gates_of_op, float* data, const RecurrentActivation& f) const;
};

// What makes an operator one of the three.
struct RecurrentOp {
  std::vector<int64_t> parts;            // gates that are multiplied by R at a time; their sum is the number of gates
  std::vector<std::string> activations;  // the default ones
  bool has_cell = false;                 // inputs initial_c and P, output Y_c
  std::function<void(RecurrentStep&)> step;

  int64_t gates() const;
};

Result<std::unique_ptr<Kernel>> MakeRecurrent(const KernelRequest& request, RecurrentOp op);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_RECURRENT_H_
