// The ten Reduce… operators. Their axes are an attribute first and an input later: since version 13 for ReduceSum, 18
// for the others.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/ops/op.h"
#include "kernels/ops/reduction.h"
#include "kernels/ops/stretch_sum.h"

namespace rulerun {
namespace {

template <typename T>
T Plus(T a, T b) {
  return Wrapping(a, b, [](auto x, auto y) { return x + y; });
}

template <typename T>
T Times(T a, T b) {
  return Wrapping(a, b, [](auto x, auto y) { return x * y; });
}

// Each reduction: a start value, what becomes of one element, how two results combine, and what is made of the last.
struct SumOp {
  static constexpr bool kAdds = true;  // a plain sum
  static constexpr bool kFast = true;  // ONNX Runtime has fast ways for some shapes, which show in the order of sums
  template <typename T>
  static T Start() {
    return 0;
  }
  template <typename T>
  static T Map(T x) {
    return x;
  }
  template <typename T>
  static T Combine(T a, T b) {
    return Plus(a, b);
  }
  template <typename T>
  static T Finish(T acc, int64_t) {
    return acc;
  }
};

struct MeanOp : SumOp {
  template <typename T>
  static T Finish(T acc, int64_t count) {
    if constexpr (std::is_integral_v<T>) return count == 0 ? T{0} : static_cast<T>(acc / static_cast<T>(count));
    return acc / static_cast<T>(count);
  }
};

struct ProdOp : SumOp {
  static constexpr bool kAdds = false, kFast = false;
  template <typename T>
  static T Start() {
    return 1;
  }
  template <typename T>
  static T Combine(T a, T b) {
    return Times(a, b);
  }
};

struct MaxOp : SumOp {
  static constexpr bool kAdds = false;
  template <typename T>
  static T Start() {
    if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::lowest();
  }
  template <typename T>
  static T Combine(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(b)) return b;
    }
    return b > a ? b : a;
  }
};

struct MinOp : SumOp {
  static constexpr bool kAdds = false;
  template <typename T>
  static T Start() {
    if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::max();
  }
  template <typename T>
  static T Combine(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(b)) return b;
    }
    return b < a ? b : a;
  }
};

struct L1Op : SumOp {
  static constexpr bool kAdds = false, kFast = false;
  template <typename T>
  static T Map(T x) {
    if constexpr (std::is_floating_point_v<T>) return std::abs(x);
    return x < 0 ? Times(x, static_cast<T>(-1)) : x;
  }
};

struct SumSquareOp : SumOp {
  static constexpr bool kAdds = false, kFast = false;
  template <typename T>
  static T Map(T x) {
    return Times(x, x);
  }
};

struct L2Op : SumSquareOp {
  template <typename T>
  static T Finish(T acc, int64_t) {
    return static_cast<T>(std::sqrt(acc));
  }
};

struct LogSumOp : SumOp {
  static constexpr bool kAdds = false, kFast = false;
  template <typename T>
  static T Finish(T acc, int64_t) {
    return static_cast<T>(std::log(acc));
  }
};

struct LogSumExpOp {};

template <typename Op, typename T>
T Step(T acc, T x) {
  return Op::Combine(acc, Op::Map(x));
}

// A stretch of neighbours; vectors start at indices that are multiples of four.
template <typename Op, typename T>
T ReduceStretch(const T* x, int64_t begin, int64_t count) {
  if (count == 0) return Op::template Start<T>();
  return StretchReduce(
      count, (4 - begin % 4) % 4, [=](int64_t i) { return Op::Map(x[begin + i]); },
      [](T a, T b) { return Op::Combine(a, b); });
}

// Outputs in rows, so that the inner loop runs over neighbours. ONNX Runtime adds up a middle axis by a matrix product
// that takes four rows at a time.
template <typename Op, typename T>
void ReduceRows(const Reduction& plan, const T* x, T* y, ThreadPool& pool) {
  const size_t group = plan.middle_axis() && Op::kAdds ? 4 : 1;
  plan.ForEachOutputRow(pool, [&](int64_t output, int64_t length, auto for_each_row) {
    T* to = y + output;
    std::fill(to, to + length, Op::template Start<T>());
    std::array<const T*, 4> waiting{};
    size_t count = 0;
    for_each_row([&](int64_t row) {
      waiting[count++] = x + row;
      if (count < group) return;
      count = 0;
      if (group == 1) {
        for (int64_t i = 0; i < length; ++i) to[i] = Step<Op>(to[i], waiting[0][i]);
        return;
      }
      for (int64_t i = 0; i < length; ++i) {
        const T four = Plus(Plus(Plus(waiting[0][i], waiting[1][i]), waiting[2][i]), waiting[3][i]);
        to[i] = Plus(to[i], four);
      }
    });
    for (size_t k = 0; k < count; ++k) {
      for (int64_t i = 0; i < length; ++i) to[i] = Step<Op>(to[i], waiting[k][i]);
    }
    for (int64_t i = 0; i < length; ++i) to[i] = Op::template Finish<T>(to[i], plan.reduced_count());
  });
}

