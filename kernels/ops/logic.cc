// Comparisons, logical and bitwise operators, and Where.
#include "kernels/ops/binary.h"
#include "kernels/ops/op.h"
#include "kernels/ops/strided_copy.h"

namespace rulerun {
namespace {

struct Equal {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return a == b;
  }
};
struct Less {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};
struct LessOrEqual {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return a <= b;
  }
};
struct Greater {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return a > b;
  }
};
struct GreaterOrEqual {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return a >= b;
  }
};

// Before version 7, B was stretched over A from `axis` on.
Result<Tensor> Stretched(const Tensor& a, const Tensor& b, const AttributeMap& attributes) {
  if (!attributes.contains("axis") || b.rank() >= a.rank()) return b;
  RULERUN_ASSIGN(const int64_t axis, ResolveAxis(IntOr(attributes, "axis", 0), a.rank()));
  if (axis + b.rank() > a.rank()) return Invalid("B does not fit in A from axis " + std::to_string(axis));
  Dims dims = b.dims();
  dims.resize(static_cast<size_t>(a.rank() - axis), 1);
  return b.Reshaped(dims);
}

template <typename F>
Status Compare(KernelContext& context, const Tensor& a, const Tensor& b, F f) {
  if (a.type() != b.type()) return Invalid("the inputs have different element types");
  if (a.type() == DataType::kString) return RunBinary<bool, std::string, std::string>(context, a, b, f);
  if (a.type() == DataType::kBool) return RunBinary<bool, bool, bool>(context, a, b, f);
  return DispatchNumber(a.type(), [&]<typename T>(TypeTag<T>) { return RunBinary<bool, T, T>(context, a, b, f); });
}

template <typename F>
KernelFactory Comparison(F f) {
  return [f](const KernelRequest& request) -> Result<std::unique_ptr<Kernel>> {
    return MakeKernel([f, attributes = *request.attributes](KernelContext& context) -> Status {
      RULERUN_ASSIGN(const Tensor* a, Required(context, 0));
      RULERUN_ASSIGN(const Tensor* b, Required(context, 1));
      RULERUN_ASSIGN(const Tensor second, Stretched(*a, *b, attributes));
      return Compare(context, *a, second, f);
    });
  };
}

template <typename F>
KernelFactory Logical(F f) {
  return [f](const KernelRequest& request) -> Result<std::unique_ptr<Kernel>> {
    return MakeKernel([f, attributes = *request.attributes](KernelContext& context) -> Status {
      RULERUN_ASSIGN(const Tensor* a, Required(context, 0));
      RULERUN_ASSIGN(const Tensor* b, Required(context, 1));
      RULERUN_ASSIGN(const Tensor second, Stretched(*a, *b, attributes));
      return RunBinary<bool, bool, bool>(context, *a, second, f);
    });
  };
}

template <typename F>
KernelFactory Bitwise(F f) {
  return Stateless([f](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* a, Required(context, 0));
    RULERUN_ASSIGN(const Tensor* b, Required(context, 1));
    if (a->type() != b->type()) return Invalid("the inputs have different element types");
    // Bits are bits: signed types share the code of unsigned ones, as views of the same bytes.
    return DispatchWidth(a->type(), [&]<typename T>(TypeTag<T>) -> Status {
      if constexpr (std::is_integral_v<T>) {
        RULERUN_ASSIGN(const Broadcast plan, Broadcast::Make({&a->dims(), &b->dims()}));
        RULERUN_ASSIGN(Tensor * y, context.Output(0, a->type(), plan.dims()));
        ApplyBinary(plan, a->data<T>(), b->data<T>(), y->mutable_data<T>(), context.pool(), f);
        return {};
      } else {
        return Unsupported("bitwise operators take integers");
      }
    });
  });
}

Status Not(KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kBool, x->dims()));
  for (int64_t i = 0; i < x->count(); ++i) y->mutable_data<bool>()[i] = !x->data<bool>()[i];
  return {};
}

Status BitwiseNot(KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), x->dims()));
  for (size_t i = 0; i < x->bytes(); ++i) y->mutable_data<uint8_t>()[i] = static_cast<uint8_t>(~x->data<uint8_t>()[i]);
  return {};
}

