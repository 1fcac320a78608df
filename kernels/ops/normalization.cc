// BatchNormalization, InstanceNormalization, GroupNormalization, LRN, LpNormalization and
// MeanVarianceNormalization.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "kernels/ops/op.h"
#include "kernels/ops/stretch_sum.h"

namespace rulerun {
namespace {

constexpr int64_t kGrain = 8192;

int64_t PlaneGrain(int64_t size) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(size, 1)); }

template <typename T>
struct Moments {
  T mean = 0, variance = 0;
};

// What BatchNormalization works on: planes of `size` elements, plane p of channel p % channels.
struct BatchShape {
  int64_t channels = 1, size = 1, planes = 0;
};

template <typename T>
void NormalizePlanes(const BatchShape& shape, const T* x, const std::array<const T*, 4>& parameters, T epsilon, T* y,
                     ThreadPool& pool) {
  // No structured binding: clang 14 cannot capture one.
  const T *gamma = parameters[0], *beta = parameters[1], *mean = parameters[2], *variance = parameters[3];
  pool.ParallelFor(shape.planes, PlaneGrain(shape.size), [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t c = plane % shape.channels;
      const T scale = gamma[c] * (1 / std::sqrt(variance[c] + epsilon));
      const T shift = beta[c] - mean[c] * scale;
      for (int64_t i = plane * shape.size; i < (plane + 1) * shape.size; ++i) y[i] = x[i] * scale + shift;
    }
  });
}

// Mean and variance of channel `c` over the whole batch.
template <typename T>
Moments<T> ChannelMoments(const BatchShape& shape, const T* x, int64_t c) {
  const int64_t elements = shape.planes / shape.channels * shape.size;
  const auto count = static_cast<T>(elements);
  T mean = 0, variance = 0;
  for (int64_t plane = c; plane < shape.planes; plane += shape.channels) {
    mean += StretchSum(shape.size, [&](int64_t i) { return x[plane * shape.size + i]; });
  }
  mean /= count;
  for (int64_t plane = c; plane < shape.planes; plane += shape.channels) {
    variance += StretchSum(shape.size, [&](int64_t i) {
      const T deviation = x[plane * shape.size + i] - mean;
      return deviation * deviation;
    });
  }
  return {mean, variance / count};
}

// Normalizes by the batch's own moments; the running ones move towards them.
template <typename T>
Status TrainBatchNorm(const BatchShape& shape, const T* x, std::array<const T*, 4> parameters, T epsilon, T momentum,
                      T* y, KernelContext& context) {
  std::vector<T> means, variances;
  for (int64_t c = 0; c < shape.channels; ++c) {
    const Moments<T> moments = ChannelMoments(shape, x, c);
    means.push_back(moments.mean);
    variances.push_back(moments.variance);
  }
  for (const size_t slot : {size_t{1}, size_t{2}}) {
    const std::vector<T>& current = slot == 1 ? means : variances;
    RULERUN_ASSIGN(Tensor * running, context.Output(slot, DataTypeOf<T>(), {shape.channels}));
    for (size_t c = 0; c < current.size(); ++c) {
      running->mutable_data<T>()[c] = parameters[slot + 1][c] * momentum + current[c] * (1 - momentum);
    }
  }
  parameters[2] = means.data();
  parameters[3] = variances.data();
  NormalizePlanes(shape, x, parameters, epsilon, y, context.pool());
  return {};
}

Result<std::unique_ptr<Kernel>> MakeBatchNorm(const KernelRequest& request) {
  const float epsilon = FloatOr(*request.attributes, "epsilon", 1e-5f);
  const float momentum = FloatOr(*request.attributes, "momentum", 0.9f);
  // Before version 9, spatial = 0 gave every element of an image its own parameters.
  const bool spatial = request.since_version >= 9 || IntOr(*request.attributes, "spatial", 1) != 0;
  const bool training = IntOr(*request.attributes, "training_mode", 0) != 0;
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    if (x->rank() < 1) return Invalid("the input is a scalar");
    BatchShape shape;
    shape.size = spatial ? Product(x->dims(), std::min<int64_t>(2, x->rank()), x->rank()) : 1;
    shape.channels = spatial ? (x->rank() > 1 ? x->dims()[1] : 1) : Product(x->dims(), 1, x->rank());
    std::array<const Tensor*, 4> given;
    for (size_t i = 0; i < 4; ++i) {
      RULERUN_ASSIGN(given[i], Required(context, i + 1));
      if (given[i]->count() != shape.channels || given[i]->type() != x->type()) {
        return Invalid("scale, bias, mean and variance need one value of the input's type per channel");
      }
    }
    if (training && x->count() == 0) return Invalid("an empty batch has no mean and variance");
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), x->dims()));
    if (x->count() == 0) return {};
    shape.planes = x->count() / shape.size;
    return Dispatch<float, double>(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      std::array<const T*, 4> parameters;
      std::transform(given.begin(), given.end(), parameters.begin(), [](const Tensor* t) { return t->data<T>(); });
      if (training) {
        return TrainBatchNorm(shape, x->data<T>(), parameters, static_cast<T>(epsilon), static_cast<T>(momentum),
                              y->mutable_data<T>(), context);
      }
      NormalizePlanes(shape, x->data<T>(), parameters, static_cast<T>(epsilon), y->mutable_data<T>(), context.pool());
      return {};
    });
  });
}

