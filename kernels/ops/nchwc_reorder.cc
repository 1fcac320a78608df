// ReorderInput and ReorderOutput of com.microsoft.nchwc: between plain or channels-last data and blocks of channels.
#include <algorithm>

#include "kernels/ops/nchwc.h"
#include "kernels/ops/op.h"

namespace rulerun {
namespace {

constexpr int64_t kGrain = 16384;  // elements that are worth a thread

struct Sizes {
  int64_t batch, channels, blocks, pixels;
};

// One block of one image, from or to plain memory: element (pixel, channel) is at
// plain[pixel * pixel_step + channel * channel_step].
struct Plain {
  int64_t pixel_step, channel_step;
};

Plain PlainSteps(const Sizes& sizes, bool channels_last) {
  return channels_last ? Plain{sizes.channels, 1} : Plain{1, sizes.pixels};
}

// f(plain offset of the block, blocked offset, channels that are there) for every block of every image.
template <typename F>
void ForEachBlock(const Sizes& sizes, const Plain& steps, int64_t block, ThreadPool& pool, F f) {
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, sizes.pixels * block));
  pool.ParallelFor(sizes.batch * sizes.blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t first = item % sizes.blocks * block;
      const int64_t image = item / sizes.blocks * sizes.channels * sizes.pixels;
      f(image + first * steps.channel_step, item * sizes.pixels * block, std::min(block, sizes.channels - first));
    }
  });
}

Status ReorderInput(int64_t block, bool channels_last, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, NchwcInput(context, 0, block, false));
  Dims dims = x->dims();
  if (channels_last) std::rotate(dims.begin() + 1, dims.begin() + 3, dims.end());
  const Sizes sizes = {dims[0], dims[1], (dims[1] + block - 1) / block, dims[2] * dims[3]};
  dims[1] = sizes.blocks * block;
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, dims));
  const float* from = x->data<float>();
  float* to = y->mutable_data<float>();
  const Plain steps = PlainSteps(sizes, channels_last);
  ForEachBlock(sizes, steps, block, context.pool(), [&](int64_t plain, int64_t blocked, int64_t count) {
    for (int64_t p = 0; p < sizes.pixels; ++p) {
      const float* source = from + plain + p * steps.pixel_step;
      float* target = to + blocked + p * block;
      for (int64_t c = 0; c < count; ++c) target[c] = source[c * steps.channel_step];
      std::fill(target + count, target + block, 0.0f);
    }
  });
  return {};
}

Status ReorderOutput(int64_t block, int64_t channels, bool channels_last, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, NchwcInput(context, 0, block));
  Dims dims = x->dims();
  const Sizes sizes = {dims[0], channels, dims[1] / block, dims[2] * dims[3]};
  if (channels > dims[1] || dims[1] - channels >= block) {
    return Invalid(std::to_string(channels) + " channels do not fit an input of shape " + DimsText(dims));
  }
  dims[1] = channels;
  if (channels_last) std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, dims));
  const float* from = x->data<float>();
  float* to = y->mutable_data<float>();
  const Plain steps = PlainSteps(sizes, channels_last);
  ForEachBlock(sizes, steps, block, context.pool(), [&](int64_t plain, int64_t blocked, int64_t count) {
    if (channels_last) {
      for (int64_t p = 0; p < sizes.pixels; ++p) {
        const float* source = from + blocked + p * block;
        std::copy(source, source + count, to + plain + p * steps.pixel_step);
      }
      return;
    }
    for (int64_t c = 0; c < count; ++c) {
      const float* source = from + blocked + c;
      float* target = to + plain + c * steps.channel_step;
      for (int64_t p = 0; p < sizes.pixels; ++p) target[p] = source[p * block];
    }
  });
  return {};
}

Result<std::unique_ptr<Kernel>> MakeReorderInput(const KernelRequest& request) {
  RULERUN_ASSIGN(const int64_t block, ChannelBlock(request));
  const bool channels_last = IntOr(*request.attributes, "channels_last", 0) != 0;
  return MakeKernel([=](KernelContext& context) { return ReorderInput(block, channels_last, context); });
}

Result<std::unique_ptr<Kernel>> MakeReorderOutput(const KernelRequest& request) {
  RULERUN_ASSIGN(const int64_t block, ChannelBlock(request));
  const bool channels_last = IntOr(*request.attributes, "channels_last", 0) != 0;
  const int64_t channels = IntOr(*request.attributes, "channels", 0);
  if (channels < 1) return Invalid("channels must be positive");
  return MakeKernel([=](KernelContext& context) { return ReorderOutput(block, channels, channels_last, context); });
}

}  // namespace

Result<int64_t> ChannelBlock(const KernelRequest& request) {
  if (request.channel_block == 8 || request.channel_block == 16) return int64_t{request.channel_block};
  if (request.channel_block != 0) {
    return Unsupported("blocks of " + std::to_string(request.channel_block) +
                       " channels; those of 8 and 16 have a kernel");
  }
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("avx512f") != 0 ? int64_t{16} : int64_t{8};
#else
  return int64_t{16};
#endif
}

Result<const Tensor*> NchwcInput(const KernelContext& context, size_t slot, int64_t block, bool blocked) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, slot));
  if (x->rank() != 4) return Invalid("input " + std::to_string(slot) + " has shape " + DimsText(x->dims()));
  if (blocked && x->dims()[1] % block != 0) {
    return Invalid(std::to_string(x->dims()[1]) + " channels are no whole number of blocks of " +
                   std::to_string(block));
  }
  return x;
}

void Register_ops_nchwc_reorder(KernelRegistry& registry) {
  AddOp(registry, "ReorderInput", {}, {{DataType::kFloat}}, MakeReorderInput, kNchwc);
  AddOp(registry, "ReorderOutput", {}, {{DataType::kFloat}}, MakeReorderOutput, kNchwc);
}

}  // namespace rulerun
