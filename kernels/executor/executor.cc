#include "kernels/executor/executor.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "kernels/buffer.h"
#include "kernels/executor/plan.h"
#include "kernels/thread_pool.h"

namespace rulerun {
namespace {

// The values of one graph while it runs.
struct Frame {
  const Plan* plan = nullptr;
  const Frame* parent = nullptr;
  std::vector<Tensor> values;  // by ValueId; empty ones are not there (yet, or any more)

  const Tensor* Find(ValueId id) const {
    const Source& source = plan->sources[static_cast<size_t>(id)];
    if (source.constant != nullptr) return source.constant;
    const Frame* frame = this;
    for (int i = 0; i < source.hops; ++i) frame = frame->parent;
    const Tensor& tensor = frame->values[static_cast<size_t>(source.id)];
    return tensor.empty() ? nullptr : &tensor;
  }
};

// What all graphs of one executor share.
struct Machine {
  explicit Machine(int threads) : pool(threads) {}

  ThreadPool pool;
  BufferPool buffers;
  Executor::NodeObserver on_node;
  Executor::ValueObserver on_value;
  Executor::ValueEditor edit_value;
};

Status RunPlan(Machine& machine, Frame& frame);

class StepContext : public KernelContext {
 public:
  StepContext(Machine& machine, Frame& frame, const Step& step) : machine_(machine), frame_(frame), step_(step) {
    for (const ValueId input : step.node->inputs) inputs_.push_back(input == kNoValue ? nullptr : frame.Find(input));
  }

  // A value that should be there and is not, or nullptr.
  const Value* MissingInput() const {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const ValueId id = step_.node->inputs[i];
      if (id != kNoValue && inputs_[i] == nullptr) return &frame_.plan->graph->value(id);
    }
    return nullptr;
  }

  const Tensor* Input(size_t slot) const override { return slot < inputs_.size() ? inputs_[slot] : nullptr; }
  size_t InputCount() const override { return inputs_.size(); }
  Result<Tensor*> Output(size_t slot, DataType type, Dims dims) override {
    RULERUN_ASSIGN(Tensor tensor, machine_.buffers.Allocate(type, std::move(dims)));
    Tensor* output = Slot(slot);
    *output = std::move(tensor);
    return output;
  }
  void SetOutput(size_t slot, Tensor tensor) override { *Slot(slot) = std::move(tensor); }
  bool Wanted(size_t slot) const override {
    const ValueId id = step_.node->output(slot);
    if (id == kNoValue) return false;
    const Value& value = frame_.plan->graph->value(id);
    return !value.uses.empty() || value.graph_output;
  }
  ThreadPool& pool() override { return machine_.pool; }
  Result<std::vector<Tensor>> RunSubgraph(std::string_view attribute, std::vector<Tensor> inputs) override;

 private:
  Tensor* Slot(size_t slot) {
    const ValueId id = step_.node->output(slot);
    if (id != kNoValue) return &frame_.values[static_cast<size_t>(id)];
    // Kernels may hold several outputs at a time, so each has its own place.
    return &spare_.emplace(slot, Tensor()).first->second;
  }

