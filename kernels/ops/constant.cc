// Operators that make tensors: Constant, ConstantOfShape, Range and EyeLike.
#include <algorithm>
#include <cmath>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

Result<Tensor> ConstantValue(const AttributeMap& attributes) {
  for (const auto& [name, attribute] : attributes) {
    if (name == "value") {
      if (const auto* tensor = std::get_if<Tensor>(&attribute)) return *tensor;
    } else if (name == "value_int") {
      if (const auto* value = std::get_if<int64_t>(&attribute)) return Tensor::Scalar(*value);
    } else if (name == "value_float") {
      if (const auto* value = std::get_if<float>(&attribute)) return Tensor::Scalar(*value);
    } else if (name == "value_string") {
      if (const auto* value = std::get_if<std::string>(&attribute)) return Tensor({}, std::vector{*value});
    } else if (name == "value_ints") {
      if (const auto* values = std::get_if<std::vector<int64_t>>(&attribute)) return Tensor::Vector(*values);
    } else if (name == "value_floats") {
      if (const auto* values = std::get_if<std::vector<float>>(&attribute)) return Tensor::Vector(*values);
    } else if (name == "value_strings") {
      if (const auto* values = std::get_if<std::vector<std::string>>(&attribute)) {
        return Tensor({static_cast<int64_t>(values->size())}, *values);
      }
    }
  }
  return Unsupported("the constant has no value of a known kind");
}

Result<std::unique_ptr<Kernel>> MakeConstant(const KernelRequest& request) {
  RULERUN_ASSIGN(const Tensor value, ConstantValue(*request.attributes));
  return MakeKernel([value](KernelContext& context) -> Status {
    context.SetOutput(0, value);
    return {};
  });
}

Result<std::unique_ptr<Kernel>> MakeConstantOfShape(const KernelRequest& request) {
  Tensor value = Tensor::Scalar(0.0f);
  if (const auto found = request.attributes->find("value"); found != request.attributes->end()) {
    if (const auto* tensor = std::get_if<Tensor>(&found->second)) value = *tensor;
  }
  if (value.count() != 1) return Invalid("value must have one element");
  return MakeKernel([value](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* shape, Required(context, 0));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, value.type(), ToInts(*shape)));
    return DispatchWidth(value.type(), [&]<typename T>(TypeTag<T>) -> Status {
      std::fill_n(MutableElements<T>(*y), y->count(), *Elements<T>(value));
      return {};
    });
  });
}

constexpr uint64_t kLongestRange = uint64_t{1} << 40;

template <typename T>
Result<int64_t> RangeCount(T start, T limit, T delta) {
  if (delta == 0) return Invalid("delta is 0");
  if constexpr (std::is_integral_v<T>) {
    if (delta > 0 ? limit <= start : limit >= start) return int64_t{0};
    const auto low = static_cast<uint64_t>(delta > 0 ? start : limit);
    const auto high = static_cast<uint64_t>(delta > 0 ? limit : start);
    const uint64_t step = delta > 0 ? static_cast<uint64_t>(delta) : -static_cast<uint64_t>(delta);
    const uint64_t count = (high - low - 1) / step + 1;
    if (count > kLongestRange) return Invalid("the range is too long");
    return static_cast<int64_t>(count);
  } else {
    const double count = std::ceil(static_cast<double>(limit - start) / static_cast<double>(delta));
    if (!(count <= static_cast<double>(kLongestRange))) return Invalid("the range has no end");
    return static_cast<int64_t>(std::max(0.0, count));
  }
}

Status Range(KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* start, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* limit, Required(context, 1));
  RULERUN_ASSIGN(const Tensor* delta, Required(context, 2));
  for (const Tensor* input : {start, limit, delta}) {
    if (input->count() != 1 || input->type() != start->type())
      return Invalid("start, limit and delta must be scalars of one type");
  }
  return Dispatch<float, double, int16_t, int32_t, int64_t>(start->type(), [&]<typename T>(TypeTag<T>) -> Status {
    const T first = *start->data<T>(), step = *delta->data<T>();
    RULERUN_ASSIGN(const int64_t count, RangeCount(first, *limit->data<T>(), step));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, start->type(), {count}));
    T* to = y->mutable_data<T>();
    // Floats are added up, as ONNX Runtime does; integers within the range cannot overflow.
    T value = first;
    for (int64_t i = 0; i < count; ++i) {
      to[i] = value;
      if (i + 1 < count) value = static_cast<T>(value + step);
    }
    return {};
  });
}

Result<std::unique_ptr<Kernel>> MakeEyeLike(const KernelRequest& request) {
  const int64_t type = IntOr(*request.attributes, "dtype", 0);
  const int64_t k = IntOr(*request.attributes, "k", 0);
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    if (x->rank() != 2) return Invalid("the input must be a matrix");
    const DataType element = type == 0 ? x->type() : static_cast<DataType>(type);
    RULERUN_ASSIGN(Tensor * y, context.Output(0, element, x->dims()));
    const auto fill = [&]<typename T>(TypeTag<T>) -> Status {
      T* to = y->mutable_data<T>();
      std::fill_n(to, y->count(), T{0});
      const int64_t rows = x->dims()[0], columns = x->dims()[1];
      if (k <= -rows || k >= columns) return {};
      for (int64_t i = std::max<int64_t>(0, -k); i < rows && i + k < columns; ++i) to[i * columns + i + k] = T{1};
      return {};
    };
    return element == DataType::kBool ? fill(TypeTag<bool>{}) : DispatchNumber(element, fill);
  });
}

}  // namespace

void Register_ops_constant(KernelRegistry& registry) {
  AddOp(registry, "Constant", {}, {}, MakeConstant);
  AddOp(registry, "ConstantOfShape", {}, {{DataType::kInt64}}, MakeConstantOfShape);
  const Types types = {DataType::kFloat, DataType::kDouble, DataType::kInt16, DataType::kInt32, DataType::kInt64};
  AddOp(registry, "Range", {}, {types, types, types}, Stateless(Range));
  AddOp(registry, "EyeLike", {}, {}, MakeEyeLike);
}

}  // namespace rulerun
