// a * b + c with one rounding on every target. To be included by files that go through foreach_target.h.
#if defined(RULERUN_KERNELS_OPS_FUSED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef RULERUN_KERNELS_OPS_FUSED_INL_H_
#undef RULERUN_KERNELS_OPS_FUSED_INL_H_
#else
#define RULERUN_KERNELS_OPS_FUSED_INL_H_
#endif

#include <cmath>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace rulerun {
namespace HWY_NAMESPACE {

template <class D, class V = hwy::HWY_NAMESPACE::VFromD<D>>
HWY_INLINE V Fused(D d, V a, V b, V c) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulAdd(a, b, c);
#else
  // Without the instruction, slowly: the results must not depend on the machine.
  HWY_ALIGN float x[HWY_MAX_LANES_D(D)], y[HWY_MAX_LANES_D(D)], z[HWY_MAX_LANES_D(D)];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  hn::Store(c, d, z);
  for (size_t i = 0; i < hn::Lanes(d); ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return hn::Load(d, z);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace rulerun
HWY_AFTER_NAMESPACE();

#endif  // include guard
