#include "kernels/ops/recurrent.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/base/codes.h"
#include "kernels/ops/op.h"

namespace rulerun {
namespace {

struct Attributes {
  int64_t hidden = 0;
  std::vector<bool> reverse;                     // by direction
  std::vector<RecurrentActivation> activations;  // of all directions
  std::optional<float> clip;
  bool batch_first = false;
};

// One run.
struct Job {
  const RecurrentOp* op = nullptr;
  const Attributes* attributes = nullptr;
  int64_t steps = 0, batch = 0, features = 0;
  int64_t hidden = 0;
  std::vector<int64_t> lengths;  // by row of the batch
  std::vector<float> x;          // [steps, batch, features]
  const float* w = nullptr;
  const float* r = nullptr;
  const float* bias = nullptr;
  const float* peephole = nullptr;
  const float* initial_h = nullptr;
  const float* initial_c = nullptr;
  float* y = nullptr;  // nullptr: not wanted
  float* final_h = nullptr;
  float* final_c = nullptr;

  int64_t directions() const { return static_cast<int64_t>(attributes->reverse.size()); }
  int64_t width() const { return op->gates() * hidden; }
  // Where the states of (direction, row of the batch) are in initial_h, final_h and the like.
  int64_t StateAt(int64_t direction, int64_t row) const {
    return (attributes->batch_first ? row * directions() + direction : direction * batch + row) * hidden;
  }
  int64_t OutputAt(int64_t step, int64_t direction, int64_t row) const {
    return (attributes->batch_first ? (row * steps + step) * directions() + direction
                                    : (step * directions() + direction) * batch + row) *
           hidden;
  }
};

std::vector<PackedMatrix> PackRecurrent(const Job& job, int64_t direction, ThreadPool& pool) {
  std::vector<PackedMatrix> packed;
  const float* r = job.r + direction * job.width() * job.hidden;
  for (const int64_t gates : job.op->parts) {
    packed.emplace_back(job.hidden, gates * job.hidden);
    if (packed.back().allocated()) packed.back().Pack({r, 1, job.hidden}, &pool);
    r += gates * job.hidden * job.hidden;
  }
  return packed;
}

// The states of one direction on its way along the sequence.
struct Walk {
  int64_t direction = 0;
  std::vector<float> inputs;  // [steps, batch, width]: X * W^T
  std::vector<float> gates, h, c, h_next, c_next;
};

void StartStates(const Job& job, const float* initial, int64_t direction, std::vector<float>& states) {
  states.assign(static_cast<size_t>(job.batch * job.hidden), 0.0f);
  if (initial == nullptr) return;
  for (int64_t row = 0; row < job.batch; ++row) {
    const float* from = initial + job.StateAt(direction, row);
    std::copy(from, from + job.hidden, states.begin() + row * job.hidden);
  }
}

// Takes over the new states of the rows that are not at their end yet.
void TakeStates(const Job& job, int64_t index, Walk& walk) {
  for (int64_t row = 0; row < job.batch; ++row) {
    const int64_t length = job.lengths[static_cast<size_t>(row)];
    if (index >= length) continue;
    const auto take = [&](const std::vector<float>& from, std::vector<float>& to) {
      std::copy_n(from.begin() + row * job.hidden, job.hidden, to.begin() + row * job.hidden);
    };
    take(walk.h_next, walk.h);
    if (job.op->has_cell) take(walk.c_next, walk.c);
    if (job.y == nullptr) continue;
    const bool reverse = job.attributes->reverse[static_cast<size_t>(walk.direction)];
    const int64_t step = reverse ? length - 1 - index : index;
    std::copy_n(walk.h.begin() + row * job.hidden, job.hidden, job.y + job.OutputAt(step, walk.direction, row));
  }
}

void FinishStates(const Job& job, const Walk& walk) {
  const auto put = [&](const std::vector<float>& states, float* to) {
    if (to == nullptr) return;
    for (int64_t row = 0; row < job.batch; ++row) {
      float* target = to + job.StateAt(walk.direction, row);
      if (job.lengths[static_cast<size_t>(row)] == 0) {
        std::fill_n(target, job.hidden, 0.0f);
      } else {
        std::copy_n(states.begin() + row * job.hidden, job.hidden, target);
      }
    }
  };
  put(walk.h, job.final_h);
  put(walk.c, job.final_c);
}

// The inputs' share of the gates at place `index` of every row.
void GatherGates(const Job& job, int64_t index, Walk& walk) {
  const bool reverse = job.attributes->reverse[static_cast<size_t>(walk.direction)];
  for (int64_t row = 0; row < job.batch; ++row) {
    const int64_t length = job.lengths[static_cast<size_t>(row)];
    const int64_t step = reverse && index < length ? length - 1 - index : index;
    std::copy_n(walk.inputs.begin() + (step * job.batch + row) * job.width(), job.width(),
                walk.gates.begin() + row * job.width());
  }
}

Status RunDirection(const Job& job, int64_t direction, ThreadPool& pool) {
  Walk walk;
  walk.direction = direction;
  PackedMatrix w(job.features, job.width());
  const std::vector<PackedMatrix> r = PackRecurrent(job, direction, pool);
  const bool allocated = w.allocated() && std::all_of(r.begin(), r.end(), [](const auto& m) { return m.allocated(); });
  if (!allocated) return Error{Code::kNoMemory, "no memory left to pack the weights", "", ""};
  w.Pack({job.w + direction * job.width() * job.features, 1, job.features}, &pool);
  walk.inputs.resize(static_cast<size_t>(job.steps * job.batch * job.width()));
  Gemm(job.x.data(), job.features, job.steps * job.batch, w, walk.inputs.data(), job.width(), pool);
  StartStates(job, job.initial_h, direction, walk.h);
  StartStates(job, job.initial_c, direction, walk.c);
  walk.h_next = walk.h;
  walk.c_next = walk.c;
  walk.gates.resize(static_cast<size_t>(job.batch * job.width()));

  const size_t count = job.attributes->activations.size() / static_cast<size_t>(job.directions());
  RecurrentStep step;
  step.batch = job.batch;
  step.hidden = job.hidden;
  step.gates = walk.gates.data();
  step.h = walk.h.data();
  step.c = walk.c.data();
  step.bias = job.bias == nullptr ? nullptr : job.bias + direction * 2 * job.width();
  step.peephole = job.peephole == nullptr ? nullptr : job.peephole + direction * 3 * job.hidden;
  step.recurrent = &r;
  step.activations = std::span(job.attributes->activations).subspan(static_cast<size_t>(direction) * count, count);
  step.clip = job.attributes->clip;
  step.pool = &pool;
  step.h_next = walk.h_next.data();
  step.c_next = walk.c_next.data();
  const int64_t end = job.lengths.empty() ? 0 : *std::max_element(job.lengths.begin(), job.lengths.end());
  for (int64_t index = 0; index < end; ++index) {
    GatherGates(job, index, walk);
    job.op->step(step);
    TakeStates(job, index, walk);
  }
  FinishStates(job, walk);
  return {};
}

// An optional input of floats with a known shape.
Status ReadFloats(const KernelContext& context, size_t slot, const Dims& dims, const float*& data) {
  const Tensor* tensor = context.Input(slot);
  if (tensor == nullptr) return {};
  if (tensor->dims() != dims) {
    return Invalid("input " + std::to_string(slot) + " has shape " + DimsText(tensor->dims()) + ", not " +
                   DimsText(dims));
  }
  data = tensor->data<float>();
  return {};
}

Status ReadLengths(const KernelContext& context, Job& job) {
  job.lengths.assign(static_cast<size_t>(job.batch), job.steps);
  const Tensor* lengths = context.Input(4);
  if (lengths == nullptr) return {};
  if (lengths->count() != job.batch) return Invalid("sequence_lens does not have one value per row of the batch");
  for (size_t row = 0; row < job.lengths.size(); ++row) {
    job.lengths[row] = lengths->data<int32_t>()[row];
    if (job.lengths[row] < 0 || job.lengths[row] > job.steps) {
      return Invalid("sequence_lens has " + std::to_string(job.lengths[row]) + " for " + std::to_string(job.steps) +
                     " steps");
    }
  }
  return {};
}

Status ReadInputs(const KernelContext& context, Job& job) {
  const bool batch_first = job.attributes->batch_first;
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  if (x->rank() != 3) return Invalid("the input has shape " + DimsText(x->dims()) + ", which is not of rank 3");
  job.steps = x->dims()[batch_first ? 1 : 0];
  job.batch = x->dims()[batch_first ? 0 : 1];
  job.features = x->dims()[2];
  job.x.resize(static_cast<size_t>(x->count()));
  const float* from = x->data<float>();
  for (int64_t i = 0; i < job.steps * job.batch; ++i, from += job.features) {
    const int64_t to = batch_first ? i % job.steps * job.batch + i / job.steps : i;
    std::copy_n(from, job.features, job.x.begin() + to * job.features);
  }
  const int64_t directions = job.directions(), hidden = job.hidden, width = job.width();
  RULERUN_RETURN_IF_ERROR(ReadFloats(context, 1, {directions, width, job.features}, job.w));
  RULERUN_RETURN_IF_ERROR(ReadFloats(context, 2, {directions, width, hidden}, job.r));
  if (job.w == nullptr || job.r == nullptr) return Invalid("the weights are missing");
  RULERUN_RETURN_IF_ERROR(ReadFloats(context, 3, {directions, 2 * width}, job.bias));
  RULERUN_RETURN_IF_ERROR(ReadLengths(context, job));
  const Dims states = batch_first ? Dims{job.batch, directions, hidden} : Dims{directions, job.batch, hidden};
  RULERUN_RETURN_IF_ERROR(ReadFloats(context, 5, states, job.initial_h));
  if (!job.op->has_cell) return {};
  RULERUN_RETURN_IF_ERROR(ReadFloats(context, 6, states, job.initial_c));
  return ReadFloats(context, 7, {directions, 3 * hidden}, job.peephole);
}

Status MakeOutputs(KernelContext& context, Job& job) {
  const bool batch_first = job.attributes->batch_first;
  const int64_t directions = job.directions(), hidden = job.hidden;
  const Dims states = batch_first ? Dims{job.batch, directions, hidden} : Dims{directions, job.batch, hidden};
  if (context.Wanted(0)) {
    const Dims dims =
        batch_first ? Dims{job.batch, job.steps, directions, hidden} : Dims{job.steps, directions, job.batch, hidden};
    RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, dims));
    job.y = y->mutable_data<float>();
    std::fill_n(job.y, y->count(), 0.0f);
  }
  if (context.Wanted(1)) {
    RULERUN_ASSIGN(Tensor * y, context.Output(1, DataType::kFloat, states));
    job.final_h = y->mutable_data<float>();
  }
  if (job.op->has_cell && context.Wanted(2)) {
    RULERUN_ASSIGN(Tensor * y, context.Output(2, DataType::kFloat, states));
    job.final_c = y->mutable_data<float>();
  }
  return {};
}

