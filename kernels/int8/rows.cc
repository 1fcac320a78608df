#include "kernels/int8/rows.h"

#include <cstddef>

#include "kernels/int8/simd.h"
// After the settings; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/int8/rows.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/int8/math-inl.h"

// Of lambdas in loops: g++ leaves them as calls otherwise.
#undef RULERUN_LAMBDA
#define RULERUN_LAMBDA HWY_ATTR __attribute__((always_inline))

HWY_BEFORE_NAMESPACE();
namespace rulerun::int8 {
namespace HWY_NAMESPACE {

using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;

// How many lanes of a vector are used: all, or the given number.
struct AllLanes {};

template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadSome(D d, const T* p, AllLanes) {
  return hn::LoadU(d, p);
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadSome(D d, const T* p, size_t count) {
  return hn::LoadN(d, p, count);
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void StoreSome(hn::Vec<D> v, D d, T* p, AllLanes) {
  hn::StoreU(v, d, p);
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void StoreSome(hn::Vec<D> v, D d, T* p, size_t count) {
  hn::StoreN(v, d, p, count);
}

// Integers of at most 32 bits as i32 lanes.
template <typename T, class Lanes>
HWY_INLINE VI LoadInts(const T* p, Lanes count) {
  const DI di;
  const hn::Rebind<T, DI> dt;
  if constexpr (sizeof(T) == 4) {
    return LoadSome(di, p, count);
  } else {
    return hn::PromoteTo(di, LoadSome(dt, p, count));
  }
}

// Calls body(i, lanes) for i = 0, L, 2 L, ...; the last time with the number of lanes that are left.
template <class Body>
HWY_INLINE void ForEachVector(int64_t count, const Body& body) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(DF()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) body(i, AllLanes());
  if (i < count) body(i, static_cast<size_t>(count - i));
}

// y[i] = the lanes of compute(i, lanes), which are within the range of T. Whole vectors of y where possible: narrowing
// several vectors at once is much cheaper than one by one.
template <typename T, class Compute>
HWY_INLINE void FillInts(T* y, int64_t count, const Compute& compute) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(DF()));
  const hn::ScalableTag<T> dt;
  const hn::ScalableTag<int16_t> d16;
  const AllLanes all;
  int64_t i = 0;
  if constexpr (sizeof(T) == 1) {
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
      const auto low = hn::OrderedDemote2To(d16, compute(i, all), compute(i + lanes, all));
      const auto high = hn::OrderedDemote2To(d16, compute(i + 2 * lanes, all), compute(i + 3 * lanes, all));
      hn::StoreU(hn::OrderedDemote2To(dt, low, high), dt, y + i);
    }
  } else {
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      hn::StoreU(hn::OrderedDemote2To(dt, compute(i, all), compute(i + lanes, all)), dt, y + i);
    }
  }
  const hn::Rebind<T, DI> d_part;
  for (; i < count; i += lanes) {
    const auto some = static_cast<size_t>(count - i < lanes ? count - i : lanes);
    StoreSome(hn::DemoteTo(d_part, compute(i, some)), d_part, y + i, some);
  }
}

template <bool kPerElement, typename T>
HWY_INLINE void QuantizeLoop(const float* x, int64_t count, const RowParams& params, Limits limits, T* y) {
  const DF df;
  const DI di;
  const VI lo = hn::Set(di, limits.lo);
  const VI hi = hn::Set(di, limits.hi);
  VF scale = hn::Set(df, kPerElement || count == 0 ? 1.0f : params.scale[0]);
  VI zero = hn::Set(di, kPerElement || count == 0 ? 0 : params.zero_point[0]);
  FillInts(y, count, [&](int64_t i, auto lanes) RULERUN_LAMBDA {
    if constexpr (kPerElement) {
      scale = LoadSome(df, params.scale + i, lanes);
      zero = LoadSome(di, params.zero_point + i, lanes);
    }
    const VF low = hn::ConvertTo(df, hn::Sub(lo, zero));
    const VF high = hn::ConvertTo(df, hn::Sub(hi, zero));
    const VF v = ClampNanLow(df, Divide(df, LoadSome(df, x + i, lanes), scale), low, high);
    return hn::Add(RoundToInt(df, v), zero);
  });
}

template <typename T>
HWY_INLINE void QuantizeAs(const float* x, int64_t count, const RowParams& params, Limits limits, void* y) {
  if (params.per_element) {
    QuantizeLoop<true>(x, count, params, limits, static_cast<T*>(y));
  } else {
    QuantizeLoop<false>(x, count, params, limits, static_cast<T*>(y));
  }
}

