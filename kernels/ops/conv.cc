// Conv and com.microsoft.FusedConv over one to three spatial axes: patches of the input are packed into the panels of
// a matrix product, tile by tile; a convolution of single channels (depthwise) goes row by row instead.
#include <algorithm>
#include <array>
#include <atomic>

#include "engine/base/codes.h"
#include "kernels/buffer.h"
#include "kernels/ops/conv_attributes.h"
#include "kernels/ops/gemm.h"
#include "kernels/ops/op.h"

namespace rulerun {
namespace {

constexpr int64_t kTileFloats = 131072;  // packed patches that one thread works on at a time: fits its L2 cache
constexpr int64_t kMaxTilePanels = 16;

// One run of a convolution; 1-D and 2-D ones have leading axes of size 1.
struct Job {
  std::array<Window, 3> axes;
  int64_t batch = 0, group = 1;
  int64_t in_channels = 0, out_channels = 0;    // of one group
  int64_t in_size = 0, out_size = 0, taps = 1;  // spatial
  const float* x = nullptr;
  const float* w = nullptr;
  const float* bias = nullptr;
  const float* z = nullptr;  // added before the bias
  float* y = nullptr;

  int64_t depth() const { return in_channels * taps; }
};

// A run of output positions in one row.
struct Segment {
  int64_t column, d, h, w, length;
};

// One row of patches: x[start + j * stride] for j in [0, length), zero outside [0, size).
void CopyPadded(const float* row, int64_t size, int64_t start, int64_t stride, int64_t length, float* to) {
  const int64_t first = start >= 0 ? 0 : std::min(length, (-start + stride - 1) / stride);
  const int64_t room = size - start;
  const int64_t last = room <= 0 ? first : std::max(first, std::min(length, (room + stride - 1) / stride));
  std::fill(to, to + first, 0.0f);
  if (stride == 1) {
    std::copy(row + start + first, row + start + last, to + first);
  } else {
    for (int64_t j = first; j < last; ++j) to[j] = row[start + j * stride];
  }
  std::fill(to + last, to + length, 0.0f);
}

// Fills one panel with the patches of output positions [position, position + width).
void PackPanel(const Job& job, const float* x, int64_t position, int64_t width, float* to) {
  const auto& [depth, height, across] = job.axes;
  std::array<Segment, kGemmPanel> segments;
  size_t count = 0;
  for (int64_t column = 0; column < width;) {
    const int64_t row = (position + column) / across.out;
    const int64_t w = (position + column) % across.out;
    const int64_t length = std::min(width - column, across.out - w);
    segments[count++] = {column, row / height.out, row % height.out, w, length};
    column += length;
  }
  for (int64_t c = 0; c < job.in_channels; ++c, x += job.in_size) {
    for (int64_t kd = 0; kd < depth.kernel; ++kd) {
      for (int64_t kh = 0; kh < height.kernel; ++kh) {
        for (int64_t kw = 0; kw < across.kernel; ++kw, to += kGemmPanel) {
          for (size_t s = 0; s < count; ++s) {
            const Segment& segment = segments[s];
            float* target = to + segment.column;
            const int64_t d = depth.Start(segment.d) + kd * depth.dilation;
            const int64_t h = height.Start(segment.h) + kh * height.dilation;
            if (d < 0 || d >= depth.in || h < 0 || h >= height.in) {
              std::fill(target, target + segment.length, 0.0f);
              continue;
            }
            CopyPadded(x + (d * height.in + h) * across.in, across.in, across.Start(segment.w) + kw * across.dilation,
                       across.stride, segment.length, target);
          }
          std::fill(to + width, to + kGemmPanel, 0.0f);
        }
      }
    }
  }
}

// z, bias and activation on `count` outputs of one channel.
void Finish(const Job& job, const Activation& activation, int64_t channel, int64_t offset, int64_t count) {
  float* y = job.y + offset;
  if (job.z != nullptr) {
    for (int64_t i = 0; i < count; ++i) y[i] += job.z[offset + i];
  }
  if (job.bias != nullptr) {
    const float bias = job.bias[channel];
    for (int64_t i = 0; i < count; ++i) y[i] += bias;
  }
  activation.Apply(y, count);
}

Status RunTiles(const Job& job, const Activation& activation, ThreadPool& pool) {
  const int64_t panel_floats = job.depth() * kGemmPanel;
  const GemmOrder order = UnpackedOrder(job.depth(), job.out_size);
  const int64_t panels = (job.out_size + kGemmPanel - 1) / kGemmPanel;
  const int64_t share = (panels + pool.threads() - 1) / pool.threads();
  const int64_t tile =
      std::clamp<int64_t>(std::min(kTileFloats / std::max<int64_t>(panel_floats, 1), share), 1, kMaxTilePanels);
  const int64_t tiles = (panels + tile - 1) / tile;
  const int64_t grain = std::max<int64_t>(1, 100000 / std::max<int64_t>(1, tile * panel_floats * job.out_channels));
  std::atomic<bool> short_of_memory = false;
  pool.ParallelFor(job.batch * job.group * tiles, grain, [&](int64_t begin, int64_t end) {
    const auto buffer = AllocateBuffer(static_cast<size_t>(tile * panel_floats) * sizeof(float) + 1);
    if (buffer == nullptr) {
      short_of_memory = true;
      return;
    }
    auto* packed = reinterpret_cast<float*>(const_cast<std::byte*>(buffer.get()));  // NOLINT
    for (int64_t item = begin; item < end; ++item) {
      const int64_t group = item / tiles % job.group;
      const int64_t image_group = item / tiles;  // counts groups over the whole batch
      const int64_t first = item % tiles * tile * kGemmPanel;
      const int64_t columns = std::min(tile * kGemmPanel, job.out_size - first);
      const float* x = job.x + image_group * job.in_channels * job.in_size;
      for (int64_t column = 0; column < columns; column += kGemmPanel) {
        PackPanel(job, x, first + column, std::min(kGemmPanel, columns - column), packed + column * job.depth());
      }
      const int64_t offset = image_group * job.out_channels * job.out_size + first;
      GemmPanels(job.w + group * job.out_channels * job.depth(), job.depth(), job.out_channels, packed, job.depth(),
                 columns, job.y + offset, job.out_size, order);
      for (int64_t m = 0; m < job.out_channels; ++m) {
        Finish(job, activation, group * job.out_channels + m, offset + m * job.out_size, columns);
      }
    }
  });
  if (short_of_memory) return Error{Code::kNoMemory, "no memory left to pack the input", "", ""};
  return {};
}

// The kernel is as wide as the input, which MLAS multiplies as it lies in memory.
bool TakesWholeRows(const Job& job) {
  const auto plain = [](const Window& window) {
    return window.stride == 1 && window.dilation == 1 && window.pad_begin == 0 && window.pad_end == 0;
  };
  const Window& across = job.axes[2];
  return job.in_channels == 1 && job.taps > 1 && across.kernel == across.in &&
         std::all_of(job.axes.begin(), job.axes.end(), plain);
}

// What the only output pixel sees, zeros where it looks beyond the input.
void ReadPatch(const Job& job, const float* x, float* to) {
  const auto& [depth, height, across] = job.axes;
  for (int64_t c = 0; c < job.in_channels; ++c, x += job.in_size) {
    for (int64_t tap = 0; tap < job.taps; ++tap) {
      const int64_t d = tap / (height.kernel * across.kernel) * depth.dilation - depth.pad_begin;
      const int64_t h = tap / across.kernel % height.kernel * height.dilation - height.pad_begin;
      const int64_t w = tap % across.kernel * across.dilation - across.pad_begin;
      const bool inside = d >= 0 && d < depth.in && h >= 0 && h < height.in && w >= 0 && w < across.in;
      *to++ = inside ? x[(d * height.in + h) * across.in + w] : 0.0f;
    }
  }
}

// A single output pixel: MLAS takes the filters as the rows of a product with a vector.
void RunOnePixel(const Job& job, const Activation& activation, ThreadPool& pool) {
  const int64_t grain = std::max<int64_t>(1, 65536 / std::max<int64_t>(1, job.out_channels * job.depth()));
  pool.ParallelFor(job.batch * job.group, grain, [&](int64_t begin, int64_t end) {
    std::vector<float> patch(static_cast<size_t>(job.depth()));
    for (int64_t item = begin; item < end; ++item) {
      ReadPatch(job, job.x + item * job.in_channels * job.in_size, patch.data());
      const int64_t first = item % job.group * job.out_channels;
      GemmDots(patch.data(), job.w + first * job.depth(), job.depth(), job.out_channels, job.depth(),
               job.y + item * job.out_channels);
      for (int64_t m = 0; m < job.out_channels; ++m) {
        Finish(job, activation, first + m, item * job.out_channels + m, 1);
      }
    }
  });
}

// Adds tap (kd, kh, kw) of one channel to a row of outputs.
void AddTap(const Job& job, const float* x, std::array<int64_t, 3> tap, float weight, int64_t d_out, int64_t h_out,
            float* y) {
  const auto& [depth, height, across] = job.axes;
  const int64_t d = depth.Start(d_out) + tap[0] * depth.dilation, h = height.Start(h_out) + tap[1] * height.dilation;
  if (d < 0 || d >= depth.in || h < 0 || h >= height.in) return;
  const int64_t start = tap[2] * across.dilation - across.pad_begin;
  const int64_t first = start >= 0 ? 0 : (-start + across.stride - 1) / across.stride;
  const int64_t room = across.in - start;
  const int64_t last = room <= 0 ? 0 : std::min(across.out, (room + across.stride - 1) / across.stride);
  if (first >= last) return;
  const float* row = x + (d * height.in + h) * across.in;
  AddScaled(weight, row + start + first * across.stride, across.stride, y + first, last - first);
}

// One output row of a single-channel convolution. Taps are added up in groups, in `group`, and then to the row: the
// order of a product with one row (GemmOrder::row_by_fours).
void DepthwiseRow(const Job& job, const float* x, const float* w, int64_t d_out, int64_t h_out,
                  std::vector<float>& group, float* y) {
  const auto& [depth, height, across] = job.axes;
  std::fill(y, y + across.out, 0.0f);
  for (int64_t first = 0; first < job.taps;) {
    const int64_t left = job.taps - first, size = left >= 4 ? 4 : left >= 2 ? 2 : 1;
    if (size > 1) std::fill(group.begin(), group.end(), 0.0f);
    for (int64_t k = first; k < first + size; ++k) {
      const std::array<int64_t, 3> tap = {k / (height.kernel * across.kernel), k / across.kernel % height.kernel,
                                          k % across.kernel};
      AddTap(job, x, tap, w[k], d_out, h_out, size > 1 ? group.data() : y);
    }
    for (size_t i = 0; size > 1 && i < group.size(); ++i) y[i] += group[i];
    first += size;
  }
}

void RunDepthwise(const Job& job, const Activation& activation, ThreadPool& pool) {
  const bool whole_rows = TakesWholeRows(job);
  const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, job.out_size * job.taps));
  pool.ParallelFor(job.batch * job.group, grain, [&](int64_t begin, int64_t end) {
    std::vector<float> taps(static_cast<size_t>(job.axes[2].out));
    for (int64_t item = begin; item < end; ++item) {
      const int64_t m = item % job.group;
      const float* x = job.x + item * job.in_size;
      float* y = job.y + item * job.out_size;
      if (whole_rows) GemmDots(job.w + m * job.taps, x, job.axes[2].in, job.out_size, job.taps, y);
      for (int64_t d = 0; !whole_rows && d < job.axes[0].out; ++d) {
        for (int64_t h = 0; h < job.axes[1].out; ++h, y += job.axes[2].out) {
          DepthwiseRow(job, x, job.w + m * job.taps, d, h, taps, y);
        }
      }
      Finish(job, activation, m, item * job.out_size, job.out_size);
    }
  });
}

