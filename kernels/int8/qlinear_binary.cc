// QLinearAdd and QLinearMul (com.microsoft), in the order of operations of ONNX Runtime's AVX2 code.
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "kernels/int8/broadcast.h"
#include "kernels/int8/params.h"
#include "kernels/int8/rows.h"
#include "kernels/kernel.h"

namespace rulerun {
namespace int8 {
namespace {

enum Slot : size_t { kA, kAScale, kAZero, kB, kBScale, kBZero, kCScale, kCZero };

struct Operands {
  const Tensor* a = nullptr;
  const Tensor* b = nullptr;
  Quantization qa;
  Quantization qb;
  Quantization qc;
};

Result<Operands> ReadOperands(const KernelContext& context, std::string_view op) {
  Operands read;
  RULERUN_ASSIGN(read.a, EightBitInput(context, kA, op, "A"));
  RULERUN_ASSIGN(read.b, EightBitInput(context, kB, op, "B"));
  const DataType type = read.a->type();
  if (read.b->type() != type)
    return OpError(op, "A is " + std::string(Name(type)) + ", but B is " + std::string(Name(read.b->type())));
  RULERUN_ASSIGN(read.qa, ReadQuantization(context, kAScale, type, op, "A"));
  RULERUN_ASSIGN(read.qb, ReadQuantization(context, kBScale, type, op, "B"));
  RULERUN_ASSIGN(read.qc, ReadQuantization(context, kCScale, type, op, "C"));
  return read;
}

// Whether the kernel of ONNX Runtime takes A for the one-element operand; it swaps the operands then, which changes the
// order of roundings. It looks at the innermost axis that both have and that is not 1 in both, else at the outermost
// one that both have.
bool TakesAForScalar(const Dims& a, const Dims& b) {
  if (a.empty() || b.empty()) return a.empty() || a.back() == 1;
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 1; i <= common; ++i) {
    const int64_t da = a[a.size() - i];
    const int64_t db = b[b.size() - i];
    if (i < common && da <= 1 && db <= 1) continue;
    return da == 1;
  }
  return false;
}

// The numbers of AddRow for fused(x, x_ratio, fused(y, y_ratio, constant)).
AddParams ParamsOfAdd(Quantization x, Quantization y, Quantization out) {
  AddParams params;
  params.a_ratio = x.scale / out.scale;
  params.b_ratio = y.scale / out.scale;
  const float y_part = params.b_ratio * static_cast<float>(y.zero_point);
  const float both = std::fma(params.a_ratio, static_cast<float>(x.zero_point), y_part);
  params.constant = static_cast<float>(out.zero_point) - both;
  return params;
}

template <typename RunSpan>
Status RunBinary(KernelContext& context, const Operands& operands, std::string_view op, const RunSpan& run_span) {
  RULERUN_ASSIGN(const Broadcast plan, Broadcast::Make({operands.a->dims(), operands.b->dims()}, op));
  RULERUN_ASSIGN(Tensor * y, context.Output(0, operands.a->type(), plan.out()));
  const uint8_t* a = operands.a->data<uint8_t>();
  const uint8_t* b = operands.b->data<uint8_t>();
  uint8_t* out = y->mutable_data<uint8_t>();
  plan.ForEachSpan(context.pool(), [&](int64_t first, int64_t count, std::span<const int64_t> from) {
    run_span(RowOperand{a + from[0], plan.OneElement(0)}, RowOperand{b + from[1], plan.OneElement(1)}, count,
             out + first);
  });
  return {};
}

class QLinearAdd : public Kernel {
 public:
  Status Run(KernelContext& context) const override {
    RULERUN_ASSIGN(const Operands operands, ReadOperands(context, "QLinearAdd"));
    const bool is_signed = operands.a->type() == DataType::kInt8;
    const bool swap = TakesAForScalar(operands.a->dims(), operands.b->dims());
    const AddParams params =
        swap ? ParamsOfAdd(operands.qb, operands.qa, operands.qc) : ParamsOfAdd(operands.qa, operands.qb, operands.qc);
    return RunBinary(context, operands, "QLinearAdd", [&](RowOperand a, RowOperand b, int64_t count, uint8_t* y) {
      AddRow(swap ? b : a, swap ? a : b, count, params, is_signed, y);
    });
  }
};

class QLinearMul : public Kernel {
 public:
  Status Run(KernelContext& context) const override {
    RULERUN_ASSIGN(const Operands operands, ReadOperands(context, "QLinearMul"));
    const bool is_signed = operands.a->type() == DataType::kInt8;
    MulParams params;
    params.a_zero_point = operands.qa.zero_point;
    params.b_zero_point = operands.qb.zero_point;
    params.y_zero_point = operands.qc.zero_point;
    params.ratio = operands.qa.scale * operands.qb.scale / operands.qc.scale;
    return RunBinary(context, operands, "QLinearMul", [&](RowOperand a, RowOperand b, int64_t count, uint8_t* y) {
      MulRow(a, b, count, params, is_signed, y);
    });
  }
};

template <typename K>
Result<std::unique_ptr<Kernel>> Make(const KernelRequest&) {
  return std::unique_ptr<Kernel>(std::make_unique<K>());
}

}  // namespace
}  // namespace int8

void Register_int8_qlinear_binary(KernelRegistry& registry) {
  const auto& e = int8::kEightBitTypes;
  const auto& f = int8::kFloatOnly;
  const std::vector<std::vector<DataType>> types = {e, f, e, e, f, e, f, e};
  registry.Add({"QLinearAdd", "com.microsoft", 1, 1, types, int8::Make<int8::QLinearAdd>});
  registry.Add({"QLinearMul", "com.microsoft", 1, 1, types, int8::Make<int8::QLinearMul>});
}

}  // namespace rulerun
