// The scalar steps that all int8 operators are made of: what ONNX Runtime 1.30's CPU kernels compute on x86-64, bit for
// bit. The vector code computes the same; tables and short tails use these.
// Everything must be compiled with -ffp-contract=off: a fused step is always written as std::fma.
#ifndef RULERUN_KERNELS_INT8_ARITHMETIC_H_
#define RULERUN_KERNELS_INT8_ARITHMETIC_H_

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>

#include "engine/graph/tensor.h"

namespace rulerun::int8 {

// Smallest and largest value of the quantized type.
struct Limits {
  int32_t lo = 0;
  int32_t hi = 255;
};
Limits LimitsOf(DataType type);  // an integer type of at most 16 bits

inline Limits EightBit(bool is_signed) { return is_signed ? Limits{-128, 127} : Limits{0, 255}; }
inline bool IsEightBit(DataType type) { return type == DataType::kUint8 || type == DataType::kInt8; }

// i32 with wrapping addition, subtraction and multiplication.
inline int32_t WrapAdd(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
inline int32_t WrapSub(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}
inline int32_t WrapMul(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}

// Clamps before it rounds half to even and adds the zero point; NaN gives lo. The last two steps of the next two.
inline int32_t RoundAndShift(float v, int32_t zero_point, Limits limits) {
  const auto low = static_cast<float>(limits.lo - zero_point);
  const auto high = static_cast<float>(limits.hi - zero_point);
  v = v > low ? v : low;  // NaN too
  v = v < high ? v : high;
  return static_cast<int32_t>(std::nearbyintf(v)) + zero_point;
}

// x / scale, a true division. ONNX Runtime converts some elements (blocks along an inner axis, unpaired 4-bit ones, all
// 2-bit ones) differently: there NaN and |x / scale| >= 2^31 give what the int32 conversion of x86 happens to give.
// This is used for all of them, knowingly.
inline int32_t Quantize(float x, float scale, int32_t zero_point, Limits limits) {
  return RoundAndShift(x / scale, zero_point, limits);
}

// An int32 sum, bias included, to 8 bit.
inline int32_t Requantize(int32_t sum, float multiplier, int32_t zero_point, Limits limits) {
  return RoundAndShift(static_cast<float>(sum) * multiplier, zero_point, limits);
}

// For a value that already includes the zero point: rounds half to even, then saturates. Beyond int32, and for NaN, the
// result is lo, because x86's conversion to int32 gives its minimum there.
inline int32_t RoundAndSaturate(float v, Limits limits) {
  if (!(v < 2147483648.0f)) return limits.lo;
  const auto low = static_cast<float>(limits.lo);
  const auto high = static_cast<float>(limits.hi);
  v = v > low ? v : low;
  v = v < high ? v : high;
  return static_cast<int32_t>(std::nearbyintf(v));
}

// The logistic function as MLAS approximates it, all steps fused.
float Logistic(float x);

// A function of one 8-bit value, indexed by the value's raw byte.
using Table = std::array<uint8_t, 256>;

// A value's type, scale and zero point.
struct Quantization {
  float scale = 1.0f;
  int32_t zero_point = 0;
  bool operator==(const Quantization&) const = default;
};

// entry = Quantize(function(scale * (x - zero_point))).
Table MakeTable(bool is_signed, Quantization x, Quantization y, const std::function<float(float)>& function);

// y[i] = table[x[i]]; x and y may be the same memory.
void ApplyTable(const Table& table, const uint8_t* x, int64_t count, uint8_t* y);

}  // namespace rulerun::int8

#endif  // RULERUN_KERNELS_INT8_ARITHMETIC_H_