void Quantize(const float* x, int64_t count, const RowParams& params, Limits limits, DataType type, void* y) {
  switch (type) {
    case DataType::kInt8:
      return QuantizeAs<int8_t>(x, count, params, limits, y);
    case DataType::kUint16:
      return QuantizeAs<uint16_t>(x, count, params, limits, y);
    case DataType::kInt16:
      return QuantizeAs<int16_t>(x, count, params, limits, y);
    default:
      return QuantizeAs<uint8_t>(x, count, params, limits, y);
  }
}

template <bool kPerElement, typename T>
HWY_INLINE void DequantizeLoop(const T* x, int64_t count, const RowParams& params, float* y) {
  const DF df;
  const DI di;
  VF scale = hn::Set(df, kPerElement || count == 0 ? 1.0f : params.scale[0]);
  VI zero = hn::Set(di, kPerElement || count == 0 ? 0 : params.zero_point[0]);
  ForEachVector(count, [&](int64_t i, auto lanes) RULERUN_LAMBDA {
    if constexpr (kPerElement) {
      scale = LoadSome(df, params.scale + i, lanes);
      zero = LoadSome(di, params.zero_point + i, lanes);
    }
    const VF v = hn::ConvertTo(df, hn::Sub(LoadInts(x + i, lanes), zero));
    StoreSome(hn::Mul(v, scale), df, y + i, lanes);
  });
}

template <typename T>
HWY_INLINE void DequantizeAs(const void* x, int64_t count, const RowParams& params, float* y) {
  if (params.per_element) {
    DequantizeLoop<true>(static_cast<const T*>(x), count, params, y);
  } else {
    DequantizeLoop<false>(static_cast<const T*>(x), count, params, y);
  }
}

void Dequantize(const void* x, int64_t count, const RowParams& params, DataType type, float* y) {
  switch (type) {
    case DataType::kInt8:
      return DequantizeAs<int8_t>(x, count, params, y);
    case DataType::kUint16:
      return DequantizeAs<uint16_t>(x, count, params, y);
    case DataType::kInt16:
      return DequantizeAs<int16_t>(x, count, params, y);
    case DataType::kInt32:
      return DequantizeAs<int32_t>(x, count, params, y);
    default:
      return DequantizeAs<uint8_t>(x, count, params, y);
  }
}

void MinMax(const float* x, int64_t count, float* min, float* max) {
  const DF df;
  VF low = hn::Set(df, *min);
  VF high = hn::Set(df, *max);
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const VF v = hn::LoadU(df, x + i);
    low = hn::IfThenElse(hn::Lt(v, low), v, low);  // not Min: what that does with NaN differs
    high = hn::IfThenElse(hn::Gt(v, high), v, high);
  }
  float lowest = hn::ReduceMin(df, low);
  float highest = hn::ReduceMax(df, high);
  for (; i < count; ++i) {
    if (x[i] < lowest) lowest = x[i];
    if (x[i] > highest) highest = x[i];
  }
  *min = lowest;
  *max = highest;
}

// An operand as i32 lanes at any position.
template <typename T>
struct Operand {
  explicit Operand(RowOperand row) : data(static_cast<const T*>(row.data)), one_element(row.one_element) {}
  template <class Lanes>
  HWY_INLINE VI Load(int64_t i, Lanes lanes) const {
    return one_element ? hn::Set(DI(), static_cast<int32_t>(data[0])) : LoadInts(data + i, lanes);
  }
  const T* data;
  bool one_element;
};

template <typename T>
HWY_INLINE void AddLoop(RowOperand row_a, RowOperand row_b, int64_t count, const AddParams& params, Limits limits,
                        T* y) {
  const DF df;
  const Operand<T> a(row_a);
  const Operand<T> b(row_b);
  const VF a_ratio = hn::Set(df, params.a_ratio);
  const VF b_ratio = hn::Set(df, params.b_ratio);
  const VF constant = hn::Set(df, params.constant);
  const VF low = hn::Set(df, static_cast<float>(limits.lo));
  const VF high = hn::Set(df, static_cast<float>(limits.hi));
  FillInts(y, count, [&](int64_t i, auto lanes) RULERUN_LAMBDA {
    const VF from_b = Fused(df, hn::ConvertTo(df, b.Load(i, lanes)), b_ratio, constant);
    const VF sum = Fused(df, hn::ConvertTo(df, a.Load(i, lanes)), a_ratio, from_b);
    return RoundAndSaturateVector(df, sum, low, high);
  });
}

