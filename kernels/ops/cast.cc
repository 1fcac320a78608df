// Cast and CastLike between all number types, bool and strings; BitCast.
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/base/text.h"
#include "kernels/adapter.h"
#include "kernels/buffer.h"
#include "kernels/int8/float8.h"
#include "kernels/ops/op.h"

namespace rulerun {
namespace {

constexpr int64_t kGrain = 16384;

// Truncates towards zero. What does not fit in 32 bits (64 for uint32 and wider) becomes the lowest value before it is
// cut down to T, as x86 and so ONNX Runtime there does; no behaviour is undefined.
template <typename T, typename F>
T TruncateTo(F value) {
  using Wide = std::conditional_t<(sizeof(T) < 4 || std::is_same_v<T, int32_t>), int32_t, int64_t>;
  constexpr F kLimit = static_cast<F>(std::is_same_v<Wide, int32_t> ? 0x1p31 : 0x1p63);
  if constexpr (std::is_same_v<T, uint64_t>) {
    if (value >= kLimit && value < 2 * kLimit) return static_cast<uint64_t>(value);
  }
  const bool fits = value >= -kLimit && value < kLimit;
  return static_cast<T>(fits ? static_cast<Wide>(value) : std::numeric_limits<Wide>::min());
}

template <typename To, typename From>
To Convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From{0};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return TruncateTo<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <typename F>
Status DispatchPlain(DataType type, F f) {
  return type == DataType::kBool ? f(TypeTag<bool>{}) : DispatchNumber(type, f);
}

// Both types have a C++ type of their own.
Status CastPlain(const Tensor& x, Tensor& y, ThreadPool& pool) {
  return DispatchPlain(x.type(), [&]<typename From>(TypeTag<From>) {
    return DispatchPlain(y.type(), [&]<typename To>(TypeTag<To>) -> Status {
      const From* from = x.data<From>();
      To* to = y.mutable_data<To>();
      pool.ParallelFor(x.count(), kGrain, [=](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = Convert<To>(from[i]);
      });
      return {};
    });
  });
}

bool IsPlain(DataType type) {
  switch (type) {
    case DataType::kFloat:
    case DataType::kDouble:
    case DataType::kBool:
      return true;
    default:
      return IsInteger(type) && BitWidth(type) >= 8;
  }
}

// The tensor in a plain type that holds all its values.
Result<Tensor> ToPlain(const Tensor& x) {
  if (IsPlain(x.type())) return x;
  if (x.type() == DataType::kFloat16 || x.type() == DataType::kBfloat16) return WidenTensor(x);
  const bool integer = IsInteger(x.type());
  RULERUN_ASSIGN(Tensor plain, AllocateTensor(integer ? DataType::kInt32 : DataType::kFloat, x.dims()));
  for (int64_t i = 0; i < x.count(); ++i) {
    if (integer) {
      plain.mutable_data<int32_t>()[i] = static_cast<int32_t>(ElementAsInt(x, i));
    } else {
      plain.mutable_data<float>()[i] = static_cast<float>(ElementAsDouble(x, i));
    }
  }
  return plain;
}

// Python's spelling, as numpy and ONNX Runtime write numbers.
std::string ToText(const Tensor& x, int64_t i) {
  if (x.type() == DataType::kBool) return x.data<bool>()[i] ? "1" : "0";
  if (x.type() == DataType::kUint64) return std::to_string(x.data<uint64_t>()[i]);
  if (x.type() != DataType::kFloat && x.type() != DataType::kDouble) return std::to_string(ElementAsInt(x, i));
  const double value = ElementAsDouble(x, i);
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "INF" : "-INF";
  return x.type() == DataType::kFloat ? FormatFloat(x.data<float>()[i]) : FormatDouble(value);
}

Result<double> ParseNumber(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    return Invalid("'" + std::string(text) + "' is not a number");
  }
  return value;
}

Result<Tensor> FromStrings(const Tensor& x) {
  RULERUN_ASSIGN(Tensor plain, AllocateTensor(DataType::kDouble, x.dims()));
  for (int64_t i = 0; i < x.count(); ++i) {
    RULERUN_ASSIGN(plain.mutable_data<double>()[i], ParseNumber(x.strings()[static_cast<size_t>(i)]));
  }
  return plain;
}

// Rounds a plain tensor to a 16- or 8-bit float, or cuts it down to a packed integer.
Status Narrow(KernelContext& context, const Tensor& x, DataType type, bool saturate) {
  if (type == DataType::kFloat16 || type == DataType::kBfloat16 || IsFloat8(type)) {
    RULERUN_ASSIGN(Tensor floats, AllocateTensor(DataType::kFloat, x.dims()));
    RULERUN_RETURN_IF_ERROR(CastPlain(x, floats, context.pool()));
    if (!IsFloat8(type)) {
      context.SetOutput(0, NarrowTensor(floats, type));
      return {};
    }
    RULERUN_ASSIGN(Tensor * y, context.Output(0, type, x.dims()));
    for (int64_t i = 0; i < x.count(); ++i) {
      y->mutable_data<uint8_t>()[i] = FloatToFloat8(floats.data<float>()[i], type, saturate);
    }
    return {};
  }
  if (!IsInteger(type)) return Unsupported("a cast to " + std::string(Name(type)) + " has no implementation");
  RULERUN_ASSIGN(Tensor wide, AllocateTensor(DataType::kInt32, x.dims()));
  RULERUN_RETURN_IF_ERROR(CastPlain(x, wide, context.pool()));
  Tensor packed(type, x.dims());
  for (int64_t i = 0; i < x.count(); ++i) SetInt(packed, i, wide.data<int32_t>()[i]);
  context.SetOutput(0, std::move(packed));
  return {};
}

Status RunCast(KernelContext& context, const Tensor& x, DataType type, bool saturate) {
  if (x.type() == type) {
    context.SetOutput(0, x);
    return {};
  }
  Tensor plain;
  if (x.type() == DataType::kString) {
    RULERUN_ASSIGN(plain, FromStrings(x));
  } else {
    RULERUN_ASSIGN(plain, ToPlain(x));
  }
  if (type == DataType::kString) {
    RULERUN_ASSIGN(Tensor * y, context.Output(0, type, x.dims()));
    for (int64_t i = 0; i < x.count(); ++i) y->mutable_strings()[static_cast<size_t>(i)] = ToText(plain, i);
    return {};
  }
  if (!IsPlain(type)) return Narrow(context, plain, type, saturate);
  RULERUN_ASSIGN(Tensor * y, context.Output(0, type, x.dims()));
  return CastPlain(plain, *y, context.pool());
}

Result<std::unique_ptr<Kernel>> MakeCast(const KernelRequest& request) {
  DataType type = static_cast<DataType>(IntOr(*request.attributes, "to", 0));
  // Version 1 named the type.
  if (type == DataType::kUndefined) {
    std::string name = StringOr(*request.attributes, "to", "");
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    type = ParseDataType(name).value_or(DataType::kUndefined);
  }
  if (Name(type) == Name(DataType::kUndefined)) return Invalid("'to' names no element type");
  const bool saturate = IntOr(*request.attributes, "saturate", 1) != 0;
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    return RunCast(context, *x, type, saturate);
  });
}

