// Operators that keep the data and change the shape, or read the shape: Reshape, Flatten, Squeeze, Unsqueeze, Identity,
// Shape and Size. Lists of sizes and axes are attributes in old versions and inputs in new ones.
#include <algorithm>
#include <limits>
#include <optional>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

Status PassReshaped(KernelContext& context, const Tensor& x, Dims dims) {
  const std::optional<int64_t> count = ElementCount(dims);
  if (!count || *count != x.count()) {
    return Invalid("shape " + DimsText(x.dims()) + " cannot become " + DimsText(dims));
  }
  context.SetOutput(0, x.Reshaped(std::move(dims)));
  return {};
}

// Fills in 0 (copy the input's size) and -1 (what is left).
Result<Dims> TargetDims(const Tensor& x, const std::vector<int64_t>& wanted, bool allow_zero) {
  Dims dims = wanted;
  int64_t known = 1;
  std::optional<size_t> inferred;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !allow_zero) {
      if (i >= x.dims().size()) return Invalid("a size of 0 copies a dimension that the input does not have");
      dims[i] = x.dims()[i];
    }
    if (dims[i] < -1 || (dims[i] == -1 && inferred)) return Invalid("bad target shape " + DimsText(wanted));
    if (dims[i] == -1) {
      inferred = i;
    } else if (__builtin_mul_overflow(known, dims[i], &known)) {
      return Invalid("target shape " + DimsText(wanted) + " is too large");
    }
  }
  if (!inferred) return dims;
  if (known == 0 ? x.count() != 0 : x.count() % known != 0) {
    return Invalid("shape " + DimsText(x.dims()) + " cannot become " + DimsText(wanted));
  }
  dims[*inferred] = known == 0 ? 0 : x.count() / known;
  return dims;
}

Result<std::unique_ptr<Kernel>> MakeReshape(const KernelRequest& request) {
  const bool allow_zero = IntOr(*request.attributes, "allowzero", 0) != 0;
  const std::vector<int64_t> attribute_shape = IntsOr(*request.attributes, "shape", {});
  const bool by_input = request.since_version >= 5;
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    std::vector<int64_t> shape = attribute_shape;
    if (by_input) {
      RULERUN_ASSIGN(const Tensor* input, Required(context, 1));
      shape = ToInts(*input);
    }
    RULERUN_ASSIGN(Dims dims, TargetDims(*x, shape, allow_zero));
    return PassReshaped(context, *x, std::move(dims));
  });
}

Result<std::unique_ptr<Kernel>> MakeFlatten(const KernelRequest& request) {
  const int64_t given_axis = IntOr(*request.attributes, "axis", 1);
  return MakeKernel([given_axis](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    int64_t axis = given_axis;
    if (axis != x->rank()) {
      RULERUN_ASSIGN(axis, ResolveAxis(axis, x->rank()));
    }
    return PassReshaped(context, *x, {Product(x->dims(), 0, axis), Product(x->dims(), axis, x->rank())});
  });
}

// The axes of Squeeze and Unsqueeze; nullopt where none are given.
Result<std::optional<std::vector<int64_t>>> ReadAxes(const KernelContext& context,
                                                     const std::optional<std::vector<int64_t>>& attribute,
                                                     int64_t rank) {
  std::optional<std::vector<int64_t>> axes = attribute;
  if (const Tensor* input = context.Input(1)) axes = ToInts(*input);
  if (axes) {
    RULERUN_ASSIGN(axes, ResolveAxes(*axes, rank));
  }
  return axes;
}

std::optional<std::vector<int64_t>> AxesAttribute(const AttributeMap& attributes) {
  if (!attributes.contains("axes")) return std::nullopt;
  return IntsOr(attributes, "axes", {});
}

Result<std::unique_ptr<Kernel>> MakeSqueeze(const KernelRequest& request) {
  return MakeKernel([attribute = AxesAttribute(*request.attributes)](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const auto axes, ReadAxes(context, attribute, x->rank()));
    Dims dims;
    for (size_t i = 0; i < x->dims().size(); ++i) {
      const bool named = axes && std::find(axes->begin(), axes->end(), static_cast<int64_t>(i)) != axes->end();
      if (axes ? !named : x->dims()[i] != 1) dims.push_back(x->dims()[i]);
    }
    return PassReshaped(context, *x, std::move(dims));
  });
}

Result<std::unique_ptr<Kernel>> MakeUnsqueeze(const KernelRequest& request) {
  return MakeKernel([attribute = AxesAttribute(*request.attributes)](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    const size_t added = context.Input(1) != nullptr ? static_cast<size_t>(context.Input(1)->count())
                         : attribute                 ? attribute->size()
                                                     : 0;
    if (added > 64) return Invalid("too many axes");
    RULERUN_ASSIGN(const auto axes, ReadAxes(context, attribute, x->rank() + static_cast<int64_t>(added)));
    Dims dims(x->dims().size() + added, -1);
    if (axes) {
      for (const int64_t axis : *axes) dims[static_cast<size_t>(axis)] = 1;
    }
    size_t next = 0;
    for (int64_t& dim : dims) {
      if (dim == -1) dim = x->dims()[next++];
    }
    return PassReshaped(context, *x, std::move(dims));
  });
}

Status Identity(KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  context.SetOutput(0, *x);
  return {};
}

Result<std::unique_ptr<Kernel>> MakeShape(const KernelRequest& request) {
  const int64_t start = IntOr(*request.attributes, "start", 0);
  const int64_t end = IntOr(*request.attributes, "end", std::numeric_limits<int64_t>::max());
  return MakeKernel([=](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    const int64_t rank = x->rank();
    const auto place = [rank](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
    const int64_t first = place(start), last = std::max(first, place(end));
    context.SetOutput(0, Tensor::Vector(std::vector<int64_t>(x->dims().begin() + first, x->dims().begin() + last)));
    return {};
  });
}

Status Size(KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  context.SetOutput(0, Tensor::Scalar(x->count()));
  return {};
}

}  // namespace

void Register_ops_reshape(KernelRegistry& registry) {
  const Types any;
  AddOp(registry, "Reshape", {}, {any, {DataType::kInt64}}, MakeReshape);
  AddOp(registry, "Flatten", {}, {any}, MakeFlatten);
  AddOp(registry, "Squeeze", {}, {any, {DataType::kInt64}}, MakeSqueeze);
  AddOp(registry, "Unsqueeze", {}, {any, {DataType::kInt64}}, MakeUnsqueeze);
  AddOp(registry, "Identity", {}, {any}, Stateless(Identity));
  AddOp(registry, "Shape", {}, {any}, MakeShape);
  AddOp(registry, "Size", {}, {any}, Stateless(Size));
}

}  // namespace rulerun
