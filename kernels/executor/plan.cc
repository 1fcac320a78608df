#include "kernels/executor/plan.h"

#include <algorithm>

#include "engine/base/codes.h"

namespace rulerun {
namespace {

Result<Source> FindSource(const Plan& plan, ValueId id) {
  const Graph& graph = *plan.graph;
  Source source;
  source.constant = graph.Constant(id);
  source.id = id;
  if (source.constant != nullptr || !graph.FromOuterScope(id)) return source;
  const std::string& name = graph.value(id).name;
  for (const Plan* outer = plan.parent; outer != nullptr; outer = outer->parent) {
    ++source.hops;
    const std::optional<ValueId> found = outer->graph->Find(name);
    if (found && !outer->graph->FromOuterScope(*found)) {
      source.id = *found;
      return source;
    }
  }
  return Error{Code::kBadGraph, "value '" + name + "' is read but nothing computes it", "", ""};
}

bool HasOutput(const Node& node) {
  return std::any_of(node.outputs.begin(), node.outputs.end(), [](ValueId id) { return id != kNoValue; });
}

bool IsRead(const Value& value) { return !value.uses.empty() || value.graph_output; }

Status FillSources(Plan& plan) {
  const Graph& graph = *plan.graph;
  plan.sources.resize(graph.value_count());
  for (size_t i = 0; i < plan.sources.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (!IsRead(graph.value(id))) {
      plan.sources[i].id = id;
      continue;
    }
    RULERUN_ASSIGN(plan.sources[i], FindSource(plan, id));
  }
  return {};
}

Status MakeStepKernel(const Graph& graph, const ExecutorOptions& options, Step& step) {
  const Node& node = *step.node;
  std::vector<DataType> types;
  std::vector<const Tensor*> constants;
  for (const ValueId input : node.inputs) {
    types.push_back(input == kNoValue ? DataType::kUndefined : graph.TypeOf(input).element);
    constants.push_back(input == kNoValue ? nullptr : graph.Constant(input));
  }
  step.output_count = node.outputs.size();
  while (step.output_count > 0 && node.outputs[step.output_count - 1] == kNoValue) --step.output_count;
  KernelRequest request;
  request.op_type = node.op_type;
  request.domain = node.domain;
  request.since_version = node.since_version;
  request.attributes = &node.attributes;
  request.input_types = types;
  request.constants = constants;
  request.output_count = step.output_count;
  request.channel_block = options.channel_block;
  const KernelRegistry& registry = options.registry != nullptr ? *options.registry : KernelRegistry::Default();
  Result<std::unique_ptr<Kernel>> kernel = registry.Make(request);
  if (!kernel.ok()) {
    Error error = kernel.error();
    if (error.place.empty()) error.place = PlaceOf(node);
    return error;
  }
  step.kernel = std::move(kernel).value();
  return {};
}

Status MakeSubplans(const Plan& plan, const ExecutorOptions& options, Step& step) {
  for (const auto& [name, attribute] : step.node->attributes) {
    const auto* graph = std::get_if<GraphRef>(&attribute);
    if (graph == nullptr) continue;
    RULERUN_ASSIGN(std::unique_ptr<Plan> inner, MakePlan(**graph, options, &plan));
    step.subgraphs.emplace_back(name, std::move(inner));
  }
  return {};
}

// The last step that touches each value; graph outputs and constants live on.
void PlanReleases(Plan& plan) {
  const Graph& graph = *plan.graph;
  std::vector<int64_t> last(graph.value_count(), -1);
  const auto touch = [&](ValueId id, size_t step) {
    if (id != kNoValue) last[static_cast<size_t>(id)] = static_cast<int64_t>(step);
  };
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    for (const ValueId id : plan.steps[s].node->inputs) touch(id, s);
    for (const ValueId id : plan.steps[s].node->implicit) touch(id, s);
    for (const ValueId id : plan.steps[s].node->outputs) touch(id, s);
  }
  for (size_t i = 0; i < last.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (last[i] < 0 || graph.value(id).graph_output || plan.sources[i].constant != nullptr) continue;
    plan.steps[static_cast<size_t>(last[i])].release.push_back(id);
  }
}

}  // namespace

std::string PlaceOf(const Node& node) {
  const std::string name = node.name.empty() ? "#" + std::to_string(node.index) : "'" + node.name + "'";
  return "node " + name + " (" + node.Op() + ")";
}

Result<std::unique_ptr<Plan>> MakePlan(const Graph& graph, const ExecutorOptions& options, const Plan* parent) {
  auto plan = std::make_unique<Plan>();
  plan->graph = &graph;
  plan->parent = parent;
  RULERUN_RETURN_IF_ERROR(FillSources(*plan));
  for (const NodeIndex index : TopologicalOrder(graph)) {
    Step step;
    step.node = graph.node(index);
    if (!HasOutput(*step.node)) continue;  // ONNX Runtime accepts such a node whatever else it lacks
    RULERUN_RETURN_IF_ERROR(MakeStepKernel(graph, options, step));
    RULERUN_RETURN_IF_ERROR(MakeSubplans(*plan, options, step));
    plan->steps.push_back(std::move(step));
  }
  PlanReleases(*plan);
  return plan;
}

}  // namespace rulerun
