// Scatter, ScatterElements and ScatterND with their reductions, in the order of the updates; TensorScatter.
#include <algorithm>
#include <optional>

#include "kernels/ops/op.h"
#include "kernels/ops/strided_copy.h"

namespace rulerun {
namespace {

enum class Reduce { kNone, kAdd, kMul, kMax, kMin };

Result<Reduce> ReadReduction(const AttributeMap& attributes) {
  const std::string name = StringOr(attributes, "reduction", "none");
  if (name == "none") return Reduce::kNone;
  if (name == "add") return Reduce::kAdd;
  if (name == "mul") return Reduce::kMul;
  if (name == "max") return Reduce::kMax;
  if (name == "min") return Reduce::kMin;
  return Invalid("unknown reduction '" + name + "'");
}

template <typename T>
T Combine(Reduce reduce, T old, T update) {
  switch (reduce) {
    case Reduce::kAdd:
      return Wrapping(old, update, [](auto a, auto b) { return a + b; });
    case Reduce::kMul:
      return Wrapping(old, update, [](auto a, auto b) { return a * b; });
    case Reduce::kMax:
      return std::max(old, update);
    case Reduce::kMin:
      return std::min(old, update);
    default:
      return update;
  }
}

// y block targets[i] takes update block i, for blocks of `size` elements.
Status Apply(Reduce reduce, const Tensor& updates, const std::vector<int64_t>& targets, int64_t size, Tensor& y) {
  if (reduce == Reduce::kNone) {
    return DispatchWidth(y.type(), [&]<typename T>(TypeTag<T>) -> Status {
      const T* from = Elements<T>(updates);
      T* to = MutableElements<T>(y);
      for (size_t i = 0; i < targets.size(); ++i, from += size) std::copy(from, from + size, to + targets[i] * size);
      return {};
    });
  }
  return DispatchNumber(y.type(), [&]<typename T>(TypeTag<T>) -> Status {
    const T* from = updates.data<T>();
    T* to = y.mutable_data<T>();
    for (size_t i = 0; i < targets.size(); ++i, from += size) {
      T* block = to + targets[i] * size;
      for (int64_t k = 0; k < size; ++k) block[k] = Combine(reduce, block[k], from[k]);
    }
    return {};
  });
}

Result<Tensor*> CopyOfData(KernelContext& context, const Tensor& data) {
  RULERUN_ASSIGN(Tensor * y, context.Output(0, data.type(), data.dims()));
  const StridedView dense{0, DenseStrides(data.dims())};
  RULERUN_RETURN_IF_ERROR(CopyStrided(data, dense, *y, dense, data.dims(), context.pool()));
  return y;
}

std::optional<int64_t> Wrapped(int64_t index, int64_t size) {
  if (index < -size || index >= size) return std::nullopt;
  return index < 0 ? index + size : index;
}

Error OutOfRange(int64_t index) { return Invalid("index " + std::to_string(index) + " is out of range"); }

Result<std::unique_ptr<Kernel>> MakeScatterElements(const KernelRequest& request) {
  const int64_t given_axis = IntOr(*request.attributes, "axis", 0);
  RULERUN_ASSIGN(const Reduce reduce, ReadReduction(*request.attributes));
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* data, Required(context, 0));
    RULERUN_ASSIGN(const Tensor* indices, Required(context, 1));
    RULERUN_ASSIGN(const Tensor* updates, Required(context, 2));
    RULERUN_ASSIGN(const int64_t axis, ResolveAxis(given_axis, data->rank()));
    const auto a = static_cast<size_t>(axis);
    const Dims& dims = indices->dims();
    if (dims.size() != data->dims().size() || updates->dims() != dims || updates->type() != data->type()) {
      return Invalid("data, indices and updates do not fit each other");
    }
    for (size_t i = 0; i < dims.size(); ++i) {
      if (i != a && dims[i] > data->dims()[i]) return Invalid("indices are larger than data beside the axis");
    }
    const std::vector<int64_t> strides = DenseStrides(data->dims()), index_strides = DenseStrides(dims);
    std::vector<int64_t> targets(static_cast<size_t>(indices->count()));
    for (int64_t i = 0; i < indices->count(); ++i) {
      const int64_t index = ElementAsInt(*indices, i);
      const std::optional<int64_t> wrapped = Wrapped(index, data->dims()[a]);
      if (!wrapped) return OutOfRange(index);
      int64_t rest = i, offset = 0;
      for (size_t k = 0; k < dims.size(); ++k) {
        offset += (k == a ? *wrapped : rest / index_strides[k]) * strides[k];
        rest %= index_strides[k];
      }
      targets[static_cast<size_t>(i)] = offset;
    }
    RULERUN_ASSIGN(Tensor * y, CopyOfData(context, *data));
    return Apply(reduce, *updates, targets, 1, *y);
  });
}