Result<Job> MakeJob(const ConvAttributes& attributes, const Tensor& x, const Tensor& w) {
  if (x.rank() < 3 || x.rank() > 5 || w.rank() != x.rank()) {
    return Unsupported("a convolution of shape " + DimsText(x.dims()) + " by " + DimsText(w.dims()) +
                       "; one to three spatial axes have a kernel");
  }
  const auto spatial = std::span(x.dims()).subspan(2);
  RULERUN_ASSIGN(const std::vector<Window> windows,
                 ResolveWindows(attributes.window, spatial, std::span(w.dims()).subspan(2)));
  Job job;
  job.group = attributes.group;
  if (job.group < 1 || x.dims()[1] != w.dims()[1] * job.group || w.dims()[0] % job.group != 0) {
    return Invalid("weights of shape " + DimsText(w.dims()) + " in " + std::to_string(job.group) +
                   " groups do not fit an input of shape " + DimsText(x.dims()));
  }
  job.axes.fill({1, 1, 1, 1, 1, 0, 0});
  std::copy(windows.begin(), windows.end(), job.axes.end() - static_cast<std::ptrdiff_t>(windows.size()));
  job.batch = x.dims()[0];
  job.in_channels = w.dims()[1];
  job.out_channels = w.dims()[0] / job.group;
  job.in_size = job.out_size = 1;
  for (const Window& window : job.axes) {
    job.in_size *= window.in;
    job.taps *= window.kernel;
  }
  return job;
}

