// Concat and Split along one axis.
#include <algorithm>

#include "kernels/ops/op.h"
#include "kernels/ops/strided_copy.h"

namespace rulerun {
namespace {

Result<std::unique_ptr<Kernel>> MakeConcat(const KernelRequest& request) {
  // Only version 1 has a default.
  const int64_t given_axis = IntOr(*request.attributes, "axis", 1);
  return MakeKernel([given_axis](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* first, Required(context, 0));
    RULERUN_ASSIGN(const int64_t axis, ResolveAxis(given_axis, first->rank()));
    const auto a = static_cast<size_t>(axis);
    Dims dims = first->dims();
    for (size_t slot = 1; slot < context.InputCount(); ++slot) {
      RULERUN_ASSIGN(const Tensor* next, Required(context, slot));
      if (next->type() != first->type()) return Invalid("the inputs have different element types");
      Dims others = next->dims();
      if (others.size() == dims.size()) others[a] = first->dims()[a];
      if (others != first->dims()) {
        return Invalid("shapes " + DimsText(first->dims()) + " and " + DimsText(next->dims()) +
                       " cannot be joined along axis " + std::to_string(axis));
      }
      dims[a] += next->dims()[a];
    }
    RULERUN_ASSIGN(Tensor * y, context.Output(0, first->type(), dims));
    StridedView to{0, DenseStrides(dims)};
    for (size_t slot = 0; slot < context.InputCount(); ++slot) {
      const Tensor& part = *context.Input(slot);
      RULERUN_RETURN_IF_ERROR(CopyStrided(part, {0, DenseStrides(part.dims())}, *y, to, part.dims(), context.pool()));
      to.offset += part.dims()[a] * to.strides[a];
    }
    return {};
  });
}

// Sizes of the parts: as given, or even ones, the last smaller.
Result<std::vector<int64_t>> PartSizes(std::vector<int64_t> given, int64_t size, size_t count) {
  const auto parts = static_cast<int64_t>(count);
  if (given.empty()) {
    if (parts == 0) return Invalid("a split into nothing");
    const int64_t each = (size + parts - 1) / parts;
    for (int64_t i = 0, left = size; i < parts; ++i, left -= given.back()) given.push_back(std::min(each, left));
    return given;
  }
  if (given.size() != count) return Invalid("split does not have one size per output");
  int64_t left = size;
  for (const int64_t part : given) {
    if (part < 0 || part > left) return Invalid("the sizes in split do not add up to " + std::to_string(size));
    left -= part;
  }
  if (left != 0) return Invalid("the sizes in split do not add up to " + std::to_string(size));
  return given;
}

Result<std::unique_ptr<Kernel>> MakeSplit(const KernelRequest& request) {
  const int64_t given_axis = IntOr(*request.attributes, "axis", 0);
  const std::vector<int64_t> attribute = IntsOr(*request.attributes, "split", {});
  const auto parts =
      static_cast<size_t>(IntOr(*request.attributes, "num_outputs", static_cast<int64_t>(request.output_count)));
  const size_t outputs = request.output_count;
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const int64_t axis, ResolveAxis(given_axis, x->rank()));
    const auto a = static_cast<size_t>(axis);
    std::vector<int64_t> given = attribute;
    if (const Tensor* input = context.Input(1)) given = ToInts(*input);
    const size_t count = given.empty() ? std::min<size_t>(parts, 1 << 20) : given.size();
    RULERUN_ASSIGN(const std::vector<int64_t> sizes, PartSizes(std::move(given), x->dims()[a], count));
    StridedView from{0, DenseStrides(x->dims())};
    for (size_t i = 0; i < sizes.size() && i < outputs; ++i) {
      Dims dims = x->dims();
      dims[a] = sizes[i];
      RULERUN_ASSIGN(Tensor * y, context.Output(i, x->type(), dims));
      RULERUN_RETURN_IF_ERROR(CopyStrided(*x, from, *y, {0, DenseStrides(dims)}, dims, context.pool()));
      from.offset += sizes[i] * from.strides[a];
    }
    return {};
  });
}

}  // namespace

void Register_ops_concat_split(KernelRegistry& registry) {
  AddOp(registry, "Concat", {}, {MovableTypes(), MovableTypes()}, MakeConcat);
  AddOp(registry, "Split", {}, {MovableTypes(), {DataType::kInt64, DataType::kFloat}}, MakeSplit);
}

}  // namespace rulerun
