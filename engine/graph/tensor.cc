#include "engine/graph/tensor.h"

#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace rulerun {
namespace {

struct TypeRow {
  std::string_view name;
  int bits;
};

// Indexed by DataType.
constexpr std::array<TypeRow, 27> kTypes = {{
    {"undefined", 0},      {"float", 32},    {"uint8", 8},        {"int8", 8},           {"uint16", 16},
    {"int16", 16},         {"int32", 32},    {"int64", 64},       {"string", 0},         {"bool", 8},
    {"float16", 16},       {"double", 64},   {"uint32", 32},      {"uint64", 64},        {"complex64", 64},
    {"complex128", 128},   {"bfloat16", 16}, {"float8e4m3fn", 8}, {"float8e4m3fnuz", 8}, {"float8e5m2", 8},
    {"float8e5m2fnuz", 8}, {"uint4", 4},     {"int4", 4},         {"float4e2m1", 4},     {"float8e8m0", 8},
    {"uint2", 2},          {"int2", 2},
}};

const TypeRow& Row(DataType type) {
  const auto index = static_cast<size_t>(type);
  return index < kTypes.size() ? kTypes[index] : kTypes[0];
}

float Float8ToFloat(uint8_t bits, int exponent_bits, int bias, bool has_infinity, bool negative_zero_is_nan) {
  const int mantissa_bits = 7 - exponent_bits;
  const int exponent = (bits & 0x7f) >> mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const int max_exponent = (1 << exponent_bits) - 1;
  const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
  if (negative_zero_is_nan) {
    if (bits == 0x80) return std::numeric_limits<float>::quiet_NaN();
  } else if (has_infinity && exponent == max_exponent) {
    return mantissa == 0 ? sign * std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  } else if (!has_infinity && (bits & 0x7f) == 0x7f) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  const float fraction = static_cast<float>(mantissa) / static_cast<float>(1 << mantissa_bits);
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias);
  return sign * std::ldexp(1.0f + fraction, exponent - bias);
}

// Element `index` of a tensor of 2- or 4-bit elements, zero-extended.
int PackedBits(const Tensor& tensor, int64_t index, int bits) {
  const int64_t per_byte = 8 / bits;
  const auto byte = static_cast<int>(tensor.data<uint8_t>()[index / per_byte]);
  return (byte >> (bits * static_cast<int>(index % per_byte))) & ((1 << bits) - 1);
}

int64_t SignExtend(int value, int bits) { return (value ^ (1 << (bits - 1))) - (1 << (bits - 1)); }

}  // namespace

std::string_view Name(DataType type) { return Row(type).name; }

std::optional<DataType> ParseDataType(std::string_view name) {
  for (size_t i = 1; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) return static_cast<DataType>(i);
  }
  return std::nullopt;
}

const std::vector<std::string>& DataTypeNames() {
  static const auto& names = *new std::vector<std::string>([] {
    std::vector<std::string> all;
    for (size_t i = 1; i < kTypes.size(); ++i) all.emplace_back(kTypes[i].name);
    return all;
  }());
  return names;
}

int BitWidth(DataType type) { return Row(type).bits; }

bool IsInteger(DataType type) {
  switch (type) {
    case DataType::kUint2:
    case DataType::kInt2:
    case DataType::kUint4:
    case DataType::kInt4:
    case DataType::kUint8:
    case DataType::kInt8:
    case DataType::kUint16:
    case DataType::kInt16:
    case DataType::kUint32:
    case DataType::kInt32:
    case DataType::kUint64:
    case DataType::kInt64:
      return true;
    default:
      return false;
  }
}

bool IsSigned(DataType type) {
  switch (type) {
    case DataType::kInt2:
    case DataType::kInt4:
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kInt64:
      return true;
    default:
      return false;
  }
}

bool IsFloat(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16 ||
         type == DataType::kBfloat16;
}

std::optional<IntegerRange> RangeOf(DataType type) {
  const int bits = BitWidth(type);
  if (!IsInteger(type) || bits > 32) return std::nullopt;
  if (IsSigned(type)) return IntegerRange{-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
  return IntegerRange{0, (int64_t{1} << bits) - 1};
}

std::optional<int64_t> ElementCount(std::span<const int64_t> dims) {
  int64_t count = 1;
  bool zero = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    if (dim == 0) zero = true;
  }
  if (zero) return 0;
  for (const int64_t dim : dims) {
    if (count > std::numeric_limits<int64_t>::max() / dim) return std::nullopt;
    count *= dim;
  }
  return count;
}

size_t ByteSize(DataType type, int64_t count) {
  return (static_cast<size_t>(BitWidth(type)) * static_cast<size_t>(count) + 7) / 8;
}

Tensor::Tensor(DataType type, Dims dims)
    : type_(type), dims_(std::move(dims)), count_(ElementCount(dims_).value_or(0)) {
  if (type_ == DataType::kString) {
    strings_ = std::make_shared<std::vector<std::string>>(static_cast<size_t>(count_));
    return;
  }
  // One spare byte, so that an empty tensor still has an address.
  std::shared_ptr<std::byte[]> storage(new std::byte[bytes() + 1]());
  data_ = std::shared_ptr<const std::byte>(storage, storage.get());
}

Tensor::Tensor(DataType type, Dims dims, std::shared_ptr<const std::byte> data)
    : type_(type), dims_(std::move(dims)), count_(ElementCount(dims_).value_or(0)), data_(std::move(data)) {}

Tensor::Tensor(Dims dims, std::vector<std::string> strings)
    : type_(DataType::kString),
      dims_(std::move(dims)),
      count_(ElementCount(dims_).value_or(0)),
      strings_(std::make_shared<std::vector<std::string>>(std::move(strings))) {
  strings_->resize(static_cast<size_t>(count_));
}

