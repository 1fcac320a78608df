// DeformConv: a convolution in two axes that reads its input between the pixels, at places that are an input.
#include <algorithm>
#include <atomic>
#include <cmath>

#include "engine/base/codes.h"
#include "kernels/geometry.h"
#include "kernels/ops/gemm.h"
#include "kernels/ops/op.h"

namespace rulerun {
namespace {

struct Attributes {
  WindowAttributes window;
  int64_t group = 1, offset_group = 1;
};

struct Job {
  Window height, width;
  int64_t batch = 0, channels = 0, outputs = 0;  // channels of the input and of the output
  int64_t group = 1, offset_group = 1;
  const float* x = nullptr;
  const float* w = nullptr;
  const float* offsets = nullptr;  // [batch, offset group, tap, 2 (down, right), out height, out width]
  const float* mask = nullptr;     // [batch, offset group, tap, out height, out width], or nullptr
  const float* bias = nullptr;

  int64_t taps() const { return height.kernel * width.kernel; }
  int64_t out_size() const { return height.out * width.out; }
  int64_t depth() const { return channels / group * taps(); }  // of the matrix product
};

// The value between four pixels; pixels outside the image are 0.
float Sample(const float* image, int64_t height, int64_t width, float y, float x) {
  if (!(y > -1 && y < static_cast<float>(height) && x > -1 && x < static_cast<float>(width))) return 0;
  const float top = std::floor(y), left = std::floor(x);
  const float down = y - top, right = x - left;
  const auto pixel = [&](int64_t row, int64_t column) {
    return row < 0 || row >= height || column < 0 || column >= width ? 0.0f : image[row * width + column];
  };
  const auto row = static_cast<int64_t>(top), column = static_cast<int64_t>(left);
  const float up = 1 - down, other = 1 - right;
  return up * other * pixel(row, column) + up * right * pixel(row, column + 1) + down * other * pixel(row + 1, column) +
         down * right * pixel(row + 1, column + 1);
}

// One row of the matrix of samples: a channel at one tap, for every output pixel.
void SampleRow(const Job& job, int64_t image, int64_t channel, int64_t tap, float* to) {
  const int64_t row = (image * job.offset_group + channel / (job.channels / job.offset_group)) * job.taps() + tap;
  const float* down = job.offsets + row * 2 * job.out_size();
  const float* right = down + job.out_size();
  const float* mask = job.mask == nullptr ? nullptr : job.mask + row * job.out_size();
  const float* x = job.x + (image * job.channels + channel) * job.height.in * job.width.in;
  const int64_t tap_down = tap / job.width.kernel * job.height.dilation - job.height.pad_begin;
  const int64_t tap_right = tap % job.width.kernel * job.width.dilation - job.width.pad_begin;
  for (int64_t i = 0; i < job.out_size(); ++i) {
    const int64_t base_down = i / job.width.out * job.height.stride + tap_down;
    const int64_t base_right = i % job.width.out * job.width.stride + tap_right;
    to[i] = Sample(x, job.height.in, job.width.in, static_cast<float>(base_down) + down[i],
                   static_cast<float>(base_right) + right[i]);
    if (mask != nullptr) to[i] *= mask[i];
  }
}

// false where memory is short.
bool RunGroup(const Job& job, int64_t image, int64_t group, float* y) {
  std::vector<float> samples(static_cast<size_t>(job.depth() * job.out_size()));
  for (int64_t row = 0; row < job.depth(); ++row) {
    SampleRow(job, image, group * (job.channels / job.group) + row / job.taps(), row % job.taps(),
              samples.data() + row * job.out_size());
  }
  PackedMatrix packed(job.depth(), job.out_size());
  if (!packed.allocated()) return false;
  packed.Pack({samples.data(), job.out_size(), 1}, nullptr);
  const int64_t outputs = job.outputs / job.group, first = group * outputs;
  float* to = y + (image * job.outputs + first) * job.out_size();
  GemmPanels(job.w + first * job.depth(), job.depth(), outputs, packed.panel(0), job.depth(), job.out_size(), to,
             job.out_size(), UnpackedOrder(job.depth(), job.out_size()));
  for (int64_t i = 0; job.bias != nullptr && i < outputs * job.out_size(); ++i) {
    to[i] += job.bias[first + i / job.out_size()];
  }
  return true;
}

Result<Job> MakeJob(const Attributes& attributes, const Tensor& x, const Tensor& w, const Tensor& offsets,
                    const Tensor* bias, const Tensor* mask) {
  if (x.rank() != 4 || w.rank() != 4) return Unsupported("only two spatial axes have a kernel");
  RULERUN_ASSIGN(const std::vector<Window> windows,
                 ResolveWindows(attributes.window, std::span(x.dims()).subspan(2), std::span(w.dims()).subspan(2)));
  Job job;
  job.height = windows[0];
  job.width = windows[1];
  job.batch = x.dims()[0];
  job.channels = x.dims()[1];
  job.outputs = w.dims()[0];
  job.group = attributes.group;
  job.offset_group = attributes.offset_group;
  const int64_t rows = job.offset_group * job.taps();
  const bool grouped = job.group > 0 && job.offset_group > 0 && w.dims()[1] * job.group == job.channels &&
                       job.outputs % job.group == 0 && job.channels % job.offset_group == 0;
  if (!grouped || offsets.dims() != Dims{job.batch, rows * 2, job.height.out, job.width.out} ||
      (mask != nullptr && mask->dims() != Dims{job.batch, rows, job.height.out, job.width.out}) ||
      (bias != nullptr && bias->dims() != Dims{job.outputs})) {
    return Invalid("weights, offsets, bias and mask do not fit each other and an input of shape " + DimsText(x.dims()));
  }
  job.x = x.data<float>();
  job.w = w.data<float>();
  job.offsets = offsets.data<float>();
  job.bias = bias == nullptr ? nullptr : bias->data<float>();
  job.mask = mask == nullptr ? nullptr : mask->data<float>();
  return job;
}

Status RunDeformConv(const Attributes& attributes, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* w, Required(context, 1));
  RULERUN_ASSIGN(const Tensor* offsets, Required(context, 2));
  RULERUN_ASSIGN(const Job job, MakeJob(attributes, *x, *w, *offsets, context.Input(3), context.Input(4)));
  RULERUN_ASSIGN(Tensor * y,
                 context.Output(0, DataType::kFloat, {job.batch, job.outputs, job.height.out, job.width.out}));
  if (y->count() == 0) return {};
  std::atomic<bool> failed = false;
  context.pool().ParallelFor(job.batch * job.group, 1, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      if (!RunGroup(job, item / job.group, item % job.group, y->mutable_data<float>())) failed = true;
    }
  });
  if (failed) return Error{Code::kNoMemory, "no memory left to pack the samples", "", ""};
  return {};
}

Result<std::unique_ptr<Kernel>> MakeDeformConv(const KernelRequest& request) {
  Attributes attributes;
  RULERUN_ASSIGN(attributes.window, ReadWindowAttributes(*request.attributes));
  attributes.group = IntOr(*request.attributes, "group", 1);
  attributes.offset_group = IntOr(*request.attributes, "offset_group", 1);
  return MakeKernel([attributes](KernelContext& context) { return RunDeformConv(attributes, context); });
}

}  // namespace

void Register_ops_deform_conv(KernelRegistry& registry) {
  const Types floats = {DataType::kFloat};
  AddOp(registry, "DeformConv", {}, {floats, floats, floats, floats, floats}, MakeDeformConv);
}

}  // namespace rulerun
