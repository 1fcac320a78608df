// Numpy broadcasting, as spans: runs of the output in which every operand is either contiguous or one element.
#ifndef RULERUN_KERNELS_INT8_BROADCAST_H_
#define RULERUN_KERNELS_INT8_BROADCAST_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/tensor.h"
#include "kernels/thread_pool.h"

namespace rulerun::int8 {

class Broadcast {
 public:
  static Result<Broadcast> Make(std::vector<Dims> operands, std::string_view op);

  const Dims& out() const { return out_; }
  // Whether an operand is one element for the length of a span.
  bool OneElement(size_t operand) const { return strides_[operand].back() == 0; }

  // Calls body(first output element, count, first element of each operand) for all spans, or pieces of them, in
  // parallel.
  void ForEachSpan(ThreadPool& pool, const std::function<void(int64_t, int64_t, std::span<const int64_t>)>& body) const;

 private:
  Dims out_;
  Dims axes_;                                  // of the output, neighbours merged where possible; at least one
  std::vector<std::vector<int64_t>> strides_;  // per operand and axis, in elements; 0: broadcast
};

}  // namespace rulerun::int8

#endif  // RULERUN_KERNELS_INT8_BROADCAST_H_
