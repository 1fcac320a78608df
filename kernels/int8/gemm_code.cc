// The vector code behind gemm.h: a register tile of sums, for each SIMD target.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/int8/gemm.h"
#include "kernels/int8/simd.h"
// After the settings; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/int8/gemm_code.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/int8/epilogue-inl.h"
#include "kernels/int8/math-inl.h"

// g++ folds loads into the arithmetic and copies accumulators in these loops; pinning values to registers stops it
// (measured x1.2 to x1.5). Other compilers lose by it.
#if HWY_COMPILER_GCC_ACTUAL && HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
#define RULERUN_PIN(v) asm("" : "+v"(v.raw))
#else
#define RULERUN_PIN(v)
#endif

HWY_BEFORE_NAMESPACE();
namespace rulerun::int8 {
namespace HWY_NAMESPACE {

using DI32 = hn::ScalableTag<int32_t>;
using VI32 = hn::Vec<DI32>;
constexpr size_t kLanes = HWY_LANES(int32_t);

#if HWY_TARGET <= HWY_AVX3_DL && HWY_ARCH_X86
#define RULERUN_BYTE_DOTS 1
#else
#define RULERUN_BYTE_DOTS 0
#endif

#if RULERUN_BYTE_DOTS
using Element = uint8_t;
constexpr int64_t kGroup = 4;
#else
using Element = int16_t;
constexpr int64_t kGroup = 2;
#endif
// 32 registers hold 6 x 4 sums, 16 hold 4 x 2.
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
constexpr int kMaxVectors = 4;
constexpr int kMaxRows = 6;
#else
constexpr int kMaxVectors = 2;
constexpr int kMaxRows = 4;
#endif

// A vector of B: kLanes columns by kGroup bytes.
HWY_INLINE VI32 LoadB(const int8_t* b) {
#if RULERUN_BYTE_DOTS
  const hn::ScalableTag<int8_t> d8;
  return hn::BitCast(DI32(), hn::LoadU(d8, b));
#else
  const hn::ScalableTag<int16_t> d16;
  const hn::Rebind<int8_t, decltype(d16)> d8;
  return hn::BitCast(DI32(), hn::PromoteTo(d16, hn::LoadU(d8, b)));
#endif
}

// Group `from` of a row of A, in all lanes.
HWY_INLINE VI32 BroadcastA(const Element* from) {
  int32_t group;
  std::memcpy(&group, from, sizeof(group));
  return hn::Set(DI32(), group);
}

// sum + the products of one group, exact: 2 * 255 * 128 fits easily.
HWY_INLINE VI32 MultiplyAdd(VI32 a, VI32 b, VI32 sum) {
#if RULERUN_BYTE_DOTS
  const hn::ScalableTag<uint8_t> du8;
  const hn::ScalableTag<int8_t> di8;
  return hn::SumOfMulQuadAccumulate(DI32(), hn::BitCast(du8, a), hn::BitCast(di8, b), sum);
#else
  const hn::ScalableTag<int16_t> d16;
  return hn::Add(sum, hn::WidenMulPairwiseAdd(DI32(), hn::BitCast(d16, a), hn::BitCast(d16, b)));
#endif
}

// sums[r][v] for kRows rows and kVectors vectors of columns.
template <int kRows, int kVectors>
HWY_NOINLINE void Tile(const void* const* rows, const int64_t* offsets, int64_t groups, const int8_t* HWY_RESTRICT b,
                       int32_t* HWY_RESTRICT sums) {
  VI32 sum[kRows][kVectors];
  const Element* a[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    a[r] = static_cast<const Element*>(rows[r]);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(DI32());
  }
  constexpr int64_t kVectorBytes = static_cast<int64_t>(kLanes) * kGroup;
  for (int64_t g = 0; g < groups; ++g, b += kVectors * kVectorBytes) {
    const int64_t offset = offsets[g];
    VI32 column[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      column[v] = LoadB(b + v * kVectorBytes);
      RULERUN_PIN(column[v]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const VI32 row = BroadcastA(a[r] + offset);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        sum[r][v] = MultiplyAdd(row, column[v], sum[r][v]);
        RULERUN_PIN(sum[r][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sum[r][v], DI32(), sums + (r * kVectors + v) * static_cast<int>(kLanes));
    }
  }
}

using TileFunction = void (*)(const void* const*, const int64_t*, int64_t, const int8_t*, int32_t*);

template <int kVectors>
TileFunction TileForRows(int64_t rows) {
  if (rows == 1) return Tile<1, kVectors>;
  if (rows == 2) return Tile<2, kVectors>;
  if constexpr (kMaxRows > 4) {
    if (rows > 4) return Tile<6, kVectors>;
  }
  return Tile<4, kVectors>;
}

// The smallest tile that covers rows x vectors.
TileFunction ChooseTile(int64_t rows, int64_t vectors) {
  if (vectors == 1) return TileForRows<1>(rows);
  if constexpr (kMaxVectors > 2) {
    if (vectors == 3) return TileForRows<3>(rows);
    if (vectors == 4) return TileForRows<4>(rows);
  }
  return TileForRows<2>(rows);
}

// Rows [first, first + kMaxRows) of a block, the last one repeated.
struct TileRows {
  TileRows(const GemmBlock& block, int64_t first) : count(std::min<int64_t>(kMaxRows, block.row_count - first)) {
    for (int64_t r = 0; r < kMaxRows; ++r) start[r] = block.rows[first + std::min(r, count - 1)];
  }
  int64_t count;
  const void* start[kMaxRows];
};

void SumRows(const GemmBlock& block, int32_t* row_sums) {
  HWY_ALIGN int32_t sums[static_cast<size_t>(kMaxRows) * kLanes];
  for (int64_t first = 0; first < block.row_count; first += kMaxRows) {
    const TileRows rows(block, first);
    ChooseTile(rows.count, 1)(rows.start, block.offsets, block.b->groups(), block.b->ones(), sums);
    for (int64_t r = 0; r < rows.count; ++r) row_sums[first + r] = sums[static_cast<size_t>(r) * kLanes];
  }
}

void Multiply(const GemmBlock& block) {
  const PackedMatrix& b = *block.b;
  const Epilogue& epilogue = *block.epilogue;
  int32_t row_sums[kMaxBlockRows] = {};
  if (epilogue.b_zero != nullptr) SumRows(block, row_sums);

  HWY_ALIGN int32_t sums[static_cast<size_t>(kMaxRows * kMaxVectors) * kLanes];
  const int64_t panel_columns = b.code().panel_columns;
  const auto lanes = static_cast<int64_t>(kLanes);
  const auto bytes = static_cast<int64_t>(epilogue.ElementBytes());
  for (int64_t panel = block.first_panel; panel < block.end_panel; ++panel) {
    const int64_t n = panel * panel_columns;
    const int64_t columns = std::min(panel_columns, b.columns() - n);
    const int64_t vectors = (columns + lanes - 1) / lanes;
    auto* out = static_cast<uint8_t*>(block.out) + (panel - block.first_panel) * panel_columns * bytes;
    for (int64_t first = 0; first < block.row_count; first += kMaxRows) {
      const TileRows rows(block, first);
      ChooseTile(rows.count, vectors)(rows.start, block.offsets, b.groups(), b.Panel(panel), sums);
      for (int64_t r = 0; r < rows.count; ++r) {
        const int64_t row = first + r;
        FinishRow(epilogue, sums + r * vectors * lanes, block.first_row + row, row_sums[row], n, columns,
                  out + row * block.out_stride * bytes);
      }
    }
  }
}

void Convert(const uint8_t* from, int64_t count, bool flip, void* to) {
  const uint8_t mask = flip ? 0x80 : 0;
  auto* out = static_cast<Element*>(to);
  const hn::ScalableTag<Element> de;
  const hn::Rebind<uint8_t, decltype(de)> d8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(de));
  const auto mask_vector = hn::Set(d8, mask);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto bytes = hn::Xor(hn::LoadU(d8, from + i), mask_vector);
#if RULERUN_BYTE_DOTS
    hn::StoreU(bytes, de, out + i);
#else
    hn::StoreU(hn::PromoteTo(de, bytes), de, out + i);
#endif
  }
  for (; i < count; ++i) out[i] = static_cast<Element>(from[i] ^ mask);
}

using D16 = hn::FixedTag<uint8_t, 16>;
using V16 = hn::Vec<D16>;

// Interleaving a list of 16 rows with itself, 8 apart, four times transposes it.
HWY_INLINE void Transpose16(V16 (&rows)[16]) {
  const D16 d;
#pragma GCC unroll 4
  for (int step = 0; step < 4; ++step) {
    V16 next[16];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      next[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + 8]);
      next[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + 8]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) rows[i] = next[i];
  }
}