  Machine& machine_;
  Frame& frame_;
  const Step& step_;
  std::vector<const Tensor*> inputs_;
  std::map<size_t, Tensor> spare_;
};

// The default of every input that has one and was not given.
void SetDefaults(Frame& frame) {
  const Graph& graph = *frame.plan->graph;
  for (const ValueId id : graph.inputs()) {
    Tensor& tensor = frame.values[static_cast<size_t>(id)];
    if (tensor.empty() && graph.value(id).initializer) tensor = *graph.value(id).initializer;
  }
}

Result<std::vector<Tensor>> TakeOutputs(const Frame& frame) {
  std::vector<Tensor> outputs;
  for (const ValueId id : frame.plan->graph->outputs()) {
    const Tensor* tensor = frame.Find(id);
    if (tensor == nullptr) {
      return Error{Code::kNodeFails, "output '" + frame.plan->graph->value(id).name + "' was not computed", "", ""};
    }
    outputs.push_back(*tensor);
  }
  return outputs;
}

Result<std::vector<Tensor>> StepContext::RunSubgraph(std::string_view attribute, std::vector<Tensor> inputs) {
  const auto found = std::find_if(step_.subgraphs.begin(), step_.subgraphs.end(),
                                  [&](const auto& entry) { return entry.first == attribute; });
  if (found == step_.subgraphs.end()) {
    return Error{Code::kNodeFails, "subgraph '" + std::string(attribute) + "' is missing", "", ""};
  }
  Frame inner;
  inner.plan = found->second.get();
  inner.parent = &frame_;
  inner.values.resize(inner.plan->graph->value_count());
  const std::vector<ValueId>& ids = inner.plan->graph->inputs();
  if (inputs.size() > ids.size()) {
    return Error{Code::kNodeFails,
                 "subgraph '" + std::string(attribute) + "' takes " + std::to_string(ids.size()) + " inputs, not " +
                     std::to_string(inputs.size()),
                 "", ""};
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::optional<Shape>& declared = inner.plan->graph->value(ids[i]).type.shape;
    // Old exporters declare a loop's counter and condition as vectors of one.
    if (inputs[i].rank() == 0 && declared && declared->size() == 1) inputs[i] = inputs[i].Reshaped({1});
    inner.values[static_cast<size_t>(ids[i])] = std::move(inputs[i]);
  }
  RULERUN_RETURN_IF_ERROR(RunPlan(machine_, inner));
  return TakeOutputs(inner);
}

Status RunStep(Machine& machine, Frame& frame, const Step& step) {
  StepContext context(machine, frame, step);
  if (const Value* missing = context.MissingInput()) {
    return Error{Code::kNodeFails, "input '" + missing->name + "' was not computed", "", ""};
  }
  if (!machine.on_node) return step.kernel->Run(context);
  const auto start = std::chrono::steady_clock::now();
  Status status = step.kernel->Run(context);
  const auto elapsed = std::chrono::steady_clock::now() - start;
  if (status.ok()) machine.on_node(*step.node, std::chrono::nanoseconds(elapsed).count());
  return status;
}

void ShowValues(const Machine& machine, Frame& frame, const Node& node) {
  for (const ValueId id : node.outputs) {
    if (id == kNoValue || frame.values[static_cast<size_t>(id)].empty()) continue;
    const Value& value = frame.plan->graph->value(id);
    Tensor& tensor = frame.values[static_cast<size_t>(id)];
    if (machine.edit_value) machine.edit_value(node, value, tensor);
    if (machine.on_value) machine.on_value(value, tensor);
  }
}

Status RunPlan(Machine& machine, Frame& frame) {
  SetDefaults(frame);
  for (const Step& step : frame.plan->steps) {
    if (Status status = RunStep(machine, frame, step); !status.ok()) {
      Error error = status.error();
      if (error.place.empty()) error.place = PlaceOf(*step.node);
      return error;
    }
    if (machine.on_value || machine.edit_value) ShowValues(machine, frame, *step.node);
    for (const ValueId id : step.release) frame.values[static_cast<size_t>(id)] = Tensor();
  }
  return {};
}

Error BadInput(const Value& value, std::string what, std::string remedy) {
  return Error{Code::kWrongInput, "input '" + value.name + "' " + std::move(what), "", std::move(remedy)};
}

Status CheckInput(const Value& value, const Tensor& tensor) {
  const ValueType& type = value.type;
  if (type.element != DataType::kUndefined && tensor.type() != type.element) {
    return BadInput(value, "has type " + std::string(Name(tensor.type())),
                    "convert it to " + std::string(Name(type.element)));
  }
  if (!type.shape) return {};
  const std::string wanted = "give it the shape " + ToString(*type.shape);
  const std::string given = "has shape " + ToString(ToShape(tensor.dims()));
  if (type.shape->size() != tensor.dims().size()) return BadInput(value, given, wanted);
  for (size_t i = 0; i < tensor.dims().size(); ++i) {
    const Dim& dim = (*type.shape)[i];
    if (dim.known() && dim.size != tensor.dims()[i]) return BadInput(value, given, wanted);
  }
  return {};
}

Status CheckNames(const Graph& graph, const TensorMap& inputs) {
  std::vector<std::string> names;
  for (const ValueId id : graph.inputs()) names.push_back(graph.value(id).name);
  for (const auto& [name, tensor] : inputs) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return Error{Code::kUnknownInput, "the model has no input '" + name + "'" + DidYouMean(name, names), "",
                 "its inputs are: " + Join(names, ", ")};
  }
  return {};
}

Status BindInputs(Frame& frame, const TensorMap& inputs) {
  const Graph& graph = *frame.plan->graph;
  RULERUN_RETURN_IF_ERROR(CheckNames(graph, inputs));
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    const auto found = inputs.find(value.name);
    if (found == inputs.end()) {
      const bool read = !value.uses.empty() || value.graph_output;
      if (value.initializer || !read) continue;
      return BadInput(value, "is missing", "give every input that has no initializer a value");
    }
    RULERUN_RETURN_IF_ERROR(CheckInput(value, found->second));
    frame.values[static_cast<size_t>(id)] = found->second;
  }
  return {};
}

}  // namespace

struct Executor::State {
  explicit State(int threads) : machine(threads) {}

  Machine machine;
  std::unique_ptr<Plan> plan;
};

Executor::Executor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Executor::~Executor() = default;

Result<std::unique_ptr<Executor>> Executor::Prepare(const Graph& graph, const ExecutorOptions& options) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  auto state = std::make_unique<State>(options.threads > 0 ? options.threads : cores);
  RULERUN_ASSIGN(state->plan, MakePlan(graph, options));
  return std::unique_ptr<Executor>(new Executor(std::move(state)));
}

Result<TensorMap> Executor::Run(const TensorMap& inputs) {
  Frame frame;
  frame.plan = state_->plan.get();
  frame.values.resize(frame.plan->graph->value_count());
  RULERUN_RETURN_IF_ERROR(BindInputs(frame, inputs));
  RULERUN_RETURN_IF_ERROR(RunPlan(state_->machine, frame));
  RULERUN_ASSIGN(std::vector<Tensor> outputs, TakeOutputs(frame));
  TensorMap named;
  const Graph& graph = *frame.plan->graph;
  for (size_t i = 0; i < outputs.size(); ++i) {
    named.insert_or_assign(graph.value(graph.outputs()[i]).name, std::move(outputs[i]));
  }
  return named;
}

void Executor::ObserveNodes(NodeObserver observer) { state_->machine.on_node = std::move(observer); }
void Executor::EditValues(ValueEditor editor) { state_->machine.edit_value = std::move(editor); }
void Executor::ObserveValues(ValueObserver observer) { state_->machine.on_value = std::move(observer); }
size_t Executor::buffer_bytes() const { return state_->machine.buffers.bytes_allocated(); }

}  // namespace rulerun
