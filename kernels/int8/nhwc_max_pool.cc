// NhwcMaxPool (com.microsoft): the maximum of the elements inside each window; none inside gives the type's minimum.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "kernels/int8/params.h"
#include "kernels/int8/pool_shape.h"
#include "kernels/int8/rows.h"
#include "kernels/kernel.h"

namespace rulerun {
namespace int8 {
namespace {

constexpr std::string_view kOp = "NhwcMaxPool";
constexpr int64_t kGrain = 16384;  // window elements worth a chunk of their own

class NhwcMaxPool : public Kernel {
 public:
  explicit NhwcMaxPool(WindowAttributes attributes) : attributes_(std::move(attributes)) {}

  Status Run(KernelContext& context) const override {
    RULERUN_ASSIGN(const Tensor* x, EightBitInput(context, 0, kOp, "x"));
    RULERUN_ASSIGN(const PoolShape shape, ResolvePool(attributes_, x->dims(), true, kOp));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), shape.out));
    if (y->count() == 0) return {};
    const bool is_signed = x->type() == DataType::kInt8;
    const int64_t channels = shape.channels;
    const int64_t window = std::min(shape.Taps(), shape.InPixels());  // an upper bound of its elements inside
    const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, window * channels));
    uint8_t* out = y->mutable_data<uint8_t>();
    context.pool().ParallelFor(shape.batch * shape.OutPixels(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const uint8_t* image = x->data<uint8_t>() + row / shape.OutPixels() * shape.InPixels() * channels;
        uint8_t* to = out + row * channels;
        std::memset(to, is_signed ? 0x80 : 0, static_cast<size_t>(channels));
        const PoolRange range(shape, row % shape.OutPixels());
        range.ForEachPixel(shape, [&](int64_t pixel) { MaxRow(image + pixel * channels, channels, is_signed, to); });
      }
    });
    return {};
  }

 private:
  WindowAttributes attributes_;
};

Result<std::unique_ptr<Kernel>> Make(const KernelRequest& request) {
  RULERUN_ASSIGN(WindowAttributes window, ReadWindowAttributes(*request.attributes));
  return std::unique_ptr<Kernel>(std::make_unique<NhwcMaxPool>(std::move(window)));
}

}  // namespace
}  // namespace int8

void Register_int8_nhwc_max_pool(KernelRegistry& registry) {
  registry.Add({"NhwcMaxPool", "com.microsoft", 1, 1, {int8::kEightBitTypes}, int8::Make});
}

}  // namespace rulerun
