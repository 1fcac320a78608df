// Slice: starts and ends are attributes in version 1, inputs since 10, with axes and steps.
#include <algorithm>

#include "kernels/ops/op.h"
#include "kernels/ops/strided_copy.h"

namespace rulerun {
namespace {

struct Bounds {
  std::vector<int64_t> starts, ends, axes, steps;
};

// start and length of one axis as numpy counts them.
struct Cut {
  int64_t start, length;
};

Cut CutAxis(int64_t size, int64_t start, int64_t end, int64_t step) {
  const auto from_front = [size](int64_t at) { return at < 0 ? at + size : at; };
  // Forward slices stay in [0, size], backward ones in [-1, size - 1].
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  start = std::clamp(from_front(start), std::min(low, high), high);
  end = std::clamp(from_front(end), std::min(low, high), high);
  if (step < 0 && start < 0) return {0, 0};
  const int64_t span = step > 0 ? end - start : start - end;
  if (span <= 0) return {std::max<int64_t>(0, start), 0};
  const uint64_t pace = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  return {start, static_cast<int64_t>((static_cast<uint64_t>(span) - 1) / pace) + 1};
}

Status RunSlice(KernelContext& context, Bounds bounds) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  const size_t count = bounds.starts.size();
  if (bounds.axes.empty()) {
    for (size_t i = 0; i < count; ++i) bounds.axes.push_back(static_cast<int64_t>(i));
  }
  if (bounds.steps.empty()) bounds.steps.assign(count, 1);
  if (bounds.ends.size() != count || bounds.axes.size() != count || bounds.steps.size() != count) {
    return Invalid("starts, ends, axes and steps have different lengths");
  }
  RULERUN_ASSIGN(bounds.axes, ResolveAxes(bounds.axes, x->rank()));
  Dims dims = x->dims();
  StridedView from{0, DenseStrides(x->dims())};
  bool whole = true;
  for (size_t i = 0; i < count; ++i) {
    const auto axis = static_cast<size_t>(bounds.axes[i]);
    const int64_t step = bounds.steps[i], size = x->dims()[axis];
    if (step == 0) return Invalid("a step is 0");
    const Cut cut = CutAxis(size, bounds.starts[i], bounds.ends[i], step);
    whole &= cut.start == 0 && cut.length == size && (step == 1 || size <= 1);
    dims[axis] = cut.length;
    from.offset += cut.start * from.strides[axis];
    // Steps of an axis with one element are never taken, and their product might overflow.
    from.strides[axis] = cut.length > 1 ? from.strides[axis] * step : from.strides[axis];
  }
  if (whole) {
    context.SetOutput(0, *x);
    return {};
  }
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), dims));
  if (y->count() == 0) return {};
  return CopyStrided(*x, from, *y, {0, DenseStrides(dims)}, dims, context.pool());
}

Result<std::unique_ptr<Kernel>> MakeSlice(const KernelRequest& request) {
  if (request.since_version < 10) {
    Bounds bounds;
    bounds.starts = IntsOr(*request.attributes, "starts", {});
    bounds.ends = IntsOr(*request.attributes, "ends", {});
    bounds.axes = IntsOr(*request.attributes, "axes", {});
    return MakeKernel([bounds](KernelContext& context) { return RunSlice(context, bounds); });
  }
  return MakeKernel([](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* starts, Required(context, 1));
    RULERUN_ASSIGN(const Tensor* ends, Required(context, 2));
    Bounds bounds{ToInts(*starts), ToInts(*ends), {}, {}};
    if (const Tensor* axes = context.Input(3)) bounds.axes = ToInts(*axes);
    if (const Tensor* steps = context.Input(4)) bounds.steps = ToInts(*steps);
    return RunSlice(context, std::move(bounds));
  });
}

}  // namespace

void Register_ops_slice(KernelRegistry& registry) {
  AddOp(registry, "Slice", {}, {MovableTypes(), IndexTypes(), IndexTypes(), IndexTypes(), IndexTypes()}, MakeSlice);
}

}  // namespace rulerun
