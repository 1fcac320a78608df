// QLinearAveragePool (com.microsoft): averages in float, the zero point added before rounding.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/int8/global_pool.h"
#include "kernels/int8/params.h"
#include "kernels/int8/pool_shape.h"
#include "kernels/kernel.h"

namespace rulerun {
namespace int8 {
namespace {

constexpr std::string_view kOp = "QLinearAveragePool";
constexpr int64_t kGrain = 4096;  // window elements worth a chunk of their own
enum Slot : size_t { kX, kXScale, kXZero, kYScale, kYZero };

// A window over the whole image, without padding.
bool IsGlobal(const PoolShape& shape) {
  return std::all_of(shape.axes.begin(), shape.axes.end(), [](const Window& axis) {
    return axis.kernel == axis.in && axis.pad_begin == 0 && axis.pad_end == 0;
  });
}

class QLinearAveragePool : public Kernel {
 public:
  QLinearAveragePool(WindowAttributes attributes, bool count_include_pad, bool channels_last)
      : attributes_(std::move(attributes)), count_include_pad_(count_include_pad), channels_last_(channels_last) {}

  Status Run(KernelContext& context) const override {
    RULERUN_ASSIGN(const Tensor* x, EightBitInput(context, kX, kOp, "X"));
    RULERUN_ASSIGN(const Quantization from, ReadQuantization(context, kXScale, x->type(), kOp, "x"));
    RULERUN_ASSIGN(const Quantization to, ReadQuantization(context, kYScale, x->type(), kOp, "y"));
    RULERUN_ASSIGN(const PoolShape shape, ResolvePool(attributes_, x->dims(), channels_last_, kOp));
    if (IsGlobal(shape)) return RunGlobalAveragePool(context, *x, from, to, channels_last_, kOp);
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), shape.out));
    if (y->count() == 0) return {};

    Work work{shape, to, EightBit(x->type() == DataType::kInt8), {}};
    for (int byte = 0; byte < 256; ++byte) {
      const int value = work.limits.lo < 0 ? static_cast<int8_t>(byte) : byte;
      work.real[static_cast<size_t>(byte)] = from.scale * static_cast<float>(value - from.zero_point);
    }
    const uint8_t* in = x->data<uint8_t>();
    uint8_t* out = y->mutable_data<uint8_t>();
    const int64_t window = std::min<int64_t>(shape.Taps(), shape.InPixels());  // an upper bound of its elements inside
    if (channels_last_) {
      const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, window * shape.channels));
      context.pool().ParallelFor(shape.batch * shape.OutPixels(), grain, [&](int64_t begin, int64_t end) {
        std::vector<float> sums(static_cast<size_t>(shape.channels));
        for (int64_t row = begin; row < end; ++row) RunPixel(work, row, in, sums, out);
      });
    } else {
      const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, window * shape.OutPixels()));
      context.pool().ParallelFor(shape.batch * shape.channels, grain, [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) {
          RunPlane(work, in + plane * shape.InPixels(), out + plane * shape.OutPixels());
        }
      });
    }
    return {};
  }

 private:
  struct Work {
    const PoolShape& shape;
    Quantization to;
    Limits limits;
    std::array<float, 256> real;  // by the raw byte
  };

  uint8_t Finish(const Work& work, float sum, const PoolRange& range) const {
    const float average = sum / static_cast<float>(count_include_pad_ ? work.shape.Taps() : range.Count());
    const float shifted = average / work.to.scale + static_cast<float>(work.to.zero_point);
    return static_cast<uint8_t>(RoundAndSaturate(shifted, work.limits));
  }

  // One channel of a channels-first image.
  void RunPlane(const Work& work, const uint8_t* x, uint8_t* y) const {
    for (int64_t pixel = 0; pixel < work.shape.OutPixels(); ++pixel) {
      const PoolRange range(work.shape, pixel);
      float sum = 0;
      range.ForEachPixel(work.shape, [&](int64_t from) { sum += work.real[x[from]]; });
      y[pixel] = Finish(work, sum, range);
    }
  }

  // All channels of output pixel `row`, counted through the batch, of channels-last images.
  void RunPixel(const Work& work, int64_t row, const uint8_t* x, std::vector<float>& sums, uint8_t* y) const {
    const PoolShape& shape = work.shape;
    const PoolRange range(shape, row % shape.OutPixels());
    const uint8_t* image = x + row / shape.OutPixels() * shape.channels * shape.InPixels();
    std::fill(sums.begin(), sums.end(), 0.0f);
    range.ForEachPixel(shape, [&](int64_t from) {
      const uint8_t* in = image + from * shape.channels;
      for (size_t c = 0; c < sums.size(); ++c) sums[c] += work.real[in[c]];
    });
    uint8_t* out = y + row * shape.channels;
    for (size_t c = 0; c < sums.size(); ++c) out[c] = Finish(work, sums[c], range);
  }

  WindowAttributes attributes_;
  bool count_include_pad_;
  bool channels_last_;
};

Result<std::unique_ptr<Kernel>> Make(const KernelRequest& request) {
  RULERUN_ASSIGN(WindowAttributes window, ReadWindowAttributes(*request.attributes));
  window.dilations.clear();
  return std::unique_ptr<Kernel>(
      std::make_unique<QLinearAveragePool>(std::move(window), IntOr(*request.attributes, "count_include_pad", 0) != 0,
                                           IntOr(*request.attributes, "channels_last", 0) != 0));
}

}  // namespace
}  // namespace int8

void Register_int8_qlinear_average_pool(KernelRegistry& registry) {
  const auto& e = int8::kEightBitTypes;
  const auto& f = int8::kFloatOnly;
  registry.Add({"QLinearAveragePool", "com.microsoft", 1, 1, {e, f, e, f, e}, int8::Make});
}

}  // namespace rulerun
