// QLinearSigmoid and QLinearLeakyRelu (com.microsoft): one table lookup per element.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kernels/int8/params.h"
#include "kernels/kernel.h"

namespace rulerun {
namespace int8 {
namespace {

constexpr int64_t kGrain = 32768;  // elements worth a chunk of their own
enum Slot : size_t { kX, kXScale, kXZero, kYScale, kYZero };

using Function = std::function<float(float)>;

class TableKernel : public Kernel {
 public:
  TableKernel(std::string op, Function function) : op_(std::move(op)), function_(std::move(function)) {}

  Status Run(KernelContext& context) const override {
    RULERUN_ASSIGN(const Tensor* x, EightBitInput(context, kX, op_, "X"));
    RULERUN_ASSIGN(const Quantization from, ReadQuantization(context, kXScale, x->type(), op_, "X"));
    RULERUN_ASSIGN(const Quantization to, ReadQuantization(context, kYScale, x->type(), op_, "Y"));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), x->dims()));
    const Table table = MakeTable(x->type() == DataType::kInt8, from, to, function_);
    const uint8_t* in = x->data<uint8_t>();
    uint8_t* out = y->mutable_data<uint8_t>();
    context.pool().ParallelFor(x->count(), kGrain, [&](int64_t begin, int64_t end) {
      ApplyTable(table, in + begin, end - begin, out + begin);
    });
    return {};
  }

 private:
  std::string op_;
  Function function_;
};

Result<std::unique_ptr<Kernel>> MakeSigmoid(const KernelRequest&) {
  return std::unique_ptr<Kernel>(std::make_unique<TableKernel>("QLinearSigmoid", Logistic));
}

Result<std::unique_ptr<Kernel>> MakeLeakyRelu(const KernelRequest& request) {
  const float alpha = FloatOr(*request.attributes, "alpha", 0.01f);
  return std::unique_ptr<Kernel>(
      std::make_unique<TableKernel>("QLinearLeakyRelu", [alpha](float v) { return v >= 0.0f ? v : alpha * v; }));
}

}  // namespace
}  // namespace int8

void Register_int8_qlinear_unary(KernelRegistry& registry) {
  const auto& e = int8::kEightBitTypes;
  const auto& f = int8::kFloatOnly;
  registry.Add({"QLinearSigmoid", "com.microsoft", 1, 1, {e, f, e, f, e}, int8::MakeSigmoid});
  registry.Add({"QLinearLeakyRelu", "com.microsoft", 1, 1, {e, f, e, f, e}, int8::MakeLeakyRelu});
}

}  // namespace rulerun
