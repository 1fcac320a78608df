// If, Loop and Scan: they run the subgraphs of their node.
#include <algorithm>
#include <limits>
#include <optional>

#include "engine/graph/graph.h"
#include "kernels/buffer.h"
#include "kernels/ops/op.h"
#include "kernels/ops/strided_copy.h"

namespace rulerun {
namespace {

Result<bool> ReadBool(const Tensor& tensor, const char* what) {
  if (tensor.type() != DataType::kBool || tensor.count() != 1) return Invalid(std::string(what) + " must be one bool");
  return *tensor.data<bool>();
}

// Concatenates equal shapes along a new axis; what a loop collects per iteration.
Result<Tensor> Stack(const std::vector<Tensor>& parts, int64_t axis, ThreadPool& pool) {
  const Tensor& first = parts.front();
  for (const Tensor& part : parts) {
    if (part.dims() != first.dims() || part.type() != first.type()) {
      return Invalid("an output of the loop's body changes its shape from one iteration to the next");
    }
  }
  Dims dims = first.dims();
  RULERUN_ASSIGN(axis, ResolveAxis(axis, first.rank() + 1));
  dims.insert(dims.begin() + axis, static_cast<int64_t>(parts.size()));
  RULERUN_ASSIGN(Tensor stacked, AllocateTensor(first.type(), dims));
  StridedView to{0, DenseStrides(dims)};
  const int64_t step = to.strides[static_cast<size_t>(axis)];
  to.strides.erase(to.strides.begin() + axis);
  for (const Tensor& part : parts) {
    RULERUN_RETURN_IF_ERROR(CopyStrided(part, {0, DenseStrides(part.dims())}, stacked, to, part.dims(), pool));
    to.offset += step;
  }
  return stacked;
}

// Types and shapes that the body's outputs were inferred to have.
std::vector<ValueType> OutputTypes(const AttributeMap& attributes) {
  std::vector<ValueType> types;
  const auto found = attributes.find("body");
  const auto* body = found == attributes.end() ? nullptr : std::get_if<GraphRef>(&found->second);
  if (body == nullptr || *body == nullptr) return types;
  for (const ValueId id : (*body)->outputs()) types.push_back((*body)->TypeOf(id));
  return types;
}

// What is collected where the body never runs. As in ONNX Runtime, sizes that are not known are 0.
Status SetNothingCollected(KernelContext& context, size_t slot, const ValueType& type, int64_t axis) {
  if (type.element == DataType::kUndefined || !type.other.empty()) {
    return Unsupported("a body that never runs has no known type for its output " + std::to_string(slot));
  }
  Dims dims;
  for (const Dim& dim : type.shape.value_or(Shape())) dims.push_back(std::max<int64_t>(dim.size, 0));
  RULERUN_ASSIGN(axis, ResolveAxis(axis, static_cast<int64_t>(dims.size()) + 1));
  dims.insert(dims.begin() + axis, 0);
  RULERUN_ASSIGN(Tensor empty, AllocateTensor(type.element, std::move(dims)));
  context.SetOutput(slot, std::move(empty));
  return {};
}

Status If(KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* condition, Required(context, 0));
  RULERUN_ASSIGN(const bool taken, ReadBool(*condition, "the condition"));
  RULERUN_ASSIGN(std::vector<Tensor> outputs, context.RunSubgraph(taken ? "then_branch" : "else_branch", {}));
  for (size_t i = 0; i < outputs.size(); ++i) context.SetOutput(i, std::move(outputs[i]));
  return {};
}

// Inputs: M, condition, carried values. Body: (iteration, condition, carried) -> (condition, carried, collected).
Status RunLoop(KernelContext& context, const std::vector<ValueType>& types) {
  int64_t limit = std::numeric_limits<int64_t>::max();
  bool running = true;
  if (const Tensor* trips = context.Input(0)) {
    if (trips->count() != 1) return Invalid("the trip count must be one number");
    limit = ElementAsInt(*trips, 0);
  }
  if (const Tensor* condition = context.Input(1)) {
    RULERUN_ASSIGN(running, ReadBool(*condition, "the condition"));
  }
  std::vector<Tensor> carried;
  for (size_t slot = 2; slot < context.InputCount(); ++slot) {
    RULERUN_ASSIGN(const Tensor* value, Required(context, slot));
    carried.push_back(*value);
  }
  std::vector<std::vector<Tensor>> collected;
  for (int64_t i = 0; i < limit && running; ++i) {
    std::vector<Tensor> inputs = {Tensor::Scalar(i), Tensor::Scalar(running)};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    RULERUN_ASSIGN(std::vector<Tensor> outputs, context.RunSubgraph("body", std::move(inputs)));
    if (outputs.size() < carried.size() + 1) return Invalid("the loop's body has too few outputs");
    RULERUN_ASSIGN(running, ReadBool(outputs[0], "the body's condition"));
    for (size_t k = 0; k < carried.size(); ++k) carried[k] = std::move(outputs[k + 1]);
    collected.resize(outputs.size() - carried.size() - 1);
    for (size_t k = 0; k < collected.size(); ++k) collected[k].push_back(std::move(outputs[carried.size() + 1 + k]));
  }
  for (size_t k = 0; k < carried.size(); ++k) context.SetOutput(k, carried[k]);
  for (size_t k = 0; k < collected.size(); ++k) {
    RULERUN_ASSIGN(Tensor stacked, Stack(collected[k], 0, context.pool()));
    context.SetOutput(carried.size() + k, std::move(stacked));
  }
  if (!collected.empty()) return {};
  for (size_t slot = carried.size(); slot + 1 < types.size(); ++slot) {  // output 0 of the body is the condition
    if (!context.Wanted(slot)) continue;
    RULERUN_RETURN_IF_ERROR(SetNothingCollected(context, slot, types[slot + 1], 0));
  }
  return {};
}

Result<std::unique_ptr<Kernel>> MakeLoop(const KernelRequest& request) {
  return MakeKernel(
      [types = OutputTypes(*request.attributes)](KernelContext& context) { return RunLoop(context, types); });
}

struct ScanAttributes {
  size_t scan_inputs = 0;
  std::vector<int64_t> input_axes, output_axes, input_directions, output_directions;
  std::vector<ValueType> types;  // of the body's outputs
};

int64_t At(const std::vector<int64_t>& values, size_t index) { return index < values.size() ? values[index] : 0; }

// Entry `index` of x along `axis`.
Result<Tensor> Entry(const Tensor& x, int64_t axis, int64_t index, ThreadPool& pool) {
  Dims dims = x.dims();
  StridedView from{0, DenseStrides(dims)};
  from.offset = index * from.strides[static_cast<size_t>(axis)];
  from.strides.erase(from.strides.begin() + axis);
  dims.erase(dims.begin() + axis);
  RULERUN_ASSIGN(Tensor entry, AllocateTensor(x.type(), dims));
  RULERUN_RETURN_IF_ERROR(CopyStrided(x, from, entry, {0, DenseStrides(dims)}, dims, pool));
  return entry;
}

Status RunScan(KernelContext& context, const ScanAttributes& attributes) {
  if (context.InputCount() < attributes.scan_inputs) return Invalid("there are fewer inputs than num_scan_inputs");
  const size_t states = context.InputCount() - attributes.scan_inputs;
  std::vector<Tensor> carried;
  for (size_t slot = 0; slot < states; ++slot) {
    RULERUN_ASSIGN(const Tensor* value, Required(context, slot));
    carried.push_back(*value);
  }
  std::vector<int64_t> axes;
  std::optional<int64_t> length;
  for (size_t i = 0; i < attributes.scan_inputs; ++i) {
    RULERUN_ASSIGN(const Tensor* value, Required(context, states + i));
    RULERUN_ASSIGN(const int64_t axis, ResolveAxis(At(attributes.input_axes, i), value->rank()));
    axes.push_back(axis);
    const int64_t size = value->dims()[static_cast<size_t>(axis)];
    if (length && *length != size) return Invalid("the scanned inputs have different lengths");
    length = size;
  }
  if (!length) return Invalid("nothing to scan");
  std::vector<std::vector<Tensor>> collected;
  for (int64_t t = 0; t < *length; ++t) {
    std::vector<Tensor> inputs = carried;
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t index = At(attributes.input_directions, i) != 0 ? *length - 1 - t : t;
      RULERUN_ASSIGN(Tensor entry, Entry(*context.Input(states + i), axes[i], index, context.pool()));
      inputs.push_back(std::move(entry));
    }
    RULERUN_ASSIGN(std::vector<Tensor> outputs, context.RunSubgraph("body", std::move(inputs)));
    if (outputs.size() < states) return Invalid("the scan's body has too few outputs");
    for (size_t k = 0; k < states; ++k) carried[k] = std::move(outputs[k]);
    collected.resize(outputs.size() - states);
    for (size_t k = 0; k < collected.size(); ++k) collected[k].push_back(std::move(outputs[states + k]));
  }
  for (size_t k = 0; k < states; ++k) context.SetOutput(k, carried[k]);
  for (size_t k = 0; k < collected.size(); ++k) {
    if (At(attributes.output_directions, k) != 0) std::reverse(collected[k].begin(), collected[k].end());
    RULERUN_ASSIGN(Tensor stacked, Stack(collected[k], At(attributes.output_axes, k), context.pool()));
    context.SetOutput(states + k, std::move(stacked));
  }
  if (!collected.empty()) return {};
  for (size_t slot = states; slot < attributes.types.size(); ++slot) {
    if (!context.Wanted(slot)) continue;
    const int64_t axis = At(attributes.output_axes, slot - states);
    RULERUN_RETURN_IF_ERROR(SetNothingCollected(context, slot, attributes.types[slot], axis));
  }
  return {};
}

