// What the files of this folder share: short ways to register, to read inputs and to branch on element types.
#ifndef RULERUN_KERNELS_OPS_OP_H_
#define RULERUN_KERNELS_OPS_OP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/attribute.h"
#include "engine/graph/tensor.h"
#include "kernels/kernel.h"

namespace rulerun {

using Types = std::vector<DataType>;

inline constexpr int kLatest = 1 << 30;
inline constexpr std::string_view kMicrosoft = "com.microsoft";

// First and last operator version an implementation is for.
struct Versions {
  int since = 1;
  int until = kLatest;
};

inline Types FloatTypes() { return {DataType::kFloat, DataType::kDouble}; }
inline Types IntegerTypes() {
  return {DataType::kInt8,  DataType::kUint8,  DataType::kInt16, DataType::kUint16,
          DataType::kInt32, DataType::kUint32, DataType::kInt64, DataType::kUint64};
}
inline Types NumberTypes() {
  Types types = IntegerTypes();
  types.insert(types.begin(), {DataType::kFloat, DataType::kDouble});
  return types;
}
// Every type whose elements are whole bytes, or strings: what data movement takes.
inline Types MovableTypes() {
  Types types = NumberTypes();
  types.insert(types.end(), {DataType::kBool, DataType::kString, DataType::kFloat16, DataType::kBfloat16,
                             DataType::kComplex64, DataType::kComplex128, DataType::kFloat8E4M3FN,
                             DataType::kFloat8E4M3FNUZ, DataType::kFloat8E5M2, DataType::kFloat8E5M2FNUZ});
  return types;
}
inline Types IndexTypes() { return {DataType::kInt64, DataType::kInt32}; }

Error Invalid(std::string message);
Error Unsupported(std::string message);

// A kernel that is one function; what the factory worked out is captured in it.
template <typename F>
class FunctionKernel : public Kernel {
 public:
  explicit FunctionKernel(F run) : run_(std::move(run)) {}
  Status Run(KernelContext& context) const override { return run_(context); }

 private:
  F run_;
};

template <typename F>
std::unique_ptr<Kernel> MakeKernel(F run) {
  return std::make_unique<FunctionKernel<F>>(std::move(run));
}

// A factory for kernels that need nothing from the node.
template <typename F>
KernelFactory Stateless(F run) {
  return [run](const KernelRequest&) -> Result<std::unique_ptr<Kernel>> { return MakeKernel(run); };
}

inline void AddOp(KernelRegistry& registry, std::string op_type, Versions versions, std::vector<Types> types,
                  KernelFactory make, std::string_view domain = "") {
  KernelDef def;
  def.op_type = std::move(op_type);
  def.domain = domain;
  def.since = versions.since;
  def.until = versions.until;
  def.types = std::move(types);
  def.make = std::move(make);
  registry.Add(std::move(def));
}

inline std::vector<float> FloatsOr(const AttributeMap& attributes, std::string_view name,
                                   const std::vector<float>& fallback) {
  const auto found = attributes.find(name);
  const auto* floats = found == attributes.end() ? nullptr : std::get_if<std::vector<float>>(&found->second);
  return floats == nullptr ? fallback : *floats;
}

inline Result<const Tensor*> Required(const KernelContext& context, size_t slot) {
  if (const Tensor* input = context.Input(slot)) return input;
  return Invalid("input " + std::to_string(slot) + " is missing");
}

// `axis` counted from the front; in [0, rank).
inline Result<int64_t> ResolveAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    return Invalid("axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank));
  }
  return axis < 0 ? axis + rank : axis;
}

// The same for a list, which may name an axis once only; in the order given.
inline Result<std::vector<int64_t>> ResolveAxes(std::vector<int64_t> axes, int64_t rank) {
  std::vector<bool> seen(static_cast<size_t>(rank));
  for (int64_t& axis : axes) {
    RULERUN_ASSIGN(axis, ResolveAxis(axis, rank));
    if (seen[static_cast<size_t>(axis)]) return Invalid("axis " + std::to_string(axis) + " is named twice");
    seen[static_cast<size_t>(axis)] = true;
  }
  return axes;
}

// Product of dims[begin, end).
inline int64_t Product(const Dims& dims, int64_t begin, int64_t end) {
  int64_t product = 1;
  for (int64_t i = begin; i < end; ++i) product *= dims[static_cast<size_t>(i)];
  return product;
}

inline std::string DimsText(const Dims& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  return text + "]";
}

template <typename T>
struct TypeTag {
  using type = T;
};

// f(TypeTag<T>) for the T among Ts that `type` names.
template <typename... Ts, typename F>
Status Dispatch(DataType type, F f) {
  Status status = Unsupported("element type " + std::string(Name(type)) + " has no implementation");
  const bool found = ((type == DataTypeOf<Ts>() ? (status = f(TypeTag<Ts>{}), true) : false) || ...);
  static_cast<void>(found);
  return status;
}

template <typename F>
Status DispatchNumber(DataType type, F f) {
  return Dispatch<float, double, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>(type, f);
}

// Integers wrap around as in two's complement: signed ones are computed as unsigned.
template <typename T, typename F>
T Wrapping(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<std::common_type_t<T, int>>;
    return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return f(a, b);
  }
}

struct Bytes16 {
  uint64_t low, high;
};

// f(TypeTag<T>) for a T as wide as an element of `type`, std::string for strings: enough to move elements about.
template <typename F>
Status DispatchWidth(DataType type, F f) {
  if (type == DataType::kString) return f(TypeTag<std::string>{});
  switch (BitWidth(type)) {
    case 8:
      return f(TypeTag<uint8_t>{});
    case 16:
      return f(TypeTag<uint16_t>{});
    case 32:
      return f(TypeTag<uint32_t>{});
    case 64:
      return f(TypeTag<uint64_t>{});
    case 128:
      return f(TypeTag<Bytes16>{});
    default:
      return Unsupported("elements of type " + std::string(Name(type)) + " cannot be moved one by one");
  }
}

template <typename T>
const T* Elements(const Tensor& tensor) {
  if constexpr (std::is_same_v<T, std::string>) {
    return tensor.strings().data();
  } else {
    return tensor.data<T>();
  }
}

template <typename T>
T* MutableElements(Tensor& tensor) {
  if constexpr (std::is_same_v<T, std::string>) {
    return tensor.mutable_strings().data();
  } else {
    return tensor.mutable_data<T>();
  }
}

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_OP_H_
