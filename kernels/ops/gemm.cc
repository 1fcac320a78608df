#include "kernels/ops/gemm.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "kernels/buffer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ops/gemm.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/ops/fused-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rulerun {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kTileRows = 6;  // with two vectors a row, 12 accumulators

// One tile of kRows rows and two vectors of columns, over `depth` steps. `add`: on top of what c holds.
template <int kRows, class D>
HWY_INLINE void Tile(D d, const float* a, int64_t a_step, const float* b, int64_t depth, float* c, int64_t c_step,
                     bool add) {
  using V = hn::Vec<D>;
  const size_t lanes = hn::Lanes(d);
  V low[kRows], high[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) low[r] = high[r] = hn::Zero(d);
  for (int64_t k = 0; k < depth; ++k) {
    const V b0 = hn::LoadU(d, b + k * kGemmPanel);
    const V b1 = hn::LoadU(d, b + k * kGemmPanel + lanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const V x = hn::Set(d, a[r * a_step + k]);
      low[r] = Fused(d, x, b0, low[r]);
      high[r] = Fused(d, x, b1, high[r]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    float* to = c + r * c_step;
    if (add) {
      low[r] = hn::Add(hn::LoadU(d, to), low[r]);
      high[r] = hn::Add(hn::LoadU(d, to + lanes), high[r]);
    }
    hn::StoreU(low[r], d, to);
    hn::StoreU(high[r], d, to + lanes);
  }
}

// The tiles of one panel, 32 columns wide, for kRows rows.
template <int kRows>
HWY_INLINE void PanelRows(const float* a, int64_t a_step, const float* b, int64_t depth, float* c, int64_t c_step,
                          bool add) {
  const hn::CappedTag<float, kGemmPanel / 2> d;
  const auto width = static_cast<int64_t>(2 * hn::Lanes(d));
  for (int64_t column = 0; column < kGemmPanel; column += width) {
    Tile<kRows>(d, a, a_step, b + column, depth, c + column, c_step, add);
  }
}

void AnyRows(int64_t rows, const float* a, int64_t a_step, const float* b, int64_t depth, float* c, int64_t c_step,
             bool add) {
  switch (rows) {
    case 1:
      return PanelRows<1>(a, a_step, b, depth, c, c_step, add);
    case 2:
      return PanelRows<2>(a, a_step, b, depth, c, c_step, add);
    case 3:
      return PanelRows<3>(a, a_step, b, depth, c, c_step, add);
    case 4:
      return PanelRows<4>(a, a_step, b, depth, c, c_step, add);
    case 5:
      return PanelRows<5>(a, a_step, b, depth, c, c_step, add);
    default:
      return PanelRows<kTileRows>(a, a_step, b, depth, c, c_step, add);
  }
}

}  // namespace

// One block of k for one panel and all rows; a panel that is not full goes through a buffer.
void PanelBlock(const float* a, int64_t a_step, int64_t rows, const float* b, int64_t depth, float* c, int64_t c_step,
                int64_t columns, bool add) {
  for (int64_t row = 0; row < rows; row += kTileRows) {
    const int64_t count = std::min<int64_t>(kTileRows, rows - row);
    float* to = c + row * c_step;
    if (columns == kGemmPanel) {
      AnyRows(count, a + row * a_step, a_step, b, depth, to, c_step, add);
      continue;
    }
    HWY_ALIGN float edge[kTileRows * kGemmPanel];
    if (add) {
      for (int64_t r = 0; r < count; ++r) std::copy(to + r * c_step, to + r * c_step + columns, edge + r * kGemmPanel);
    }
    AnyRows(count, a + row * a_step, a_step, b, depth, edge, kGemmPanel, add);
    for (int64_t r = 0; r < count; ++r) {
      std::copy(edge + r * kGemmPanel, edge + r * kGemmPanel + columns, to + r * c_step);
    }
  }
}

// One row of A times one panel, four products at a time, then two, then one, nothing fused.
void PanelRowByFours(const float* a, const float* b, int64_t depth, float* c, int64_t columns, bool add) {
  const hn::CappedTag<float, kGemmPanel> d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN float row[kGemmPanel] = {};
  if (add) std::copy(c, c + columns, row);
  for (size_t j = 0; j < static_cast<size_t>(kGemmPanel); j += lanes) {
    auto sum = hn::Load(d, row + j);
    const auto product = [&](int64_t k)
                             HWY_ATTR { return hn::Mul(hn::Set(d, a[k]), hn::LoadU(d, b + k * kGemmPanel + j)); };
    int64_t k = 0;
    for (; k + 4 <= depth; k += 4) {
      const auto four = hn::Add(hn::Add(hn::Add(product(k), product(k + 1)), product(k + 2)), product(k + 3));
      sum = hn::Add(sum, four);
    }
    if (k + 2 <= depth) {
      sum = hn::Add(sum, hn::Add(product(k), product(k + 1)));
      k += 2;
    }
    if (k < depth) sum = hn::Add(sum, product(k));
    hn::Store(sum, d, row + j);
  }
  std::copy(row, row + columns, c);
}

// Eight sums of products, lane i those of k = i, i + 8, ...
void DotLanes(const float* a, const float* b, int64_t depth, float* lanes) {
  const hn::FixedTag<float, 4> d;
  auto low = hn::Zero(d), high = hn::Zero(d);
  int64_t k = 0;
  for (; k + 8 <= depth; k += 8) {
    low = hn::Add(low, hn::Mul(hn::LoadU(d, a + k), hn::LoadU(d, b + k)));
    high = hn::Add(high, hn::Mul(hn::LoadU(d, a + k + 4), hn::LoadU(d, b + k + 4)));
  }
  hn::StoreU(low, d, lanes);
  hn::StoreU(high, d, lanes + 4);
  for (int64_t i = 0; k < depth; ++i, ++k) lanes[i] += a[k] * b[k];
}

void ScaledRow(float w, const float* x, int64_t x_step, float* y, int64_t count) {
  int64_t i = 0;
  if (x_step == 1) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto factor = hn::Set(d, w);
    for (; i + lanes <= count; i += lanes) {
      hn::StoreU(hn::Add(hn::LoadU(d, y + i), hn::Mul(factor, hn::LoadU(d, x + i))), d, y + i);
    }
  }
  for (; i < count; ++i) y[i] += w * x[i * x_step];
}

}  // namespace HWY_NAMESPACE
}  // namespace rulerun
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerun {
namespace {

HWY_EXPORT(PanelBlock);
HWY_EXPORT(PanelRowByFours);
HWY_EXPORT(DotLanes);
HWY_EXPORT(ScaledRow);

// Rows that one thread takes at a time.
constexpr int64_t kRowBlock = 48;

// How MLAS adds up the eight partial sums of row `row` of `rows`: it takes four rows at a time, then two, then one.
float SumLanes(const float* s, int64_t row, int64_t rows) {
  const auto half = [&](const float* h) {
    if (row < rows / 4 * 4) return ((h[0] + h[1]) + h[2]) + h[3];
    return (h[0] + h[1]) + (h[2] + h[3]);
  };
  if (row < rows / 4 * 4 || row >= rows / 2 * 2) return half(s) + half(s + 4);
  return ((s[0] + s[2]) + (s[4] + s[6])) + ((s[1] + s[3]) + (s[5] + s[7]));
}

}  // namespace

PackedMatrix::PackedMatrix(int64_t depth, int64_t columns) : depth_(depth), columns_(columns) {
  const auto bytes = static_cast<size_t>(panels() * depth * kGemmPanel) * sizeof(float);
  if (std::shared_ptr<const std::byte> buffer = AllocateBuffer(bytes + 1)) {
    data_ = std::shared_ptr<float>(buffer, reinterpret_cast<float*>(const_cast<std::byte*>(buffer.get())));  // NOLINT
  }
}

void PackedMatrix::Pack(const MatrixView& b, ThreadPool* pool) {
  const auto pack = [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      float* to = panel(p);
      const int64_t first = p * kGemmPanel;
      const int64_t width = std::min(kGemmPanel, columns_ - first);
      for (int64_t k = 0; k < depth_; ++k, to += kGemmPanel) {
        const float* from = b.data + k * b.row_step + first * b.column_step;
        if (b.column_step == 1) {
          std::copy(from, from + width, to);
        } else {
          for (int64_t j = 0; j < width; ++j) to[j] = from[j * b.column_step];
        }
        std::fill(to + width, to + kGemmPanel, 0.0f);
      }
    }
  };
  if (pool == nullptr) {
    pack(0, panels());
  } else {
    pool->ParallelFor(panels(), std::max<int64_t>(1, 16384 / (depth_ * kGemmPanel + 1)), pack);
  }
}

