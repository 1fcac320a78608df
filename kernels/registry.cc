#include <algorithm>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "kernels/adapter.h"
#include "kernels/buffer.h"
#include "kernels/kernel.h"
#include "kernels/register.h"

namespace rulerun {
namespace {

bool Fits(const std::vector<DataType>& allowed, DataType type) {
  return allowed.empty() || type == DataType::kUndefined ||
         std::find(allowed.begin(), allowed.end(), type) != allowed.end();
}

bool FitsTypes(const KernelDef& def, std::span<const DataType> types) {
  for (size_t i = 0; i < types.size() && i < def.types.size(); ++i) {
    if (!Fits(def.types[i], types[i])) return false;
  }
  return true;
}

std::string TypeList(std::span<const DataType> types) {
  std::vector<std::string> names;
  for (const DataType type : types) names.emplace_back(Name(type));
  return Join(names, ", ");
}

std::string FullName(const KernelRequest& request) {
  return request.domain.empty() ? std::string(request.op_type)
                                : std::string(request.domain) + "." + std::string(request.op_type);
}

// The kernel context of RunOnce: inputs and outputs in vectors, no subgraphs.
class PlainContext : public KernelContext {
 public:
  PlainContext(std::span<const Tensor* const> inputs, size_t output_count) : inputs_(inputs), outputs_(output_count) {}

  const Tensor* Input(size_t slot) const override { return slot < inputs_.size() ? inputs_[slot] : nullptr; }
  size_t InputCount() const override { return inputs_.size(); }
  Result<Tensor*> Output(size_t slot, DataType type, Dims dims) override {
    RULERUN_ASSIGN(Tensor tensor, AllocateTensor(type, std::move(dims)));
    Tensor& output = Slot(slot);
    output = std::move(tensor);
    return &output;
  }
  void SetOutput(size_t slot, Tensor tensor) override { Slot(slot) = std::move(tensor); }
  bool Wanted(size_t slot) const override { return slot < outputs_.size(); }
  ThreadPool& pool() override { return pool_; }
  Result<std::vector<Tensor>> RunSubgraph(std::string_view attribute, std::vector<Tensor>) override {
    return Error{Code::kKernelLimit, "subgraph '" + std::string(attribute) + "' cannot run outside a graph", "", ""};
  }
  std::vector<Tensor> TakeOutputs() { return std::move(outputs_); }

 private:
  Tensor& Slot(size_t slot) { return slot < outputs_.size() ? outputs_[slot] : spare_; }

  std::span<const Tensor* const> inputs_;
  std::vector<Tensor> outputs_;
  Tensor spare_;
  ThreadPool pool_{1};
};

}  // namespace

const KernelRegistry& KernelRegistry::Default() {
  static const KernelRegistry& registry = *[] {
    auto* made = new KernelRegistry;
    RegisterAllKernels(*made);
    return made;
  }();
  return registry;
}

void KernelRegistry::Add(KernelDef def) {
  by_op_[def.op_type].push_back(defs_.size());
  defs_.push_back(std::move(def));
}

const KernelDef* KernelRegistry::FindExact(const KernelRequest& request) const {
  const auto found = by_op_.find(request.op_type);
  if (found == by_op_.end()) return nullptr;
  for (const size_t index : found->second) {
    const KernelDef& def = defs_[index];
    if (def.domain == request.domain && def.since <= request.since_version && request.since_version <= def.until &&
        FitsTypes(def, request.input_types)) {
      return &def;
    }
  }
  return nullptr;
}

const KernelDef* KernelRegistry::Find(const KernelRequest& request) const {
  if (const KernelDef* def = FindExact(request)) return def;
  if (!HasHalf(request.input_types)) return nullptr;
  const std::vector<DataType> widened = Widened(request.input_types);
  KernelRequest wide = request;
  wide.input_types = widened;
  return FindExact(wide);
}

Error KernelRegistry::Missing(const KernelRequest& request) const {
  Error error{Code::kNoKernel, "", "", ""};
  const std::string op = FullName(request);
  const auto found = by_op_.find(request.op_type);
  const bool known =
      found != by_op_.end() && std::any_of(found->second.begin(), found->second.end(),
                                           [&](size_t index) { return defs_[index].domain == request.domain; });
  if (!known) {
    error.message = "no kernel for operator " + op;
    error.remedy = "run the part of the model before it, or add a kernel under kernels/ops";
    return error;
  }
  error.message = "no kernel for " + op + "(" + TypeList(request.input_types) + "), operator version " +
                  std::to_string(request.since_version);
  std::vector<std::string> have;
  for (const size_t index : found->second) {
    const KernelDef& def = defs_[index];
    if (def.domain != request.domain) continue;
    std::vector<std::string> sets;
    for (const auto& set : def.types) sets.push_back(set.empty() ? "any" : TypeList(set));
    have.push_back(Join(sets, " x "));
  }
  error.remedy = "types with a kernel: " + Join(have, "; ");
  return error;
}

Result<std::unique_ptr<Kernel>> KernelRegistry::Make(const KernelRequest& request) const {
  if (const KernelDef* def = FindExact(request)) return def->make(request);
  const KernelDef* wide = Find(request);
  return wide != nullptr ? MakeWidened(*wide, request) : Result<std::unique_ptr<Kernel>>(Missing(request));
}

Result<std::vector<Tensor>> RunOnce(const KernelRegistry& registry, std::string_view domain, std::string_view op_type,
                                    int since_version, const AttributeMap& attributes,
                                    std::span<const Tensor* const> inputs, size_t output_count) {
  std::vector<DataType> types;
  for (const Tensor* input : inputs) types.push_back(input == nullptr ? DataType::kUndefined : input->type());
  KernelRequest request;
  request.op_type = op_type;
  request.domain = domain;
  request.since_version = since_version;
  request.attributes = &attributes;
  request.input_types = types;
  request.constants = inputs;
  request.output_count = output_count;
  RULERUN_ASSIGN(std::unique_ptr<Kernel> kernel, registry.Make(request));
  PlainContext context(inputs, output_count);
  RULERUN_RETURN_IF_ERROR(kernel->Run(context));
  return context.TakeOutputs();
}

}  // namespace rulerun
