// Elementary functions of floats without fused steps, in the order of operations that ONNX Runtime's elementwise
// operators get from Eigen's SSE code. Results are equal bit for bit, and the same on every target.
#ifndef RULERUN_KERNELS_OPS_PLAIN_MATH_H_
#define RULERUN_KERNELS_OPS_PLAIN_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rulerun {

namespace plain_internal {

inline float PowerOfTwo(int32_t exponent) {  // in [-126, 127]
  return std::bit_cast<float>((exponent + 127) << 23);
}

// x * 2^exponent, in factors that a float can hold.
inline float Scale(float x, float exponent) {
  const auto e = static_cast<int32_t>(exponent), quarter = e >> 2;
  const float factor = PowerOfTwo(quarter);
  return x * factor * factor * factor * PowerOfTwo(e - 3 * quarter);
}

// p * x + next, for each of the coefficients.
template <typename... F>
float Horner(float x, float p, F... rest) {
  ((p = p * x + rest), ...);
  return p;
}

// Of |x| below some ten thousands: the quadrant, and what is left, from -pi/4 to pi/4. Pi/2 comes in four parts.
struct Quadrant {
  int32_t index;
  float rest;
};
inline Quadrant ReduceAngle(float x) {
  constexpr float kRound = 12582912.0f;
  const float biased = x * 0.636619746685028f + kRound;
  const float turns = biased - kRound;
  x = turns * -1.5703125f + x;
  x = turns * -0.000483989715576171875f + x;
  x = turns * 1.62865035235881805e-07f + x;
  x = turns * 5.56443155445441677e-11f + x;
  return {std::bit_cast<int32_t>(biased), x};
}

inline float SinPart(float x) {
  const float s = x * x;
  const float p = Horner(s, -0.000195923411408370f, 0.00833268736556165f, -0.166666620398229826f);
  return p * s * x + x;
}
inline float CosPart(float x) {
  return Horner(x * x, 2.43722661125832e-05f, -0.00138865201734006f, 0.0416666194796562f, -0.5f, 1.0f);
}

}  // namespace plain_internal

inline float PlainExp(float x) {
  using plain_internal::Horner;
  if (x < -104.0f) return 0;
  const float v = x < 88.723f ? x : 88.723f;
  const float n = std::floor(v * 1.44269504088896341f + 0.5f);
  float r = n * -0.693359375f + v;
  r = n * 2.12194440e-4f + r;
  const float s = r * r;
  const float even = Horner(s, 1.37449637986719e-3f, 4.16696518659592e-2f, 0.499999880790710449f);
  const float odd = Horner(s, 8.36894474923611e-3f, 0.166665181517601013f);
  const float y = plain_internal::Scale(s * (r * odd + even) + (r + 1.0f), n);
  return y > x ? y : x;  // NaN, and infinity
}

inline float PlainLog(float x) {
  using plain_internal::Horner;
  if (!(x > 0) || std::isinf(x)) return x == 0 ? -std::numeric_limits<float>::infinity() : x > 0 ? x : std::nanf("");
  int exponent = 0;
  float m = std::frexp(x, &exponent);
  auto e = static_cast<float>(exponent);
  const bool low = m < 0.707106781186547524f;
  const float again = low ? m : 0.0f;
  m = m - 1.0f + again;
  e = low ? e - 1.0f : e;
  const float p = Horner(m, 0.18256296349849254f, 1.0000000190281063f, 1.0000000190281136f) * m;
  const float q = Horner(m, 0.049616247954120038f, 0.59923249590823520f, 1.4999999999999927f, 1.0f);
  return e * 0.693147180559945309f + p / q;
}

// log(1 + x).
inline float PlainLog1p(float x) {
  const float y = x + 1.0f, log = PlainLog(y);
  return y == 1.0f || y == log ? x : x * (log / (y - 1.0f));
}

inline float PlainSin(float x) {
  const float a = std::abs(x);
  if (!(a < 25966.0f)) return static_cast<float>(std::sin(static_cast<double>(x)));
  const plain_internal::Quadrant q = plain_internal::ReduceAngle(a);
  const float y = (q.index & 1) == 0 ? plain_internal::SinPart(q.rest) : plain_internal::CosPart(q.rest);
  return std::signbit(x) != ((q.index & 2) != 0) ? -y : y;
}

inline float PlainCos(float x) {
  const float a = std::abs(x);
  if (!(a < 18838.0f)) return static_cast<float>(std::cos(static_cast<double>(x)));
  const plain_internal::Quadrant q = plain_internal::ReduceAngle(a);
  const float y = (q.index & 1) == 0 ? plain_internal::CosPart(q.rest) : plain_internal::SinPart(q.rest);
  return ((q.index + 1) & 2) != 0 ? -y : y;
}

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_PLAIN_MATH_H_
