// Max, Min, Sum and Mean of any number of inputs, and Clip.
#include <algorithm>
#include <cmath>

#include "kernels/buffer.h"
#include "kernels/ops/binary.h"
#include "kernels/ops/op.h"

namespace rulerun {
namespace {

// NaN wins.
struct Larger {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
    }
    return a > b ? a : b;
  }
};

struct Smaller {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return a;
    }
    return a < b ? a : b;
  }
};

struct Plus {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};

// Folds the inputs from the left, two at a time.
template <typename T, typename F>
Result<Tensor> Fold(KernelContext& context, F f) {
  RULERUN_ASSIGN(const Tensor* first, Required(context, 0));
  Tensor sum = *first;
  for (size_t slot = 1; slot < context.InputCount(); ++slot) {
    RULERUN_ASSIGN(const Tensor* next, Required(context, slot));
    if (next->type() != first->type()) return Invalid("the inputs have different element types");
    RULERUN_ASSIGN(const Broadcast plan, Broadcast::Make({&sum.dims(), &next->dims()}));
    RULERUN_ASSIGN(Tensor folded, AllocateTensor(first->type(), plan.dims()));
    ApplyBinary(plan, sum.data<T>(), next->data<T>(), folded.mutable_data<T>(), context.pool(), f);
    sum = std::move(folded);
  }
  return sum;
}

template <typename... Ts, typename F>
KernelFactory Variadic(F f) {
  return Stateless([f](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* first, Required(context, 0));
    return Dispatch<Ts...>(first->type(), [&]<typename T>(TypeTag<T>) -> Status {
      RULERUN_ASSIGN(Tensor result, Fold<T>(context, f));
      context.SetOutput(0, std::move(result));
      return {};
    });
  });
}

Status Mean(KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* first, Required(context, 0));
  return Dispatch<float, double>(first->type(), [&]<typename T>(TypeTag<T>) -> Status {
    RULERUN_ASSIGN(Tensor sum, Fold<T>(context, Plus()));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, sum.type(), sum.dims()));
    const T share = T{1} / static_cast<T>(context.InputCount());
    for (int64_t i = 0; i < sum.count(); ++i) y->mutable_data<T>()[i] = sum.data<T>()[i] * share;
    return {};
  });
}

template <typename T>
Status RunClip(KernelContext& context, const Tensor& x, T low, T high) {
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x.type(), x.dims()));
  const T* from = x.data<T>();
  T* to = y->mutable_data<T>();
  context.pool().ParallelFor(x.count(), 16384, [=](int64_t begin, int64_t end) {
    // Low first, then high, so that high wins where they cross; NaN stays.
    for (int64_t i = begin; i < end; ++i) {
      const T raised = from[i] < low ? low : from[i];
      to[i] = high < raised ? high : raised;
    }
  });
  return {};
}

// Bounds are attributes before version 11, inputs since.
Result<std::unique_ptr<Kernel>> MakeClip(const KernelRequest& request) {
  const bool by_inputs = request.since_version >= 11;
  const float low_default = FloatOr(*request.attributes, "min", std::numeric_limits<float>::lowest());
  const float high_default = FloatOr(*request.attributes, "max", std::numeric_limits<float>::max());
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    return DispatchNumber(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      T low = std::numeric_limits<T>::lowest(), high = std::numeric_limits<T>::max();
      if (std::is_floating_point_v<T>) {
        low = -std::numeric_limits<T>::infinity();
        high = std::numeric_limits<T>::infinity();
      }
      for (size_t slot = 1; slot <= 2; ++slot) {
        const Tensor* bound = by_inputs ? context.Input(slot) : nullptr;
        if (bound == nullptr) continue;
        if (bound->type() != x->type() || bound->count() != 1) {
          return Invalid("a bound must be one number of the input's type");
        }
        (slot == 1 ? low : high) = *bound->data<T>();
      }
      if (!by_inputs) {
        if constexpr (std::is_floating_point_v<T>) {
          low = static_cast<T>(low_default);
          high = static_cast<T>(high_default);
        }
      }
      return RunClip<T>(context, *x, low, high);
    });
  });
}

}  // namespace

void Register_ops_variadic(KernelRegistry& registry) {
  AddOp(registry, "Max", {}, {NumberTypes(), NumberTypes()},
        Variadic<float, double, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>(Larger()));
  AddOp(registry, "Min", {}, {NumberTypes(), NumberTypes()},
        Variadic<float, double, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>(Smaller()));
  AddOp(registry, "Sum", {}, {FloatTypes(), FloatTypes()}, Variadic<float, double>(Plus()));
  AddOp(registry, "Mean", {}, {FloatTypes(), FloatTypes()}, Stateless(Mean));
  AddOp(registry, "Clip", {}, {NumberTypes(), NumberTypes(), NumberTypes()}, MakeClip);
}

}  // namespace rulerun
