// LayerNormalization, RMSNormalization (SimplifiedLayerNormalization) and com.microsoft's Skip… forms.
#include <algorithm>
#include <cmath>

#include "kernels/buffer.h"
#include "kernels/ops/broadcast.h"
#include "kernels/ops/op.h"
#include "kernels/ops/row_norm.h"

namespace rulerun {
namespace {

constexpr int64_t kGrain = 8192;

struct Attributes {
  int64_t axis = -1;
  float epsilon = 1e-5f;
  bool rms = false;
};

// Scale or bias for every element of a row, or, where it differs between rows, for every element of x.
struct Parameter {
  Tensor values;
  bool per_row = false;

  template <typename T>
  const T* Row(int64_t row, int64_t length) const {
    if (values.empty()) return nullptr;
    return values.data<T>() + (per_row ? row * length : 0);
  }
};

template <typename T>
Result<Parameter> MakeParameter(const Tensor* given, const Tensor& x, int64_t axis, int64_t length) {
  Parameter parameter;
  if (given == nullptr) return parameter;
  if (given->type() != x.type()) return Unsupported("scale and bias must have the input's type");
  const Dims row_dims(x.dims().begin() + axis, x.dims().end());
  const int64_t lead = given->rank() - static_cast<int64_t>(row_dims.size());
  const bool whole_row = given->count() == length && lead <= 0;
  if (whole_row) {
    parameter.values = *given;
    return parameter;
  }
  RULERUN_ASSIGN(const Broadcast plan, Broadcast::Make({&given->dims(), &x.dims()}));
  if (plan.dims() != x.dims())
    return Invalid("a scale or bias of shape " + DimsText(given->dims()) + " does not broadcast");
  RULERUN_ASSIGN(parameter.values, AllocateTensor(x.type(), x.dims()));
  parameter.per_row = true;
  T* to = parameter.values.mutable_data<T>();
  plan.ForEachRun(0, plan.count(), [&](int64_t position, const Broadcast::Offsets& at, int64_t run) {
    for (int64_t i = 0; i < run; ++i) to[position + i] = given->data<T>()[at[0] + i * plan.step(0)];
  });
  return parameter;
}

RowMoments NormRow(const Attributes& attributes, const float* x, const float* scale, const float* bias, float* y,
                   int64_t count) {
  if (attributes.rms) return RmsNormRow(x, scale, attributes.epsilon, y, count);
  return LayerNormRow(x, scale, bias, attributes.epsilon, y, count);
}

RowMoments NormRow(const Attributes& attributes, const double* x, const double* scale, const double* bias, double* y,
                   int64_t count) {
  double mean = 0, squares = 0;
  if (!attributes.rms) {
    for (int64_t i = 0; i < count; ++i) mean += x[i];
    mean /= static_cast<double>(count);
  }
  for (int64_t i = 0; i < count; ++i) squares += (x[i] - mean) * (x[i] - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(count) + static_cast<double>(attributes.epsilon));
  for (int64_t i = 0; i < count; ++i) {
    y[i] = (x[i] - mean) / deviation * scale[i] + (bias == nullptr ? 0 : bias[i]);
  }
  return {static_cast<float>(mean), static_cast<float>(1 / deviation)};
}

template <typename T>
Status RunNorm(const Attributes& attributes, const Tensor& x, KernelContext& context) {
  RULERUN_ASSIGN(const int64_t axis, ResolveAxis(attributes.axis, x.rank()));
  const int64_t rows = Product(x.dims(), 0, axis), length = Product(x.dims(), axis, x.rank());
  RULERUN_ASSIGN(const Tensor* given_scale, Required(context, 1));
  RULERUN_ASSIGN(const Parameter scale, MakeParameter<T>(given_scale, x, axis, length));
  RULERUN_ASSIGN(const Parameter bias, MakeParameter<T>(attributes.rms ? nullptr : context.Input(2), x, axis, length));
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x.type(), x.dims()));
  Dims moment_dims = x.dims();
  std::fill(moment_dims.begin() + axis, moment_dims.end(), 1);
  std::vector<RowMoments> moments(static_cast<size_t>(rows));
  if (x.count() > 0) {
    context.pool().ParallelFor(rows, std::max<int64_t>(1, kGrain / length), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        moments[static_cast<size_t>(r)] = NormRow(attributes, x.data<T>() + r * length, scale.Row<T>(r, length),
                                                  bias.Row<T>(r, length), y->mutable_data<T>() + r * length, length);
      }
    });
  }
  // The root mean square form has the inverse deviation as its second output, the other one as its third.
  const size_t inverse_slot = attributes.rms ? 1 : 2;
  for (size_t slot = 1; slot <= inverse_slot; ++slot) {
    if (!context.Wanted(slot)) continue;
    RULERUN_ASSIGN(Tensor * out, context.Output(slot, DataType::kFloat, moment_dims));
    for (size_t r = 0; r < moments.size(); ++r) {
      out->mutable_data<float>()[r] = slot == inverse_slot ? moments[r].inverse_deviation : moments[r].mean;
    }
  }
  return {};
}

