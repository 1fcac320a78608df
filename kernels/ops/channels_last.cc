// Float operators on channels-last data: com.microsoft.NhwcFusedConv and the pools of com.ms.internal.nhwc. They run
// the plain operator between two transpositions.
#include <algorithm>

#include "kernels/buffer.h"
#include "kernels/ops/op.h"
#include "kernels/ops/strided_copy.h"

namespace rulerun {
namespace {

constexpr std::string_view kNhwc = "com.ms.internal.nhwc";
constexpr size_t kSum = 3;  // the input of a fused convolution that has the output's layout

// Fills `to`, whose dims are those of `from` with the axis of the channels moved.
Status MoveChannels(const Tensor& from, bool to_last, Tensor& to, ThreadPool& pool) {
  // Indices run over the layout of `to`.
  StridedView read{0, DenseStrides(from.dims())};
  if (to_last) {
    std::rotate(read.strides.begin() + 1, read.strides.begin() + 2, read.strides.end());
  } else {
    std::rotate(read.strides.begin() + 1, read.strides.end() - 1, read.strides.end());
  }
  return CopyStrided(from, read, to, {0, DenseStrides(to.dims())}, to.dims(), pool);
}

Dims ChannelsFirst(Dims dims) {
  std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  return dims;
}

Dims ChannelsLast(Dims dims) {
  std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  return dims;
}

// The inner kernel sees images in the plain layout.
class PlainLayoutContext : public KernelContext {
 public:
  explicit PlainLayoutContext(KernelContext& outer) : outer_(outer) {}

  Status ReadImages() {
    RULERUN_RETURN_IF_ERROR(ReadImage(0, x_));
    return outer_.Input(kSum) == nullptr ? Status() : ReadImage(kSum, z_);
  }
  Status Finish() {
    if (y_.empty()) return {};
    RULERUN_ASSIGN(Tensor * y, outer_.Output(0, y_.type(), ChannelsLast(y_.dims())));
    return MoveChannels(y_, true, *y, outer_.pool());
  }

  const Tensor* Input(size_t slot) const override {
    if (slot == 0) return &x_;
    return slot == kSum && !z_.empty() ? &z_ : outer_.Input(slot);
  }
  size_t InputCount() const override { return outer_.InputCount(); }
  Result<Tensor*> Output(size_t slot, DataType type, Dims dims) override {
    if (slot != 0) return Unsupported("output " + std::to_string(slot) + " has no channels-last form");
    RULERUN_ASSIGN(y_, AllocateTensor(type, std::move(dims)));
    return &y_;
  }
  void SetOutput(size_t /*slot*/, Tensor tensor) override { y_ = std::move(tensor); }
  bool Wanted(size_t slot) const override { return slot == 0 && outer_.Wanted(slot); }
  ThreadPool& pool() override { return outer_.pool(); }
  Result<std::vector<Tensor>> RunSubgraph(std::string_view attribute, std::vector<Tensor> inputs) override {
    return outer_.RunSubgraph(attribute, std::move(inputs));
  }

 private:
  Status ReadImage(size_t slot, Tensor& to) {
    RULERUN_ASSIGN(const Tensor* from, Required(outer_, slot));
    if (from->rank() < 3) return Invalid("input " + std::to_string(slot) + " has shape " + DimsText(from->dims()));
    RULERUN_ASSIGN(to, AllocateTensor(from->type(), ChannelsFirst(from->dims())));
    return MoveChannels(*from, false, to, outer_.pool());
  }

  KernelContext& outer_;
  Tensor x_, z_, y_;
};

class ChannelsLastKernel : public Kernel {
 public:
  explicit ChannelsLastKernel(std::unique_ptr<Kernel> inner) : inner_(std::move(inner)) {}

  Status Run(KernelContext& context) const override {
    PlainLayoutContext plain(context);
    RULERUN_RETURN_IF_ERROR(plain.ReadImages());
    RULERUN_RETURN_IF_ERROR(inner_->Run(plain));
    return plain.Finish();
  }

 private:
  std::unique_ptr<Kernel> inner_;
};

// A channels-last form of op_type of `domain`.
KernelFactory MakeChannelsLast(std::string_view domain, std::string_view op_type) {
  return [=](const KernelRequest& request) -> Result<std::unique_ptr<Kernel>> {
    if (request.output_count > 1) return Unsupported("a second output has no channels-last form");
    KernelRequest plain = request;
    plain.domain = domain;
    plain.op_type = op_type;
    RULERUN_ASSIGN(std::unique_ptr<Kernel> inner, KernelRegistry::Default().Make(plain));
    return std::unique_ptr<Kernel>(std::make_unique<ChannelsLastKernel>(std::move(inner)));
  };
}

}  // namespace

void Register_ops_channels_last(KernelRegistry& registry) {
  const Types floats = {DataType::kFloat};
  AddOp(registry, "NhwcFusedConv", {}, {floats, floats, floats, floats}, MakeChannelsLast(kMicrosoft, "FusedConv"),
        kMicrosoft);
  AddOp(registry, "MaxPool", {}, {floats}, MakeChannelsLast("", "MaxPool"), kNhwc);
  AddOp(registry, "AveragePool", {}, {floats}, MakeChannelsLast("", "AveragePool"), kNhwc);
  AddOp(registry, "GlobalAveragePool", {}, {floats}, MakeChannelsLast("", "GlobalAveragePool"), kNhwc);
}

}  // namespace rulerun