Result<std::unique_ptr<Kernel>> MakeCastLike(const KernelRequest& request) {
  const bool saturate = IntOr(*request.attributes, "saturate", 1) != 0;
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const Tensor* like, Required(context, 1));
    return RunCast(context, *x, like->type(), saturate);
  });
}

Result<std::unique_ptr<Kernel>> MakeBitCast(const KernelRequest& request) {
  const auto type = static_cast<DataType>(IntOr(*request.attributes, "to", 0));
  return MakeKernel([type](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    if (BitWidth(type) == 0 || BitWidth(type) != BitWidth(x->type())) {
      return Invalid("the bits of " + std::string(Name(x->type())) + " are none of a " + std::string(Name(type)));
    }
    context.SetOutput(0, x->WithType(type));
    return {};
  });
}

}  // namespace

void Register_ops_cast(KernelRegistry& registry) {
  Types types = NumberTypes();
  types.insert(types.end(),
               {DataType::kBool, DataType::kString, DataType::kFloat16, DataType::kBfloat16, DataType::kFloat8E4M3FN,
                DataType::kFloat8E4M3FNUZ, DataType::kFloat8E5M2, DataType::kFloat8E5M2FNUZ, DataType::kInt4,
                DataType::kUint4, DataType::kInt2, DataType::kUint2});
  AddOp(registry, "Cast", {}, {types}, MakeCast);
  AddOp(registry, "BitCast", {}, {Types{}}, MakeBitCast);
  AddOp(registry, "CastLike", {}, {types, types}, MakeCastLike);
}

}  // namespace rulerun
