// Copies a block of elements between two layouts: the core of transposes, slices, concatenations, padding and so on.
#ifndef RULERUN_KERNELS_OPS_STRIDED_COPY_H_
#define RULERUN_KERNELS_OPS_STRIDED_COPY_H_

#include <cstdint>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/tensor.h"
#include "kernels/thread_pool.h"

namespace rulerun {

// Elements between neighbours along each dimension of a dense tensor.
std::vector<int64_t> DenseStrides(const Dims& dims);

// A place in a tensor and the steps from there, in elements; steps may be 0 or negative in what is read.
struct StridedView {
  int64_t offset = 0;
  std::vector<int64_t> strides;
};

// to[...] = from[...] for every index below `dims`. Both tensors have the same element type, of whole bytes.
Status CopyStrided(const Tensor& from, const StridedView& from_view, Tensor& to, const StridedView& to_view,
                   const Dims& dims, ThreadPool& pool);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_OPS_STRIDED_COPY_H_
