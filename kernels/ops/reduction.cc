#include "kernels/ops/reduction.h"

#include "kernels/ops/op.h"
#include "kernels/ops/strided_copy.h"

namespace rulerun {

Result<Reduction> Reduction::Make(const Dims& dims, const std::vector<int64_t>& axes, bool keep_dims) {
  RULERUN_ASSIGN(const std::vector<int64_t> resolved, ResolveAxes(axes, static_cast<int64_t>(dims.size())));
  std::vector<bool> reduce(dims.size(), axes.empty());
  for (const int64_t axis : resolved) reduce[static_cast<size_t>(axis)] = true;
  const std::vector<int64_t> strides = DenseStrides(dims);
  Reduction plan;
  plan.everything_ = axes.empty() || axes.size() == dims.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    std::vector<Axis>& group = reduce[i] ? plan.reduced_ : plan.kept_;
    (reduce[i] ? plan.reduced_count_ : plan.output_count_) *= dims[i];
    if (!reduce[i]) plan.dims_.push_back(dims[i]);
    if (reduce[i] && keep_dims) plan.dims_.push_back(1);
    if (dims[i] == 1) continue;
    const Axis axis{dims[i], strides[i]};
    if (!group.empty() && group.back().stride == axis.stride * axis.size) {
      group.back() = {group.back().size * axis.size, axis.stride};
    } else {
      group.push_back(axis);
    }
  }
  if (plan.reduced_.empty()) plan.reduced_.push_back({1, 1});
  return plan;
}

}  // namespace rulerun
