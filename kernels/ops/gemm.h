// Matrix products of floats, in the order of ONNX Runtime's (that is, MLAS's) code for x86, so that results are equal
// bit for bit: every element is a sum in ascending k with fused multiply-adds, in blocks of k that are then added up.
// The same on every target and for every number of threads.
#ifndef RULERUN_KERNELS_OPS_GEMM_H_
#define RULERUN_KERNELS_OPS_GEMM_H_

#include <cstdint>
#include <memory>

#include "kernels/thread_pool.h"

namespace rulerun {

inline constexpr int64_t kGemmPanel = 32;   // columns of B that are packed together
inline constexpr int64_t kGemmDepth = 256;  // k of one block where B is constant (MLAS packs it)

struct GemmOrder {
  int64_t depth_block = kGemmDepth;
  // A single row is summed up in groups of four products, at the end of two and one, nothing fused.
  bool row_by_fours = false;
};
// The order where B is not constant. MLAS chooses the depth so that blocks of B have about the same size, unless it has
// to transpose A, too.
GemmOrder UnpackedOrder(int64_t depth, int64_t columns, bool trans_a = false);

// A strided matrix that is only read: element (i, j) is at data[i * row_step + j * column_step].
struct MatrixView {
  const float* data = nullptr;
  int64_t row_step = 0;
  int64_t column_step = 1;
};

// B (depth x columns) as panels: [columns / kGemmPanel][depth][kGemmPanel], the last one filled up with zeros.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  PackedMatrix(int64_t depth, int64_t columns);

  int64_t depth() const { return depth_; }
  int64_t columns() const { return columns_; }
  int64_t panels() const { return (columns_ + kGemmPanel - 1) / kGemmPanel; }
  float* panel(int64_t index) { return data_.get() + index * depth_ * kGemmPanel; }
  const float* panel(int64_t index) const { return data_.get() + index * depth_ * kGemmPanel; }
  bool allocated() const { return data_ != nullptr; }  // false where memory was short

  void Pack(const MatrixView& b, ThreadPool* pool);

 private:
  int64_t depth_ = 0;
  int64_t columns_ = 0;
  std::shared_ptr<float> data_;
};

// Elements from row-major A (rows x depth, rows a_step apart) times panels that stand behind each other at `packed`:
// c[row * c_step + column] for `columns` columns. `add`: on top of what c holds.
void GemmPanels(const float* a, int64_t a_step, int64_t rows, const float* packed, int64_t depth, int64_t columns,
                float* c, int64_t c_step, const GemmOrder& order = {}, bool add = false);

// C = A * B, or C += A * B, on every thread.
void Gemm(const float* a, int64_t a_step, int64_t rows, const PackedMatrix& b, float* c, int64_t c_step,
          ThreadPool& pool, const GemmOrder& order = {}, bool add = false);

// c[j] = a . row j of B, or c[j] += it, with rows of B `b_step` apart: the order where either factor of a product is a
// single vector and the other one's rows lie along it. Eight partial sums, nothing fused.
void GemmDots(const float* a, const float* b, int64_t b_step, int64_t rows, int64_t depth, float* c, bool add = false);

// y[i] += w * x[i * x_step], unfused: one tap of a depthwise convolution over a row.
void AddScaled(float w, const float* x, int64_t x_step, float* y, int64_t count);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_GEMM_H_
