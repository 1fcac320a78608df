// numpy broadcasting of up to three inputs, cut into runs in which each input either advances or stands still.
#ifndef RULERUN_KERNELS_OPS_BROADCAST_H_
#define RULERUN_KERNELS_OPS_BROADCAST_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/tensor.h"
#include "kernels/thread_pool.h"

namespace rulerun {

inline constexpr size_t kBroadcastInputs = 3;

class Broadcast {
 public:
  using Offsets = std::array<int64_t, kBroadcastInputs>;

  static Result<Broadcast> Make(std::initializer_list<const Dims*> inputs);

  const Dims& dims() const { return dims_; }  // of the output
  int64_t count() const { return count_; }
  // 1 or 0: whether input `i` advances along a run.
  int64_t step(size_t i) const { return axes_.back().strides[i]; }

  // f(output position, offsets of the inputs, length) for the runs that make up [begin, end) of the output.
  template <typename F>
  void ForEachRun(int64_t begin, int64_t end, F f) const {
    const int64_t inner = axes_.back().size;
    for (int64_t position = begin; position < end;) {
      const int64_t column = position % inner;
      const int64_t length = std::min(inner - column, end - position);
      Offsets offsets = RowOffsets(position / inner);
      for (size_t i = 0; i < kBroadcastInputs; ++i) offsets[i] += column * axes_.back().strides[i];
      f(position, offsets, length);
      position += length;
    }
  }

  // The same over all of the output, on every thread.
  template <typename F>
  void Parallel(ThreadPool& pool, F f) const {
    pool.ParallelFor(count_, kGrain, [&](int64_t begin, int64_t end) { ForEachRun(begin, end, f); });
  }

 private:
  static constexpr int64_t kGrain = 16384;
  struct Axis {
    int64_t size = 1;
    Offsets strides{};
  };

  Offsets RowOffsets(int64_t row) const {
    Offsets offsets{};
    for (size_t a = axes_.size() - 1; a-- > 0 && row > 0;) {
      const int64_t index = row % axes_[a].size;
      row /= axes_[a].size;
      for (size_t i = 0; i < kBroadcastInputs; ++i) offsets[i] += index * axes_[a].strides[i];
    }
    return offsets;
  }

  Dims dims_;
  int64_t count_ = 1;
  std::vector<Axis> axes_;  // merged; never empty
};

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_BROADCAST_H_