void Add(RowOperand a, RowOperand b, int64_t count, const AddParams& params, bool is_signed, void* y) {
  if (is_signed) {
    AddLoop(a, b, count, params, EightBit(true), static_cast<int8_t*>(y));
  } else {
    AddLoop(a, b, count, params, EightBit(false), static_cast<uint8_t*>(y));
  }
}

template <typename T>
HWY_INLINE void MulLoop(RowOperand row_a, RowOperand row_b, int64_t count, const MulParams& params, Limits limits,
                        T* y) {
  const DF df;
  const DI di;
  const Operand<T> a(row_a);
  const Operand<T> b(row_b);
  const VI a_zero = hn::Set(di, params.a_zero_point);
  const VI b_zero = hn::Set(di, params.b_zero_point);
  const VF y_zero = hn::Set(df, static_cast<float>(params.y_zero_point));
  const VF ratio = hn::Set(df, params.ratio);
  const VF low = hn::Set(df, static_cast<float>(limits.lo));
  const VF high = hn::Set(df, static_cast<float>(limits.hi));
  FillInts(y, count, [&](int64_t i, auto lanes) RULERUN_LAMBDA {
    // Exact: at most 255 * 255.
    const VF product = hn::Mul(hn::ConvertTo(df, hn::Sub(a.Load(i, lanes), a_zero)),
                               hn::ConvertTo(df, hn::Sub(b.Load(i, lanes), b_zero)));
    const VF v = hn::Add(hn::Mul(product, ratio), y_zero);
    return RoundAndSaturateVector(df, v, low, high);
  });
}

void Mul(RowOperand a, RowOperand b, int64_t count, const MulParams& params, bool is_signed, void* y) {
  if (is_signed) {
    MulLoop(a, b, count, params, EightBit(true), static_cast<int8_t*>(y));
  } else {
    MulLoop(a, b, count, params, EightBit(false), static_cast<uint8_t*>(y));
  }
}

template <typename T>
HWY_INLINE void MaxLoop(const T* x, int64_t count, T* y) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Max(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  for (; i < count; ++i) y[i] = x[i] > y[i] ? x[i] : y[i];
}

void Max(const void* x, int64_t count, bool is_signed, void* y) {
  if (is_signed) {
    MaxLoop(static_cast<const int8_t*>(x), count, static_cast<int8_t*>(y));
  } else {
    MaxLoop(static_cast<const uint8_t*>(x), count, static_cast<uint8_t*>(y));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rulerun::int8
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerun::int8 {

HWY_EXPORT_T(QuantizeTargets, Quantize);
HWY_EXPORT_T(DequantizeTargets, Dequantize);
HWY_EXPORT_T(MinMaxTargets, MinMax);
HWY_EXPORT_T(AddTargets, Add);
HWY_EXPORT_T(MulTargets, Mul);
HWY_EXPORT_T(MaxTargets, Max);

void QuantizeRow(const float* x, int64_t count, const RowParams& params, Limits limits, DataType type, void* y) {
  HWY_DYNAMIC_DISPATCH_T(QuantizeTargets)(x, count, params, limits, type, y);
}

void DequantizeRow(const void* x, int64_t count, const RowParams& params, DataType type, float* y) {
  HWY_DYNAMIC_DISPATCH_T(DequantizeTargets)(x, count, params, type, y);
}

void MinMaxRow(const float* x, int64_t count, float* min, float* max) {
  HWY_DYNAMIC_DISPATCH_T(MinMaxTargets)(x, count, min, max);
}

void AddRow(RowOperand a, RowOperand b, int64_t count, const AddParams& params, bool is_signed, void* y) {
  HWY_DYNAMIC_DISPATCH_T(AddTargets)(a, b, count, params, is_signed, y);
}

void MulRow(RowOperand a, RowOperand b, int64_t count, const MulParams& params, bool is_signed, void* y) {
  HWY_DYNAMIC_DISPATCH_T(MulTargets)(a, b, count, params, is_signed, y);
}

void MaxRow(const void* x, int64_t count, bool is_signed, void* y) {
  HWY_DYNAMIC_DISPATCH_T(MaxTargets)(x, count, is_signed, y);
}

}  // namespace rulerun::int8
#endif  // HWY_ONCE
