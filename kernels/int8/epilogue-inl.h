// What happens to finished sums (struct Epilogue in gemm.h), per SIMD target.
#if defined(RULERUN_KERNELS_INT8_EPILOGUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef RULERUN_KERNELS_INT8_EPILOGUE_INL_H_
#undef RULERUN_KERNELS_INT8_EPILOGUE_INL_H_
#else
#define RULERUN_KERNELS_INT8_EPILOGUE_INL_H_
#endif

#include <algorithm>

#include "hwy/highway.h"
#include "kernels/int8/gemm.h"
#include "kernels/int8/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rulerun::int8 {
namespace HWY_NAMESPACE {

// Full vectors use the plain, the last one the partial form of loads and stores.
template <bool kFull, class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadColumns(D d, const T* p, size_t count) {
  if constexpr (kFull) return hn::LoadU(d, p);
  return hn::LoadN(d, p, count);
}
template <bool kFull, class D, class T = hn::TFromD<D>>
HWY_INLINE void StoreColumns(hn::Vec<D> v, D d, T* p, size_t count) {
  if constexpr (kFull) {
    hn::StoreU(v, d, p);
  } else {
    hn::StoreN(v, d, p, count);
  }
}

// One vector of sums, for columns n .. n + count - 1, to `out` (the element of column n).
template <bool kFull>
HWY_INLINE void FinishVector(const Epilogue& epilogue, const int32_t* sums, int64_t row, int32_t row_sum, int64_t n,
                             size_t count, void* out) {
  const hn::ScalableTag<int32_t> di;
  const hn::ScalableTag<float> df;
  auto sum = hn::Add(hn::LoadU(di, sums), LoadColumns<kFull>(di, epilogue.column_offset + n, count));
  if (epilogue.b_zero != nullptr) {
    sum = hn::Sub(sum, hn::Mul(LoadColumns<kFull>(di, epilogue.b_zero + n, count), hn::Set(di, row_sum)));
  }
  if (epilogue.addend != nullptr) {
    const int32_t* addend = epilogue.addend + row * epilogue.addend_row + n * epilogue.addend_column;
    sum = hn::Add(sum, epilogue.addend_column == 0 ? hn::Set(di, addend[0]) : LoadColumns<kFull>(di, addend, count));
  }
  if (epilogue.kind == Epilogue::Kind::kInt32) {
    StoreColumns<kFull>(sum, di, static_cast<int32_t*>(out), count);
    return;
  }
  auto v = hn::Mul(hn::ConvertTo(df, sum), LoadColumns<kFull>(df, epilogue.multiplier + n, count));
  if (epilogue.kind == Epilogue::Kind::kFloat) {
    if (epilogue.float_bias != nullptr) v = hn::Add(v, LoadColumns<kFull>(df, epilogue.float_bias + n, count));
    StoreColumns<kFull>(v, df, static_cast<float*>(out), count);
    return;
  }
  const auto low = hn::Set(df, static_cast<float>(epilogue.limits.lo - epilogue.zero_point));
  const auto high = hn::Set(df, static_cast<float>(epilogue.limits.hi - epilogue.zero_point));
  const auto q = hn::Add(RoundToInt(df, ClampNanLow(df, v, low, high)), hn::Set(di, epilogue.zero_point));
  if (epilogue.limits.lo < 0) {
    const hn::Rebind<int8_t, decltype(di)> d8;
    StoreColumns<kFull>(hn::DemoteTo(d8, q), d8, static_cast<int8_t*>(out), count);
  } else {
    const hn::Rebind<uint8_t, decltype(di)> d8;
    StoreColumns<kFull>(hn::DemoteTo(d8, q), d8, static_cast<uint8_t*>(out), count);
  }
}

// A row of sums, for columns n .. n + count - 1; `sums` is padded to whole vectors.
HWY_INLINE void FinishRow(const Epilogue& epilogue, const int32_t* sums, int64_t row, int32_t row_sum, int64_t n,
                          int64_t count, void* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<int32_t>()));
  const auto bytes = static_cast<int64_t>(epilogue.ElementBytes());
  auto* to = static_cast<uint8_t*>(out);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    FinishVector<true>(epilogue, sums + i, row, row_sum, n + i, static_cast<size_t>(lanes), to + i * bytes);
  }
  if (i < count) {
    FinishVector<false>(epilogue, sums + i, row, row_sum, n + i, static_cast<size_t>(count - i), to + i * bytes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rulerun::int8
HWY_AFTER_NAMESPACE();

#endif  // include guard per target
