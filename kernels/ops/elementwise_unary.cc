// Functions of one element: the activations and ONNX's unary mathematics.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/ops/gelu.h"
#include "kernels/ops/op.h"
#include "kernels/ops/plain_math.h"
#include "kernels/ops/vector_math.h"

namespace rulerun {
namespace {

constexpr int64_t kGrain = 16384;

template <typename Out, typename In, typename F>
Status Map(KernelContext& context, const Tensor& x, F f) {
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataTypeOf<Out>(), x.dims()));
  const In* from = x.data<In>();
  Out* to = y->mutable_data<Out>();
  context.pool().ParallelFor(x.count(), kGrain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = f(from[i]);
  });
  return {};
}

// f(x, y, count) on stretches of a float tensor.
template <typename F>
Status MapArrays(KernelContext& context, const Tensor& x, F f) {
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, x.dims()));
  const float* from = x.data<float>();
  float* to = y->mutable_data<float>();
  context.pool().ParallelFor(x.count(), kGrain,
                             [=](int64_t begin, int64_t end) { f(from + begin, to + begin, end - begin); });
  return {};
}

// f: T -> T, for the types in Ts.
template <typename... Ts, typename F>
KernelFactory Unary(F f) {
  return Stateless([f](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    return Dispatch<Ts...>(x->type(), [&]<typename T>(TypeTag<T>) { return Map<T, T>(context, *x, f); });
  });
}

// Floats through `array`, doubles one by one through `scalar`.
template <typename A, typename F>
KernelFactory ArrayUnary(A array, F scalar) {
  return Stateless([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    if (x->type() == DataType::kFloat) return MapArrays(context, *x, array);
    return Map<double, double>(context, *x, scalar);
  });
}

// The functions that f's below are written with: ONNX Runtime takes floats four at a time, and what is left over, like
// doubles, from the C++ library.
struct FourAtATime {
  static float Exp(float x) { return PlainExp(x); }
  static float Log(float x) { return PlainLog(x); }
  static float Log1p(float x) { return PlainLog1p(x); }
  static float Sin(float x) { return PlainSin(x); }
  static float Cos(float x) { return PlainCos(x); }
};
struct Library {
  static auto Exp(auto x) { return std::exp(x); }
  static auto Log(auto x) { return std::log(x); }
  static auto Log1p(auto x) { return std::log1p(x); }
  static auto Sin(auto x) { return std::sin(x); }
  static auto Cos(auto x) { return std::cos(x); }
};

// f: (math, T x) -> T, for both kinds of math above.
template <typename F>
Status MapMath(KernelContext& context, F f) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  if (x->type() == DataType::kDouble) {
    return Map<double, double>(context, *x, [f](double value) { return f(Library(), value); });
  }
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, x->dims()));
  const float* from = x->data<float>();
  float* to = y->mutable_data<float>();
  const int64_t whole = x->count() / 4 * 4;
  context.pool().ParallelFor(x->count(), kGrain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < std::min(end, whole); ++i) to[i] = f(FourAtATime(), from[i]);
    for (int64_t i = std::max(begin, whole); i < end; ++i) to[i] = f(Library(), from[i]);
  });
  return {};
}

template <typename F>
KernelFactory Math(F f) {
  return Stateless([f](KernelContext& context) { return MapMath(context, f); });
}

// f: (math, T x, T alpha, T beta) -> T, with two float attributes.
template <typename F>
KernelFactory MathWithParameters(float alpha_default, const char* beta_name, float beta_default, F f) {
  return [=](const KernelRequest& request) -> Result<std::unique_ptr<Kernel>> {
    const float alpha = FloatOr(*request.attributes, "alpha", alpha_default);
    const float beta = FloatOr(*request.attributes, beta_name, beta_default);
    return MakeKernel([=](KernelContext& context) {
      return MapMath(
          context, [=]<typename T>(auto math, T x) { return f(math, x, static_cast<T>(alpha), static_cast<T>(beta)); });
    });
  };
}

