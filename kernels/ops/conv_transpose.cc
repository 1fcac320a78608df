// ConvTranspose: a matrix product gives each input element's contribution to each tap, which is then added up in place.
#include <algorithm>
#include <array>

#include "engine/base/codes.h"
#include "kernels/buffer.h"
#include "kernels/geometry.h"
#include "kernels/ops/gemm.h"
#include "kernels/ops/op.h"

namespace rulerun {
namespace {

struct Attributes {
  WindowAttributes window;
  std::vector<int64_t> output_padding, output_shape;
  int64_t group = 1;
};

struct Job {
  std::array<Window, 3> axes;  // in: the output's axes; out: the input's
  int64_t group = 1;
  int64_t in_channels = 0, out_channels = 0;  // of one group
  int64_t in_size = 1, out_size = 1, taps = 1;
};

// Adds the contributions of one tap, one row of the input after another, to one channel of the output.
void AddTap(const Job& job, const float* contribution, int64_t kd, int64_t kh, int64_t kw, float* y) {
  const auto& [depth, height, across] = job.axes;
  const int64_t start = kw * across.dilation - across.pad_begin;
  const int64_t first = start >= 0 ? 0 : (-start + across.stride - 1) / across.stride;
  const int64_t room = across.in - start;
  const int64_t last = room <= 0 ? 0 : std::min(across.out, (room + across.stride - 1) / across.stride);
  for (int64_t d = 0; d < depth.out; ++d) {
    for (int64_t h = 0; h < height.out; ++h, contribution += across.out) {
      const int64_t y_d = depth.Start(d) + kd * depth.dilation;
      const int64_t y_h = height.Start(h) + kh * height.dilation;
      if (y_d < 0 || y_d >= depth.in || y_h < 0 || y_h >= height.in) continue;
      float* row = y + (y_d * height.in + y_h) * across.in;
      for (int64_t i = first; i < last; ++i) row[start + i * across.stride] += contribution[i];
    }
  }
}

// One batch entry and group. `w`: one row of in_channels weights per output channel and tap.
Status RunImage(const Job& job, const float* x, const float* w, float* contributions, const float* bias, float* y,
                ThreadPool& pool) {
  PackedMatrix input(job.in_channels, job.in_size);
  if (!input.allocated()) return Error{Code::kNoMemory, "no memory left to pack the input", "", ""};
  input.Pack({x, job.in_size, 1}, &pool);
  Gemm(w, job.in_channels, job.out_channels * job.taps, input, contributions, job.in_size, pool);
  const auto& axes = job.axes;
  pool.ParallelFor(job.out_channels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t m = begin; m < end; ++m) {
      float* channel = y + m * job.out_size;
      std::fill(channel, channel + job.out_size, 0.0f);
      const float* contribution = contributions + m * job.taps * job.in_size;
      for (int64_t kd = 0; kd < axes[0].kernel; ++kd) {
        for (int64_t kh = 0; kh < axes[1].kernel; ++kh) {
          for (int64_t kw = 0; kw < axes[2].kernel; ++kw, contribution += job.in_size) {
            AddTap(job, contribution, kd, kh, kw, channel);
          }
        }
      }
      if (bias == nullptr) continue;
      for (int64_t i = 0; i < job.out_size; ++i) channel[i] += bias[m];
    }
  });
  return {};
}

// W[in channel, out channel, taps...] as [group][out channel and tap][in channel of the group].
std::vector<float> TransposedWeights(const Job& job, const float* w) {
  const int64_t rows = job.out_channels * job.taps;
  std::vector<float> all(static_cast<size_t>(job.group * rows * job.in_channels));
  float* to = all.data();
  for (int64_t g = 0; g < job.group; ++g) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t c = 0; c < job.in_channels; ++c) *to++ = w[(g * job.in_channels + c) * rows + row];
    }
  }
  return all;
}

Result<Job> MakeJob(const Attributes& attributes, const Tensor& x, const Tensor& w) {
  if (x.rank() < 3 || x.rank() > 5 || w.rank() != x.rank()) {
    return Unsupported("a transposed convolution of shape " + DimsText(x.dims()) + " by " + DimsText(w.dims()) +
                       "; one to three spatial axes have a kernel");
  }
  Job job;
  job.group = attributes.group;
  if (job.group < 1 || x.dims()[1] != w.dims()[0] || w.dims()[0] % job.group != 0) {
    return Invalid("weights of shape " + DimsText(w.dims()) + " in " + std::to_string(job.group) +
                   " groups do not fit an input of shape " + DimsText(x.dims()));
  }
  RULERUN_ASSIGN(
      const std::vector<Window> windows,
      ResolveTransposedWindows(attributes.window, std::span(x.dims()).subspan(2), std::span(w.dims()).subspan(2),
                               attributes.output_padding, attributes.output_shape));
  job.axes.fill({1, 1, 1, 1, 1, 0, 0});
  std::copy(windows.begin(), windows.end(), job.axes.end() - static_cast<std::ptrdiff_t>(windows.size()));
  job.in_channels = w.dims()[0] / job.group;
  job.out_channels = w.dims()[1];
  for (const Window& window : job.axes) job.taps *= window.kernel;
  job.in_size = Product(x.dims(), 2, x.rank());
  return job;
}

Status RunConvTranspose(const Attributes& attributes, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* w, Required(context, 1));
  RULERUN_ASSIGN(Job job, MakeJob(attributes, *x, *w));
  const Tensor* bias = context.Input(2);
  const int64_t channels = job.group * job.out_channels;
  if (bias != nullptr && bias->count() != channels) return Invalid("the bias does not have one value per channel");
  Dims dims = {x->dims()[0], channels};
  for (size_t i = 5 - static_cast<size_t>(x->rank()); i < 3; ++i) dims.push_back(job.axes[i].in);
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, dims));
  if (y->count() == 0) return {};
  job.out_size = Product(y->dims(), 2, y->rank());
  const Dims scratch_dims = {job.out_channels, job.taps, job.in_size};
  RULERUN_ASSIGN(Tensor scratch, AllocateTensor(DataType::kFloat, scratch_dims));
  const std::vector<float> weights = TransposedWeights(job, w->data<float>());
  for (int64_t image = 0; image < x->dims()[0] * job.group; ++image) {
    const int64_t group = image % job.group;
    const float* bias_data = bias == nullptr ? nullptr : bias->data<float>() + group * job.out_channels;
    RULERUN_RETURN_IF_ERROR(
        RunImage(job, x->data<float>() + image * job.in_channels * job.in_size,
                 weights.data() + group * job.out_channels * job.taps * job.in_channels, scratch.mutable_data<float>(),
                 bias_data, y->mutable_data<float>() + image * job.out_channels * job.out_size, context.pool()));
  }
  return {};
}

Result<std::unique_ptr<Kernel>> MakeConvTranspose(const KernelRequest& request) {
  Attributes attributes;
  RULERUN_ASSIGN(attributes.window, ReadWindowAttributes(*request.attributes));
  attributes.group = IntOr(*request.attributes, "group", 1);
  attributes.output_padding = IntsOr(*request.attributes, "output_padding", {});
  attributes.output_shape = IntsOr(*request.attributes, "output_shape", {});
  return MakeKernel([attributes](KernelContext& context) { return RunConvTranspose(attributes, context); });
}

}  // namespace

void Register_ops_conv_transpose(KernelRegistry& registry) {
  const Types floats = {DataType::kFloat};
  AddOp(registry, "ConvTranspose", {1, kLatest}, {floats, floats, floats}, MakeConvTranspose);
}

}  // namespace rulerun
