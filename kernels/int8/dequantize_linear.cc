// DequantizeLinear: ai.onnx and com.microsoft.
#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "kernels/int8/float8.h"
#include "kernels/int8/packed_bits.h"
#include "kernels/int8/params.h"
#include "kernels/int8/qdq_layout.h"
#include "kernels/int8/rows.h"
#include "kernels/kernel.h"

namespace rulerun {
namespace int8 {
namespace {

constexpr std::string_view kOp = "DequantizeLinear";
constexpr int64_t kPiece = 1024;

// Rounds floats to the 16-bit type.
void Narrow(const float* x, int64_t count, DataType type, uint16_t* y) {
  const bool half = type == DataType::kFloat16;
  for (int64_t i = 0; i < count; ++i) y[i] = half ? FloatToHalf(x[i]) : FloatToBfloat(x[i]);
}

void DequantizeFloat8(const Tensor& x, int64_t first, int64_t count, const RowParams& params, float* y) {
  for (int64_t i = 0; i < count; ++i) {
    y[i] = static_cast<float>(ElementAsDouble(x, first + i)) * params.scale[params.per_element ? i : 0];
  }
}

class DequantizeLinear : public Kernel {
 public:
  explicit DequantizeLinear(const AttributeMap& attributes)
      : axis_(IntOr(attributes, "axis", 1)),
        block_size_(IntOr(attributes, "block_size", 0)),
        output_type_(static_cast<DataType>(IntOr(attributes, "output_dtype", 0))) {}

  Status Run(KernelContext& context) const override {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0, kOp, "x"));
    RULERUN_ASSIGN(const Tensor* scale, Required(context, 1, kOp, "x_scale"));
    const Tensor* zero_point = context.Input(2);
    if (zero_point != nullptr && !zero_point->empty() && zero_point->type() != x->type()) {
      return OpError(kOp, "x is " + std::string(Name(x->type())) + ", but the zero point is " +
                              std::string(Name(zero_point->type())));
    }
    const DataType type = output_type_ == DataType::kUndefined ? scale->type() : output_type_;
    if (!IsFloat(type) || type == DataType::kDouble) {
      return OpError(kOp, "cannot dequantize to " + std::string(Name(type)));
    }
    RULERUN_ASSIGN(const QdqLayout layout, QdqLayout::Make(x->dims(), *scale, zero_point, axis_, block_size_, kOp));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, type, x->dims()));
    if (BitWidth(x->type()) >= 8) {
      DequantizeInto(context.pool(), layout, *x, *y);
      return {};
    }
    RULERUN_ASSIGN(Tensor wide, AllocateTensor(WideType(x->type()), x->dims()));
    Unpack(context.pool(), *x, wide);
    DequantizeInto(context.pool(), layout, wide, *y);
    return {};
  }

 private:
  static void DequantizeInto(ThreadPool& pool, const QdqLayout& layout, const Tensor& x, Tensor& y) {
    const bool is_float8 = IsFloat8(x.type());
    const bool is_float = y.type() == DataType::kFloat;
    const size_t width = static_cast<size_t>(BitWidth(x.type())) / 8;
    std::byte* out = y.mutable_raw();
    layout.ForEachRow(pool, [&](int64_t first, int64_t count, const RowParams& params) {
      std::array<float, kPiece> buffer;
      const int64_t piece = is_float ? count : kPiece;
      for (int64_t i = 0; i < count; i += piece) {
        const int64_t size = std::min(piece, count - i);
        float* values = is_float ? reinterpret_cast<float*>(out) + first + i : buffer.data();
        if (is_float8) {
          DequantizeFloat8(x, first + i, size, params.At(i), values);
        } else {
          DequantizeRow(x.raw() + static_cast<size_t>(first + i) * width, size, params.At(i), x.type(), values);
        }
        if (!is_float) Narrow(values, size, y.type(), reinterpret_cast<uint16_t*>(out) + first + i);
      }
    });
  }

  int64_t axis_;
  int64_t block_size_;
  DataType output_type_;
};

Result<std::unique_ptr<Kernel>> Make(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<DequantizeLinear>(*request.attributes));
}

}  // namespace
}  // namespace int8

void Register_int8_dequantize_linear(KernelRegistry& registry) {
  const std::vector<DataType> real = {DataType::kFloat, DataType::kFloat16, DataType::kBfloat16};
  std::vector<DataType> x = int8::QuantizedTypes();
  x.push_back(DataType::kInt32);
  registry.Add({"DequantizeLinear", "", 10, 25, {x, real, x}, int8::Make});
  registry.Add({"DequantizeLinear", "com.microsoft", 1, 1, {x, real, x}, int8::Make});
}

}  // namespace rulerun
