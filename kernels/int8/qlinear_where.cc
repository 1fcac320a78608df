// QLinearWhere (com.microsoft): condition, x, x_scale, x_zero_point, y, y_scale, y_zero_point, z_scale, z_zero_point.
#include <array>
#include <memory>
#include <numeric>
#include <string>

#include "kernels/int8/broadcast.h"
#include "kernels/int8/params.h"
#include "kernels/kernel.h"

namespace rulerun {
namespace int8 {
namespace {

constexpr std::string_view kOp = "QLinearWhere";
enum Slot : size_t { kCondition, kX, kXScale, kXZero, kY, kYScale, kYZero, kZScale, kZZero };

// From one quantization to another; equal ones leave the bytes as they are.
Table Conversion(bool is_signed, Quantization from, Quantization to) {
  if (!(from == to)) return MakeTable(is_signed, from, to, [](float v) { return v; });
  Table same;
  std::iota(same.begin(), same.end(), static_cast<uint8_t>(0));
  return same;
}

class QLinearWhere : public Kernel {
 public:
  Status Run(KernelContext& context) const override {
    RULERUN_ASSIGN(const Tensor* condition, Required(context, kCondition, kOp, "condition"));
    if (condition->type() != DataType::kBool) return OpError(kOp, "condition must be bool");
    RULERUN_ASSIGN(const Tensor* x, EightBitInput(context, kX, kOp, "X"));
    RULERUN_ASSIGN(const Tensor* y, EightBitInput(context, kY, kOp, "Y"));
    const DataType type = x->type();
    if (y->type() != type) return OpError(kOp, "X and Y have different types");
    RULERUN_ASSIGN(const Quantization qx, ReadQuantization(context, kXScale, type, kOp, "x"));
    RULERUN_ASSIGN(const Quantization qy, ReadQuantization(context, kYScale, type, kOp, "y"));
    RULERUN_ASSIGN(const Quantization qz, ReadQuantization(context, kZScale, type, kOp, "z"));
    RULERUN_ASSIGN(const Broadcast plan, Broadcast::Make({condition->dims(), x->dims(), y->dims()}, kOp));
    RULERUN_ASSIGN(Tensor * z, context.Output(0, type, plan.out()));
    const Table x_table = Conversion(type == DataType::kInt8, qx, qz);
    const Table y_table = Conversion(type == DataType::kInt8, qy, qz);
    const auto step = [&](size_t operand) { return plan.OneElement(operand) ? 0 : 1; };
    const std::array<int64_t, 3> steps = {step(0), step(1), step(2)};
    uint8_t* out = z->mutable_data<uint8_t>();
    plan.ForEachSpan(context.pool(), [&](int64_t first, int64_t count, std::span<const int64_t> from) {
      const uint8_t* c = condition->data<uint8_t>() + from[0];
      const uint8_t* a = x->data<uint8_t>() + from[1];
      const uint8_t* b = y->data<uint8_t>() + from[2];
      for (int64_t i = 0; i < count; ++i) {
        out[first + i] = c[i * steps[0]] != 0 ? x_table[a[i * steps[1]]] : y_table[b[i * steps[2]]];
      }
    });
    return {};
  }
};

Result<std::unique_ptr<Kernel>> Make(const KernelRequest&) {
  return std::unique_ptr<Kernel>(std::make_unique<QLinearWhere>());
}

}  // namespace
}  // namespace int8

void Register_int8_qlinear_where(KernelRegistry& registry) {
  const auto& e = int8::kEightBitTypes;
  const auto& f = int8::kFloatOnly;
  registry.Add({"QLinearWhere", "com.microsoft", 1, 1, {{DataType::kBool}, e, f, e, e, f, e, f, e}, int8::Make});
}

}  // namespace rulerun