GemmOrder UnpackedOrder(int64_t depth, int64_t columns, bool trans_a) {
  GemmOrder order;
  order.row_by_fours = !trans_a;
  order.depth_block = 128;
  if (columns < depth && !trans_a) {
    for (int64_t width = 128; width > 16 && width / 2 >= columns; width /= 2) order.depth_block *= 2;
  }
  return order;
}

void GemmPanels(const float* a, int64_t a_step, int64_t rows, const float* packed, int64_t depth, int64_t columns,
                float* c, int64_t c_step, const GemmOrder& order, bool add) {
  const auto block = HWY_DYNAMIC_POINTER(PanelBlock);
  for (int64_t column = 0; column < columns; column += kGemmPanel, packed += depth * kGemmPanel) {
    const int64_t width = std::min(kGemmPanel, columns - column);
    if (rows == 1 && order.row_by_fours) {
      HWY_DYNAMIC_DISPATCH(PanelRowByFours)(a, packed, depth, c + column, width, add);
      continue;
    }
    int64_t k = 0;
    do {  // once even for depth 0, which gives zeros
      block(a + k, a_step, rows, packed + k * kGemmPanel, std::min(order.depth_block, depth - k), c + column, c_step,
            width, add || k > 0);
      k += order.depth_block;
    } while (k < depth);
  }
}

