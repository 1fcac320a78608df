// Det: determinants of square matrices, by elimination.
#include <algorithm>
#include <cmath>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

template <typename T>
T Determinant(std::vector<T> m, int64_t n) {
  const auto at = [&](int64_t row, int64_t column) -> T& { return m[static_cast<size_t>(row * n + column)]; };
  T product = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t row = k + 1; row < n; ++row) {
      if (std::abs(at(row, k)) > std::abs(at(pivot, k))) pivot = row;
    }
    if (at(pivot, k) == 0) return 0;
    if (pivot != k) {
      for (int64_t column = k; column < n; ++column) std::swap(at(pivot, column), at(k, column));
      product = -product;
    }
    product *= at(k, k);
    for (int64_t row = k + 1; row < n; ++row) {
      const T factor = at(row, k) / at(k, k);
      for (int64_t column = k; column < n; ++column) at(row, column) -= factor * at(k, column);
    }
  }
  return product;
}

Status RunDet(KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  if (x->rank() < 2 || x->dims().back() != x->dims()[x->dims().size() - 2]) {
    return Invalid("an input of shape " + DimsText(x->dims()) + " does not hold square matrices");
  }
  const int64_t n = x->dims().back();
  RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), Dims(x->dims().begin(), x->dims().end() - 2)));
  return Dispatch<float, double>(x->type(), [&]<typename T>(TypeTag<T>) -> Status {
    for (int64_t i = 0; i < y->count(); ++i) {
      const T* matrix = x->data<T>() + i * n * n;
      y->mutable_data<T>()[i] = Determinant(std::vector<T>(matrix, matrix + n * n), n);
    }
    return {};
  });
}

}  // namespace

void Register_ops_det(KernelRegistry& registry) { AddOp(registry, "Det", {}, {FloatTypes()}, Stateless(RunDet)); }

}  // namespace rulerun
