// NonZero, Compress, OneHot, Trilu and ReverseSequence.
#include <algorithm>

#include "kernels/ops/op.h"
#include "kernels/ops/strided_copy.h"

namespace rulerun {
namespace {

Status NonZero(KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  std::vector<int64_t> found;
  const auto search = [&]<typename T>(TypeTag<T>) -> Status {
    for (int64_t i = 0; i < x->count(); ++i) {
      if (x->data<T>()[i] != T{0}) found.push_back(i);
    }
    return {};
  };
  RULERUN_RETURN_IF_ERROR(x->type() == DataType::kBool ? search(TypeTag<uint8_t>{})
                                                       : DispatchNumber(x->type(), search));
  const auto count = static_cast<int64_t>(found.size());
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kInt64, {x->rank(), count}));
  const std::vector<int64_t> strides = DenseStrides(x->dims());
  int64_t* to = y->mutable_data<int64_t>();
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    for (const int64_t index : found) *to++ = index / strides[axis] % x->dims()[axis];
  }
  return {};
}

Result<std::unique_ptr<Kernel>> MakeCompress(const KernelRequest& request) {
  const bool flat = !request.attributes->contains("axis");
  const int64_t given_axis = IntOr(*request.attributes, "axis", 0);
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const Tensor* condition, Required(context, 1));
    int64_t axis = 0;
    if (!flat) {
      RULERUN_ASSIGN(axis, ResolveAxis(given_axis, x->rank()));
    }
    const int64_t outer = flat ? 1 : Product(x->dims(), 0, axis);
    const int64_t size = flat ? x->count() : x->dims()[static_cast<size_t>(axis)];
    const int64_t inner = flat ? 1 : Product(x->dims(), axis + 1, x->rank());
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < std::min(size, condition->count()); ++i) {
      if (condition->data<bool>()[i]) kept.push_back(i);
    }
    Dims dims = flat ? Dims{0} : x->dims();
    dims[static_cast<size_t>(axis)] = static_cast<int64_t>(kept.size());
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), dims));
    return DispatchWidth(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      T* to = MutableElements<T>(*y);
      for (int64_t o = 0; o < outer; ++o) {
        for (const int64_t index : kept) {
          const T* block = Elements<T>(*x) + (o * size + index) * inner;
          to = std::copy(block, block + inner, to);
        }
      }
      return {};
    });
  });
}

// Inputs: indices, depth, values [off, on].
Result<std::unique_ptr<Kernel>> MakeOneHot(const KernelRequest& request) {
  const int64_t given_axis = IntOr(*request.attributes, "axis", -1);
  return MakeKernel([given_axis](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* indices, Required(context, 0));
    RULERUN_ASSIGN(const Tensor* depth_tensor, Required(context, 1));
    RULERUN_ASSIGN(const Tensor* values, Required(context, 2));
    if (depth_tensor->count() != 1 || values->count() != 2) return Invalid("depth needs one value, values need two");
    const double given_depth = ElementAsDouble(*depth_tensor, 0);
    if (!(given_depth >= 1 && given_depth < 0x1p40)) return Invalid("depth is out of range");
    const auto depth = static_cast<int64_t>(given_depth);
    RULERUN_ASSIGN(const int64_t axis, ResolveAxis(given_axis, indices->rank() + 1));
    Dims dims = indices->dims();
    dims.insert(dims.begin() + axis, depth);
    RULERUN_ASSIGN(Tensor * y, context.Output(0, values->type(), dims));
    const int64_t inner = Product(indices->dims(), axis, indices->rank());
    return DispatchWidth(values->type(), [&]<typename T>(TypeTag<T>) -> Status {
      T* to = MutableElements<T>(*y);
      std::fill_n(to, y->count(), Elements<T>(*values)[0]);
      for (int64_t i = 0; i < indices->count(); ++i) {
        const double given = ElementAsDouble(*indices, i);
        if (!(given >= -given_depth && given < given_depth)) continue;
        auto index = static_cast<int64_t>(given);
        if (index < 0) index += depth;
        to[(i / inner * depth + index) * inner + i % inner] = Elements<T>(*values)[1];
      }
      return {};
    });
  });
}

Result<std::unique_ptr<Kernel>> MakeTrilu(const KernelRequest& request) {
  const bool upper = IntOr(*request.attributes, "upper", 1) != 0;
  return MakeKernel([upper](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    if (x->rank() < 2) return Invalid("the input needs two axes");
    int64_t k = 0;
    if (const Tensor* input = context.Input(1); input != nullptr && input->count() == 1) k = ElementAsInt(*input, 0);
    const int64_t rows = x->dims()[x->dims().size() - 2], columns = x->dims().back();
    k = std::clamp(k, -rows - 1, columns + 1);
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), x->dims()));
    return DispatchWidth(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      const T* from = Elements<T>(*x);
      T* to = MutableElements<T>(*y);
      for (int64_t i = 0; i < x->count(); ++i) {
        const int64_t row = i / columns % rows, column = i % columns;
        to[i] = (upper ? column - row >= k : column - row <= k) ? from[i] : T{};
      }
      return {};
    });
  });
}

Result<std::unique_ptr<Kernel>> MakeReverseSequence(const KernelRequest& request) {
  const int64_t time_axis = IntOr(*request.attributes, "time_axis", 0);
  const int64_t batch_axis = IntOr(*request.attributes, "batch_axis", 1);
  if (time_axis + batch_axis != 1 || time_axis * batch_axis != 0)
    return Invalid("time_axis and batch_axis are 0 and 1");
  return MakeKernel([time_axis](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const Tensor* lengths, Required(context, 1));
    if (x->rank() < 2) return Invalid("the input needs two axes");
    const int64_t times = x->dims()[static_cast<size_t>(time_axis)],
                  batch = x->dims()[static_cast<size_t>(1 - time_axis)];
    if (lengths->count() != batch) return Invalid("sequence_lens does not have one value per batch entry");
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), x->dims()));
    const int64_t inner = Product(x->dims(), 2, x->rank());
    const auto place = [&](int64_t t, int64_t b) { return (time_axis == 0 ? t * batch + b : b * times + t) * inner; };
    return DispatchWidth(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      for (int64_t b = 0; b < batch; ++b) {
        const int64_t length = ElementAsInt(*lengths, b);
        if (length < 0 || length > times) return Invalid("a sequence length is out of range");
        for (int64_t t = 0; t < times; ++t) {
          const T* block = Elements<T>(*x) + place(t < length ? length - 1 - t : t, b);
          std::copy(block, block + inner, MutableElements<T>(*y) + place(t, b));
        }
      }
      return {};
    });
  });
}

}  // namespace

void Register_ops_select(KernelRegistry& registry) {
  Types searchable = NumberTypes();
  searchable.push_back(DataType::kBool);
  AddOp(registry, "NonZero", {}, {searchable}, Stateless(NonZero));
  AddOp(registry, "Compress", {}, {MovableTypes(), {DataType::kBool}}, MakeCompress);
  AddOp(registry, "OneHot", {}, {NumberTypes(), NumberTypes(), MovableTypes()}, MakeOneHot);
  AddOp(registry, "Trilu", {}, {MovableTypes(), {DataType::kInt64}}, MakeTrilu);
  AddOp(registry, "ReverseSequence", {}, {MovableTypes(), {DataType::kInt64}}, MakeReverseSequence);
}

}  // namespace rulerun