template <bool kRms>
Result<std::unique_ptr<Kernel>> MakeNorm(const KernelRequest& request) {
  Attributes attributes;
  attributes.axis = IntOr(*request.attributes, "axis", -1);
  attributes.epsilon = FloatOr(*request.attributes, "epsilon", 1e-5f);
  attributes.rms = kRms;
  return MakeKernel([attributes](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    return Dispatch<float, double>(x->type(),
                                   [&]<typename T>(TypeTag<T>) { return RunNorm<T>(attributes, *x, context); });
  });
}

// --- the Skip… forms: inputs x, skip, gamma, [beta], [bias]; without beta for the root mean square one

struct SkipInputs {
  const Tensor *x, *skip, *gamma, *beta, *bias;
};

Result<SkipInputs> ReadSkipInputs(const KernelContext& context, bool rms) {
  SkipInputs inputs{};
  RULERUN_ASSIGN(inputs.x, Required(context, 0));
  RULERUN_ASSIGN(inputs.skip, Required(context, 1));
  RULERUN_ASSIGN(inputs.gamma, Required(context, 2));
  inputs.beta = rms ? nullptr : context.Input(3);
  inputs.bias = context.Input(rms ? 3 : 4);
  if (inputs.x->rank() < 1) return Invalid("the input is a scalar");
  const int64_t length = inputs.x->dims().back();
  if (inputs.gamma->count() != length || (inputs.beta != nullptr && inputs.beta->count() != length) ||
      (inputs.bias != nullptr && inputs.bias->count() != length)) {
    return Invalid("gamma, beta and bias need one value for each of the " + std::to_string(length) +
                   " elements of a row");
  }
  const int64_t skip = inputs.skip->count();
  if (skip == 0 ? inputs.x->count() != 0 : inputs.x->count() % skip != 0 || skip % length != 0) {
    return Invalid("skip of shape " + DimsText(inputs.skip->dims()) + " does not fit the input");
  }
  return inputs;
}

template <bool kRms>
Result<std::unique_ptr<Kernel>> MakeSkipNorm(const KernelRequest& request) {
  const float epsilon = FloatOr(*request.attributes, "epsilon", 1e-12f);
  return MakeKernel([epsilon](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const SkipInputs in, ReadSkipInputs(context, kRms));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, in.x->dims()));
    RULERUN_ASSIGN(Tensor * sum, context.Output(3, DataType::kFloat, in.x->dims()));
    if (in.x->count() == 0) return {};
    const int64_t length = in.x->dims().back();
    const float* x = in.x->data<float>();
    const float* skip = in.skip->data<float>();
    const float* gamma = in.gamma->data<float>();
    const float* beta = in.beta == nullptr ? nullptr : in.beta->data<float>();
    const int64_t grain = std::max<int64_t>(1, kGrain / length);
    context.pool().ParallelFor(in.x->count() / length, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        float* v = sum->mutable_data<float>() + row * length;
        const float* skip_row = skip + row * length % in.skip->count();
        for (int64_t i = 0; i < length; ++i) {
          v[i] = x[row * length + i] + skip_row[i];
          if (in.bias != nullptr) v[i] += in.bias->data<float>()[i];
        }
        float* to = y->mutable_data<float>() + row * length;
        if (kRms) {
          SequentialRmsNormRow(v, gamma, epsilon, to, length);
        } else {
          WelfordNormRow(v, gamma, beta, epsilon, to, length);
        }
      }
    });
    return {};
  });
}

}  // namespace

void Register_ops_layer_norm(KernelRegistry& registry) {
  const Types floats = {DataType::kFloat};
  AddOp(registry, "LayerNormalization", {}, {FloatTypes(), FloatTypes(), FloatTypes()}, MakeNorm<false>);
  AddOp(registry, "RMSNormalization", {}, {FloatTypes(), FloatTypes()}, MakeNorm<true>);
  AddOp(registry, "SimplifiedLayerNormalization", {}, {FloatTypes(), FloatTypes()}, MakeNorm<true>);
  AddOp(registry, "SkipLayerNormalization", {}, {floats, floats, floats, floats, floats}, MakeSkipNorm<false>,
        kMicrosoft);
  AddOp(registry, "SkipSimplifiedLayerNormalization", {}, {floats, floats, floats, floats}, MakeSkipNorm<true>,
        kMicrosoft);
}

}  // namespace rulerun
