// Exact 8-bit matrix products: A [M, K] times B [K, N], any mix of uint8 and int8, sums in int32 that wrap, and what
// happens to the sums fused behind. Convolutions use the same code: their rows of A are not contiguous.
//
// Both sides are brought to one form: A as uint8 and B as int8, by flipping the highest bit of the other kind, which
// moves the values and their zero points by 128 (Shifted below). Zero points are then corrected for in the sums:
//   sum (a - za)(b - zb) = sum a b  -  za sum b  -  zb sum a  +  K za zb.
// B is packed once for the SIMD target in use. The target also decides how A is held: as it is, where the CPU has byte
// dot products (VNNI), else widened to int16, so that no pair of products can saturate.
#ifndef RULERUN_KERNELS_INT8_GEMM_H_
#define RULERUN_KERNELS_INT8_GEMM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/tensor.h"
#include "kernels/int8/arithmetic.h"
#include "kernels/thread_pool.h"

namespace rulerun::int8 {

// The zero point of values of a type after the move to the common form.
inline int32_t ShiftedA(bool is_signed, int32_t zero_point) { return is_signed ? zero_point + 128 : zero_point; }
inline int32_t ShiftedB(bool is_signed, int32_t zero_point) { return is_signed ? zero_point : zero_point - 128; }

// What becomes of the int32 sums. Arrays have one entry per column of B.
struct Epilogue {
  enum class Kind {
    kInt32,       // y = sum
    kRequantize,  // y = Requantize(sum, multiplier, zero_point, limits) as an 8-bit type
    kFloat,       // y = float(sum) * multiplier, then + float_bias: two roundings
  };
  Kind kind = Kind::kInt32;
  const int32_t* column_offset = nullptr;  // added to the sums: zero point corrections and biases
  const int32_t* b_zero = nullptr;         // ShiftedB; nullptr: all 0
  const float* multiplier = nullptr;
  const float* float_bias = nullptr;  // may be nullptr
  int32_t zero_point = 0;
  Limits limits;
  // A matrix that is added to the sums, or nullptr: element (row, column) at row * addend_row + column * addend_column.
  const int32_t* addend = nullptr;
  int64_t addend_row = 0;
  int64_t addend_column = 0;

  size_t ElementBytes() const { return kind == Kind::kRequantize ? 1 : 4; }
};

class PackedMatrix;

// A piece of a product: some rows by some panels of columns.
struct GemmBlock {
  const PackedMatrix* b = nullptr;
  const void* const* rows = nullptr;  // where each row of A starts, in the target's form
  const int64_t* offsets = nullptr;   // per group of B: how many elements of A's form behind the row's start
  int64_t row_count = 0;              // at most kMaxBlockRows
  int64_t first_row = 0;              // number of the first row, for Epilogue::addend
  int64_t first_panel = 0;
  int64_t end_panel = 0;
  const Epilogue* epilogue = nullptr;
  void* out = nullptr;     // the first row's element in the first column of first_panel
  int64_t out_stride = 0;  // elements from row to row
};
inline constexpr int64_t kMaxBlockRows = 96;

// The code of one SIMD target.
struct GemmCode {
  int64_t element_bytes;  // of A's form: 1 (uint8) or 2 (int16)
  int64_t group;          // neighbours in K that are multiplied at once
  int64_t lanes;          // int32 lanes of a vector
  int64_t panel_columns;  // of a full panel: a multiple of lanes
  int64_t tile_rows;
  // to = from as A's form; `flip`: from is int8.
  void (*convert)(const uint8_t* from, int64_t count, bool flip, void* to);
  void (*multiply)(const GemmBlock& block);
  // to[c * to_stride + r] = from[r * from_stride + c], strides and elements in bytes.
  void (*transpose)(const uint8_t* from, int64_t from_stride, int64_t rows, int64_t columns, uint8_t* to,
                    int64_t to_stride);
};
const GemmCode& CurrentGemmCode();

// B as the caller has it: element (k, n) at data[k_offsets[k] + n * column_stride].
struct MatrixSource {
  const uint8_t* data = nullptr;
  bool is_signed = false;
  std::span<const int64_t> k_offsets;
  int64_t columns = 0;
  int64_t column_stride = 1;
};

// B in the layout of a target. K is a sequence of runs that are contiguous in A; each run is padded to whole groups.
// Layout: panels of panel_columns columns (the last one: as many vectors as it needs); in a panel, group after group;
// in a group, column after column its `group` bytes. Padding is 0.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  // `runs`: lengths, which add up to the number of k_offsets. kSystem error where memory does not suffice.
  static Result<PackedMatrix> Pack(const GemmCode& code, const MatrixSource& source, std::span<const int64_t> runs);
  // The matrix of a plain product, [K, N] or (transposed) [N, K], all of K one run.
  static Result<PackedMatrix> Pack(const GemmCode& code, const uint8_t* data, bool is_signed, int64_t k, int64_t n,
                                   bool transposed);

  bool empty() const { return code_ == nullptr; }
  const GemmCode& code() const { return *code_; }
  int64_t k() const { return k_; }
  int64_t columns() const { return columns_; }
  int64_t groups() const { return groups_; }
  int64_t panels() const { return (columns_ + code_->panel_columns - 1) / code_->panel_columns; }
  const int8_t* Panel(int64_t panel) const {
    return reinterpret_cast<const int8_t*>(data_.get()) + panel * groups_ * code_->panel_columns * code_->group;
  }
  // One vector of columns that adds up A's elements: the sums of rows that B's zero points need.
  const int8_t* ones() const { return reinterpret_cast<const int8_t*>(ones_.get()); }
  // The groups' offsets in A where rows of A are contiguous (one run).
  const std::vector<int64_t>& offsets() const { return offsets_; }
  // Where the groups of runs that start at `starts` (elements of A) are.
  std::vector<int64_t> OffsetsOfRuns(std::span<const int64_t> starts) const;

  // Epilogue::column_offset for zero points in the common form: -za sum b + K za zb, plus bias (may be empty).
  std::vector<int32_t> ColumnOffsets(int32_t a_zero, std::span<const int32_t> b_zero,
                                     std::span<const int32_t> bias) const;

 private:
  const GemmCode* code_ = nullptr;
  int64_t k_ = 0;
  int64_t columns_ = 0;
  int64_t groups_ = 0;
  std::vector<int64_t> runs_;
  std::vector<int64_t> offsets_;
  std::vector<int32_t> column_sums_;
  std::shared_ptr<const std::byte> data_;
  std::shared_ptr<const std::byte> ones_;
};

// One product of Gemm: A is row-major 8 bit, rows `a_stride` elements apart.
struct GemmJob {
  const uint8_t* a = nullptr;
  const PackedMatrix* b = nullptr;
  const Epilogue* epilogue = nullptr;
  void* out = nullptr;  // row-major, [rows, columns of b]
  int64_t rows = 0;
};

// Runs the jobs, split over threads. All A have K columns and lie row behind row.
void Gemm(ThreadPool& pool, std::span<const GemmJob> jobs, bool a_is_signed);

// Memory of the calling thread that lives until it asks for more (of the same `slot`) or ends; 64-byte aligned.
std::byte* Scratch(size_t slot, size_t bytes);

}  // namespace rulerun::int8

#endif  // RULERUN_KERNELS_INT8_GEMM_H_