// f: (T x, T alpha, T beta) -> T, with two float attributes.
template <typename F>
KernelFactory WithParameters(const char* alpha_name, float alpha_default, const char* beta_name, float beta_default,
                             F f) {
  return [=](const KernelRequest& request) -> Result<std::unique_ptr<Kernel>> {
    const float alpha = FloatOr(*request.attributes, alpha_name, alpha_default);
    const float beta = FloatOr(*request.attributes, beta_name, beta_default);
    return MakeKernel([=](KernelContext& context) -> Status {
      RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
      return Dispatch<float, double>(x->type(), [&]<typename T>(TypeTag<T>) {
        const T a = static_cast<T>(alpha), b = static_cast<T>(beta);
        return Map<T, T>(context, *x, [=](T value) { return f(value, a, b); });
      });
    });
  };
}

struct Abs {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_unsigned_v<T>) {
      return x;
    } else if constexpr (std::is_integral_v<T>) {
      return x < 0 ? static_cast<T>(-static_cast<std::make_unsigned_t<T>>(x)) : x;
    } else {
      return std::abs(x);
    }
  }
};

struct Neg {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(-static_cast<std::make_unsigned_t<T>>(x));
    return static_cast<T>(-x);
  }
};

struct Sign {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_unsigned_v<T>) return static_cast<T>(x != 0);
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(x)) return x;
    }
    return static_cast<T>((x > 0) - (x < 0));
  }
};

struct Relu {
  template <typename T>
  T operator()(T x) const {
    return x < 0 ? T{0} : x;
  }
};

struct Softplus {
  template <typename M, typename T>
  T operator()(M math, T x) const {
    return x > 0 ? x + math.Log1p(math.Exp(-x)) : math.Log1p(math.Exp(x));
  }
};

struct Mish {
  template <typename M, typename T>
  T operator()(M math, T x) const {
    return x * std::tanh(Softplus()(math, x));
  }
};

struct HardSwish {
  template <typename T>
  T operator()(T x) const {
    return x * std::max(T{0}, std::min(T{1}, x * (T{1} / T{6}) + T{0.5}));
  }
};

double Logistic(double x) { return x > 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

double GeluDouble(double x, bool tanh) {
  if (!tanh) return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

Result<std::unique_ptr<Kernel>> MakeGelu(const KernelRequest& request) {
  const bool tanh = StringOr(*request.attributes, "approximate", "none") == "tanh";
  return MakeKernel([tanh](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    if (x->type() == DataType::kFloat) return MapArrays(context, *x, tanh ? VectorGeluTanh : VectorGelu);
    return Map<double, double>(context, *x, [tanh](double v) { return GeluDouble(v, tanh); });
  });
}

Result<std::unique_ptr<Kernel>> MakeSwish(const KernelRequest& request) {
  const float alpha = FloatOr(*request.attributes, "alpha", 1);
  return MakeKernel([alpha](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    if (x->type() != DataType::kFloat) {
      return Map<double, double>(context, *x,
                                 [alpha](double v) { return v * Logistic(static_cast<double>(alpha) * v); });
    }
    return MapArrays(context, *x,
                     [alpha](const float* from, float* to, int64_t count) { VectorSwish(from, alpha, to, count); });
  });
}

Status IsNan(KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  return Dispatch<float, double>(x->type(), [&]<typename T>(TypeTag<T>) {
    return Map<bool, T>(context, *x, [](T value) { return std::isnan(value); });
  });
}

Result<std::unique_ptr<Kernel>> MakeIsInf(const KernelRequest& request) {
  const bool positive = IntOr(*request.attributes, "detect_positive", 1) != 0;
  const bool negative = IntOr(*request.attributes, "detect_negative", 1) != 0;
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    return Dispatch<float, double>(x->type(), [&]<typename T>(TypeTag<T>) {
      return Map<bool, T>(context, *x, [=](T v) { return std::isinf(v) && (v > 0 ? positive : negative); });
    });
  });
}

