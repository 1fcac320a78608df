// QuantizeLinear: ai.onnx and com.microsoft.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "kernels/adapter.h"
#include "kernels/int8/float8.h"
#include "kernels/int8/packed_bits.h"
#include "kernels/int8/params.h"
#include "kernels/int8/qdq_layout.h"
#include "kernels/int8/rows.h"
#include "kernels/kernel.h"

namespace rulerun {
namespace int8 {
namespace {

constexpr std::string_view kOp = "QuantizeLinear";

bool CanBeOutput(DataType type) {
  const std::vector<DataType> types = QuantizedTypes();
  return std::find(types.begin(), types.end(), type) != types.end();
}

// Float elements [first, first + count) of any tensor that may be quantized, converted in `buffer` if they must be.
constexpr int64_t kPiece = 1024;
const float* FloatElements(const Tensor& x, int64_t first, int64_t count, std::array<float, kPiece>& buffer) {
  switch (x.type()) {
    case DataType::kFloat:
      return x.data<float>() + first;
    case DataType::kInt32:
      for (int64_t i = 0; i < count; ++i)
        buffer[static_cast<size_t>(i)] = static_cast<float>(x.data<int32_t>()[first + i]);
      return buffer.data();
    default: {
      const uint16_t* bits = x.data<uint16_t>() + first;
      const bool half = x.type() == DataType::kFloat16;
      for (int64_t i = 0; i < count; ++i) {
        buffer[static_cast<size_t>(i)] = half ? HalfToFloat(bits[i]) : BfloatToFloat(bits[i]);
      }
      return buffer.data();
    }
  }
}

class QuantizeLinear : public Kernel {
 public:
  explicit QuantizeLinear(const AttributeMap& attributes)
      : axis_(IntOr(attributes, "axis", 1)),
        block_size_(IntOr(attributes, "block_size", 0)),
        output_type_(static_cast<DataType>(IntOr(attributes, "output_dtype", 0))),
        saturate_(IntOr(attributes, "saturate", 1) != 0) {}

  Status Run(KernelContext& context) const override {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0, kOp, "x"));
    RULERUN_ASSIGN(const Tensor* scale, Required(context, 1, kOp, "y_scale"));
    const Tensor* zero_point = context.Input(2);
    RULERUN_ASSIGN(const DataType type, TypeOfOutput(zero_point));
    RULERUN_ASSIGN(const QdqLayout layout, QdqLayout::Make(x->dims(), *scale, zero_point, axis_, block_size_, kOp));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, type, x->dims()));
    if (BitWidth(type) < 8) {
      return QuantizePacked(context.pool(), layout, *x, *y);
    }
    QuantizeInto(context.pool(), layout, *x, type, LimitsOf(type), y->mutable_raw());
    return {};
  }

 private:
  Result<DataType> TypeOfOutput(const Tensor* zero_point) const {
    DataType type = output_type_ == DataType::kUndefined ? DataType::kUint8 : output_type_;
    if (zero_point != nullptr && !zero_point->empty()) {
      if (output_type_ != DataType::kUndefined && output_type_ != zero_point->type()) {
        return OpError(kOp, "output_dtype is " + std::string(Name(output_type_)) + ", but the zero point is " +
                                std::string(Name(zero_point->type())));
      }
      type = zero_point->type();
    }
    if (!CanBeOutput(type)) return OpError(kOp, "cannot quantize to " + std::string(Name(type)));
    return type;
  }

  // y has elements of `type`, 8 or 16 bits wide.
  void QuantizeInto(ThreadPool& pool, const QdqLayout& layout, const Tensor& x, DataType type, Limits limits,
                    std::byte* y) const {
    const bool is_float8 = IsFloat8(type);
    const size_t width = static_cast<size_t>(BitWidth(type)) / 8;
    layout.ForEachRow(pool, [&](int64_t first, int64_t count, const RowParams& params) {
      std::array<float, kPiece> buffer;
      const int64_t piece = x.type() == DataType::kFloat && !is_float8 ? count : kPiece;
      for (int64_t i = 0; i < count; i += piece) {
        const int64_t size = std::min(piece, count - i);
        const float* values = FloatElements(x, first + i, size, buffer);
        std::byte* out = y + static_cast<size_t>(first + i) * width;
        if (is_float8) {
          QuantizeFloat8(values, size, params.At(i), type, reinterpret_cast<uint8_t*>(out));
        } else {
          QuantizeRow(values, size, params.At(i), limits, type, out);
        }
      }
    });
  }

  void QuantizeFloat8(const float* x, int64_t count, const RowParams& params, DataType type, uint8_t* y) const {
    for (int64_t i = 0; i < count; ++i) {
      y[i] = FloatToFloat8(x[i] / params.scale[params.per_element ? i : 0], type, saturate_);
    }
  }

  // Types under 8 bits: as 8-bit values first, as rows need not start at a byte.
  Status QuantizePacked(ThreadPool& pool, const QdqLayout& layout, const Tensor& x, Tensor& y) const {
    RULERUN_ASSIGN(Tensor wide, AllocateTensor(WideType(y.type()), y.dims()));
    QuantizeInto(pool, layout, x, wide.type(), LimitsOf(y.type()), wide.mutable_raw());
    Pack(pool, wide, y);
    return {};
  }

  int64_t axis_;
  int64_t block_size_;
  DataType output_type_;
  bool saturate_;
};

Result<std::unique_ptr<Kernel>> Make(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<QuantizeLinear>(*request.attributes));
}

}  // namespace
}  // namespace int8

void Register_int8_quantize_linear(KernelRegistry& registry) {
  const std::vector<DataType> real = {DataType::kFloat, DataType::kFloat16, DataType::kBfloat16};
  std::vector<DataType> x = real;
  x.push_back(DataType::kInt32);
  const std::vector<DataType> quantized = int8::QuantizedTypes();
  registry.Add({"QuantizeLinear", "", 10, 25, {x, real, quantized}, int8::Make});
  registry.Add({"QuantizeLinear", "com.microsoft", 1, 1, {real, real, quantized}, int8::Make});
}

}  // namespace rulerun
