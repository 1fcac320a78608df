// MatMulInteger (int32 sums), MatMulIntegerToFloat (scaled) and DynamicQuantizeMatMul (which quantizes A itself).
#include <memory>
#include <string>
#include <utility>

#include "kernels/buffer.h"
#include "kernels/int8/dynamic_quantize.h"
#include "kernels/int8/matmul.h"
#include "kernels/int8/params.h"
#include "kernels/kernel.h"

namespace rulerun {
namespace int8 {
namespace {

// The float bias of a product, one per column, or nullptr.
Result<const float*> FloatBias(const KernelContext& context, size_t slot, int64_t n, std::string_view op) {
  const Tensor* bias = context.Input(slot);
  if (bias == nullptr || bias->empty()) return static_cast<const float*>(nullptr);
  if (bias->type() != DataType::kFloat || bias->count() != n) {
    return OpError(op, "bias" + ToText(bias->dims()) + " must be " + std::to_string(n) + " floats, one per column");
  }
  return bias->data<float>();
}

// A kernel whose B may be packed at load.
class MatMulKernel : public Kernel {
 public:
  explicit MatMulKernel(PackedMatrices packed) : packed_(std::move(packed)) {}

 protected:
  Status Multiply(KernelContext& context, const MatMulShape& shape, const uint8_t* a, bool a_is_signed, const Tensor& b,
                  const MatMulFinish& finish, Tensor& y) const {
    PackedMatrices fresh;
    if (packed_.empty()) {
      RULERUN_ASSIGN(fresh, PackMatrices(context.pool(), b));
    }
    RunMatMul(context.pool(), shape, a, a_is_signed, packed_.empty() ? fresh : packed_, b.type() == DataType::kInt8,
              finish, y.mutable_raw());
    return {};
  }

 private:
  PackedMatrices packed_;  // empty: B is not constant
};

// y = sum (a - a_zero_point) (b - b_zero_point).
class MatMulInteger : public MatMulKernel {
 public:
  using MatMulKernel::MatMulKernel;

  Status Run(KernelContext& context) const override {
    constexpr std::string_view kOp = "MatMulInteger";
    RULERUN_ASSIGN(const Tensor* a, EightBitInput(context, 0, kOp, "A"));
    RULERUN_ASSIGN(const Tensor* b, EightBitInput(context, 1, kOp, "B"));
    RULERUN_ASSIGN(const MatMulShape shape, ResolveMatMul(a->dims(), b->dims(), kOp));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kInt32, shape.out));
    if (shape.empty()) return {};
    MatMulFinish finish;
    RULERUN_ASSIGN(finish.a_zero_point, ReadZeroPoint(context, 2, a->type(), kOp, "a_zero_point"));
    RULERUN_ASSIGN(const std::vector<int32_t> b_zeros, ReadColumnZeroPoints(context, 3, b->type(), shape, kOp));
    finish.b_zero_points = b_zeros;
    return Multiply(context, shape, a->data<uint8_t>(), a->type() == DataType::kInt8, *b, finish, *y);
  }
};

// y = float(sum) * (a_scale * b_scale) + bias, multiplication and addition rounded one by one.
class MatMulIntegerToFloat : public MatMulKernel {
 public:
  using MatMulKernel::MatMulKernel;

