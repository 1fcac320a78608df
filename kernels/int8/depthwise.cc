#include "kernels/int8/depthwise.h"

#include <algorithm>
#include <cstddef>

#include "kernels/int8/simd.h"
// After the settings; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/int8/depthwise.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/int8/epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rulerun::int8 {
namespace HWY_NAMESPACE {

using DI32 = hn::ScalableTag<int32_t>;
using VI32 = hn::Vec<DI32>;

// Elements of two taps as int16 pairs, the first in the low half of each lane.
template <bool kFull, typename T>
HWY_INLINE VI32 LoadPair(const T* first, const T* second, size_t count) {
  const DI32 di;
  const hn::Rebind<T, DI32> d8;
  const VI32 low = hn::PromoteTo(di, LoadColumns<kFull>(d8, first, count));
  const VI32 high = hn::PromoteTo(di, LoadColumns<kFull>(d8, second, count));
  return hn::Or(hn::And(low, hn::Set(di, 0xffff)), hn::ShiftLeft<16>(high));
}

// sums[v] for kVectors vectors of channels, the first of which is at `channel`.
template <int kVectors, bool kFull, typename T>
HWY_INLINE void SumChannels(const DepthwiseBlock& block, const T* pixel, int64_t channel, size_t count, int32_t* sums) {
  const DI32 di;
  const hn::ScalableTag<int16_t> d16;
  constexpr auto kLanes = static_cast<int64_t>(HWY_LANES(int32_t));
  VI32 sum[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) sum[v] = hn::Zero(di);
  const int32_t* weights = block.weights + channel;
  for (int64_t pair = 0; pair < block.pairs; ++pair, weights += block.channels) {
    const T* first = pixel + block.taps[2 * pair] + channel;
    const T* second = pixel + block.taps[2 * pair + 1] + channel;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const VI32 x = LoadPair<kFull>(first + v * kLanes, second + v * kLanes, count);
      const VI32 w = LoadColumns<kFull>(di, weights + v * kLanes, count);
      sum[v] = hn::Add(sum[v], hn::WidenMulPairwiseAdd(di, hn::BitCast(d16, x), hn::BitCast(d16, w)));
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[v], di, sums + v * kLanes);
}

template <typename T>
HWY_INLINE void RunAs(const DepthwiseBlock& block) {
  constexpr auto kLanes = static_cast<int64_t>(HWY_LANES(int32_t));
  constexpr int64_t kWide = 4 * kLanes;
  HWY_ALIGN int32_t sums[static_cast<size_t>(kWide)];
  const auto bytes = static_cast<int64_t>(block.epilogue->ElementBytes());
  int64_t channel = 0;
  while (channel < block.channels) {
    const int64_t left = block.channels - channel;
    const int64_t count = left >= kWide ? kWide : std::min(left, kLanes);
    auto* out = static_cast<uint8_t*>(block.out) + channel * bytes;
    for (int64_t p = 0; p < block.pixel_count; ++p) {
      const T* pixel = reinterpret_cast<const T*>(block.pixels[p]);
      if (count == kWide) {
        SumChannels<4, true>(block, pixel, channel, 0, sums);
      } else if (count == kLanes) {
        SumChannels<1, true>(block, pixel, channel, 0, sums);
      } else {
        SumChannels<1, false>(block, pixel, channel, static_cast<size_t>(count), sums);
      }
      FinishRow(*block.epilogue, sums, 0, 0, channel, count, out + p * block.out_stride * bytes);
    }
    channel += count;
  }
}

void Run(const DepthwiseBlock& block, bool x_is_signed) {
  if (x_is_signed) {
    RunAs<int8_t>(block);
  } else {
    RunAs<uint8_t>(block);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rulerun::int8
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerun::int8 {

HWY_EXPORT_T(RunTargets, Run);

void RunDepthwise(const DepthwiseBlock& block, bool x_is_signed) {
  HWY_DYNAMIC_DISPATCH_T(RunTargets)(block, x_is_signed);
}

}  // namespace rulerun::int8
#endif  // HWY_ONCE
