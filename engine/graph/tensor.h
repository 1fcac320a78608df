// Element types, shapes and tensors.
#ifndef RULERUN_ENGINE_GRAPH_TENSOR_H_
#define RULERUN_ENGINE_GRAPH_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rulerun {

// The numbers are those of onnx.TensorProto.DataType (onnx 1.23, onnx.in.proto).
enum class DataType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
};

// "float", "uint8", "float8e4m3fn", ... as in ONNX text; "undefined" for kUndefined.
std::string_view Name(DataType type);
std::optional<DataType> ParseDataType(std::string_view name);
const std::vector<std::string>& DataTypeNames();

// Bits of one element: 2, 4, 8, 16, 32, 64, 128; 0 for strings and kUndefined.
int BitWidth(DataType type);
bool IsInteger(DataType type);  // signed or unsigned, 2 to 64 bits; not bool
bool IsSigned(DataType type);   // of an integer type
bool IsFloat(DataType type);    // float, double, float16, bfloat16; not the 8-bit floats

// Smallest and largest value of an integer type of at most 32 bits.
struct IntegerRange {
  int64_t min = 0;
  int64_t max = 0;
};
std::optional<IntegerRange> RangeOf(DataType type);

// Sizes of the dimensions, outermost first. {} is a scalar.
using Dims = std::vector<int64_t>;

// Product of the dimensions; std::nullopt if one is negative or the product overflows int64.
std::optional<int64_t> ElementCount(std::span<const int64_t> dims);

// Bytes that `count` elements take; 2- and 4-bit elements are packed, the first in the lowest bits, the last byte
// padded (onnx.proto, TensorProto.raw_data). Strings take none.
size_t ByteSize(DataType type, int64_t count);

// A dense tensor in row-major order, little-endian. Copies share the data, which nobody changes once it is shared.
class Tensor {
 public:
  Tensor() = default;

  // Zero-filled, or holding `dims`' worth of empty strings.
  Tensor(DataType type, Dims dims);
  // Shares `data`, which must stay at least ByteSize(type, ElementCount(dims)) bytes long.
  Tensor(DataType type, Dims dims, std::shared_ptr<const std::byte> data);
  Tensor(Dims dims, std::vector<std::string> strings);

  template <typename T>
  static Tensor Scalar(T value);  // T: float, double, bool, or an integer of 8 to 64 bits
  template <typename T>
  static Tensor Vector(const std::vector<T>& values);  // rank 1
  template <typename T>
  static Tensor Of(Dims dims, const std::vector<T>& values);

  bool empty() const { return type_ == DataType::kUndefined; }  // holds no tensor at all
  DataType type() const { return type_; }
  const Dims& dims() const { return dims_; }
  int64_t rank() const { return static_cast<int64_t>(dims_.size()); }
  int64_t count() const { return count_; }
  size_t bytes() const { return ByteSize(type_, count_); }

  const std::byte* raw() const { return data_.get(); }
  std::span<const std::byte> raw_span() const { return {data_.get(), bytes()}; }
  const std::shared_ptr<const std::byte>& buffer() const { return data_; }
  // To fill a tensor that was just made; must not be called once the tensor has been copied.
  std::byte* mutable_raw() { return const_cast<std::byte*>(data_.get()); }  // NOLINT

  // T must be the C++ type of type(): uint16_t stands for float16 and bfloat16 bits, uint8_t for bool too.
  template <typename T>
  const T* data() const {
    return reinterpret_cast<const T*>(data_.get());
  }
  template <typename T>
  T* mutable_data() {
    return reinterpret_cast<T*>(mutable_raw());
  }
  template <typename T>
  std::span<const T> values() const {
    return {data<T>(), static_cast<size_t>(count_)};
  }
  const std::vector<std::string>& strings() const;
  std::vector<std::string>& mutable_strings();

  // The same data under another shape with as many elements.
  Tensor Reshaped(Dims dims) const;
  Tensor WithType(DataType type) const;  // the same bytes read as a type of the same width

 private:
  DataType type_ = DataType::kUndefined;
  Dims dims_;
  int64_t count_ = 0;
  std::shared_ptr<const std::byte> data_;
  std::shared_ptr<std::vector<std::string>> strings_;
};

// The same type, shape and bytes.
bool SameContent(const Tensor& a, const Tensor& b);

// Element `index` of any number type, packed ones and float16 included; int64 and uint64 beyond 2^53 lose bits.
double ElementAsDouble(const Tensor& tensor, int64_t index);
// Element `index` of an integer or bool tensor, exact (uint64 wraps).
int64_t ElementAsInt(const Tensor& tensor, int64_t index);
std::vector<int64_t> ToInts(const Tensor& tensor);    // every element
std::vector<double> ToDoubles(const Tensor& tensor);  // every element
// Writes an integer element, packed types included.
void SetInt(Tensor& tensor, int64_t index, int64_t value);

// float16 and bfloat16 conversion, rounding half to even.
float HalfToFloat(uint16_t half);
uint16_t FloatToHalf(float value);
float BfloatToFloat(uint16_t bits);
uint16_t FloatToBfloat(float value);

// C++ type -> DataType.
template <typename T>
constexpr DataType DataTypeOf();
template <>
constexpr DataType DataTypeOf<float>() {
  return DataType::kFloat;
}
template <>
constexpr DataType DataTypeOf<double>() {
  return DataType::kDouble;
}
template <>
constexpr DataType DataTypeOf<int8_t>() {
  return DataType::kInt8;
}
template <>
constexpr DataType DataTypeOf<uint8_t>() {
  return DataType::kUint8;
}
template <>
constexpr DataType DataTypeOf<int16_t>() {
  return DataType::kInt16;
}
template <>
constexpr DataType DataTypeOf<uint16_t>() {
  return DataType::kUint16;
}
template <>
constexpr DataType DataTypeOf<int32_t>() {
  return DataType::kInt32;
}
template <>
constexpr DataType DataTypeOf<uint32_t>() {
  return DataType::kUint32;
}
template <>
constexpr DataType DataTypeOf<int64_t>() {
  return DataType::kInt64;
}
template <>
constexpr DataType DataTypeOf<uint64_t>() {
  return DataType::kUint64;
}
template <>
constexpr DataType DataTypeOf<bool>() {
  return DataType::kBool;
}

template <typename T>
Tensor Tensor::Of(Dims dims, const std::vector<T>& values) {
  Tensor tensor(DataTypeOf<T>(), std::move(dims));
  for (size_t i = 0; i < values.size(); ++i) tensor.mutable_data<T>()[i] = values[i];
  return tensor;
}
template <typename T>
Tensor Tensor::Scalar(T value) {
  return Of<T>({}, {value});
}
template <typename T>
Tensor Tensor::Vector(const std::vector<T>& values) {
  return Of<T>({static_cast<int64_t>(values.size())}, values);
}

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_TENSOR_H_