  Status Run(KernelContext& context) const override {
    constexpr std::string_view kOp = "MatMulIntegerToFloat";
    RULERUN_ASSIGN(const Tensor* a, EightBitInput(context, 0, kOp, "A"));
    RULERUN_ASSIGN(const Tensor* b, EightBitInput(context, 1, kOp, "B"));
    RULERUN_ASSIGN(const MatMulShape shape, ResolveMatMul(a->dims(), b->dims(), kOp));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, shape.out));
    if (shape.empty()) return {};
    RULERUN_ASSIGN(const float a_scale, ReadScale(context, 2, kOp, "a_scale"));
    RULERUN_ASSIGN(std::vector<float> multiplier, ReadColumnScales(context, 3, shape, kOp));
    for (float& m : multiplier) m = a_scale * m;
    MatMulFinish finish;
    finish.kind = Epilogue::Kind::kFloat;
    finish.multiplier = multiplier;
    RULERUN_ASSIGN(finish.a_zero_point, ReadZeroPoint(context, 4, a->type(), kOp, "a_zero_point"));
    RULERUN_ASSIGN(const std::vector<int32_t> b_zeros, ReadColumnZeroPoints(context, 5, b->type(), shape, kOp));
    finish.b_zero_points = b_zeros;
    RULERUN_ASSIGN(finish.float_bias, FloatBias(context, 6, shape.n, kOp));
    return Multiply(context, shape, a->data<uint8_t>(), a->type() == DataType::kInt8, *b, finish, *y);
  }
};

// A is quantized to uint8 by its own range, then as MatMulIntegerToFloat.
class DynamicQuantizeMatMul : public MatMulKernel {
 public:
  using MatMulKernel::MatMulKernel;

  Status Run(KernelContext& context) const override {
    constexpr std::string_view kOp = "DynamicQuantizeMatMul";
    RULERUN_ASSIGN(const Tensor* a, Required(context, 0, kOp, "A"));
    if (a->type() != DataType::kFloat) return OpError(kOp, "input 'A' must be float");
    RULERUN_ASSIGN(const Tensor* b, EightBitInput(context, 1, kOp, "B"));
    RULERUN_ASSIGN(const MatMulShape shape, ResolveMatMul(a->dims(), b->dims(), kOp));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, shape.out));
    if (shape.empty()) return {};
    RULERUN_ASSIGN(std::vector<float> multiplier, ReadColumnScales(context, 2, shape, kOp));
    RULERUN_ASSIGN(const std::vector<int32_t> b_zeros, ReadColumnZeroPoints(context, 3, b->type(), shape, kOp));
    MatMulFinish finish;
    RULERUN_ASSIGN(finish.float_bias, FloatBias(context, 4, shape.n, kOp));
    RULERUN_ASSIGN(Tensor quantized, AllocateTensor(DataType::kUint8, a->dims()));
    const Quantization from = DynamicQuantization(context.pool(), a->data<float>(), a->count());
    QuantizeTo(context.pool(), a->data<float>(), a->count(), from, quantized.mutable_data<uint8_t>());
    for (float& m : multiplier) m = from.scale * m;
    finish.kind = Epilogue::Kind::kFloat;
    finish.multiplier = multiplier;
    finish.a_zero_point = from.zero_point;
    finish.b_zero_points = b_zeros;
    return Multiply(context, shape, quantized.data<uint8_t>(), false, *b, finish, *y);
  }
};

template <typename K>
Result<std::unique_ptr<Kernel>> Make(const KernelRequest& request) {
  RULERUN_ASSIGN(PackedMatrices packed, PackConstant(request, 1));
  return std::unique_ptr<Kernel>(std::make_unique<K>(std::move(packed)));
}

}  // namespace
}  // namespace int8

void Register_int8_matmul_integer(KernelRegistry& registry) {
  const auto& e = int8::kEightBitTypes;
  const auto& f = int8::kFloatOnly;
  registry.Add({"MatMulInteger", "", 10, 10, {e, e, e, e}, int8::Make<int8::MatMulInteger>});
  registry.Add({"MatMulInteger", "com.microsoft", 1, 1, {e, e, e, e}, int8::Make<int8::MatMulInteger>});
  registry.Add(
      {"MatMulIntegerToFloat", "com.microsoft", 1, 1, {e, e, f, f, e, e, f}, int8::Make<int8::MatMulIntegerToFloat>});
  registry.Add(
      {"DynamicQuantizeMatMul", "com.microsoft", 1, 1, {f, e, f, e, f}, int8::Make<int8::DynamicQuantizeMatMul>});
}

}  // namespace rulerun
