#include "kernels/ops/vector_math.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ops/vector_math.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/ops/fused-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rulerun {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE V C(float value) { return hn::Set(D(), value); }
HWY_INLINE V Fma(V a, V b, V c) { return Fused(D(), a, b, c); }

// p * x + next, for each of the coefficients.
template <typename... F>
HWY_INLINE V Horner(V x, float first, F... rest) {
  V p = C(first);
  ((p = Fma(p, x, C(rest))), ...);
  return p;
}

// NaN stays NaN: Max and Min of Highway may return either operand for it.
HWY_INLINE V KeepNan(V x, V y) { return hn::IfThenElse(hn::IsNaN(x), x, y); }

// Adding this number to a small float rounds it to an integer, which then stands in the low mantissa bits.
constexpr float kRoundingBias = 12582912.0f;

struct Reduced {
  V biased;  // round(x / ln 2) + kRoundingBias
  V rest;    // x - round(x / ln 2) * ln 2
};

HWY_INLINE Reduced ReduceExp(V x) {
  const V biased = Fma(x, C(1.44269504088896341f), C(kRoundingBias));
  const V m = hn::Sub(biased, C(kRoundingBias));
  return {biased, Fma(m, C(-1.42860677e-6f), Fma(m, C(-6.93145752e-1f), x))};
}

constexpr float kExp0 = 0x1.694000p-10f, kExp1 = 0x1.125edcp-7f, kExp2 = 0x1.555b5ap-5f, kExp3 = 0x1.555450p-3f,
                kExp4 = 0x1.fffff6p-2f;

struct Exp {
  // 2^n is applied in two factors, so that results near both ends of the range come out right.
  HWY_INLINE V operator()(V x) const {
    const hn::RebindToSigned<D> di;
    const V clamped = hn::Min(hn::Max(x, C(-103.9720840454f)), C(88.7762626647950f));
    const Reduced r = ReduceExp(clamped);
    const auto one = hn::Set(di, 0x3F800000);
    const auto shifted = hn::ShiftLeft<23>(hn::BitCast(di, r.biased));
    const auto normal = hn::Max(hn::Min(shifted, one), hn::Set(di, static_cast<int32_t>(0xC1000000)));
    const V overflow_scale = hn::BitCast(D(), hn::Add(hn::Sub(shifted, normal), one));
    const V normal_scale = hn::BitCast(D(), hn::Add(normal, one));
    const V p = Horner(r.rest, kExp0, kExp1, kExp2, kExp3, kExp4, 1.0f);
    const V y = hn::Mul(Fma(p, hn::Mul(r.rest, overflow_scale), overflow_scale), normal_scale);
    return KeepNan(x, y);
  }
};

struct ExpBelow {
  float maximum;
  HWY_INLINE V operator()(V x) const {
    const hn::RebindToSigned<D> di;
    const V below = hn::Sub(x, C(maximum));
    const Reduced r = ReduceExp(hn::Max(below, C(-88.3762626647949f)));
    const auto scale = hn::Add(hn::ShiftLeft<23>(hn::BitCast(di, r.biased)), hn::Set(di, 0x3F800000));
    const V p = Horner(r.rest, kExp0, kExp1, kExp2, kExp3, kExp4, 1.0f, 1.0f);
    return KeepNan(below, hn::Mul(p, hn::BitCast(D(), scale)));
  }
};

struct Logistic {
  HWY_INLINE V operator()(V x) const {
    const V v = hn::Min(hn::Max(x, C(-18.0f)), C(18.0f));
    const V s = hn::Mul(v, v);
    const V p = hn::Mul(Horner(s, 4.37031012579801e-11f, 1.15627324459942e-07f, 6.08574864600143e-05f,
                               8.51377133304701e-03f, 2.48287947061529e-01f),
                        v);
    const V q = Horner(s, 6.10247389755681e-13f, 5.76102136993427e-09f, 6.29106785017040e-06f, 1.70198817374094e-03f,
                       1.16817656904453e-01f, 9.93151921023180e-01f);
    return KeepNan(x, hn::Max(hn::Add(hn::Div(p, q), C(0.5f)), hn::Zero(D())));
  }
};

struct Tanh {
  HWY_INLINE V operator()(V x) const {
    const V v = hn::Min(hn::Max(x, C(-9.0f)), C(9.0f));
    const V s = hn::Mul(v, v);
    const V p =
        hn::Mul(Horner(s, -2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
                       1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f),
                v);
    const V q = Horner(s, 1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f);
    return KeepNan(x, hn::Div(p, q));
  }
};

