// com.microsoft.MatMulNBits: a product with weights of 2, 4 or 8 bits, over floats or, at accuracy level 4, over
// activations that are rounded to 8 bits block by block.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "engine/base/codes.h"
#include "kernels/buffer.h"
#include "kernels/ops/gemm.h"
#include "kernels/ops/nbits_weights.h"
#include "kernels/ops/op.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ops/matmul_nbits.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"

#ifndef RULERUN_KERNELS_OPS_MATMUL_NBITS_ROWS_
#define RULERUN_KERNELS_OPS_MATMUL_NBITS_ROWS_
namespace rulerun {

// Rows of A as whole numbers, `depth` apart, with one scale per block.
struct QuantizedRows {
  int64_t rows = 0, depth = 0, block = 0;
  std::vector<int16_t> values;
  std::vector<float> scales;
};

}  // namespace rulerun
#endif  // RULERUN_KERNELS_OPS_MATMUL_NBITS_ROWS_

HWY_BEFORE_NAMESPACE();
namespace rulerun {
namespace HWY_NAMESPACE {

// y[row * y_step] += the products of all rows with one column.
void AddColumn(const QuantizedRows& a, const int16_t* b, const float* b_scales, float* y, int64_t y_step) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<int16_t, 16> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const int64_t blocks = a.depth / a.block;
  for (int64_t row = 0; row < a.rows; ++row) {
    const int16_t* values = a.values.data() + row * a.depth;
    const float* scales = a.scales.data() + row * blocks;
    float sum = 0;
    for (int64_t i = 0; i < blocks; ++i) {
      auto even = hn::Zero(wide), odd = hn::Zero(wide);
      for (int64_t k = i * a.block; k < (i + 1) * a.block; k += static_cast<int64_t>(hn::Lanes(d))) {
        even = hn::ReorderWidenMulAccumulate(wide, hn::LoadU(d, values + k), hn::LoadU(d, b + k), even, odd);
      }
      const int32_t dot = hn::ReduceSum(wide, hn::Add(even, odd));
      sum += scales[i] * b_scales[i] * static_cast<float>(dot);
    }
    y[row * y_step] += sum;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rulerun
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rulerun {
namespace {

HWY_EXPORT(AddColumn);

constexpr float kLargest = 127;

QuantizedRows QuantizeRows(const float* a, int64_t rows, const NBitsShape& shape, ThreadPool& pool) {
  QuantizedRows result;
  result.rows = rows;
  result.depth = shape.padded_depth();
  result.block = shape.block;
  result.values.resize(static_cast<size_t>(rows * result.depth));
  result.scales.resize(static_cast<size_t>(rows * shape.blocks()));
  pool.ParallelFor(rows, std::max<int64_t>(1, 16384 / shape.depth), [&](int64_t begin, int64_t end) {
    for (int64_t item = begin * shape.blocks(); item < end * shape.blocks(); ++item) {
      const int64_t row = item / shape.blocks(), first = item % shape.blocks() * shape.block;
      const float* from = a + row * shape.depth + first;
      const int64_t count = std::min(shape.block, shape.depth - first);
      float largest = 0;
      for (int64_t k = 0; k < count; ++k) largest = std::max(largest, std::abs(from[k]));
      result.scales[static_cast<size_t>(item)] = largest / kLargest;
      if (largest == 0) continue;
      const float inverse = kLargest / largest;
      int16_t* to = result.values.data() + row * result.depth + first;
      for (int64_t k = 0; k < count; ++k) to[k] = static_cast<int16_t>(std::nearbyint(from[k] * inverse));
    }
  });
  return result;
}

void RunInt8(const NBitsWeights& weights, const QuantizedRows& a, float* y, ThreadPool& pool) {
  const NBitsShape& shape = weights.shape;
  const int64_t grain = std::max<int64_t>(1, 65536 / std::max<int64_t>(1, a.rows * a.depth));
  pool.ParallelFor(shape.columns, grain, [&](int64_t begin, int64_t end) {
    std::vector<int16_t> column(static_cast<size_t>(a.depth));
    const auto add = HWY_DYNAMIC_POINTER(AddColumn);
    for (int64_t n = begin; n < end; ++n) {
      weights.Centre(n, column.data());
      add(a, column.data(), weights.scales + n * shape.blocks(), y + n, shape.columns);
    }
  });
}

Status RunFloat(const NBitsWeights& weights, const float* a, int64_t rows, float* y, ThreadPool& pool) {
  const NBitsShape& shape = weights.shape;
  GemmOrder order = UnpackedOrder(shape.depth, shape.columns);
  order.row_by_fours = false;
  if (shape.bits == 4) order.depth_block = shape.depth;
  std::atomic<bool> short_of_memory = false;
  pool.ParallelFor((shape.columns + kGemmPanel - 1) / kGemmPanel, 1, [&](int64_t begin, int64_t end) {
    PackedMatrix packed(shape.depth, kGemmPanel);
    if (!packed.allocated()) {
      short_of_memory = true;
      return;
    }
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t first = panel * kGemmPanel;
      const int64_t width = std::min(kGemmPanel, shape.columns - first);
      float* to = packed.panel(0);
      if (width < kGemmPanel) std::fill(to, to + shape.depth * kGemmPanel, 0.0f);
      for (int64_t n = 0; n < width; ++n) weights.Dequantize(first + n, to + n, kGemmPanel);
      GemmPanels(a, shape.depth, rows, to, shape.depth, width, y + first, shape.columns, order, true);
    }
  });
  if (short_of_memory) return Error{Code::kNoMemory, "no memory left to unpack the weights", "", ""};
  return {};
}

// Whether ONNX Runtime on x86 has code for 8-bit activations.
bool UsesInt8(const NBitsWeights& weights, int64_t accuracy_level) {
  if (accuracy_level != 4 || weights.float_zero_points != nullptr || weights.groups != nullptr) return false;
  return weights.shape.bits != 2 || (weights.shape.block >= 32 && weights.shape.block <= 128);
}

Status RunMatMul(const NBitsShape& shape, int64_t accuracy_level, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* a, Required(context, 0));
  if (a->rank() < 1 || a->dims().back() != shape.depth) {
    return Invalid("an input of shape " + DimsText(a->dims()) + " does not end in K, " + std::to_string(shape.depth));
  }
  RULERUN_ASSIGN(const NBitsWeights weights, NBitsWeights::Read(shape, context));
  const Tensor* bias = context.Input(5);
  if (bias != nullptr && bias->count() != shape.columns) return Invalid("the bias does not have N elements");
  Dims dims = a->dims();
  dims.back() = shape.columns;
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, dims));
  const int64_t rows = a->count() / shape.depth;
  float* to = y->mutable_data<float>();
  for (int64_t row = 0; row < rows; ++row) {
    float* start = to + row * shape.columns;
    if (bias == nullptr) {
      std::fill(start, start + shape.columns, 0.0f);
    } else {
      std::copy(bias->data<float>(), bias->data<float>() + shape.columns, start);
    }
  }
  if (rows == 0) return {};
  if (!UsesInt8(weights, accuracy_level)) return RunFloat(weights, a->data<float>(), rows, to, context.pool());
  RunInt8(weights, QuantizeRows(a->data<float>(), rows, shape, context.pool()), to, context.pool());
  return {};
}

Result<std::unique_ptr<Kernel>> MakeMatMul(const KernelRequest& request) {
  RULERUN_ASSIGN(const NBitsShape shape, ReadNBitsShape(*request.attributes));
  if (IntOr(*request.attributes, "weight_prepacked", 0) != 0) return Unsupported("prepacked weights have no kernel");
  const int64_t accuracy_level = IntOr(*request.attributes, "accuracy_level", 0);
  return MakeKernel([=](KernelContext& context) { return RunMatMul(shape, accuracy_level, context); });
}

}  // namespace

void Register_ops_matmul_nbits(KernelRegistry& registry) {
  const Types floats = {DataType::kFloat};
  AddOp(registry, "MatMulNBits", {},
        {floats, {DataType::kUint8}, floats, {DataType::kUint8, DataType::kFloat}, {DataType::kInt32}, floats},
        MakeMatMul, kMicrosoft);
}

}  // namespace rulerun
#endif  // HWY_ONCE