Result<std::unique_ptr<Kernel>> MakeScan(const KernelRequest& request) {
  ScanAttributes attributes;
  const int64_t count = IntOr(*request.attributes, "num_scan_inputs", 0);
  if (count < 0) return Invalid("num_scan_inputs is negative");
  attributes.scan_inputs = static_cast<size_t>(count);
  attributes.input_axes = IntsOr(*request.attributes, "scan_input_axes", {});
  attributes.output_axes = IntsOr(*request.attributes, "scan_output_axes", {});
  attributes.input_directions = IntsOr(*request.attributes, "scan_input_directions", {});
  attributes.output_directions = IntsOr(*request.attributes, "scan_output_directions", {});
  attributes.types = OutputTypes(*request.attributes);
  return MakeKernel([attributes](KernelContext& context) { return RunScan(context, attributes); });
}

}  // namespace

void Register_ops_control_flow(KernelRegistry& registry) {
  AddOp(registry, "If", {}, {{DataType::kBool}}, Stateless(If));
  AddOp(registry, "Loop", {}, {{DataType::kInt64}, {DataType::kBool}}, MakeLoop);
  // Version 8 has a batch axis, which nobody uses any more.
  AddOp(registry, "Scan", {9, kLatest}, {}, MakeScan);
}

}  // namespace rulerun
