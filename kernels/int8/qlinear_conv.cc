// QLinearConv: ai.onnx, and com.microsoft with channels_last.
#include <memory>
#include <string>
#include <utility>

#include "kernels/int8/conv.h"
#include "kernels/int8/params.h"
#include "kernels/kernel.h"

namespace rulerun {
namespace int8 {
namespace {

constexpr std::string_view kOp = "QLinearConv";
enum Slot : size_t { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

// The int32 bias [M], or nothing.
Result<std::span<const int32_t>> ReadBias(const KernelContext& context, int64_t channels) {
  const Tensor* bias = context.Input(kBias);
  if (bias == nullptr || bias->empty()) return std::span<const int32_t>();
  if (bias->type() != DataType::kInt32 || bias->count() != channels) {
    return OpError(kOp, "bias is " + std::string(Name(bias->type())) + ToText(bias->dims()) + ", but must be int32[" +
                            std::to_string(channels) + "]");
  }
  return bias->values<int32_t>();
}

class QLinearConv : public Kernel {
 public:
  QLinearConv(ConvAttributes attributes, ConvWeights weights)
      : attributes_(std::move(attributes)), weights_(std::move(weights)) {}

  Status Run(KernelContext& context) const override {
    RULERUN_ASSIGN(const Tensor* x, EightBitInput(context, kX, kOp, "x"));
    RULERUN_ASSIGN(const Tensor* w, EightBitInput(context, kW, kOp, "w"));
    RULERUN_ASSIGN(const Tensor* y_zero, Required(context, kYZero, kOp, "y_zero_point"));
    if (!IsEightBit(y_zero->type())) return OpError(kOp, "y_zero_point must be uint8 or int8");
    RULERUN_ASSIGN(const ConvShape shape, ResolveConv(attributes_, x->dims(), w->dims(), kOp));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, y_zero->type(), shape.out));
    if (y->count() == 0) return {};

    const int64_t channels = shape.out_channels;
    RULERUN_ASSIGN(const Quantization from, ReadQuantization(context, kXScale, x->type(), kOp, "x"));
    RULERUN_ASSIGN(const Quantization to, ReadQuantization(context, kYScale, y->type(), kOp, "y"));
    RULERUN_ASSIGN(std::vector<float> multiplier, ReadScales(context, kWScale, channels, kOp, "w_scale"));
    RULERUN_ASSIGN(const std::vector<int32_t> w_zeros,
                   ReadZeroPoints(context.Input(kWZero), w->type(), channels, kOp, "w_zero_point"));
    for (float& m : multiplier) m = from.scale * m / to.scale;
    ConvFinish finish;
    finish.x_zero_point = from.zero_point;
    finish.w_zero_points = w_zeros;
    RULERUN_ASSIGN(finish.bias, ReadBias(context, channels));
    finish.kind = Epilogue::Kind::kRequantize;
    finish.multiplier = multiplier;
    finish.y_zero_point = to.zero_point;
    finish.limits = LimitsOf(y->type());

    ConvWeights fresh;
    if (weights_.empty()) {
      RULERUN_ASSIGN(fresh, ConvWeights::Pack(attributes_, *w, w_zeros));
    }
    return RunConv(context.pool(), shape, *x, weights_.empty() ? fresh : weights_, finish, *y);
  }

 private:
  ConvAttributes attributes_;
  ConvWeights weights_;  // empty: not constant
};

Result<std::unique_ptr<Kernel>> Make(const KernelRequest& request) {
  RULERUN_ASSIGN(ConvAttributes attributes, ReadConvAttributes(*request.attributes, kOp));
  if (request.domain.empty()) attributes.channels_last = false;
  RULERUN_ASSIGN(ConvWeights weights, ConvWeights::PackConstant(attributes, request, kW, kWZero, kOp));
  return std::unique_ptr<Kernel>(std::make_unique<QLinearConv>(std::move(attributes), std::move(weights)));
}

}  // namespace
}  // namespace int8

void Register_int8_qlinear_conv(KernelRegistry& registry) {
  const auto& e = int8::kEightBitTypes;
  const auto& f = int8::kFloatOnly;
  const std::vector<std::vector<DataType>> types = {e, f, e, e, f, e, f, e, int8::kInt32Only};
  registry.Add({"QLinearConv", "", 10, 10, types, int8::Make});
  registry.Add({"QLinearConv", "com.microsoft", 1, 1, types, int8::Make});
}

}  // namespace rulerun