const std::vector<std::string>& Tensor::strings() const {
  static const auto& none = *new std::vector<std::string>;
  return strings_ ? *strings_ : none;
}

std::vector<std::string>& Tensor::mutable_strings() { return *strings_; }

Tensor Tensor::Reshaped(Dims dims) const {
  Tensor result = *this;
  result.dims_ = std::move(dims);
  assert(ElementCount(result.dims_) == count_);
  return result;
}

Tensor Tensor::WithType(DataType type) const {
  assert(BitWidth(type) == BitWidth(type_));
  Tensor result = *this;
  result.type_ = type;
  return result;
}

bool SameContent(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || a.dims() != b.dims()) return false;
  if (a.type() == DataType::kString) return a.strings() == b.strings();
  return a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

int64_t ElementAsInt(const Tensor& tensor, int64_t index) {
  switch (tensor.type()) {
    case DataType::kBool:
    case DataType::kUint8:
      return tensor.data<uint8_t>()[index];
    case DataType::kInt8:
      return tensor.data<int8_t>()[index];
    case DataType::kUint16:
      return tensor.data<uint16_t>()[index];
    case DataType::kInt16:
      return tensor.data<int16_t>()[index];
    case DataType::kUint32:
      return tensor.data<uint32_t>()[index];
    case DataType::kInt32:
      return tensor.data<int32_t>()[index];
    case DataType::kUint64:
      return static_cast<int64_t>(tensor.data<uint64_t>()[index]);
    case DataType::kInt64:
      return tensor.data<int64_t>()[index];
    case DataType::kUint4:
      return PackedBits(tensor, index, 4);
    case DataType::kInt4:
      return SignExtend(PackedBits(tensor, index, 4), 4);
    case DataType::kUint2:
      return PackedBits(tensor, index, 2);
    case DataType::kInt2:
      return SignExtend(PackedBits(tensor, index, 2), 2);
    default:
      return static_cast<int64_t>(ElementAsDouble(tensor, index));
  }
}

double ElementAsDouble(const Tensor& tensor, int64_t index) {
  switch (tensor.type()) {
    case DataType::kFloat:
      return tensor.data<float>()[index];
    case DataType::kDouble:
      return tensor.data<double>()[index];
    case DataType::kFloat16:
      return HalfToFloat(tensor.data<uint16_t>()[index]);
    case DataType::kBfloat16:
      return BfloatToFloat(tensor.data<uint16_t>()[index]);
    case DataType::kUint64:
      return static_cast<double>(tensor.data<uint64_t>()[index]);
    case DataType::kFloat8E4M3FN:
      return Float8ToFloat(tensor.data<uint8_t>()[index], 4, 7, false, false);
    case DataType::kFloat8E4M3FNUZ:
      return Float8ToFloat(tensor.data<uint8_t>()[index], 4, 8, false, true);
    case DataType::kFloat8E5M2:
      return Float8ToFloat(tensor.data<uint8_t>()[index], 5, 15, true, false);
    case DataType::kFloat8E5M2FNUZ:
      return Float8ToFloat(tensor.data<uint8_t>()[index], 5, 16, false, true);
    default:
      return IsInteger(tensor.type()) || tensor.type() == DataType::kBool
                 ? static_cast<double>(ElementAsInt(tensor, index))
                 : std::numeric_limits<double>::quiet_NaN();
  }
}

std::vector<int64_t> ToInts(const Tensor& tensor) {
  std::vector<int64_t> all(static_cast<size_t>(tensor.count()));
  for (int64_t i = 0; i < tensor.count(); ++i) all[static_cast<size_t>(i)] = ElementAsInt(tensor, i);
  return all;
}

std::vector<double> ToDoubles(const Tensor& tensor) {
  std::vector<double> all(static_cast<size_t>(tensor.count()));
  for (int64_t i = 0; i < tensor.count(); ++i) all[static_cast<size_t>(i)] = ElementAsDouble(tensor, i);
  return all;
}

void SetInt(Tensor& tensor, int64_t index, int64_t value) {
  const int bits = BitWidth(tensor.type());
  switch (bits) {
    case 2:
    case 4: {
      const int64_t per_byte = 8 / bits;
      const int shift = bits * static_cast<int>(index % per_byte);
      const int mask = (1 << bits) - 1;
      uint8_t& byte = tensor.mutable_data<uint8_t>()[index / per_byte];
      byte = static_cast<uint8_t>((byte & ~(mask << shift)) | ((static_cast<int>(value) & mask) << shift));
      return;
    }
    case 8:
      tensor.mutable_data<uint8_t>()[index] = static_cast<uint8_t>(value);
      return;
    case 16:
      tensor.mutable_data<uint16_t>()[index] = static_cast<uint16_t>(value);
      return;
    case 32:
      tensor.mutable_data<uint32_t>()[index] = static_cast<uint32_t>(value);
      return;
    default:
      tensor.mutable_data<uint64_t>()[index] = static_cast<uint64_t>(value);
  }
}

float HalfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0) {
    const float value = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -value : value;
  }
  const uint32_t bits = exponent == 31 ? 0x7f800000u | (mantissa << 13) : ((exponent + 112) << 23) | (mantissa << 13);
  return std::bit_cast<float>(sign | bits);
}

uint16_t FloatToHalf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and more
  if (magnitude < 0x38800000u) {                                               // subnormal: 2^-24 is one unit
    const float scaled = std::bit_cast<float>(magnitude) * 16777216.0f;
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyint(scaled)));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

float BfloatToFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t FloatToBfloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace rulerun
