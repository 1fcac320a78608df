// MaxUnpool: puts the maxima of a pool back to where they were found.
#include <algorithm>

#include "kernels/geometry.h"
#include "kernels/ops/op.h"

namespace rulerun {
namespace {

// The shape that MaxPool had before it, as far as that can be told.
Result<Dims> UnpooledDims(const WindowAttributes& attributes, const Dims& x) {
  const size_t axes = x.size() - 2;
  if (attributes.kernel.size() != axes) return Invalid("kernel_shape does not have one value per axis");
  Dims dims = {x[0], x[1]};
  for (size_t i = 0; i < axes; ++i) {
    const int64_t stride = attributes.strides.empty() ? 1 : attributes.strides[i];
    const int64_t pads = attributes.pads.empty() ? 0 : attributes.pads[i] + attributes.pads[i + axes];
    dims.push_back((x[i + 2] - 1) * stride + attributes.kernel[i] - pads);
  }
  return dims;
}

// `inner` at the front corner of `outer`, both of two axes or more.
int64_t Moved(int64_t index, const Dims& inner, const Dims& outer) {
  int64_t moved = 0;
  int64_t step = 1;
  for (size_t axis = inner.size(); axis-- > 0; step *= outer[axis]) {
    moved += index % inner[axis] * step;
    index /= inner[axis];
  }
  return moved;
}

Status RunMaxUnpool(const WindowAttributes& attributes, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* indices, Required(context, 1));
  if (x->rank() < 3 || indices->dims() != x->dims()) return Invalid("X and I do not fit each other");
  RULERUN_ASSIGN(const Dims pooled, UnpooledDims(attributes, x->dims()));
  Dims dims = pooled;
  if (const Tensor* given = context.Input(2)) dims = ToInts(*given);
  const std::optional<int64_t> limit = ElementCount(pooled);
  if (!limit || dims.size() != pooled.size()) return Invalid("the output would have no valid shape");
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < pooled[i]) return Invalid("output_shape is smaller than what was pooled");
  }
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), dims));
  return Dispatch<float, double>(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
    T* to = y->mutable_data<T>();
    std::fill_n(to, y->count(), T{0});
    for (int64_t i = 0; i < x->count(); ++i) {
      const int64_t index = indices->data<int64_t>()[i];
      if (index < 0 || index >= *limit) return Invalid("index " + std::to_string(index) + " is out of range");
      to[Moved(index, pooled, dims)] = x->data<T>()[i];
    }
    return {};
  });
}

Result<std::unique_ptr<Kernel>> MakeMaxUnpool(const KernelRequest& request) {
  RULERUN_ASSIGN(const WindowAttributes attributes, ReadWindowAttributes(*request.attributes));
  return MakeKernel([attributes](KernelContext& context) { return RunMaxUnpool(attributes, context); });
}

}  // namespace

void Register_ops_max_unpool(KernelRegistry& registry) {
  AddOp(registry, "MaxUnpool", {}, {FloatTypes(), {DataType::kInt64}, {DataType::kInt64}}, MakeMaxUnpool);
}

}  // namespace rulerun
