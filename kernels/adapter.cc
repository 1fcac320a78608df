#include "kernels/adapter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/buffer.h"

namespace rulerun {
namespace {

bool IsHalf(DataType type) { return type == DataType::kFloat16 || type == DataType::kBfloat16; }

class WidenedContext : public KernelContext {
 public:
  WidenedContext(KernelContext& outer, DataType half, const std::vector<Tensor>& constants)
      : outer_(outer), half_(half), inputs_(outer.InputCount()) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Tensor* input = outer.Input(i);
      if (input == nullptr || !IsHalf(input->type())) continue;
      inputs_[i] = i < constants.size() && !constants[i].empty() ? constants[i] : WidenTensor(*input);
    }
  }

  const Tensor* Input(size_t slot) const override {
    return slot < inputs_.size() && !inputs_[slot].empty() ? &inputs_[slot] : outer_.Input(slot);
  }
  size_t InputCount() const override { return outer_.InputCount(); }
  Result<Tensor*> Output(size_t slot, DataType type, Dims dims) override {
    if (type != DataType::kFloat) return outer_.Output(slot, type, std::move(dims));
    RULERUN_ASSIGN(Tensor tensor, AllocateTensor(type, std::move(dims)));
    outputs_.push_back({slot, std::make_unique<Tensor>(std::move(tensor))});
    return outputs_.back().second.get();
  }
  void SetOutput(size_t slot, Tensor tensor) override {
    outer_.SetOutput(slot, tensor.type() == DataType::kFloat ? NarrowTensor(tensor, half_) : std::move(tensor));
  }
  bool Wanted(size_t slot) const override { return outer_.Wanted(slot); }
  ThreadPool& pool() override { return outer_.pool(); }
  Result<std::vector<Tensor>> RunSubgraph(std::string_view attribute, std::vector<Tensor> inputs) override {
    return outer_.RunSubgraph(attribute, std::move(inputs));
  }
  void Finish() {
    for (const auto& [slot, tensor] : outputs_) outer_.SetOutput(slot, NarrowTensor(*tensor, half_));
  }

 private:
  KernelContext& outer_;
  DataType half_;
  std::vector<Tensor> inputs_;  // widened ones; empty where the outer one serves
  std::vector<std::pair<size_t, std::unique_ptr<Tensor>>> outputs_;
};

class WidenedKernel : public Kernel {
 public:
  WidenedKernel(std::unique_ptr<Kernel> inner, DataType half, std::vector<Tensor> constants)
      : inner_(std::move(inner)), half_(half), constants_(std::move(constants)) {}

  Status Run(KernelContext& context) const override {
    WidenedContext wide(context, half_, constants_);
    RULERUN_RETURN_IF_ERROR(inner_->Run(wide));
    wide.Finish();
    return {};
  }

 private:
  std::unique_ptr<Kernel> inner_;
  DataType half_;
  std::vector<Tensor> constants_;
};

}  // namespace

bool HasHalf(std::span<const DataType> types) { return std::any_of(types.begin(), types.end(), IsHalf); }

std::vector<DataType> Widened(std::span<const DataType> types) {
  std::vector<DataType> wide(types.begin(), types.end());
  for (DataType& type : wide) {
    if (IsHalf(type)) type = DataType::kFloat;
  }
  return wide;
}

Tensor WidenTensor(const Tensor& tensor) {
  Tensor wide(DataType::kFloat, tensor.dims());
  float* to = wide.mutable_data<float>();
  const uint16_t* from = tensor.data<uint16_t>();
  const bool bfloat = tensor.type() == DataType::kBfloat16;
  for (int64_t i = 0; i < tensor.count(); ++i) to[i] = bfloat ? BfloatToFloat(from[i]) : HalfToFloat(from[i]);
  return wide;
}

Tensor NarrowTensor(const Tensor& tensor, DataType half) {
  Tensor narrow(half, tensor.dims());
  uint16_t* to = narrow.mutable_data<uint16_t>();
  const float* from = tensor.data<float>();
  const bool bfloat = half == DataType::kBfloat16;
  for (int64_t i = 0; i < tensor.count(); ++i) to[i] = bfloat ? FloatToBfloat(from[i]) : FloatToHalf(from[i]);
  return narrow;
}

Result<std::unique_ptr<Kernel>> MakeWidened(const KernelDef& def, const KernelRequest& request) {
  const DataType half = *std::find_if(request.input_types.begin(), request.input_types.end(), IsHalf);
  const std::vector<DataType> types = Widened(request.input_types);
  std::vector<Tensor> constants(request.constants.size());
  std::vector<const Tensor*> pointers(request.constants.begin(), request.constants.end());
  for (size_t i = 0; i < pointers.size(); ++i) {
    if (pointers[i] == nullptr || !IsHalf(pointers[i]->type())) continue;
    constants[i] = WidenTensor(*pointers[i]);
    pointers[i] = &constants[i];
  }
  KernelRequest wide = request;
  wide.input_types = types;
  wide.constants = pointers;
  RULERUN_ASSIGN(std::unique_ptr<Kernel> inner, def.make(wide));
  return std::unique_ptr<Kernel>(std::make_unique<WidenedKernel>(std::move(inner), half, std::move(constants)));
}

}  // namespace rulerun