// Shifts by the width or more give 0.
Result<std::unique_ptr<Kernel>> MakeBitShift(const KernelRequest& request) {
  const std::string direction = StringOr(*request.attributes, "direction", "");
  if (direction != "LEFT" && direction != "RIGHT") return Invalid("direction must be LEFT or RIGHT");
  const auto left = [](auto x, auto n) {
    return n >= 8 * sizeof(x) ? decltype(x){0} : static_cast<decltype(x)>(x << n);
  };
  const auto right = [](auto x, auto n) {
    return n >= 8 * sizeof(x) ? decltype(x){0} : static_cast<decltype(x)>(x >> n);
  };
  const KernelFactory make = direction == "LEFT" ? Bitwise(left) : Bitwise(right);
  return make(request);
}

Status Where(KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* condition, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* x, Required(context, 1));
  RULERUN_ASSIGN(const Tensor* y, Required(context, 2));
  if (x->type() != y->type()) return Invalid("the branches have different element types");
  RULERUN_ASSIGN(const Broadcast plan, Broadcast::Make({&condition->dims(), &x->dims(), &y->dims()}));
  RULERUN_ASSIGN(Tensor * out, context.Output(0, x->type(), plan.dims()));
  return DispatchWidth(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
    const bool* choose = condition->data<bool>();
    const T *from_x = Elements<T>(*x), *from_y = Elements<T>(*y);
    T* to = MutableElements<T>(*out);
    plan.Parallel(context.pool(), [&](int64_t position, const Broadcast::Offsets& at, int64_t length) {
      for (int64_t i = 0; i < length; ++i) {
        to[position + i] =
            choose[at[0] + i * plan.step(0)] ? from_x[at[1] + i * plan.step(1)] : from_y[at[2] + i * plan.step(2)];
      }
    });
    return {};
  });
}

}  // namespace

void Register_ops_logic(KernelRegistry& registry) {
  Types equal = NumberTypes();
  equal.insert(equal.end(), {DataType::kBool, DataType::kString});
  AddOp(registry, "Equal", {}, {equal, equal}, Comparison(Equal()));
  const auto compare = [&](const char* op, const KernelFactory& make) {
    AddOp(registry, op, {}, {NumberTypes(), NumberTypes()}, make);
  };
  compare("Less", Comparison(Less()));
  compare("LessOrEqual", Comparison(LessOrEqual()));
  compare("Greater", Comparison(Greater()));
  compare("GreaterOrEqual", Comparison(GreaterOrEqual()));
  const Types bools = {DataType::kBool};
  AddOp(registry, "And", {}, {bools, bools}, Logical([](bool a, bool b) { return a && b; }));
  AddOp(registry, "Or", {}, {bools, bools}, Logical([](bool a, bool b) { return a || b; }));
  AddOp(registry, "Xor", {}, {bools, bools}, Logical([](bool a, bool b) { return a != b; }));
  AddOp(registry, "Not", {}, {bools}, Stateless(Not));
  const auto bitwise = [&](const char* op, const KernelFactory& make) {
    AddOp(registry, op, {}, {IntegerTypes(), IntegerTypes()}, make);
  };
  bitwise("BitwiseAnd", Bitwise([](auto a, auto b) { return static_cast<decltype(a)>(a & b); }));
  bitwise("BitwiseOr", Bitwise([](auto a, auto b) { return static_cast<decltype(a)>(a | b); }));
  bitwise("BitwiseXor", Bitwise([](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); }));
  const Types unsigned_types = {DataType::kUint8, DataType::kUint16, DataType::kUint32, DataType::kUint64};
  AddOp(registry, "BitShift", {}, {unsigned_types, unsigned_types}, MakeBitShift);
  AddOp(registry, "BitwiseNot", {}, {IntegerTypes()}, Stateless(BitwiseNot));
  AddOp(registry, "Where", {}, {{DataType::kBool}, MovableTypes(), MovableTypes()}, Stateless(Where));
}

}  // namespace rulerun
