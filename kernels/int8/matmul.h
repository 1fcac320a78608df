// What the matrix product operators have in common: numpy broadcasting, packing B, per-column parameters.
#ifndef RULERUN_KERNELS_INT8_MATMUL_H_
#define RULERUN_KERNELS_INT8_MATMUL_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "kernels/int8/gemm.h"
#include "kernels/kernel.h"

namespace rulerun::int8 {

// A product of stacks of matrices: numpy.matmul's rules.
struct MatMulShape {
  int64_t m = 0;
  int64_t k = 0;
  int64_t n = 0;
  Dims out;
  int64_t b_matrices = 1;
  // Per matrix of the output: which ones of A and B it comes from.
  std::vector<int64_t> a_index;
  std::vector<int64_t> b_index;

  bool empty() const { return a_index.empty(); }  // there is no output element
};
// To bound the memory of hostile shapes, get the output before anything else whose size depends on the shape.
Result<MatMulShape> ResolveMatMul(const Dims& a, const Dims& b, std::string_view op);

// One PackedMatrix per matrix of B, [..., K, N] or [K].
using PackedMatrices = std::vector<PackedMatrix>;
Result<PackedMatrices> PackMatrices(ThreadPool& pool, const Tensor& b);

// B packed at load, where it is constant.
Result<PackedMatrices> PackConstant(const KernelRequest& request, size_t slot);

// Scales or zero points of B: 1, N, or [..., 1, N] with one row per matrix; always returned as b_matrices * n.
Result<std::vector<float>> ReadColumnScales(const KernelContext& context, size_t slot, const MatMulShape& shape,
                                            std::string_view op);
Result<std::vector<int32_t>> ReadColumnZeroPoints(const KernelContext& context, size_t slot, DataType type,
                                                  const MatMulShape& shape, std::string_view op);

// The parameters of a product, and what becomes of it (see Epilogue).
struct MatMulFinish {
  int32_t a_zero_point = 0;
  std::span<const int32_t> b_zero_points;  // b_matrices * n
  std::span<const int32_t> bias;           // n, or empty
  Epilogue::Kind kind = Epilogue::Kind::kInt32;
  std::span<const float> multiplier;  // b_matrices * n, or empty
  const float* float_bias = nullptr;  // n, or nullptr
  int32_t y_zero_point = 0;
  Limits limits;
  const int32_t* addend = nullptr;  // see Epilogue
  int64_t addend_row = 0;
  int64_t addend_column = 0;
};
void RunMatMul(ThreadPool& pool, const MatMulShape& shape, const uint8_t* a, bool a_is_signed, const PackedMatrices& b,
               bool b_is_signed, const MatMulFinish& finish, void* out);

}  // namespace rulerun::int8

#endif  // RULERUN_KERNELS_INT8_MATMUL_H_