void TransposeTile(const uint8_t* from, int64_t from_stride, int64_t rows, int64_t columns, uint8_t* to,
                   int64_t to_stride) {
  const D16 d;
  V16 tile[16];
  if (rows >= 16 && columns >= 16) {
#pragma GCC unroll 16
    for (int r = 0; r < 16; ++r) tile[r] = hn::LoadU(d, from + r * from_stride);
    Transpose16(tile);
#pragma GCC unroll 16
    for (int c = 0; c < 16; ++c) hn::StoreU(tile[c], d, to + c * to_stride);
    return;
  }
  for (int r = 0; r < 16; ++r) {
    tile[r] = r < rows ? hn::LoadN(d, from + r * from_stride, static_cast<size_t>(columns)) : hn::Zero(d);
  }
  Transpose16(tile);
  const int64_t filled = std::min<int64_t>(16, columns);
  for (int64_t c = 0; c < filled; ++c) {
    hn::StoreN(tile[c], d, to + c * to_stride, static_cast<size_t>(rows));
  }
}

void Transpose(const uint8_t* from, int64_t from_stride, int64_t rows, int64_t columns, uint8_t* to,
               int64_t to_stride) {
  for (int64_t r = 0; r < rows; r += 16) {
    for (int64_t c = 0; c < columns; c += 16) {
      TransposeTile(from + r * from_stride + c, from_stride, rows - r, columns - c, to + c * to_stride + r, to_stride);
    }
  }
}

const GemmCode* Code() {
  static constexpr GemmCode kCode = {sizeof(Element),
                                     kGroup,
                                     static_cast<int64_t>(kLanes),
                                     static_cast<int64_t>(kLanes) * kMaxVectors,
                                     kMaxRows,
                                     Convert,
                                     Multiply,
                                     Transpose};
  return &kCode;
}

}  // namespace HWY_NAMESPACE
}  // namespace rulerun::int8
HWY_AFTER_NAMESPACE();

#undef RULERUN_PIN
#undef RULERUN_BYTE_DOTS

#if HWY_ONCE
namespace rulerun::int8 {

HWY_EXPORT(Code);

const GemmCode& CurrentGemmCode() { return *HWY_DYNAMIC_DISPATCH(Code)(); }

}  // namespace rulerun::int8
#endif  // HWY_ONCE