template <typename T>
Moments<T> MomentsOf(const T* x, int64_t count) {
  const auto size = static_cast<T>(count);
  const T mean = StretchSum(count, [=](int64_t i) { return x[i]; }) / size;
  return {mean, StretchSum(count, [=](int64_t i) { return (x[i] - mean) * (x[i] - mean); }) / size};
}

// Normalizes stretches of `planes` channels together, then scales each channel.
template <typename T>
void NormalizeGroups(const T* x, T* y, int64_t groups, int64_t planes, int64_t size, T epsilon, ThreadPool& pool,
                     const std::function<std::pair<T, T>(int64_t group, int64_t plane)>& scale_and_bias) {
  pool.ParallelFor(groups, PlaneGrain(planes * size), [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const T* from = x + g * planes * size;
      T* to = y + g * planes * size;
      const Moments<T> moments = MomentsOf(from, planes * size);
      const T inverse = 1 / std::sqrt(moments.variance + epsilon);
      for (int64_t plane = 0; plane < planes; ++plane) {
        const auto [gamma, beta] = scale_and_bias(g, plane);
        const T scale = inverse * gamma;
        const T shift = beta - moments.mean * scale;
        for (int64_t i = plane * size; i < (plane + 1) * size; ++i) to[i] = from[i] * scale + shift;
      }
    }
  });
}

// `groups` of channels are normalized together; 0: each channel on its own. `per_group`: scale and bias have one value
// per group rather than per channel.
Result<std::unique_ptr<Kernel>> MakeGrouped(float epsilon, int64_t groups, bool per_group) {
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const Tensor* scale, Required(context, 1));
    RULERUN_ASSIGN(const Tensor* bias, Required(context, 2));
    if (x->rank() < 2) return Invalid("the input needs a batch and a channel axis");
    const int64_t channels = x->dims()[1], count = groups == 0 ? channels : groups;
    if (count < 0 || (count > 0 && channels % count != 0)) return Invalid("num_groups does not divide the channels");
    const int64_t wanted = per_group ? count : channels;
    if (scale->count() != wanted || bias->count() != wanted || scale->type() != x->type() ||
        bias->type() != x->type()) {
      return Invalid("scale and bias need " + std::to_string(wanted) + " values of the input's type");
    }
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), x->dims()));
    if (x->count() == 0) return {};
    const int64_t planes = channels / count;
    return Dispatch<float, double>(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      NormalizeGroups<T>(x->data<T>(), y->mutable_data<T>(), x->dims()[0] * count, planes,
                         Product(x->dims(), 2, x->rank()), static_cast<T>(epsilon), context.pool(),
                         [&](int64_t group, int64_t plane) {
                           const int64_t at = per_group ? group % count : group % count * planes + plane;
                           return std::pair(scale->data<T>()[at], bias->data<T>()[at]);
                         });
      return {};
    });
  });
}

Result<std::unique_ptr<Kernel>> MakeInstanceNorm(const KernelRequest& request) {
  return MakeGrouped(FloatOr(*request.attributes, "epsilon", 1e-5f), 0, false);
}

Result<std::unique_ptr<Kernel>> MakeGroupNorm(const KernelRequest& request) {
  const int64_t groups = IntOr(*request.attributes, "num_groups", 0);
  if (groups < 1) return Invalid("num_groups must be positive");
  return MakeGrouped(FloatOr(*request.attributes, "epsilon", 1e-5f), groups, request.since_version < 21);
}

// Across channels, at every position.
Result<std::unique_ptr<Kernel>> MakeLrn(const KernelRequest& request) {
  const float alpha = FloatOr(*request.attributes, "alpha", 1e-4f);
  const float beta = FloatOr(*request.attributes, "beta", 0.75f);
  const float bias = FloatOr(*request.attributes, "bias", 1);
  const int64_t window = IntOr(*request.attributes, "size", 1);
  if (window < 1) return Invalid("size must be positive");
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    if (x->rank() < 2) return Invalid("the input needs a batch and a channel axis");
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), x->dims()));
    const int64_t channels = x->dims()[1], size = Product(x->dims(), 2, x->rank());
    if (x->count() == 0) return {};
    return Dispatch<float, double>(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      const T* from = x->data<T>();
      T* to = y->mutable_data<T>();
      context.pool().ParallelFor(x->dims()[0] * channels, PlaneGrain(size), [&](int64_t begin, int64_t end) {
        for (int64_t plane = begin; plane < end; ++plane) {
          const int64_t image = plane / channels * channels, c = plane % channels;
          const int64_t first = std::max<int64_t>(0, c - (window - 1) / 2);
          const int64_t last = std::min<int64_t>(channels - 1, c + window / 2);
          for (int64_t i = 0; i < size; ++i) {
            T squares = 0;
            for (int64_t k = first; k <= last; ++k) {
              const T value = from[(image + k) * size + i];
              squares += value * value;
            }
            const T base = static_cast<T>(bias) + static_cast<T>(alpha) / static_cast<T>(window) * squares;
            to[plane * size + i] = from[plane * size + i] * std::pow(base, -static_cast<T>(beta));
          }
        }
      });
      return {};
    });
  });
}

