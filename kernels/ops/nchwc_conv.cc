// Conv of com.microsoft.nchwc. Sums run over the taps and the channels of one input block; these sums are then added up
// block by block, as ONNX Runtime does it. Pointwise convolutions take several blocks at a time.
#include <algorithm>

#include "kernels/ops/conv_attributes.h"
#include "kernels/ops/nchwc.h"
#include "kernels/ops/nchwc_row.h"
#include "kernels/ops/op.h"

namespace rulerun {
namespace {

constexpr int64_t kPointwiseChannels = 128;  // of the input, that are summed up at a time
constexpr int64_t kFilterBlocks = 4;         // output blocks that one thread works on at a time
constexpr int64_t kChunkFloats = 16384;      // outputs that stay in the cache from one input block to the next

struct Job {
  NchwcConvShape shape;
  int64_t batch = 0, group = 1;
  int64_t out_blocks = 1;  // of one group
  int64_t depth = 1;       // input blocks that are summed up at a time
  const float* x = nullptr;
  const float* w = nullptr;
  const float* bias = nullptr;
  float* y = nullptr;
  bool add = false;
};

bool IsPointwise(const NchwcConvShape& shape) {
  const auto plain = [](const Window& window) {
    return window.kernel == 1 && window.pad_begin == 0 && window.pad_end == 0;
  };
  return shape.inner > 1 && plain(shape.height) && plain(shape.across);
}

Result<Job> MakeJob(const ConvAttributes& attributes, int64_t block, const Tensor& x, const Tensor& w) {
  const int64_t channels = x.dims()[1], outputs = w.dims()[0], inputs = w.dims()[1];
  RULERUN_ASSIGN(const std::vector<Window> windows,
                 ResolveWindows(attributes.window, std::span(x.dims()).subspan(2), std::span(w.dims()).subspan(2)));
  Job job;
  job.batch = x.dims()[0];
  job.group = attributes.group;
  NchwcConvShape& shape = job.shape;
  shape.height = windows[0];
  shape.across = windows[1];
  shape.block = block;
  shape.depthwise = inputs == 1 && outputs == job.group && channels == job.group;
  bool fits = job.group > 0 && inputs * job.group == channels && outputs % job.group == 0;
  if (shape.depthwise) {
    fits = fits && outputs % block == 0;
    job.group = outputs / block;
    shape.pixel = block;
    shape.inner = 1;
  } else if (inputs < block) {
    shape.pixel = shape.inner = 1;
    shape.in_blocks = inputs;
  } else {
    fits = fits && inputs % block == 0;
    shape.pixel = shape.inner = block;
    shape.in_blocks = inputs / block;
  }
  if (!fits || outputs / job.group % block != 0) {
    return Invalid("weights of shape " + DimsText(w.dims()) + " in " + std::to_string(attributes.group) +
                   " groups do not fit an input of shape " + DimsText(x.dims()) + " with blocks of " +
                   std::to_string(block) + " channels");
  }
  job.out_blocks = outputs / job.group / block;
  shape.in_step = shape.height.in * shape.across.in * shape.pixel;
  shape.out_step = shape.height.out * shape.across.out * block;
  if (IsPointwise(shape)) job.depth = kPointwiseChannels / block;
  return job;
}

// Output rows [first, end) of up to kFilterBlocks blocks of outputs, `block` the first in the group.
void RunRows(const Job& job, const Activation& activation, int64_t image_group, int64_t block, int64_t first,
             int64_t end) {
  const NchwcConvShape& shape = job.shape;
  const int64_t row_floats = shape.across.out * shape.block;
  const int64_t filters = image_group % job.group * job.out_blocks + block;
  float* y = job.y + (image_group * job.out_blocks + block) * shape.out_step;
  NchwcConvRow row;
  row.out_blocks = std::min(kFilterBlocks, job.out_blocks - block);
  for (int64_t b = 0; b < shape.in_blocks; b += job.depth) {
    row.in_blocks = std::min(job.depth, shape.in_blocks - b);
    row.x = job.x + (image_group * shape.in_blocks + b) * shape.in_step;
    row.w = job.w + (filters * shape.in_blocks + b) * shape.filter_step();
    row.add = job.add || b > 0;
    const bool last = b + row.in_blocks == shape.in_blocks;
    row.bias = last && job.bias != nullptr ? job.bias + filters * shape.block : nullptr;
    for (row.row = first; row.row < end; ++row.row) {
      row.y = y + row.row * row_floats;
      RunNchwcConvRow(shape, row);
    }
  }
  if (activation.none()) return;
  for (int64_t f = 0; f < row.out_blocks; ++f) {
    activation.Apply(y + f * shape.out_step + first * row_floats, (end - first) * row_floats);
  }
}

void RunJob(const Job& job, const Activation& activation, ThreadPool& pool) {
  const NchwcConvShape& shape = job.shape;
  const int64_t sets = (job.out_blocks + kFilterBlocks - 1) / kFilterBlocks;
  const int64_t row_floats = shape.across.out * shape.block * std::min(kFilterBlocks, job.out_blocks);
  const int64_t rows = std::clamp<int64_t>(kChunkFloats / row_floats, 1, shape.height.out);
  const int64_t chunks = (shape.height.out + rows - 1) / rows;
  const int64_t work = rows * row_floats * shape.in_blocks * shape.inner * shape.height.kernel * shape.across.kernel;
  const int64_t grain = std::max<int64_t>(1, 100000 / std::max<int64_t>(1, work));
  pool.ParallelFor(job.batch * job.group * sets * chunks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t first = item % chunks * rows;
      RunRows(job, activation, item / chunks / sets, item / chunks % sets * kFilterBlocks, first,
              std::min(first + rows, shape.height.out));
    }
  });
}

Status RunConv(const ConvAttributes& attributes, int64_t block, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, NchwcInput(context, 0, block, false));
  RULERUN_ASSIGN(const Tensor* w, NchwcInput(context, 1, block, false));
  RULERUN_ASSIGN(Job job, MakeJob(attributes, block, *x, *w));
  const Tensor* bias = context.Input(2);
  if (bias != nullptr && bias->count() != w->dims()[0]) return Invalid("the bias does not have one value per channel");
  const Dims dims = {x->dims()[0], w->dims()[0], job.shape.height.out, job.shape.across.out};
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, dims));
  const Tensor* sum = context.Input(3);
  if (sum != nullptr && sum->dims() != dims) return Invalid("the summand has another shape than the output");
  if (y->count() == 0) return {};
  job.x = x->data<float>();
  job.w = w->data<float>();
  job.bias = bias == nullptr ? nullptr : bias->data<float>();
  job.y = y->mutable_data<float>();
  job.add = sum != nullptr;
  if (sum != nullptr) std::copy(sum->data<float>(), sum->data<float>() + sum->count(), job.y);
  RunJob(job, attributes.activation, context.pool());
  return {};
}

Result<std::unique_ptr<Kernel>> MakeConv(const KernelRequest& request) {
  RULERUN_ASSIGN(const int64_t block, ChannelBlock(request));
  RULERUN_ASSIGN(const ConvAttributes attributes, ReadConvAttributes(*request.attributes));
  return MakeKernel([=](KernelContext& context) { return RunConv(attributes, block, context); });
}

}  // namespace

void Register_ops_nchwc_conv(KernelRegistry& registry) {
  const Types floats = {DataType::kFloat};
  AddOp(registry, "Conv", {}, {floats, floats, floats, floats}, MakeConv, kNchwc);
}

}  // namespace rulerun
