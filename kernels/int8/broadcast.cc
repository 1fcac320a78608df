#include "kernels/int8/broadcast.h"

#include <algorithm>
#include <array>
#include <string>

#include "kernels/int8/params.h"

namespace rulerun::int8 {
namespace {

constexpr int64_t kGrain = 16384;  // elements worth a chunk of their own
constexpr size_t kMaxOperands = 3;

// Size of an operand's axis that lines up with axis `axis` of `rank`.
int64_t DimAt(const Dims& dims, size_t axis, size_t rank) {
  return axis + dims.size() < rank ? 1 : dims[axis + dims.size() - rank];
}

}  // namespace

Result<Broadcast> Broadcast::Make(std::vector<Dims> operands, std::string_view op) {
  size_t rank = 0;
  for (const Dims& dims : operands) rank = std::max(rank, dims.size());
  Broadcast plan;
  plan.out_.assign(rank, 1);
  for (size_t axis = 0; axis < rank; ++axis) {
    for (const Dims& dims : operands) {
      const int64_t dim = DimAt(dims, axis, rank);
      if (dim == 1) continue;
      if (plan.out_[axis] != 1 && plan.out_[axis] != dim) {
        std::string shapes;
        for (const Dims& each : operands) shapes += " " + ToText(each);
        return OpError(op, "shapes cannot be broadcast together:" + shapes);
      }
      plan.out_[axis] = dim;
    }
  }

  // From the innermost axis outwards; an axis joins the one inside where that keeps every operand's steps even.
  plan.strides_.resize(operands.size());
  std::vector<int64_t> step(operands.size(), 1);
  for (size_t axis = rank; axis-- > 0;) {
    const int64_t size = plan.out_[axis];
    if (size == 1) continue;
    bool joins = !plan.axes_.empty();
    for (size_t i = 0; i < operands.size() && joins; ++i) {
      const bool moves = DimAt(operands[i], axis, rank) != 1;
      const int64_t inner = plan.strides_[i].back();
      joins = moves ? inner != 0 && step[i] == inner * plan.axes_.back() : inner == 0;
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool moves = DimAt(operands[i], axis, rank) != 1;
      if (!joins) plan.strides_[i].push_back(moves ? step[i] : 0);
      if (moves) step[i] *= size;
    }
    if (joins) {
      plan.axes_.back() *= size;
    } else {
      plan.axes_.push_back(size);
    }
  }
  if (plan.axes_.empty()) {
    plan.axes_ = {1};
    for (auto& strides : plan.strides_) strides = {0};
  }
  std::reverse(plan.axes_.begin(), plan.axes_.end());
  for (auto& strides : plan.strides_) std::reverse(strides.begin(), strides.end());
  return plan;
}

void Broadcast::ForEachSpan(ThreadPool& pool,
                            const std::function<void(int64_t, int64_t, std::span<const int64_t>)>& body) const {
  const int64_t length = axes_.back();
  const int64_t spans = ElementCount(std::span(axes_).first(axes_.size() - 1)).value_or(0);
  if (length == 0 || spans == 0) return;
  const auto run = [&](int64_t span, int64_t begin, int64_t end) {
    std::array<int64_t, kMaxOperands> first = {};
    int64_t rest = span;
    for (size_t axis = axes_.size() - 1; axis-- > 0;) {
      const int64_t at = rest % axes_[axis];
      rest /= axes_[axis];
      for (size_t i = 0; i < strides_.size(); ++i) first[i] += at * strides_[i][axis];
    }
    for (size_t i = 0; i < strides_.size(); ++i) first[i] += begin * strides_[i].back();
    body(span * length + begin, end - begin, std::span(first).first(strides_.size()));
  };
  if (spans == 1) {
    pool.ParallelFor(length, kGrain, [&](int64_t begin, int64_t end) { run(0, begin, end); });
    return;
  }
  pool.ParallelFor(spans, std::max<int64_t>(1, kGrain / length), [&](int64_t begin, int64_t end) {
    for (int64_t span = begin; span < end; ++span) run(span, 0, length);
  });
}

}  // namespace rulerun::int8
