// How scales and zero points of QuantizeLinear and DequantizeLinear lie over a tensor: per tensor, per axis, blocked.
#ifndef RULERUN_KERNELS_INT8_QDQ_LAYOUT_H_
#define RULERUN_KERNELS_INT8_QDQ_LAYOUT_H_

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/tensor.h"
#include "kernels/int8/rows.h"
#include "kernels/thread_pool.h"

namespace rulerun::int8 {

// Element types that QuantizeLinear gives, and DequantizeLinear takes beside int32.
std::vector<DataType> QuantizedTypes();

// A tensor cut into runs of neighbouring elements, each with one scale, or with one scale per element.
class QdqLayout {
 public:
  // `x`: shape of the tensor. `scale`, `zero_point` (may be nullptr): as the operator gets them. `axis` may be
  // negative; `block_size` 0 means not blocked. Errors are worded for operator `op`.
  static Result<QdqLayout> Make(const Dims& x, const Tensor& scale, const Tensor* zero_point, int64_t axis,
                                int64_t block_size, std::string_view op);

  // Calls row(first element, element count, params) for runs that cover all elements, in parallel.
  void ForEachRow(ThreadPool& pool, const std::function<void(int64_t, int64_t, const RowParams&)>& row) const;

 private:
  RowParams ParamsOf(int64_t row) const;

  std::vector<float> scales_;
  std::vector<int32_t> zero_points_;  // as many
  int64_t outer_ = 1;                 // product of the axes before `axis`
  int64_t length_ = 1;                // of `axis`
  int64_t inner_ = 1;                 // product of the axes behind
  int64_t block_ = 1;                 // elements of `axis` that share a scale
  int64_t blocks_ = 1;                // of the axis
  bool per_tensor_ = false;
  bool along_axis_ = false;  // a run goes along the axis; else it goes through `inner_`
  bool blocked_ = false;     // scales differ over outer_ (and inner_), too
};

}  // namespace rulerun::int8

#endif  // RULERUN_KERNELS_INT8_QDQ_LAYOUT_H_