Result<std::unique_ptr<Kernel>> MakeLpNorm(const KernelRequest& request) {
  const int64_t given_axis = IntOr(*request.attributes, "axis", -1);
  const int64_t p = IntOr(*request.attributes, "p", 2);
  if (p != 1 && p != 2) return Invalid("p must be 1 or 2");
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const int64_t axis, ResolveAxis(given_axis, x->rank()));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), x->dims()));
    const int64_t length = x->dims()[static_cast<size_t>(axis)], inner = Product(x->dims(), axis + 1, x->rank());
    if (x->count() == 0) return {};
    return Dispatch<float, double>(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      for (int64_t r = 0; r < x->count() / length; ++r) {
        const int64_t start = r / inner * length * inner + r % inner;
        T norm = 0;
        for (int64_t i = 0; i < length; ++i) {
          const T value = x->data<T>()[start + i * inner];
          norm += p == 1 ? std::abs(value) : value * value;
        }
        if (p == 2) norm = std::sqrt(norm);
        for (int64_t i = 0; i < length; ++i) {
          y->mutable_data<T>()[start + i * inner] = norm == 0 ? T{0} : x->data<T>()[start + i * inner] / norm;
        }
      }
      return {};
    });
  });
}

// y = (x - mean) / deviation over some axes.
template <typename T>
void NormalizeOver(const Tensor& x, const std::vector<bool>& reduced, Tensor& y) {
  // The number of the group that element i belongs to: its index along the axes that stay.
  const auto group_of = [&](int64_t i) {
    int64_t group = 0, step = 1;
    for (size_t a = reduced.size(); a-- > 0; i /= x.dims()[a]) {
      if (reduced[a]) continue;
      group += i % x.dims()[a] * step;
      step *= x.dims()[a];
    }
    return static_cast<size_t>(group);
  };
  int64_t groups = 1;
  for (size_t a = 0; a < reduced.size(); ++a) groups *= reduced[a] ? 1 : x.dims()[a];
  std::vector<double> sums(static_cast<size_t>(groups)), squares(sums.size());
  for (int64_t i = 0; i < x.count(); ++i) {
    const auto value = static_cast<double>(x.data<T>()[i]);
    sums[group_of(i)] += value;
    squares[group_of(i)] += value * value;
  }
  const int64_t per_group = x.count() / groups;
  const auto count = static_cast<double>(per_group);
  for (int64_t i = 0; i < x.count(); ++i) {
    const size_t group = group_of(i);
    const double mean = sums[group] / count, variance = std::max(0.0, squares[group] / count - mean * mean);
    y.mutable_data<T>()[i] =
        static_cast<T>((static_cast<double>(x.data<T>()[i]) - mean) / (std::sqrt(variance) + 1e-9));
  }
}

Result<std::unique_ptr<Kernel>> MakeMeanVarianceNorm(const KernelRequest& request) {
  return MakeKernel([given = IntsOr(*request.attributes, "axes", {0, 2, 3})](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const std::vector<int64_t> axes, ResolveAxes(given, x->rank()));
    std::vector<bool> reduced(x->dims().size());
    for (const int64_t axis : axes) reduced[static_cast<size_t>(axis)] = true;
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), x->dims()));
    if (x->count() == 0) return {};
    return Dispatch<float, double>(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      NormalizeOver<T>(*x, reduced, *y);
      return {};
    });
  });
}

}  // namespace

void Register_ops_normalization(KernelRegistry& registry) {
  const std::vector<Types> three(3, FloatTypes()), five(5, FloatTypes());
  AddOp(registry, "BatchNormalization", {}, five, MakeBatchNorm);
  AddOp(registry, "InstanceNormalization", {}, three, MakeInstanceNorm);
  AddOp(registry, "GroupNormalization", {}, three, MakeGroupNorm);
  AddOp(registry, "MeanVarianceNormalization", {}, {FloatTypes()}, MakeMeanVarianceNorm);
  AddOp(registry, "LRN", {}, {FloatTypes()}, MakeLrn);
  AddOp(registry, "LpNormalization", {}, {FloatTypes()}, MakeLpNorm);
}

}  // namespace rulerun
