// One function of two elements over two broadcast tensors.
#ifndef RULERUN_KERNELS_OPS_BINARY_H_
#define RULERUN_KERNELS_OPS_BINARY_H_

#include "kernels/ops/broadcast.h"
#include "kernels/ops/op.h"

namespace rulerun {

// Separate loops for "both advance" and "one stands still" let the compiler vectorise each.
template <typename Out, typename A, typename B, typename F>
void ApplyBinary(const Broadcast& plan, const A* a, const B* b, Out* out, ThreadPool& pool, F f) {
  const int64_t a_step = plan.step(0), b_step = plan.step(1);
  plan.Parallel(pool, [=](int64_t position, const Broadcast::Offsets& offsets, int64_t length) {
    Out* to = out + position;
    const A* x = a + offsets[0];
    const B* y = b + offsets[1];
    if (a_step != 0 && b_step != 0) {
      for (int64_t i = 0; i < length; ++i) to[i] = f(x[i], y[i]);
    } else if (a_step != 0) {
      const B fixed = *y;
      for (int64_t i = 0; i < length; ++i) to[i] = f(x[i], fixed);
    } else if (b_step != 0) {
      const A fixed = *x;
      for (int64_t i = 0; i < length; ++i) to[i] = f(fixed, y[i]);
    } else {
      const Out fixed = f(*x, *y);
      for (int64_t i = 0; i < length; ++i) to[i] = fixed;
    }
  });
}

template <typename Out, typename A, typename B, typename F>
Status RunBinary(KernelContext& context, const Tensor& a, const Tensor& b, F f) {
  RULERUN_ASSIGN(const Broadcast plan, Broadcast::Make({&a.dims(), &b.dims()}));
  RULERUN_ASSIGN(Tensor * out, context.Output(0, DataTypeOf<Out>(), plan.dims()));
  ApplyBinary(plan, Elements<A>(a), Elements<B>(b), out->mutable_data<Out>(), context.pool(), f);
  return {};
}

// f: (T, T) -> T on inputs 0 and 1, for every number type.
template <typename F>
Status RunNumeric(KernelContext& context, F f) {
  RULERUN_ASSIGN(const Tensor* a, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* b, Required(context, 1));
  if (a->type() != b->type()) return Invalid("the inputs have different element types");
  return DispatchNumber(a->type(), [&]<typename T>(TypeTag<T>) { return RunBinary<T, T, T>(context, *a, *b, f); });
}

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_BINARY_H_
