// QGemm: alpha * A' B' + C of quantized matrices, C in int32; the output is quantized, or float where y_scale is
// omitted.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "kernels/buffer.h"
#include "kernels/int8/matmul.h"
#include "kernels/int8/params.h"
#include "kernels/kernel.h"

namespace rulerun {
namespace int8 {
namespace {

constexpr std::string_view kOp = "QGemm";
enum Slot : size_t { kA, kAScale, kAZero, kB, kBScale, kBZero, kC, kYScale, kYZero };

Result<PackedMatrices> PackB(const Tensor& b, bool transposed) {
  const int64_t k = b.dims()[transposed ? 1 : 0];
  const int64_t n = b.dims()[transposed ? 0 : 1];
  PackedMatrices packed(1);
  RULERUN_ASSIGN(packed[0], PackedMatrix::Pack(CurrentGemmCode(), b.data<uint8_t>(), b.type() == DataType::kInt8, k, n,
                                               transposed));
  return packed;
}

class QGemm : public Kernel {
 public:
  QGemm(const AttributeMap& attributes, PackedMatrices packed)
      : transpose_a_(IntOr(attributes, "transA", 0) != 0),
        transpose_b_(IntOr(attributes, "transB", 0) != 0),
        alpha_(FloatOr(attributes, "alpha", 1.0f)),
        packed_(std::move(packed)) {}

  Status Run(KernelContext& context) const override {
    RULERUN_ASSIGN(const Tensor* a, EightBitInput(context, kA, kOp, "A"));
    RULERUN_ASSIGN(const Tensor* b, EightBitInput(context, kB, kOp, "B"));
    RULERUN_ASSIGN(const MatMulShape shape, ShapeOf(*a, *b));
    const Tensor* y_scale = context.Input(kYScale);
    const bool is_float = y_scale == nullptr || y_scale->empty();
    DataType type = DataType::kFloat;
    if (!is_float) {
      RULERUN_ASSIGN(const Tensor* y_zero, Required(context, kYZero, kOp, "y_zero_point"));
      type = y_zero->type();
      if (!IsEightBit(type)) return OpError(kOp, "y_zero_point must be uint8 or int8");
    }
    RULERUN_ASSIGN(Tensor * y, context.Output(0, type, shape.out));
    if (shape.empty()) return {};
    RULERUN_ASSIGN(const Quantization from, ReadQuantization(context, kAScale, a->type(), kOp, "a"));
    RULERUN_ASSIGN(std::vector<float> multiplier, ReadColumnScales(context, kBScale, shape, kOp));
    RULERUN_ASSIGN(const std::vector<int32_t> b_zeros, ReadColumnZeroPoints(context, kBZero, b->type(), shape, kOp));
    for (float& m : multiplier) m = alpha_ * from.scale * m;

    MatMulFinish finish;
    finish.a_zero_point = from.zero_point;
    finish.b_zero_points = b_zeros;
    finish.kind = Epilogue::Kind::kFloat;
    if (!is_float) {
      RULERUN_ASSIGN(const Quantization to, ReadQuantization(context, kYScale, type, kOp, "y"));
      for (float& m : multiplier) m = m / to.scale;
      finish.kind = Epilogue::Kind::kRequantize;
      finish.y_zero_point = to.zero_point;
      finish.limits = LimitsOf(type);
    }
    finish.multiplier = multiplier;
    std::vector<int32_t> bias;
    RULERUN_RETURN_IF_ERROR(AddC(context.Input(kC), shape, &bias, &finish));
    finish.bias = bias;

    Tensor straight = *a;
    if (transpose_a_) {
      RULERUN_ASSIGN(straight, AllocateTensor(a->type(), {shape.m, shape.k}));
      CurrentGemmCode().transpose(a->data<uint8_t>(), shape.m, shape.k, shape.m, straight.mutable_data<uint8_t>(),
                                  shape.k);
    }
    PackedMatrices fresh;
    if (packed_.empty()) {
      RULERUN_ASSIGN(fresh, PackB(*b, transpose_b_));
    }
    RunMatMul(context.pool(), shape, straight.data<uint8_t>(), a->type() == DataType::kInt8,
              packed_.empty() ? fresh : packed_, b->type() == DataType::kInt8, finish, y->mutable_raw());
    return {};
  }

 private:
  Result<MatMulShape> ShapeOf(const Tensor& a, const Tensor& b) const {
    if (a.rank() != 2 || b.rank() != 2) {
      return OpError(kOp, "A" + ToText(a.dims()) + " and B" + ToText(b.dims()) + " must be matrices");
    }
    Dims left = a.dims();
    Dims right = b.dims();
    if (transpose_a_) std::swap(left[0], left[1]);
    if (transpose_b_) std::swap(right[0], right[1]);
    return ResolveMatMul(left, right, kOp);
  }

  // C broadcast to [M, N]: as a bias where it is the same for all rows, else as a matrix.
  static Status AddC(const Tensor* c, const MatMulShape& shape, std::vector<int32_t>* bias, MatMulFinish* finish) {
    if (c == nullptr || c->empty()) return {};
    Dims dims = c->dims();
    while (dims.size() < 2) dims.insert(dims.begin(), 1);
    const bool fits = dims.size() == 2 && (dims[0] == 1 || dims[0] == shape.m) && (dims[1] == 1 || dims[1] == shape.n);
    if (c->type() != DataType::kInt32 || !fits) {
      return OpError(kOp, "C is " + std::string(Name(c->type())) + ToText(c->dims()) +
                              ", which is not int32 that can be broadcast to " + ToText(shape.out));
    }
    if (c->count() == 0) return {};
    const int32_t* values = c->data<int32_t>();
    if (dims[0] == 1) {
      bias->assign(static_cast<size_t>(shape.n), values[0]);
      if (dims[1] != 1) std::copy(values, values + shape.n, bias->begin());
      return {};
    }
    finish->addend = values;
    finish->addend_row = dims[1];
    finish->addend_column = dims[1] == 1 ? 0 : 1;
    return {};
  }

  bool transpose_a_;
  bool transpose_b_;
  float alpha_;
  PackedMatrices packed_;  // empty: B is not constant
};

Result<std::unique_ptr<Kernel>> Make(const KernelRequest& request) {
  const Tensor* b = Constant(request, kB);
  PackedMatrices packed;
  if (b != nullptr && IsEightBit(b->type()) && b->rank() == 2 && b->count() != 0) {
    RULERUN_ASSIGN(packed, PackB(*b, IntOr(*request.attributes, "transB", 0) != 0));
  }
  return std::unique_ptr<Kernel>(std::make_unique<QGemm>(*request.attributes, std::move(packed)));
}

}  // namespace
}  // namespace int8

void Register_int8_qgemm(KernelRegistry& registry) {
  const auto& e = int8::kEightBitTypes;
  const auto& f = int8::kFloatOnly;
  registry.Add({"QGemm", "com.microsoft", 1, 1, {e, f, e, e, f, e, int8::kInt32Only, f, e}, int8::Make});
}

}  // namespace rulerun