template <typename T>
void ReduceLogSumExp(const Reduction& plan, const T* x, T* y, ThreadPool& pool) {
  plan.ForEachOutput(pool, [&](int64_t output, auto for_each) {
    T maximum = MaxOp::Start<T>();
    for_each([&](int64_t i) { maximum = MaxOp::Combine(maximum, x[i]); });
    if (!std::isfinite(maximum)) {
      y[output] = maximum;
      return;
    }
    T sum = 0;
    for_each([&](int64_t i) { sum += std::exp(x[i] - maximum); });
    y[output] = std::log(sum) + maximum;
  });
}

template <typename Op, typename T>
void ReduceAll(const Reduction& plan, const T* x, T* y, ThreadPool& pool) {
  if constexpr (std::is_same_v<Op, LogSumExpOp>) {
    ReduceLogSumExp(plan, x, y, pool);
  } else if (plan.contiguous_outputs()) {
    ReduceRows<Op>(plan, x, y, pool);
  } else if (plan.contiguous_inputs() && (Op::kFast || plan.everything())) {
    plan.ForEachInputRow(pool, [&](int64_t output, int64_t first) {
      y[output] = Op::template Finish<T>(ReduceStretch<Op>(x, first, plan.reduced_count()), plan.reduced_count());
    });
  } else if (plan.outer_and_inner() && Op::kFast) {
    plan.ForEachStretch(pool, [&](int64_t output, auto for_each) {
      T acc = Op::template Start<T>();
      for_each([&](int64_t i) { acc = Op::Combine(acc, ReduceStretch<Op>(x, i, plan.inner_count())); });
      y[output] = Op::template Finish<T>(acc, plan.reduced_count());
    });
  } else {
    plan.ForEachOutput(pool, [&](int64_t output, auto for_each) {
      T acc = Op::template Start<T>();
      for_each([&](int64_t i) { acc = Step<Op>(acc, x[i]); });
      y[output] = Op::template Finish<T>(acc, plan.reduced_count());
    });
  }
}

template <typename Op, typename... Ts>
Result<std::unique_ptr<Kernel>> MakeReduce(const KernelRequest& request) {
  const bool keep = IntOr(*request.attributes, "keepdims", 1) != 0;
  const bool noop = IntOr(*request.attributes, "noop_with_empty_axes", 0) != 0;
  const std::vector<int64_t> attribute_axes = IntsOr(*request.attributes, "axes", {});
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    std::vector<int64_t> axes = attribute_axes;
    if (const Tensor* input = context.Input(1)) axes = ToInts(*input);
    if (axes.empty() && noop) {
      context.SetOutput(0, *x);
      return {};
    }
    RULERUN_ASSIGN(const Reduction plan, Reduction::Make(x->dims(), axes, keep));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), plan.dims()));
    if (y->count() == 0) return {};
    if (x->type() == DataType::kBool) {  // max and min: or and and, on bytes of 0 and 1
      if constexpr (std::is_same_v<Op, MaxOp> || std::is_same_v<Op, MinOp>) {
        ReduceAll<Op>(plan, x->data<uint8_t>(), y->mutable_data<uint8_t>(), context.pool());
        return {};
      }
    }
    return Dispatch<Ts...>(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      ReduceAll<Op>(plan, x->data<T>(), y->mutable_data<T>(), context.pool());
      return {};
    });
  });
}

template <typename Op>
void AddReduce(KernelRegistry& registry, const std::string& op) {
  const Types types = {DataType::kFloat, DataType::kDouble, DataType::kInt32, DataType::kInt64};
  AddOp(registry, op, {}, {types, {DataType::kInt64}}, MakeReduce<Op, float, double, int32_t, int64_t>);
}

template <typename Op>
void AddFloatReduce(KernelRegistry& registry, const std::string& op) {
  AddOp(registry, op, {}, {FloatTypes(), {DataType::kInt64}}, MakeReduce<Op, float, double>);
}

template <typename Op>
void AddExtremum(KernelRegistry& registry, const std::string& op) {
  const Types types = {DataType::kFloat, DataType::kDouble, DataType::kInt32, DataType::kInt64,
                       DataType::kInt8,  DataType::kUint8,  DataType::kBool};
  AddOp(registry, op, {}, {types, {DataType::kInt64}},
        MakeReduce<Op, float, double, int32_t, int64_t, int8_t, uint8_t>);
}

}  // namespace

void Register_ops_reduce(KernelRegistry& registry) {
  AddReduce<SumOp>(registry, "ReduceSum");
  AddReduce<MeanOp>(registry, "ReduceMean");
  AddReduce<ProdOp>(registry, "ReduceProd");
  AddReduce<L1Op>(registry, "ReduceL1");
  AddReduce<SumSquareOp>(registry, "ReduceSumSquare");
  AddFloatReduce<L2Op>(registry, "ReduceL2");
  AddFloatReduce<LogSumOp>(registry, "ReduceLogSum");
  AddFloatReduce<LogSumExpOp>(registry, "ReduceLogSumExp");
  AddExtremum<MaxOp>(registry, "ReduceMax");
  AddExtremum<MinOp>(registry, "ReduceMin");
}

}  // namespace rulerun
