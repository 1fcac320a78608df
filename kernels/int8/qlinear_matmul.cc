// QLinearMatMul: a product of quantized matrices, requantized. All four type pairs (ONNX Runtime lacks int8 x uint8).
#include <memory>
#include <utility>

#include "kernels/int8/matmul.h"
#include "kernels/int8/params.h"
#include "kernels/kernel.h"

namespace rulerun {
namespace int8 {
namespace {

constexpr std::string_view kOp = "QLinearMatMul";
enum Slot : size_t { kA, kAScale, kAZero, kB, kBScale, kBZero, kYScale, kYZero };

class QLinearMatMul : public Kernel {
 public:
  explicit QLinearMatMul(PackedMatrices packed) : packed_(std::move(packed)) {}

  Status Run(KernelContext& context) const override {
    RULERUN_ASSIGN(const Tensor* a, EightBitInput(context, kA, kOp, "a"));
    RULERUN_ASSIGN(const Tensor* b, EightBitInput(context, kB, kOp, "b"));
    RULERUN_ASSIGN(const MatMulShape shape, ResolveMatMul(a->dims(), b->dims(), kOp));
    RULERUN_ASSIGN(const Tensor* y_zero, Required(context, kYZero, kOp, "y_zero_point"));
    if (!IsEightBit(y_zero->type())) return OpError(kOp, "y_zero_point must be uint8 or int8");
    RULERUN_ASSIGN(Tensor * y, context.Output(0, y_zero->type(), shape.out));
    if (shape.empty()) return {};
    RULERUN_ASSIGN(const Quantization from, ReadQuantization(context, kAScale, a->type(), kOp, "a"));
    RULERUN_ASSIGN(const std::vector<int32_t> b_zeros, ReadColumnZeroPoints(context, kBZero, b->type(), shape, kOp));
    RULERUN_ASSIGN(std::vector<float> multiplier, ReadColumnScales(context, kBScale, shape, kOp));
    RULERUN_ASSIGN(const Quantization to, ReadQuantization(context, kYScale, y_zero->type(), kOp, "y"));
    for (float& m : multiplier) m = from.scale * m / to.scale;

    MatMulFinish finish;
    finish.a_zero_point = from.zero_point;
    finish.b_zero_points = b_zeros;
    finish.kind = Epilogue::Kind::kRequantize;
    finish.multiplier = multiplier;
    finish.y_zero_point = to.zero_point;
    finish.limits = LimitsOf(y->type());
    PackedMatrices fresh;
    if (packed_.empty()) {
      RULERUN_ASSIGN(fresh, PackMatrices(context.pool(), *b));
    }
    RunMatMul(context.pool(), shape, a->data<uint8_t>(), a->type() == DataType::kInt8,
              packed_.empty() ? fresh : packed_, b->type() == DataType::kInt8, finish, y->mutable_raw());
    return {};
  }

 private:
  PackedMatrices packed_;  // empty: B is not constant
};

Result<std::unique_ptr<Kernel>> Make(const KernelRequest& request) {
  RULERUN_ASSIGN(PackedMatrices packed, PackConstant(request, kB));
  return std::unique_ptr<Kernel>(std::make_unique<QLinearMatMul>(std::move(packed)));
}

}  // namespace
}  // namespace int8

void Register_int8_qlinear_matmul(KernelRegistry& registry) {
  using int8::kEightBitTypes;
  using int8::kFloatOnly;
  registry.Add({"QLinearMatMul",
                "",
                10,
                21,
                {kEightBitTypes, kFloatOnly, kEightBitTypes, kEightBitTypes, kFloatOnly, kEightBitTypes, kFloatOnly,
                 kEightBitTypes},
                int8::Make});
}

}  // namespace rulerun
