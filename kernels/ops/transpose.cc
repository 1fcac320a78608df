// Transpose, DepthToSpace and SpaceToDepth: the same elements in another order.
#include <algorithm>
#include <numeric>

#include "kernels/ops/op.h"
#include "kernels/ops/strided_copy.h"

namespace rulerun {
namespace {

// y of `out_dims` = x seen as `dims`, its axes in the order `perm`.
Status Permute(KernelContext& context, const Tensor& x, const Dims& dims, const std::vector<int64_t>& perm,
               Dims out_dims) {
  const std::vector<int64_t> strides = DenseStrides(dims);
  Dims permuted;
  StridedView from, to;
  for (const int64_t axis : perm) {
    permuted.push_back(dims[static_cast<size_t>(axis)]);
    from.strides.push_back(strides[static_cast<size_t>(axis)]);
  }
  to.strides = DenseStrides(permuted);
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x.type(), std::move(out_dims)));
  return CopyStrided(x, from, *y, to, permuted, context.pool());
}

Result<std::unique_ptr<Kernel>> MakeTranspose(const KernelRequest& request) {
  const std::vector<int64_t> given = IntsOr(*request.attributes, "perm", {});
  return MakeKernel([given](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    std::vector<int64_t> perm = given;
    if (perm.empty()) {
      perm.resize(x->dims().size());
      std::iota(perm.rbegin(), perm.rend(), int64_t{0});
    }
    if (perm.size() != x->dims().size()) return Invalid("perm does not have one entry per axis");
    RULERUN_ASSIGN(perm, ResolveAxes(perm, x->rank()));
    Dims dims;
    for (const int64_t axis : perm) dims.push_back(x->dims()[static_cast<size_t>(axis)]);
    // Moving axes of size 1 about changes the shape only.
    std::vector<int64_t> moving;
    for (const int64_t axis : perm) {
      if (x->dims()[static_cast<size_t>(axis)] != 1) moving.push_back(axis);
    }
    if (std::is_sorted(moving.begin(), moving.end())) {
      context.SetOutput(0, x->Reshaped(std::move(dims)));
      return {};
    }
    return Permute(context, *x, x->dims(), perm, dims);
  });
}

Status CheckImage(const Tensor& x, int64_t block) {
  if (x.rank() != 4) return Invalid("the input must have four axes");
  if (block < 1 || block > 1 << 15) return Invalid("blocksize is out of range");
  return {};
}

Result<std::unique_ptr<Kernel>> MakeDepthToSpace(const KernelRequest& request) {
  const int64_t block = IntOr(*request.attributes, "blocksize", 0);
  const bool column_first = StringOr(*request.attributes, "mode", "DCR") == "CRD";
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_RETURN_IF_ERROR(CheckImage(*x, block));
    const int64_t n = x->dims()[0], c = x->dims()[1], h = x->dims()[2], w = x->dims()[3];
    if (c % (block * block) != 0) return Invalid("blocksize squared does not divide the channels");
    const int64_t out = c / (block * block);
    if (column_first) {
      return Permute(context, *x, {n, out, block, block, h, w}, {0, 1, 4, 2, 5, 3}, {n, out, h * block, w * block});
    }
    return Permute(context, *x, {n, block, block, out, h, w}, {0, 3, 4, 1, 5, 2}, {n, out, h * block, w * block});
  });
}

Result<std::unique_ptr<Kernel>> MakeSpaceToDepth(const KernelRequest& request) {
  const int64_t block = IntOr(*request.attributes, "blocksize", 0);
  const bool column_first = StringOr(*request.attributes, "mode", "DCR") == "CRD";
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_RETURN_IF_ERROR(CheckImage(*x, block));
    const int64_t n = x->dims()[0], c = x->dims()[1], h = x->dims()[2], w = x->dims()[3];
    if (h % block != 0 || w % block != 0) return Invalid("blocksize does not divide height and width");
    const std::vector<int64_t> perm =
        column_first ? std::vector<int64_t>{0, 1, 3, 5, 2, 4} : std::vector<int64_t>{0, 3, 5, 1, 2, 4};
    return Permute(context, *x, {n, c, h / block, block, w / block, block}, perm,
                   {n, c * block * block, h / block, w / block});
  });
}

}  // namespace

void Register_ops_transpose(KernelRegistry& registry) {
  AddOp(registry, "Transpose", {}, {MovableTypes()}, MakeTranspose);
  AddOp(registry, "DepthToSpace", {}, {MovableTypes()}, MakeDepthToSpace);
  AddOp(registry, "SpaceToDepth", {}, {MovableTypes()}, MakeSpaceToDepth);
}

}  // namespace rulerun
