// DynamicQuantizeLinear.
#include <algorithm>
#include <memory>
#include <mutex>

#include "kernels/int8/dynamic_quantize.h"
#include "kernels/int8/params.h"
#include "kernels/int8/rows.h"
#include "kernels/kernel.h"

namespace rulerun {
namespace int8 {
namespace {

constexpr int64_t kGrain = 16384;  // elements worth a chunk of their own

}  // namespace

Quantization DynamicQuantization(ThreadPool& pool, const float* x, int64_t count) {
  float min = 0;
  float max = 0;
  std::mutex mutex;
  pool.ParallelFor(count, kGrain, [&](int64_t begin, int64_t end) {
    float low = 0;
    float high = 0;
    MinMaxRow(x + begin, end - begin, &low, &high);
    const std::lock_guard<std::mutex> lock(mutex);
    min = std::min(min, low);
    max = std::max(max, high);
  });
  const float scale = (max - min) / 255.0f;
  if (scale == 0.0f) return {1.0f, 0};
  const float zero_point = 0.0f - min / scale;
  return {scale, RoundAndShift(zero_point, 0, EightBit(false))};
}

void QuantizeTo(ThreadPool& pool, const float* x, int64_t count, Quantization quantization, uint8_t* y) {
  const RowParams params{&quantization.scale, &quantization.zero_point, false};
  pool.ParallelFor(count, kGrain, [&](int64_t begin, int64_t end) {
    QuantizeRow(x + begin, end - begin, params, EightBit(false), DataType::kUint8, y + begin);
  });
}

namespace {

class DynamicQuantizeLinear : public Kernel {
 public:
  Status Run(KernelContext& context) const override {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0, "DynamicQuantizeLinear", "x"));
    if (x->type() != DataType::kFloat) return OpError("DynamicQuantizeLinear", "input 'x' must be float");
    RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kUint8, x->dims()));
    RULERUN_ASSIGN(Tensor * scale, context.Output(1, DataType::kFloat, {}));
    RULERUN_ASSIGN(Tensor * zero_point, context.Output(2, DataType::kUint8, {}));
    const Quantization found = DynamicQuantization(context.pool(), x->data<float>(), x->count());
    scale->mutable_data<float>()[0] = found.scale;
    zero_point->mutable_data<uint8_t>()[0] = static_cast<uint8_t>(found.zero_point);
    QuantizeTo(context.pool(), x->data<float>(), x->count(), found, y->mutable_data<uint8_t>());
    return {};
  }
};

}  // namespace
}  // namespace int8

void Register_int8_dynamic_quantize_linear(KernelRegistry& registry) {
  registry.Add({"DynamicQuantizeLinear", "", 11, 11, {int8::kFloatOnly}, [](const KernelRequest&) {
                  return Result<std::unique_ptr<Kernel>>(std::make_unique<int8::DynamicQuantizeLinear>());
                }});
}

}  // namespace rulerun
