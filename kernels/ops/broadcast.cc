#include "kernels/ops/broadcast.h"

#include "kernels/ops/op.h"
#include "kernels/ops/strided_copy.h"

namespace rulerun {

Result<Broadcast> Broadcast::Make(std::initializer_list<const Dims*> inputs) {
  Broadcast plan;
  size_t rank = 0;
  for (const Dims* dims : inputs) rank = std::max(rank, dims->size());
  plan.dims_.assign(rank, 1);
  for (const Dims* dims : inputs) {
    const size_t lead = rank - dims->size();
    for (size_t i = 0; i < dims->size(); ++i) {
      int64_t& size = plan.dims_[lead + i];
      if ((*dims)[i] == size || (*dims)[i] == 1) continue;
      if (size != 1)
        return Invalid("shapes that do not broadcast: " + DimsText(plan.dims_) + " and " + DimsText(*dims));
      size = (*dims)[i];
    }
  }
  const std::optional<int64_t> count = ElementCount(plan.dims_);
  if (!count) return Invalid("a broadcast shape too large to count: " + DimsText(plan.dims_));
  plan.count_ = *count;

  for (size_t a = 0; a < rank; ++a) {
    if (plan.dims_[a] == 1) continue;
    Axis axis{plan.dims_[a], {}};
    size_t i = 0;
    for (const Dims* dims : inputs) {
      const size_t lead = rank - dims->size();
      const bool moves = a >= lead && (*dims)[a - lead] != 1;
      axis.strides[i++] =
          moves ? Product(*dims, static_cast<int64_t>(a - lead) + 1, static_cast<int64_t>(dims->size())) : 0;
    }
    if (!plan.axes_.empty()) {
      Axis& outer = plan.axes_.back();
      bool merges = true;
      for (size_t k = 0; k < kBroadcastInputs; ++k) merges &= outer.strides[k] == axis.strides[k] * axis.size;
      if (merges) {
        outer = {outer.size * axis.size, axis.strides};
        continue;
      }
    }
    plan.axes_.push_back(axis);
  }
  if (plan.axes_.empty()) plan.axes_.push_back({});
  return plan;
}

}  // namespace rulerun