Result<std::unique_ptr<Kernel>> MakeScatterNd(const KernelRequest& request) {
  RULERUN_ASSIGN(const Reduce reduce, ReadReduction(*request.attributes));
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* data, Required(context, 0));
    RULERUN_ASSIGN(const Tensor* indices, Required(context, 1));
    RULERUN_ASSIGN(const Tensor* updates, Required(context, 2));
    if (indices->rank() < 1 || updates->type() != data->type()) return Invalid("indices and updates do not fit data");
    const int64_t depth = indices->dims().back();
    if (depth > data->rank()) return Invalid("indices have more entries than data has axes");
    Dims wanted(indices->dims().begin(), indices->dims().end() - 1);
    wanted.insert(wanted.end(), data->dims().begin() + depth, data->dims().end());
    if (updates->dims() != wanted) {
      return Invalid("updates have shape " + DimsText(updates->dims()) + ", not " + DimsText(wanted));
    }
    const int64_t tuples = ElementCount(std::span(indices->dims()).first(indices->dims().size() - 1)).value_or(0);
    std::vector<int64_t> targets;
    for (int64_t t = 0; t < tuples; ++t) {
      int64_t offset = 0;
      for (int64_t k = 0; k < depth; ++k) {
        const int64_t size = data->dims()[static_cast<size_t>(k)];
        const int64_t index = ElementAsInt(*indices, t * depth + k);
        const std::optional<int64_t> wrapped = Wrapped(index, size);
        if (!wrapped) return OutOfRange(index);
        offset = offset * size + *wrapped;
      }
      targets.push_back(offset);
    }
    RULERUN_ASSIGN(Tensor * y, CopyOfData(context, *data));
    return Apply(reduce, *updates, targets, Product(data->dims(), depth, data->rank()), *y);
  });
}

// TensorScatter: the rows of `update` go into a cache, for each sequence from a place of its own on.
Result<std::unique_ptr<Kernel>> MakeTensorScatter(const KernelRequest& request) {
  const int64_t given_axis = IntOr(*request.attributes, "axis", -2);
  const bool circular = StringOr(*request.attributes, "mode", "linear") == "circular";
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* cache, Required(context, 0));
    RULERUN_ASSIGN(const Tensor* update, Required(context, 1));
    const Tensor* starts = context.Input(2);
    RULERUN_ASSIGN(const int64_t axis, ResolveAxis(given_axis, cache->rank()));
    Dims wanted = cache->dims();
    const int64_t room = wanted[static_cast<size_t>(axis)];
    const int64_t rows = axis < update->rank() ? update->dims()[static_cast<size_t>(axis)] : 0;
    wanted[static_cast<size_t>(axis)] = rows;
    if (axis == 0 || update->dims() != wanted || rows > room || update->type() != cache->type() ||
        (starts != nullptr && starts->dims() != Dims{wanted[0]})) {
      return Invalid("an update of shape " + DimsText(update->dims()) + " does not fit a cache of shape " +
                     DimsText(cache->dims()));
    }
    const int64_t lines = Product(wanted, 0, axis);
    std::vector<int64_t> targets;
    for (int64_t line = 0; line < lines; ++line) {
      const int64_t start = starts == nullptr ? 0 : starts->data<int64_t>()[line / (lines / wanted[0])];
      if (start < 0 || (!circular && start + rows > room)) return OutOfRange(start);
      for (int64_t row = 0; row < rows; ++row) targets.push_back(line * room + (start + row) % room);
    }
    RULERUN_ASSIGN(Tensor * y, CopyOfData(context, *cache));
    return Apply(Reduce::kNone, *update, targets, Product(wanted, axis + 1, cache->rank()), *y);
  });
}

}  // namespace

void Register_ops_scatter(KernelRegistry& registry) {
  const std::vector<Types> types = {MovableTypes(), IndexTypes(), MovableTypes()};
  AddOp(registry, "Scatter", {}, types, MakeScatterElements);
  AddOp(registry, "ScatterElements", {}, types, MakeScatterElements);
  AddOp(registry, "TensorScatter", {}, {MovableTypes(), MovableTypes(), {DataType::kInt64}}, MakeTensorScatter);
  AddOp(registry, "ScatterND", {}, {MovableTypes(), {DataType::kInt64}, MovableTypes()}, MakeScatterNd);
}

}  // namespace rulerun
