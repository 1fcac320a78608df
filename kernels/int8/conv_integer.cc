// ConvInteger: a convolution's int32 sums.
#include <memory>
#include <utility>

#include "kernels/int8/conv.h"
#include "kernels/int8/params.h"
#include "kernels/kernel.h"

namespace rulerun {
namespace int8 {
namespace {

constexpr std::string_view kOp = "ConvInteger";
enum Slot : size_t { kX, kW, kXZero, kWZero };

class ConvInteger : public Kernel {
 public:
  ConvInteger(ConvAttributes attributes, ConvWeights weights)
      : attributes_(std::move(attributes)), weights_(std::move(weights)) {}

  Status Run(KernelContext& context) const override {
    RULERUN_ASSIGN(const Tensor* x, EightBitInput(context, kX, kOp, "x"));
    RULERUN_ASSIGN(const Tensor* w, EightBitInput(context, kW, kOp, "w"));
    RULERUN_ASSIGN(const ConvShape shape, ResolveConv(attributes_, x->dims(), w->dims(), kOp));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kInt32, shape.out));
    if (y->count() == 0) return {};
    ConvFinish finish;
    RULERUN_ASSIGN(finish.x_zero_point, ReadZeroPoint(context, kXZero, x->type(), kOp, "x_zero_point"));
    RULERUN_ASSIGN(const std::vector<int32_t> w_zeros,
                   ReadZeroPoints(context.Input(kWZero), w->type(), shape.out_channels, kOp, "w_zero_point"));
    finish.w_zero_points = w_zeros;
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
  attributes.channels_last = false;
  RULERUN_ASSIGN(ConvWeights weights, ConvWeights::PackConstant(attributes, request, kW, kWZero, kOp));
  return std::unique_ptr<Kernel>(std::make_unique<ConvInteger>(std::move(attributes), std::move(weights)));
}

}  // namespace
}  // namespace int8

void Register_int8_conv_integer(KernelRegistry& registry) {
  const auto& e = int8::kEightBitTypes;
  registry.Add({"ConvInteger", "", 10, 10, {e, e, e, e}, int8::Make});
}

}  // namespace rulerun
