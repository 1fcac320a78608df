// ImageScaler, which ONNX dropped and ONNX Runtime kept: x * scale + bias of the channel.
#include <algorithm>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

Status RunImageScaler(float scale, const std::vector<float>& bias, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  if (x->rank() != 4 || x->dims()[1] != static_cast<int64_t>(bias.size())) {
    return Invalid("an input of shape " + DimsText(x->dims()) + " does not have " + std::to_string(bias.size()) +
                   " channels, one per bias");
  }
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, x->dims()));
  const int64_t size = x->dims()[2] * x->dims()[3];
  context.pool().ParallelFor(x->dims()[0] * x->dims()[1], std::max<int64_t>(1, 16384 / std::max<int64_t>(1, size)),
                             [&](int64_t begin, int64_t end) {
                               for (int64_t plane = begin; plane < end; ++plane) {
                                 const float* from = x->data<float>() + plane * size;
                                 float* to = y->mutable_data<float>() + plane * size;
                                 const float shift = bias[static_cast<size_t>(plane % x->dims()[1])];
                                 for (int64_t i = 0; i < size; ++i) to[i] = from[i] * scale + shift;
                               }
                             });
  return {};
}

Result<std::unique_ptr<Kernel>> MakeImageScaler(const KernelRequest& request) {
  const float scale = FloatOr(*request.attributes, "scale", 1);
  return MakeKernel([scale, bias = FloatsOr(*request.attributes, "bias", {})](KernelContext& context) {
    return RunImageScaler(scale, bias, context);
  });
}

}  // namespace

void Register_ops_image_scaler(KernelRegistry& registry) {
  AddOp(registry, "ImageScaler", {}, {{DataType::kFloat}}, MakeImageScaler);
}

}  // namespace rulerun
