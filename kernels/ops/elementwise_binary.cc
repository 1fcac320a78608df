// Add, Sub, Mul, Div, Mod, Pow and PRelu, with numpy broadcasting.
#include <cmath>
#include <limits>

#include "kernels/ops/binary.h"
#include "kernels/ops/op.h"

namespace rulerun {
namespace {

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return Wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};

struct Sub {
  template <typename T>
  T operator()(T a, T b) const {
    return Wrapping(a, b, [](auto x, auto y) { return x - y; });
  }
};

struct Mul {
  template <typename T>
  T operator()(T a, T b) const {
    return Wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};

struct Div {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;  // as numpy does; a trap would end the process
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return Sub()(T{0}, a);  // the lowest value has no positive counterpart
      }
      return static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
};

// The sign of the divisor for integers, and for floats too unless `fmod` is set.
template <bool kFmod>
struct Mod {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
      }
      const auto rest = static_cast<T>(a % b);
      if constexpr (std::is_signed_v<T> && !kFmod) {
        if (rest != 0 && (rest < 0) != (b < 0)) return static_cast<T>(rest + b);
      }
      return rest;
    } else {
      const T rest = std::fmod(a, b);
      return !kFmod && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
  }
};

struct PRelu {
  template <typename T>
  T operator()(T x, T slope) const {
    return x < 0 ? Mul()(x, slope) : x;
  }
};

// double to T; what T cannot hold becomes its nearest value, NaN becomes 0.
template <typename T>
T Saturated(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    if (std::isnan(value)) return 0;
    if (value <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (value >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(value);
  }
}

template <typename T, typename E>
T Power(T base, E exponent) {
  if constexpr (std::is_same_v<T, float> && std::is_same_v<E, float>) {
    return std::pow(base, exponent);
  } else {
    return Saturated<T>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
}

// Squares and cubes are products, as in ONNX Runtime, when the exponent is one number.
template <typename T, typename E>
Status RunPow(KernelContext& context, const Tensor& base, const Tensor& exponent) {
  if (exponent.count() == 1) {
    const E e = *exponent.data<E>();
    if (e == static_cast<E>(2)) return RunBinary<T, T, E>(context, base, exponent, [](T x, E) { return Mul()(x, x); });
    if (e == static_cast<E>(3)) {
      return RunBinary<T, T, E>(context, base, exponent, [](T x, E) { return Mul()(Mul()(x, x), x); });
    }
  }
  return RunBinary<T, T, E>(context, base, exponent, [](T x, E e) { return Power(x, e); });
}

Status Pow(KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* base, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* exponent, Required(context, 1));
  return Dispatch<float, double, int32_t, int64_t>(base->type(), [&]<typename T>(TypeTag<T>) {
    return Dispatch<float, double, int32_t, int64_t>(
        exponent->type(), [&]<typename E>(TypeTag<E>) { return RunPow<T, E>(context, *base, *exponent); });
  });
}

Result<std::unique_ptr<Kernel>> MakeMod(const KernelRequest& request) {
  const bool fmod = IntOr(*request.attributes, "fmod", 0) != 0;
  return MakeKernel([fmod](KernelContext& context) -> Status {
    return fmod ? RunNumeric(context, Mod<true>()) : RunNumeric(context, Mod<false>());
  });
}

// Before version 7, B was stretched over A from `axis` on, and only where `broadcast` was set.
template <typename F>
KernelFactory Legacy(F f) {
  return [f](const KernelRequest& request) -> Result<std::unique_ptr<Kernel>> {
    const bool broadcast = IntOr(*request.attributes, "broadcast", 0) != 0;
    const bool has_axis = request.attributes->contains("axis");
    const int64_t axis = IntOr(*request.attributes, "axis", 0);
    return MakeKernel([=](KernelContext& context) -> Status {
      RULERUN_ASSIGN(const Tensor* a, Required(context, 0));
      RULERUN_ASSIGN(const Tensor* b, Required(context, 1));
      Tensor second = *b;
      if (broadcast && has_axis && b->rank() < a->rank()) {
        RULERUN_ASSIGN(const int64_t first, ResolveAxis(axis, a->rank()));
        Dims dims = b->dims();
        if (first + b->rank() > a->rank()) return Invalid("B does not fit in A from axis " + std::to_string(axis));
        dims.resize(static_cast<size_t>(a->rank() - first), 1);
        second = b->Reshaped(dims);
      }
      return DispatchNumber(a->type(),
                            [&]<typename T>(TypeTag<T>) { return RunBinary<T, T, T>(context, *a, second, f); });
    });
  };
}

template <typename F>
void AddArithmetic(KernelRegistry& registry, const std::string& op, F f) {
  AddOp(registry, op, {1, 6}, {NumberTypes(), NumberTypes()}, Legacy(f));
  AddOp(registry, op, {7, kLatest}, {NumberTypes(), NumberTypes()},
        Stateless([f](KernelContext& context) { return RunNumeric(context, f); }));
}

}  // namespace

void Register_ops_elementwise_binary(KernelRegistry& registry) {
  AddArithmetic(registry, "Add", Add());
  AddArithmetic(registry, "Sub", Sub());
  AddArithmetic(registry, "Mul", Mul());
  AddArithmetic(registry, "Div", Div());
  AddOp(registry, "Mod", {10, kLatest}, {NumberTypes(), NumberTypes()}, MakeMod);
  const Types powers = {DataType::kFloat, DataType::kDouble, DataType::kInt32, DataType::kInt64};
  AddOp(registry, "Pow", {7, kLatest}, {powers, powers}, Stateless(Pow));
  AddOp(registry, "PRelu", {7, kLatest}, {NumberTypes(), NumberTypes()},
        Stateless([](KernelContext& context) { return RunNumeric(context, PRelu()); }));
}

}  // namespace rulerun
