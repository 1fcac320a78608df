#include "kernels/int8/arithmetic.h"

#include <algorithm>

namespace rulerun::int8 {

Limits LimitsOf(DataType type) {
  const IntegerRange range = RangeOf(type).value_or(IntegerRange{});
  return {static_cast<int32_t>(range.min), static_cast<int32_t>(range.max)};
}

float Logistic(float x) {
  // A rational function: odd numerator, even denominator; the coefficients of Eigen and MLAS.
  constexpr float kNumerator[] = {4.37031012579801e-11f, 1.15627324459942e-07f, 6.08574864600143e-05f,
                                  8.51377133304701e-03f, 2.48287947061529e-01f};
  constexpr float kDenominator[] = {6.10247389755681e-13f, 5.76102136993427e-09f, 6.29106785017040e-06f,
                                    1.70198817374094e-03f, 1.16817656904453e-01f, 9.93151921023180e-01f};
  x = std::min(18.0f, std::max(-18.0f, x));
  const float square = x * x;
  float p = kNumerator[0];
  for (int i = 1; i < 5; ++i) p = std::fma(p, square, kNumerator[i]);
  p = p * x;
  float q = kDenominator[0];
  for (int i = 1; i < 6; ++i) q = std::fma(q, square, kDenominator[i]);
  return std::max(p / q + 0.5f, 0.0f);
}

Table MakeTable(bool is_signed, Quantization x, Quantization y, const std::function<float(float)>& function) {
  Table table;
  for (int byte = 0; byte < 256; ++byte) {
    const int value = is_signed ? static_cast<int8_t>(byte) : byte;
    const float real = x.scale * static_cast<float>(value - x.zero_point);
    table[static_cast<size_t>(byte)] =
        static_cast<uint8_t>(Quantize(function(real), y.scale, y.zero_point, EightBit(is_signed)));
  }
  return table;
}

void ApplyTable(const Table& table, const uint8_t* x, int64_t count, uint8_t* y) {
  for (int64_t i = 0; i < count; ++i) y[i] = table[x[i]];
}

}  // namespace rulerun::int8
