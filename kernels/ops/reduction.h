// Which elements of a tensor go into which element of its reduction.
#ifndef RULERUN_KERNELS_OPS_REDUCTION_H_
#define RULERUN_KERNELS_OPS_REDUCTION_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/tensor.h"
#include "kernels/thread_pool.h"

namespace rulerun {

class Reduction {
 public:
  // No axes: all of them.
  static Result<Reduction> Make(const Dims& dims, const std::vector<int64_t>& axes, bool keep_dims);

  const Dims& dims() const { return dims_; }  // of the output
  int64_t reduced_count() const { return reduced_count_; }
  // The innermost axis survives: outputs come in rows whose inputs are rows as well.
  bool contiguous_outputs() const { return !kept_.empty() && kept_.back().stride == 1 && kept_.back().size > 1; }

  bool everything() const { return everything_; }  // there are no axes that stay, not even of size 1
  // An axis that stays, between two that do not: several stretches of neighbours go into each output.
  bool outer_and_inner() const { return kept_.size() == 1 && reduced_.size() == 2 && reduced_.back().stride == 1; }
  int64_t inner_count() const { return reduced_.back().size; }
  // One stretch of neighbours goes into each output.
  bool contiguous_inputs() const { return reduced_.size() == 1 && reduced_[0].stride == 1; }
  // One axis in the middle of others is reduced.
  bool middle_axis() const { return contiguous_outputs() && kept_.size() == 2 && reduced_.size() == 1; }

  // f(output index, index of the first input) where contiguous_inputs().
  template <typename F>
  void ForEachInputRow(ThreadPool& pool, F f) const {
    pool.ParallelFor(output_count_, Grain(reduced_count_), [&](int64_t begin, int64_t end) {
      for (int64_t output = begin; output < end; ++output) f(output, Offset(kept_, kept_.size(), output));
    });
  }

  // f(output index, for_each), where for_each(g) calls g(input index) in ascending order.
  template <typename F>
  void ForEachOutput(ThreadPool& pool, F f) const {
    pool.ParallelFor(output_count_, Grain(reduced_count_), [&](int64_t begin, int64_t end) {
      for (int64_t output = begin; output < end; ++output) {
        const int64_t base = Offset(kept_, kept_.size(), output);
        f(output, [&](auto g) { Visit(base, g); });
      }
    });
  }

  // f(output index, for_each), where for_each(g) calls g(index of the first input of a stretch of inner_count()).
  template <typename F>
  void ForEachStretch(ThreadPool& pool, F f) const {
    pool.ParallelFor(output_count_, Grain(reduced_count_), [&](int64_t begin, int64_t end) {
      for (int64_t output = begin; output < end; ++output) {
        const int64_t base = Offset(kept_, kept_.size(), output);
        f(output, [&](auto g) {
          for (int64_t o = 0; o < reduced_.front().size; ++o) g(base + o * reduced_.front().stride);
        });
      }
    });
  }

  // f(first output index, length, for_each_row), where for_each_row(g) calls g(index of the row's first input).
  template <typename F>
  void ForEachOutputRow(ThreadPool& pool, F f) const {
    const int64_t length = kept_.back().size;
    pool.ParallelFor(output_count_ / length, Grain(reduced_count_ * length), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t base = Offset(kept_, kept_.size() - 1, row);
        f(row * length, length, [&](auto g) { Visit(base, g); });
      }
    });
  }

 private:
  struct Axis {
    int64_t size, stride;
  };

  static int64_t Grain(int64_t work) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, work)); }

  static int64_t Offset(const std::vector<Axis>& axes, size_t count, int64_t index) {
    int64_t offset = 0;
    for (size_t i = count; i-- > 0;) {
      offset += index % axes[i].size * axes[i].stride;
      index /= axes[i].size;
    }
    return offset;
  }

  template <typename G>
  void Visit(int64_t base, G g) const {
    const Axis inner = reduced_.back();
    const int64_t outer = inner.size == 0 ? 0 : reduced_count_ / inner.size;
    for (int64_t o = 0; o < outer; ++o) {
      const int64_t start = base + Offset(reduced_, reduced_.size() - 1, o);
      for (int64_t i = 0; i < inner.size; ++i) g(start + i * inner.stride);
    }
  }

  Dims dims_;
  int64_t output_count_ = 1;
  int64_t reduced_count_ = 1;
  bool everything_ = false;
  std::vector<Axis> kept_;     // merged
  std::vector<Axis> reduced_;  // merged, never empty
};

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_REDUCTION_H_