Status RunRecurrent(const RecurrentOp& op, const Attributes& attributes, KernelContext& context) {
  Job job;
  job.op = &op;
  job.attributes = &attributes;
  job.hidden = attributes.hidden;
  if (job.hidden == 0) {
    RULERUN_ASSIGN(const Tensor* r, Required(context, 2));
    job.hidden = r->rank() == 3 ? r->dims()[2] : 0;
  }
  RULERUN_RETURN_IF_ERROR(ReadInputs(context, job));
  RULERUN_RETURN_IF_ERROR(MakeOutputs(context, job));
  for (int64_t direction = 0; direction < job.directions(); ++direction) {
    RULERUN_RETURN_IF_ERROR(RunDirection(job, direction, context.pool()));
  }
  return {};
}

// Parameters stand in two lists, one after another for the activations that have them.
Result<std::vector<RecurrentActivation>> ReadActivations(const AttributeMap& attributes, const RecurrentOp& op,
                                                         size_t directions) {
  std::vector<std::string> names;
  if (const auto found = attributes.find("activations"); found != attributes.end()) {
    if (const auto* strings = std::get_if<std::vector<std::string>>(&found->second)) names = *strings;
  }
  if (names.empty()) {
    for (size_t i = 0; i < directions; ++i) names.insert(names.end(), op.activations.begin(), op.activations.end());
  }
  const size_t wanted = directions * op.activations.size();
  if (names.size() < wanted) {
    return Invalid("there are " + std::to_string(names.size()) + " activations instead of " + std::to_string(wanted));
  }
  names.resize(wanted);  // RNN's default value has two, even for one direction
  const std::vector<float> alphas = FloatsOr(attributes, "activation_alpha", {});
  const std::vector<float> betas = FloatsOr(attributes, "activation_beta", {});
  size_t alpha = 0, beta = 0;
  std::vector<RecurrentActivation> activations;
  for (const std::string& name : names) {
    const size_t parameters = RecurrentActivation::ParameterCount(name);
    std::optional<float> a, b;
    if (parameters > 0 && alpha < alphas.size()) a = alphas[alpha++];
    if (parameters > 1 && beta < betas.size()) b = betas[beta++];
    RULERUN_ASSIGN(const RecurrentActivation activation, RecurrentActivation::Make(name, a, b));
    activations.push_back(activation);
  }
  return activations;
}

}  // namespace

