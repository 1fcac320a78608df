// Expand and Tile: copies of the input side by side.
#include "kernels/ops/broadcast.h"
#include "kernels/ops/op.h"
#include "kernels/ops/strided_copy.h"

namespace rulerun {
namespace {

Status Expand(KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* shape, Required(context, 1));
  const Dims wanted = ToInts(*shape);
  for (const int64_t size : wanted) {
    if (size < 0) return Invalid("bad shape " + DimsText(wanted));
  }
  RULERUN_ASSIGN(const Broadcast plan, Broadcast::Make({&x->dims(), &wanted}));
  if (plan.dims() == x->dims()) {
    context.SetOutput(0, *x);
    return {};
  }
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), plan.dims()));
  StridedView from{0, DenseStrides(x->dims())};
  for (size_t i = 0; i < x->dims().size(); ++i) {
    if (x->dims()[i] == 1) from.strides[i] = 0;
  }
  from.strides.insert(from.strides.begin(), plan.dims().size() - x->dims().size(), 0);
  return CopyStrided(*x, from, *y, {0, DenseStrides(plan.dims())}, plan.dims(), context.pool());
}

// Seen as [repeat, size] per axis, tiling is a broadcast.
Status Tile(KernelContext& context, std::vector<int64_t> repeats) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  if (repeats.size() != x->dims().size()) return Invalid("repeats does not have one value per axis");
  Dims dims, split;
  StridedView from;
  const std::vector<int64_t> strides = DenseStrides(x->dims());
  for (size_t i = 0; i < repeats.size(); ++i) {
    int64_t size = 0;
    if (repeats[i] < 0 || __builtin_mul_overflow(x->dims()[i], repeats[i], &size)) return Invalid("bad repeats");
    dims.push_back(size);
    split.insert(split.end(), {repeats[i], x->dims()[i]});
    from.strides.insert(from.strides.end(), {0, strides[i]});
  }
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), dims));
  return CopyStrided(*x, from, *y, {0, DenseStrides(split)}, split, context.pool());
}

Result<std::unique_ptr<Kernel>> MakeTile(const KernelRequest& request) {
  // Version 1 repeats one axis only.
  const bool old = request.since_version < 6;
  return MakeKernel([old](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const Tensor* repeats, Required(context, 1));
    if (!old) return Tile(context, ToInts(*repeats));
    RULERUN_ASSIGN(const Tensor* axis_tensor, Required(context, 2));
    if (repeats->count() != 1 || axis_tensor->count() != 1) return Invalid("tiles and axis must be single numbers");
    RULERUN_ASSIGN(const int64_t axis, ResolveAxis(ElementAsInt(*axis_tensor, 0), x->rank()));
    std::vector<int64_t> all(x->dims().size(), 1);
    all[static_cast<size_t>(axis)] = ElementAsInt(*repeats, 0);
    return Tile(context, std::move(all));
  });
}

}  // namespace

void Register_ops_expand_tile(KernelRegistry& registry) {
  AddOp(registry, "Expand", {}, {MovableTypes(), {DataType::kInt64}}, Stateless(Expand));
  AddOp(registry, "Tile", {}, {MovableTypes(), {}, {}}, MakeTile);
}

}  // namespace rulerun