struct Erf {
  HWY_INLINE V operator()(V x) const {
    const V a = hn::Min(C(3.925f), hn::Abs(x));
    const V s = hn::Mul(a, a);
    const V small = Fma(
        Horner(s, -5.99104969e-4f, 4.99339588e-3f, -2.67667342e-2f, 1.12818025e-1f, -3.76124859e-1f, 1.28379151e-1f), a,
        a);
    const auto is_big = hn::Gt(a, C(0.921875f));
    const V b = hn::IfThenElseZero(is_big, a);
    const V g = Fma(Horner(b, 1.72948930e-5f, -3.83208680e-4f, 3.88393435e-3f, -2.42545605e-2f, 1.06777847e-1f,
                           6.34846687e-1f, 1.28717512e-1f),
                    b, b);
    const V e = hn::Max(C(-88.3762626647949f), hn::Neg(g));
    const Reduced r = ReduceExp(e);
    const V p =
        Horner(r.rest, 1.38319808e-3f, 8.37550033e-3f, 4.16689515e-2f, 1.66664466e-1f, 4.99999851e-1f, 1.0f, 1.0f);
    const hn::RebindToSigned<D> di;
    const auto scale = hn::Add(hn::ShiftLeft<23>(hn::BitCast(di, r.biased)), hn::Set(di, 0x3F800000));
    const V big = hn::Sub(C(1.0f), hn::Mul(p, hn::BitCast(D(), scale)));
    return KeepNan(x, hn::CopySign(hn::IfThenElse(is_big, big, small), x));
  }
};

template <typename F>
HWY_INLINE void Map(const float* x, float* y, int64_t count, F f) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(hn::LoadU(d, x + i)), d, y + i);
  if (i < count) {
    const auto rest = static_cast<size_t>(count - i);
    hn::StoreN(f(hn::LoadN(d, x + i, rest)), d, y + i, rest);
  }
}

}  // namespace

void ExpArray(const float* x, float* y, int64_t count) { Map(x, y, count, Exp()); }
void ExpBelowArray(const float* x, float maximum, float* y, int64_t count) { Map(x, y, count, ExpBelow{maximum}); }
void LogisticArray(const float* x, float* y, int64_t count) { Map(x, y, count, Logistic()); }
void TanhArray(const float* x, float* y, int64_t count) { Map(x, y, count, Tanh()); }
void ErfArray(const float* x, float* y, int64_t count) { Map(x, y, count, Erf()); }

float SumOfSquares(const float* x, int64_t count) {
  const hn::CappedTag<float, 8> d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN float acc[8] = {};
  const int64_t whole = count / 8 * 8;
  if (lanes == 8) {
    auto sum = hn::Zero(d);
    for (int64_t i = 0; i < whole; i += 8) {
      const auto v = hn::LoadU(d, x + i);
      sum = Fused(d, v, v, sum);
    }
    hn::Store(sum, d, acc);
  } else {
    for (int64_t i = 0; i < whole; ++i) acc[i % 8] = std::fma(x[i], x[i], acc[i % 8]);
  }
  for (int half = 4; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) acc[i] += acc[i + half];
  }
  float sum = acc[0];
  // A group of four left-over elements is squared and added unfused, the last one to three fused.
  int64_t i = whole;
  if (count - whole >= 4) {
    for (; i < whole + 4; ++i) sum += x[i] * x[i];
  }
  for (; i < count; ++i) sum = std::fma(x[i], x[i], sum);
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace rulerun
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerun {

HWY_EXPORT(ExpArray);
HWY_EXPORT(ExpBelowArray);
HWY_EXPORT(LogisticArray);
HWY_EXPORT(TanhArray);
HWY_EXPORT(ErfArray);
HWY_EXPORT(SumOfSquares);

void VectorExp(const float* x, float* y, int64_t count) { HWY_DYNAMIC_DISPATCH(ExpArray)(x, y, count); }
void VectorLogistic(const float* x, float* y, int64_t count) { HWY_DYNAMIC_DISPATCH(LogisticArray)(x, y, count); }
void VectorTanh(const float* x, float* y, int64_t count) { HWY_DYNAMIC_DISPATCH(TanhArray)(x, y, count); }
void VectorErf(const float* x, float* y, int64_t count) { HWY_DYNAMIC_DISPATCH(ErfArray)(x, y, count); }
void VectorExpBelow(const float* x, float maximum, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(ExpBelowArray)(x, maximum, y, count);
}
float VectorSumOfSquares(const float* x, int64_t count) { return HWY_DYNAMIC_DISPATCH(SumOfSquares)(x, count); }

float VectorSum(const float* x, int64_t count) {
  constexpr int64_t kLanes = 16;
  float acc[kLanes] = {};
  const int64_t whole = count / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) acc[k] += x[i + k];
  }
  for (int64_t i = whole; i < count; ++i) acc[i - whole] += x[i];
  for (int k = 0; k < 8; ++k) acc[k] += acc[k + 8];
  for (int k = 0; k < 4; ++k) acc[k] = acc[2 * k] + acc[2 * k + 1];
  return (acc[0] + acc[1]) + (acc[2] + acc[3]);
}

}  // namespace rulerun
#endif  // HWY_ONCE
