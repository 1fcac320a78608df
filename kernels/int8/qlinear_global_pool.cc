// QLinearGlobalAveragePool (com.microsoft).
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "kernels/int8/global_pool.h"
#include "kernels/int8/params.h"
#include "kernels/kernel.h"

namespace rulerun {
namespace int8 {
namespace {

constexpr int64_t kGrain = 16384;  // elements worth a chunk of their own

template <typename T>
void SumPlane(const T* x, int64_t pixels, int32_t* sum) {
  uint32_t total = 0;
  for (int64_t i = 0; i < pixels; ++i) total += static_cast<uint32_t>(static_cast<int32_t>(x[i]));
  *sum = static_cast<int32_t>(total);
}

// Channels [0, count) of a channels-last image.
template <typename T>
void SumPixels(const T* x, int64_t pixels, int64_t channels, int64_t count, int32_t* sums) {
  std::fill_n(sums, count, 0);
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t c = 0; c < count; ++c) sums[c] = WrapAdd(sums[c], x[p * channels + c]);
  }
}

template <typename T>
void Run(ThreadPool& pool, const Tensor& x, int64_t channels, bool channels_last, Quantization from, float multiplier,
         int32_t y_zero_point, T* y) {
  const int64_t planes = x.dims()[0] * channels;
  const int64_t pixels = x.count() / std::max<int64_t>(planes, 1);
  const auto offset = WrapMul(static_cast<int32_t>(pixels), from.zero_point);
  const Limits limits = EightBit(sizeof(T) == 1 && static_cast<T>(-1) < 0);
  const T* in = x.data<T>();
  const auto finish = [=](int32_t sum) {
    return static_cast<T>(Requantize(WrapSub(sum, offset), multiplier, y_zero_point, limits));
  };
  pool.ParallelFor(planes, std::max<int64_t>(1, kGrain / std::max<int64_t>(pixels, 1)),
                   [&](int64_t begin, int64_t end) {
                     if (!channels_last) {
                       for (int64_t plane = begin; plane < end; ++plane) {
                         int32_t sum = 0;
                         SumPlane(in + plane * pixels, pixels, &sum);
                         y[plane] = finish(sum);
                       }
                       return;
                     }
                     std::vector<int32_t> sums(static_cast<size_t>(std::min(channels, end - begin)));
                     for (int64_t plane = begin; plane < end;) {
                       const int64_t n = plane / channels;
                       const int64_t c = plane % channels;
                       const int64_t count = std::min(channels - c, end - plane);
                       SumPixels(in + n * pixels * channels + c, pixels, channels, count, sums.data());
                       for (int64_t i = 0; i < count; ++i) y[plane + i] = finish(sums[static_cast<size_t>(i)]);
                       plane += count;
                     }
                   });
}

}  // namespace

Status RunGlobalAveragePool(KernelContext& context, const Tensor& x, Quantization from, Quantization to,
                            bool channels_last, std::string_view op) {
  if (x.rank() < 3) return OpError(op, "X" + ToText(x.dims()) + " must have at least 3 axes");
  const auto rank = x.dims().size();
  const int64_t channels = channels_last ? x.dims().back() : x.dims()[1];
  Dims dims(rank, 1);
  dims[0] = x.dims()[0];
  dims[channels_last ? rank - 1 : 1] = channels;
  const int64_t pixels = ElementCount(std::span(x.dims()).subspan(channels_last ? 1 : 2, rank - 2)).value_or(0);
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x.type(), dims));
  if (y->count() == 0) return {};
  if (pixels == 0) return OpError(op, "X" + ToText(x.dims()) + " has no pixels to average");
  const float multiplier = from.scale / (to.scale * static_cast<float>(pixels));
  if (pixels >= (int64_t{1} << 24) || !(multiplier >= 0x1p-32f && multiplier < 256.0f)) {
    return OpError(op, "cannot average " + std::to_string(pixels) + " pixels with the scales " +
                           std::to_string(from.scale) + " and " + std::to_string(to.scale) +
                           ": the multiplier is outside [2^-32, 256), or there are 2^24 pixels or more");
  }
  if (x.type() == DataType::kInt8) {
    Run(context.pool(), x, channels, channels_last, from, multiplier, to.zero_point, y->mutable_data<int8_t>());
  } else {
    Run(context.pool(), x, channels, channels_last, from, multiplier, to.zero_point, y->mutable_data<uint8_t>());
  }
  return {};
}

namespace {

class QLinearGlobalAveragePool : public Kernel {
 public:
  explicit QLinearGlobalAveragePool(bool channels_last) : channels_last_(channels_last) {}

  Status Run(KernelContext& context) const override {
    constexpr std::string_view kOp = "QLinearGlobalAveragePool";
    RULERUN_ASSIGN(const Tensor* x, EightBitInput(context, 0, kOp, "X"));
    RULERUN_ASSIGN(const Quantization from, ReadQuantization(context, 1, x->type(), kOp, "x"));
    RULERUN_ASSIGN(const Quantization to, ReadQuantization(context, 3, x->type(), kOp, "y"));
    return RunGlobalAveragePool(context, *x, from, to, channels_last_, kOp);
  }

 private:
  bool channels_last_;
};

Result<std::unique_ptr<Kernel>> Make(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(
      std::make_unique<QLinearGlobalAveragePool>(IntOr(*request.attributes, "channels_last", 0) != 0));
}

}  // namespace
}  // namespace int8

void Register_int8_qlinear_global_pool(KernelRegistry& registry) {
  const auto& e = int8::kEightBitTypes;
  const auto& f = int8::kFloatOnly;
  registry.Add({"QLinearGlobalAveragePool", "com.microsoft", 1, 1, {e, f, e, f, e}, int8::Make});
}

}  // namespace rulerun
