// Reductions of a stretch of elements in the order of Eigen's vector code, which is ONNX Runtime's.
#ifndef RULERUN_KERNELS_OPS_STRETCH_SUM_H_
#define RULERUN_KERNELS_OPS_STRETCH_SUM_H_

#include <algorithm>
#include <cstdint>

namespace rulerun {

// combine over value(0), ..., value(count - 1), count > 0: two vectors of four partial results from index `head` on,
// then the `head` elements in front, then what is left. `head` < 4 is where the first aligned vector starts.
template <typename Value, typename Combine>
auto StretchReduce(int64_t count, int64_t head, Value value, Combine combine) {
  using T = decltype(value(int64_t{0}));
  constexpr int64_t kLanes = 4;
  head = std::min(head, count);
  const int64_t vectors = (count - head) / kLanes, paired = vectors / 2 * 2;
  const int64_t end = head + vectors * kLanes;
  T total{};
  int64_t first = 0;  // of what goes on top, one by one
  if (vectors > 0) {
    T lanes[kLanes], odd[kLanes];
    for (int64_t k = 0; k < kLanes; ++k) {
      lanes[k] = value(head + k);
      odd[k] = vectors > 1 ? value(head + kLanes + k) : T{};
    }
    for (int64_t v = 2; v < paired; v += 2) {
      for (int64_t k = 0; k < kLanes; ++k) {
        lanes[k] = combine(lanes[k], value(head + v * kLanes + k));
        odd[k] = combine(odd[k], value(head + (v + 1) * kLanes + k));
      }
    }
    for (int64_t k = 0; k < kLanes; ++k) {
      if (vectors > 1) lanes[k] = combine(lanes[k], odd[k]);
      if (vectors > 1 && vectors > paired) lanes[k] = combine(lanes[k], value(head + paired * kLanes + k));
    }
    total = combine(combine(lanes[0], lanes[2]), combine(lanes[1], lanes[3]));
  } else {
    total = value(0);
    first = 1;
  }
  for (int64_t i = first; i < head; ++i) total = combine(total, value(i));
  for (int64_t i = std::max(first, end); i < count; ++i) total = combine(total, value(i));
  return total;
}

template <typename Value>
auto StretchSum(int64_t count, Value value) {
  return StretchReduce(count, 0, value, [](auto a, auto b) { return a + b; });
}

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_STRETCH_SUM_H_