Status RunConv(const ConvAttributes& attributes, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* w, Required(context, 1));
  RULERUN_ASSIGN(Job job, MakeJob(attributes, *x, *w));
  const Tensor* bias = context.Input(2);
  if (bias != nullptr && bias->count() != w->dims()[0]) return Invalid("the bias does not have one value per channel");
  Dims dims = {x->dims()[0], w->dims()[0]};
  dims = OutputDims(std::move(dims), std::span(job.axes).last(static_cast<size_t>(x->rank() - 2)));
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, dims));
  const Tensor* z = context.Input(3);
  if (z != nullptr && z->dims() != y->dims()) return Invalid("the summand has another shape than the output");
  if (y->count() == 0) return {};
  job.out_size = Product(y->dims(), 2, y->rank());
  job.x = x->data<float>();
  job.w = w->data<float>();
  job.bias = bias == nullptr ? nullptr : bias->data<float>();
  job.z = z == nullptr ? nullptr : z->data<float>();
  job.y = y->mutable_data<float>();
  if (job.in_channels == 1 && job.out_channels == 1) {
    RunDepthwise(job, attributes.activation, context.pool());
    return {};
  }
  if (job.out_size == 1 && job.out_channels > 1 && !TakesWholeRows(job)) {
    RunOnePixel(job, attributes.activation, context.pool());
    return {};
  }
  return RunTiles(job, attributes.activation, context.pool());
}

Result<std::unique_ptr<Kernel>> MakeConv(const KernelRequest& request) {
  RULERUN_ASSIGN(const ConvAttributes attributes, ReadConvAttributes(*request.attributes));
  return MakeKernel([attributes](KernelContext& context) { return RunConv(attributes, context); });
}

}  // namespace

void Register_ops_conv(KernelRegistry& registry) {
  const Types floats = {DataType::kFloat};
  AddOp(registry, "Conv", {1, kLatest}, {floats, floats, floats}, MakeConv);
  AddOp(registry, "FusedConv", {1, kLatest}, {floats, floats, floats, floats}, MakeConv, kMicrosoft);
}

}  // namespace rulerun