void RegisterActivations(KernelRegistry& registry) {
  const auto add = [&](const char* op, const KernelFactory& make) { AddOp(registry, op, {}, {FloatTypes()}, make); };
  add("LeakyRelu", WithParameters("alpha", 0.01f, "", 0, [](auto x, auto a, auto) { return x >= 0 ? x : a * x; }));
  add("ThresholdedRelu", WithParameters("alpha", 1, "", 0, [](auto x, auto a, auto) { return x > a ? x : 0 * a; }));
  add("Elu",
      MathWithParameters(1, "", 0, [](auto math, auto x, auto a, auto) { return x < 0 ? a * (math.Exp(x) - 1) : x; }));
  add("Celu", MathWithParameters(1, "", 0, [](auto math, auto x, auto a, auto) {
        const auto zero = 0 * a;
        return std::max(zero, x) + std::min(zero, a * (math.Exp(x / a) - 1));
      }));
  add("Selu",
      MathWithParameters(1.67326319217681884765625f, "gamma", 1.05070102214813232421875f,
                         [](auto math, auto x, auto a, auto g) { return x > 0 ? g * x : g * a * (math.Exp(x) - 1); }));
  add("HardSigmoid", WithParameters("alpha", 0.2f, "beta", 0.5f, [](auto x, auto a, auto b) {
        return std::max(0 * a, std::min(1 + 0 * a, a * x + b));
      }));
  add("Shrink", WithParameters("lambd", 0.5f, "bias", 0, [](auto x, auto lambda, auto bias) {
        return x < -lambda ? x + bias : x > lambda ? x - bias : 0 * bias;
      }));
  add("HardSwish", Unary<float, double>(HardSwish()));
  add("Softplus", Math(Softplus()));
  add("Softsign", Unary<float, double>([](auto x) { return 1 / (1 + std::abs(x)) * x; }));
  add("Mish", Math(Mish()));
  add("Gelu", MakeGelu);
  add("Swish", MakeSwish);
  add("Sigmoid", ArrayUnary(VectorLogistic, Logistic));
  add("Tanh", ArrayUnary(VectorTanh, [](double x) { return std::tanh(x); }));
  AddOp(registry, "Relu", {}, {NumberTypes()},
        Unary<float, double, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>(Relu()));
}

void RegisterMath(KernelRegistry& registry) {
  const auto add = [&](const char* op, auto f) { AddOp(registry, op, {}, {FloatTypes()}, Unary<float, double>(f)); };
  add("Sqrt", [](auto x) { return std::sqrt(x); });
  add("Reciprocal", [](auto x) { return 1 / x; });
  add("Ceil", [](auto x) { return std::ceil(x); });
  add("Floor", [](auto x) { return std::floor(x); });
  add("Round", [](auto x) { return std::nearbyint(x); });  // half to even
  add("Tan", [](auto x) { return std::tan(x); });
  add("Asin", [](auto x) { return std::asin(x); });
  add("Acos", [](auto x) { return std::acos(x); });
  add("Atan", [](auto x) { return std::atan(x); });
  add("Sinh", [](auto x) { return std::sinh(x); });
  add("Cosh", [](auto x) { return std::cosh(x); });
  add("Asinh", [](auto x) { return std::asinh(x); });
  add("Acosh", [](auto x) { return std::acosh(x); });
  add("Atanh", [](auto x) { return std::atanh(x); });
  AddOp(registry, "Log", {}, {FloatTypes()}, Math([](auto math, auto x) { return math.Log(x); }));
  AddOp(registry, "Sin", {}, {FloatTypes()}, Math([](auto math, auto x) { return math.Sin(x); }));
  AddOp(registry, "Cos", {}, {FloatTypes()}, Math([](auto math, auto x) { return math.Cos(x); }));
  AddOp(registry, "Exp", {}, {FloatTypes()}, ArrayUnary(VectorExp, [](double x) { return std::exp(x); }));
  AddOp(registry, "Erf", {}, {FloatTypes()}, ArrayUnary(VectorErf, [](double x) { return std::erf(x); }));
  AddOp(registry, "Abs", {}, {NumberTypes()},
        Unary<float, double, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>(Abs()));
  AddOp(registry, "Neg", {}, {NumberTypes()}, Unary<float, double, int8_t, int16_t, int32_t, int64_t>(Neg()));
  AddOp(registry, "Sign", {}, {NumberTypes()},
        Unary<float, double, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>(Sign()));
  AddOp(registry, "IsNaN", {}, {FloatTypes()}, Stateless(IsNan));
  AddOp(registry, "IsInf", {}, {FloatTypes()}, MakeIsInf);
}

}  // namespace

void Register_ops_elementwise_unary(KernelRegistry& registry) {
  RegisterActivations(registry);
  RegisterMath(registry);
}

}  // namespace rulerun
