// ArgMax and ArgMin.
#include "kernels/ops/op.h"

namespace rulerun {
namespace {

template <bool kMax, typename T>
void FindAll(const T* x, int64_t* y, int64_t outer, int64_t length, int64_t inner, bool last) {
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const T* row = x + o * length * inner + i;
      int64_t best = 0;
      for (int64_t k = 1; k < length; ++k) {
        const T value = row[k * inner], most = row[best * inner];
        if (kMax ? value > most : value < most) best = k;
        if (last && value == most) best = k;
      }
      *y++ = best;
    }
  }
}

template <bool kMax>
Result<std::unique_ptr<Kernel>> Make(const KernelRequest& request) {
  const int64_t given_axis = IntOr(*request.attributes, "axis", 0);
  const bool keep = IntOr(*request.attributes, "keepdims", 1) != 0;
  const bool last = IntOr(*request.attributes, "select_last_index", 0) != 0;
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const int64_t axis, ResolveAxis(given_axis, x->rank()));
    const int64_t length = x->dims()[static_cast<size_t>(axis)];
    Dims dims = x->dims();
    dims[static_cast<size_t>(axis)] = 1;
    if (!keep) dims.erase(dims.begin() + axis);
    RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kInt64, dims));
    if (y->count() == 0) return {};
    if (length == 0) return Invalid("the axis to search is empty");
    return Dispatch<float, double, int8_t, uint8_t, int32_t, int64_t>(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
      FindAll<kMax>(x->data<T>(), y->mutable_data<int64_t>(), Product(x->dims(), 0, axis), length,
                    Product(x->dims(), axis + 1, x->rank()), last);
      return {};
    });
  });
}

}  // namespace

void Register_ops_arg_reduce(KernelRegistry& registry) {
  const Types types = {DataType::kFloat, DataType::kDouble, DataType::kInt8,
                       DataType::kUint8, DataType::kInt32,  DataType::kInt64};
  AddOp(registry, "ArgMax", {}, {types}, Make<true>);
  AddOp(registry, "ArgMin", {}, {types}, Make<false>);
}

}  // namespace rulerun
