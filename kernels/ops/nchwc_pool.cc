// The pools of com.microsoft.nchwc: whole blocks of channels at a time.
#include <algorithm>
#include <array>
#include <limits>

#include "kernels/geometry.h"
#include "kernels/ops/nchwc.h"
#include "kernels/ops/op.h"

namespace rulerun {
namespace {

constexpr int64_t kGrain = 16384;  // elements read that are worth a thread

enum class PoolKind { kMax, kAverage, kAverageWithPadding };

// Pools one plane of blocks.
template <PoolKind kKind, int64_t kBlock>
void PoolPlane(const Window& height, const Window& across, const float* x, float* y) {
  constexpr float kStart = kKind == PoolKind::kMax ? -std::numeric_limits<float>::infinity() : 0.0f;
  for (int64_t h = 0; h < height.out; ++h) {
    const int64_t h0 = height.Start(h), top = height.FirstInside(h0);
    const int64_t bottom = std::max(top, height.EndInside(h0));
    for (int64_t w = 0; w < across.out; ++w, y += kBlock) {
      const int64_t w0 = across.Start(w), left = across.FirstInside(w0);
      const int64_t right = std::max(left, across.EndInside(w0));
      std::array<float, kBlock> result;
      result.fill(kStart);
      for (int64_t kh = top; kh < bottom; ++kh) {
        for (int64_t kw = left; kw < right; ++kw) {
          const float* from = x + ((h0 + kh * height.dilation) * across.in + w0 + kw * across.dilation) * kBlock;
          for (size_t c = 0; c < kBlock; ++c) {
            if constexpr (kKind == PoolKind::kMax) {
              result[c] = from[c] > result[c] ? from[c] : result[c];
            } else {
              result[c] += from[c];
            }
          }
        }
      }
      if constexpr (kKind != PoolKind::kMax) {
        const int64_t count =
            kKind == PoolKind::kAverage ? (bottom - top) * (right - left) : height.kernel * across.kernel;
        for (float& value : result) value /= static_cast<float>(count);
      }
      std::copy(result.begin(), result.end(), y);
    }
  }
}

struct Pool {
  int64_t block = 0;
  PoolKind kind = PoolKind::kMax;
  bool global = false;
  WindowAttributes window;
};

template <PoolKind kKind>
void PoolPlanes(const Pool& pool, const Window& height, const Window& across, int64_t planes, const float* x, float* y,
                ThreadPool& threads) {
  const int64_t work = height.out * across.out * height.kernel * across.kernel * pool.block;
  threads.ParallelFor(
      planes, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, work)), [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
          const float* from = x + p * height.in * across.in * pool.block;
          float* to = y + p * height.out * across.out * pool.block;
          WithBlock(pool.block,
                    [&](auto block) { PoolPlane<kKind, decltype(block)::value>(height, across, from, to); });
        }
      });
}

Status RunPool(const Pool& pool, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, NchwcInput(context, 0, pool.block));
  const Dims& in = x->dims();
  WindowAttributes attributes = pool.window;
  if (pool.global) attributes.kernel = {in[2], in[3]};
  if (attributes.kernel.empty()) return Invalid("kernel_shape is missing");
  RULERUN_ASSIGN(const std::vector<Window> windows, ResolveWindows(attributes, std::span(in).subspan(2)));
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, OutputDims({in[0], in[1]}, windows)));
  if (y->count() == 0) return {};
  const int64_t planes = in[0] * in[1] / pool.block;
  const float* from = x->data<float>();
  float* to = y->mutable_data<float>();
  switch (pool.kind) {
    case PoolKind::kMax:
      PoolPlanes<PoolKind::kMax>(pool, windows[0], windows[1], planes, from, to, context.pool());
      break;
    case PoolKind::kAverage:
      PoolPlanes<PoolKind::kAverage>(pool, windows[0], windows[1], planes, from, to, context.pool());
      break;
    case PoolKind::kAverageWithPadding:
      PoolPlanes<PoolKind::kAverageWithPadding>(pool, windows[0], windows[1], planes, from, to, context.pool());
      break;
  }
  return {};
}

KernelFactory MakePool(PoolKind kind, bool global) {
  return [=](const KernelRequest& request) -> Result<std::unique_ptr<Kernel>> {
    Pool pool;
    pool.kind = kind;
    pool.global = global;
    RULERUN_ASSIGN(pool.block, ChannelBlock(request));
    if (!global) {
      RULERUN_ASSIGN(pool.window, ReadWindowAttributes(*request.attributes));
    }
    if (kind == PoolKind::kAverage && IntOr(*request.attributes, "count_include_pad", 0) != 0) {
      pool.kind = PoolKind::kAverageWithPadding;
    }
    return MakeKernel([pool](KernelContext& context) { return RunPool(pool, context); });
  };
}

}  // namespace

void Register_ops_nchwc_pool(KernelRegistry& registry) {
  const std::vector<Types> floats = {{DataType::kFloat}};
  AddOp(registry, "MaxPool", {}, floats, MakePool(PoolKind::kMax, false), kNchwc);
  AddOp(registry, "AveragePool", {}, floats, MakePool(PoolKind::kAverage, false), kNchwc);
  AddOp(registry, "GlobalMaxPool", {}, floats, MakePool(PoolKind::kMax, true), kNchwc);
  AddOp(registry, "GlobalAveragePool", {}, floats, MakePool(PoolKind::kAverage, true), kNchwc);
}

}  // namespace rulerun