void Gemm(const float* a, int64_t a_step, int64_t rows, const PackedMatrix& b, float* c, int64_t c_step,
          ThreadPool& pool, const GemmOrder& given_order, bool add) {
  GemmOrder order = given_order;
  order.row_by_fours = order.row_by_fours && rows == 1;  // decided by all rows, not by how threads share them
  const int64_t row_blocks = (rows + kRowBlock - 1) / kRowBlock;
  const int64_t work = std::max<int64_t>(1, std::min(rows, kRowBlock) * b.depth() * kGemmPanel);
  const int64_t grain = std::max<int64_t>(1, 65536 / work);
  pool.ParallelFor(row_blocks * b.panels(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t panel = item / row_blocks;
      const int64_t row = item % row_blocks * kRowBlock;
      const int64_t column = panel * kGemmPanel;
      GemmPanels(a + row * a_step, a_step, std::min(kRowBlock, rows - row), b.panel(panel), b.depth(),
                 std::min(kGemmPanel, b.columns() - column), c + row * c_step + column, c_step, order, add);
    }
  });
}

void GemmDots(const float* a, const float* b, int64_t b_step, int64_t rows, int64_t depth, float* c, bool add) {
  for (int64_t row = 0; row < rows; ++row) {
    float lanes[8];
    HWY_DYNAMIC_DISPATCH(DotLanes)(a, b + row * b_step, depth, lanes);
    c[row] = SumLanes(lanes, row, rows) + (add ? c[row] : 0.0f);
  }
}

void AddScaled(float w, const float* x, int64_t x_step, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(ScaledRow)(w, x, x_step, y, count);
}

}  // namespace rulerun
#endif  // HWY_ONCE
