#include "kernels/int8/float8.h"

#include <cmath>

namespace rulerun {
namespace {

struct Format {
  int mantissa_bits;
  int bias;
  uint8_t largest;   // bits of the largest finite value
  uint8_t nan;       // bits of NaN, without its sign
  uint8_t infinity;  // bits of infinity, or of NaN where there is none
  bool signed_zero;  // FNUZ types have neither -0 nor a signed NaN
};

Format FormatOf(DataType type) {
  switch (type) {
    case DataType::kFloat8E4M3FN:
      return {3, 7, 0x7e, 0x7f, 0x7f, true};
    case DataType::kFloat8E4M3FNUZ:
      return {3, 8, 0x7f, 0x80, 0x80, false};
    case DataType::kFloat8E5M2:
      return {2, 15, 0x7b, 0x7f, 0x7c, true};
    default:
      return {2, 16, 0x7f, 0x80, 0x80, false};
  }
}

}  // namespace

bool IsFloat8(DataType type) {
  return type == DataType::kFloat8E4M3FN || type == DataType::kFloat8E4M3FNUZ || type == DataType::kFloat8E5M2 ||
         type == DataType::kFloat8E5M2FNUZ;
}

uint8_t FloatToFloat8(float value, DataType type, bool saturate) {
  const Format format = FormatOf(type);
  const bool negative = std::signbit(value);
  const auto with_sign = [&](int bits) {
    return static_cast<uint8_t>(negative && (format.signed_zero || (bits != 0 && bits != 0x80)) ? bits | 0x80 : bits);
  };
  if (std::isnan(value)) return with_sign(format.nan);
  const int overflow = saturate ? format.largest : format.infinity;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (std::isinf(value)) return with_sign(overflow);
  if (magnitude == 0) return with_sign(0);
  // The value in units of the last mantissa bit; subnormals share the smallest exponent.
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int smallest = 1 - format.bias;
  const int unit_exponent = (exponent - 1 < smallest ? smallest : exponent - 1) - format.mantissa_bits;
  const double units = std::nearbyint(std::ldexp(magnitude, -unit_exponent));
  if (units > 64 || unit_exponent > 64)
    return with_sign(overflow);  // cannot happen for units; keeps the next line safe
  // Units 0 .. 2^mantissa_bits - 1 are subnormal; the next one carries into the exponent field by itself.
  const int bits =
      static_cast<int>(units) + ((unit_exponent + format.mantissa_bits - smallest) << format.mantissa_bits);
  return with_sign(bits > format.largest ? overflow : bits);
}

}  // namespace rulerun