int64_t RecurrentOp::gates() const { return std::accumulate(parts.begin(), parts.end(), int64_t{0}); }

void RecurrentStep::Finish(int64_t gate, int64_t gates_of_op, float* data, const RecurrentActivation& f) const {
  if (bias != nullptr) {
    const float* of_w = bias + gate * hidden;
    const float* of_r = of_w + gates_of_op * hidden;
    for (int64_t i = 0; i < hidden; ++i) data[i] += of_w[i] + of_r[i];
  }
  if (clip) {
    for (int64_t i = 0; i < hidden; ++i) data[i] = std::min(std::max(data[i], -*clip), *clip);
  }
  f.Apply(data, hidden);
}

Result<std::unique_ptr<Kernel>> MakeRecurrent(const KernelRequest& request, RecurrentOp op) {
  Attributes attributes;
  attributes.hidden = IntOr(*request.attributes, "hidden_size", 0);
  attributes.batch_first = IntOr(*request.attributes, "layout", 0) != 0;
  const std::string direction = StringOr(*request.attributes, "direction", "forward");
  if (direction == "bidirectional") {
    attributes.reverse = {false, true};
  } else if (direction == "forward" || direction == "reverse") {
    attributes.reverse = {direction == "reverse"};
  } else {
    return Invalid("unknown direction '" + direction + "'");
  }
  const float clip = FloatOr(*request.attributes, "clip", 0);
  if (clip > 0) attributes.clip = clip;
  RULERUN_ASSIGN(attributes.activations, ReadActivations(*request.attributes, op, attributes.reverse.size()));
  return MakeKernel(
      [op = std::move(op), attributes](KernelContext& context) { return RunRecurrent(op, attributes, context); });
}

}  // namespace rulerun
