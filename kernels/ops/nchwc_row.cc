#include "kernels/ops/nchwc_row.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ops/nchwc_row.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/ops/fused-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rulerun {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Accumulators: filters times outputs.
constexpr int64_t kFilters = HWY_MAX_BYTES >= 64 ? 4 : 2;
constexpr int64_t kOutputs = 6;

// The taps of a filter that lie inside the image, and where the window starts.
struct Taps {
  int64_t h0, top, bottom;
  int64_t w0, left, right;
};

// kWide filters times kLong neighbouring outputs, one vector of channels of each.
template <int64_t kWide, int64_t kLong, class D>
HWY_INLINE void Tile(D d, const NchwcConvShape& shape, const NchwcConvRow& row, const Taps& taps, int64_t first,
                     int64_t output, int64_t lane) {
  using V = hn::Vec<D>;
  const int64_t filters = shape.in_blocks * shape.filter_step();
  const int64_t x_step = shape.across.stride * shape.pixel;
  V sums[kWide][kLong];
#pragma GCC unroll 4
  for (int64_t f = 0; f < kWide; ++f) {
#pragma GCC unroll 6
    for (int64_t o = 0; o < kLong; ++o) sums[f][o] = hn::Zero(d);
  }
  for (int64_t b = 0; b < row.in_blocks; ++b) {
    const float* x_block = row.x + b * shape.in_step;
    const float* w_block = row.w + first * filters + b * shape.filter_step() + lane;
    for (int64_t kh = taps.top; kh < taps.bottom; ++kh) {
      const int64_t h = taps.h0 + kh * shape.height.dilation;
      for (int64_t kw = taps.left; kw < taps.right; ++kw) {
        const int64_t w = taps.w0 + kw * shape.across.dilation;
        const float* x = x_block + (h * shape.across.in + w) * shape.pixel;
        const float* filter = w_block + (kh * shape.across.kernel + kw) * shape.inner * shape.block;
        if (shape.depthwise) {
          const V weight = hn::LoadU(d, filter);
#pragma GCC unroll 6
          for (int64_t o = 0; o < kLong; ++o) {
            sums[0][o] = Fused(d, hn::LoadU(d, x + o * x_step + lane), weight, sums[0][o]);
          }
          continue;
        }
        for (int64_t i = 0; i < shape.inner; ++i, filter += shape.block) {
          V weights[kWide];
#pragma GCC unroll 4
          for (int64_t f = 0; f < kWide; ++f) weights[f] = hn::LoadU(d, filter + f * filters);
#pragma GCC unroll 6
          for (int64_t o = 0; o < kLong; ++o) {
            const V value = hn::Set(d, x[o * x_step + i]);
#pragma GCC unroll 4
            for (int64_t f = 0; f < kWide; ++f) sums[f][o] = Fused(d, value, weights[f], sums[f][o]);
          }
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int64_t f = 0; f < kWide; ++f) {
    float* y = row.y + (first + f) * shape.out_step + output * shape.block + lane;
#pragma GCC unroll 6
    for (int64_t o = 0; o < kLong; ++o, y += shape.block) {
      V sum = sums[f][o];
      if (row.add) sum = hn::Add(sum, hn::LoadU(d, y));
      if (row.bias != nullptr) sum = hn::Add(sum, hn::LoadU(d, row.bias + (first + f) * shape.block + lane));
      hn::StoreU(sum, d, y);
    }
  }
}

// `count` neighbouring outputs that read the same taps, for kWide filters.
template <int64_t kWide, class D>
void Outputs(D d, const NchwcConvShape& shape, const NchwcConvRow& row, Taps taps, int64_t first, int64_t output,
             int64_t count) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto advance = [&](int64_t outputs) {
    output += outputs;
    count -= outputs;
    taps.w0 += outputs * shape.across.stride;
  };
  while (count > 0) {
    const int64_t outputs = count >= kOutputs ? kOutputs : count >= 2 ? 2 : 1;
    for (int64_t lane = 0; lane < shape.block; lane += lanes) {
      if (outputs == kOutputs) {
        Tile<kWide, kOutputs>(d, shape, row, taps, first, output, lane);
      } else if (outputs == 2) {
        Tile<kWide, 2>(d, shape, row, taps, first, output, lane);
      } else {
        Tile<kWide, 1>(d, shape, row, taps, first, output, lane);
      }
    }
    advance(outputs);
  }
}

template <class D>
void AllOutputs(D d, const NchwcConvShape& shape, const NchwcConvRow& row, const Taps& taps, int64_t output,
                int64_t count) {
  int64_t first = 0;
  for (; first + kFilters <= row.out_blocks; first += kFilters) {
    Outputs<kFilters>(d, shape, row, taps, first, output, count);
  }
  for (; first < row.out_blocks; ++first) Outputs<1>(d, shape, row, taps, first, output, count);
}

template <class D>
void AnyRow(D d, const NchwcConvShape& shape, const NchwcConvRow& row) {
  const Window& height = shape.height;
  const Window& across = shape.across;
  Taps taps{};
  taps.h0 = height.Start(row.row);
  taps.top = height.FirstInside(taps.h0);
  taps.bottom = std::max(taps.top, height.EndInside(taps.h0));
  // Outputs whose window lies inside from left to right.
  const int64_t reach = (across.kernel - 1) * across.dilation;
  const int64_t room = across.in - 1 - reach + across.pad_begin;
  const int64_t inside = std::min(across.out, (across.pad_begin + across.stride - 1) / across.stride);
  const int64_t end = std::max(inside, std::min(across.out, room < 0 ? 0 : room / across.stride + 1));
  const auto padded = [&](int64_t begin, int64_t stop) {
    for (int64_t w = begin; w < stop; ++w) {
      taps.w0 = across.Start(w);
      taps.left = across.FirstInside(taps.w0);
      taps.right = std::max(taps.left, across.EndInside(taps.w0));
      AllOutputs(d, shape, row, taps, w, 1);
    }
  };
  padded(0, inside);
  taps.w0 = across.Start(inside);
  taps.left = 0;
  taps.right = across.kernel;
  AllOutputs(d, shape, row, taps, inside, end - inside);
  padded(end, across.out);
}

}  // namespace

void ConvRow(const NchwcConvShape& shape, const NchwcConvRow& row) {
  if (shape.block == 8) {
    AnyRow(hn::CappedTag<float, 8>(), shape, row);
  } else {
    AnyRow(hn::CappedTag<float, 16>(), shape, row);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rulerun
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerun {
namespace {

HWY_EXPORT(ConvRow);

}  // namespace

void RunNchwcConvRow(const NchwcConvShape& shape, const NchwcConvRow& row) {
  HWY_DYNAMIC_DISPATCH(ConvRow)(shape, row);
}

}  // namespace rulerun
#endif  // HWY_ONCE
