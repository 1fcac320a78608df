// Vector steps shared by the SIMD files of this folder: rounding, clamping, and multiply-add with one rounding.
#if defined(RULERUN_KERNELS_INT8_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef RULERUN_KERNELS_INT8_MATH_INL_H_
#undef RULERUN_KERNELS_INT8_MATH_INL_H_
#else
#define RULERUN_KERNELS_INT8_MATH_INL_H_
#endif

#include "hwy/highway.h"

#if HWY_TARGET == HWY_SCALAR
#error "Build with HWY_BROKEN_EMU128=0: Highway's SCALAR target lacks operations that these kernels need"
#endif

HWY_BEFORE_NAMESPACE();
namespace rulerun::int8 {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// a / b as IEEE 754 has it. (Highway's portable target gives 0 where b is 0.)
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Divide(D d, V a, V b) {
#if HWY_TARGET == HWY_EMU128
  HWY_ALIGN hn::TFromD<D> quotients[hn::MaxLanes(D())];
  HWY_ALIGN hn::TFromD<D> divisors[hn::MaxLanes(D())];
  hn::Store(a, d, quotients);
  hn::Store(b, d, divisors);
  for (size_t i = 0; i < hn::Lanes(d); ++i) quotients[i] /= divisors[i];
  return hn::Load(d, quotients);
#else
  (void)d;
  return hn::Div(a, b);
#endif
}

// v rounded half to even; |v| must be below 2^22. (Highway's portable target rounds 0.49999997 to 1.)
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> RoundToInt(D d, V v) {
#if HWY_TARGET == HWY_EMU128
  const V magic = hn::Set(d, 12582912.0f);  // 1.5 * 2^23: pushes all bits behind the point out
  return hn::ConvertTo(hn::RebindToSigned<D>(), hn::Sub(hn::Add(v, magic), magic));
#else
  (void)d;
  return hn::NearestInt(v);
#endif
}

// v clamped to [low, high]; NaN gives low.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ClampNanLow(D, V v, V low, V high) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
  return hn::Min(hn::Max(v, low), high);  // maxps returns its second operand if one is NaN
#else
  return hn::Min(hn::IfThenElse(hn::Gt(v, low), v, low), high);
#endif
}

// arithmetic.h, RoundAndSaturate.
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> RoundAndSaturateVector(D d, V v, V low, V high) {
  const V clamped = ClampNanLow(d, v, low, high);
  const V in_range = hn::IfThenElse(hn::Lt(v, hn::Set(d, 2147483648.0f)), clamped, low);
  return RoundToInt(d, in_range);
}

#if !HWY_NATIVE_FMA
// a * b + c in double, rounded to odd: narrowing that to float rounds as the exact sum would (Boldo and Melquiond,
// 2008). The product of two floats is exact in double.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V FusedOdd(D dd, V a, V b, V c) {
  const hn::RebindToSigned<D> di;
  using VI = hn::Vec<decltype(di)>;
  const V product = hn::Mul(a, b);
  const V sum = hn::Add(product, c);
  const V virtual_c = hn::Sub(sum, product);
  const V error = hn::Add(hn::Sub(product, hn::Sub(sum, virtual_c)), hn::Sub(c, virtual_c));
  const V zero = hn::Zero(dd);
  // NaN compares false: infinities and NaN stay as they are.
  const VI inexact = hn::VecFromMask(di, hn::RebindMask(di, hn::Or(hn::Gt(error, zero), hn::Lt(error, zero))));
  const VI bits = hn::BitCast(di, sum);
  const VI one = hn::Set(di, 1);
  const VI even = hn::Xor(hn::And(bits, one), one);
  const VI away = hn::VecFromMask(di, hn::RebindMask(di, hn::Lt(hn::Mul(error, sum), zero)));
  // +1 where error and sum have the same sign, -1 where not.
  const VI step = hn::Or(away, one);
  return hn::BitCast(dd, hn::Add(bits, hn::And(inexact, hn::IfThenElseZero(hn::Eq(even, one), step))));
}
#endif

// a * b + c with one rounding, on every target.
#if HWY_NATIVE_FMA
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Fused(D, V a, V b, V c) {
  return hn::MulAdd(a, b, c);
}
#else
template <class D, class V = hn::Vec<D>>
HWY_NOINLINE V Fused(D d, V a, V b, V c) {
  const hn::Half<D> dh;
  const hn::RepartitionToWide<D> dd;
  const auto low = FusedOdd(dd, hn::PromoteLowerTo(dd, a), hn::PromoteLowerTo(dd, b), hn::PromoteLowerTo(dd, c));
  const auto high = FusedOdd(dd, hn::PromoteUpperTo(dd, a), hn::PromoteUpperTo(dd, b), hn::PromoteUpperTo(dd, c));
  return hn::Combine(d, hn::DemoteTo(dh, high), hn::DemoteTo(dh, low));
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace rulerun::int8
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
