// Gather, GatherElements and GatherND. Negative indices count from the end.
#include <algorithm>

#include "kernels/ops/op.h"
#include "kernels/ops/strided_copy.h"

namespace rulerun {
namespace {

// The indices, counted from the front; an error for one outside [-size, size).
Result<std::vector<int64_t>> ReadIndices(const Tensor& indices, int64_t size) {
  std::vector<int64_t> all = ToInts(indices);
  for (int64_t& index : all) {
    if (index < -size || index >= size) {
      return Invalid("index " + std::to_string(index) + " is out of range for an axis of " + std::to_string(size));
    }
    if (index < 0) index += size;
  }
  return all;
}

// y block i = x block blocks[i], for blocks of `size` elements.
Status CopyBlocks(const Tensor& x, const std::vector<int64_t>& blocks, int64_t size, Tensor& y, ThreadPool& pool) {
  return DispatchWidth(x.type(), [&]<typename T>(TypeTag<T>) -> Status {
    const T* from = Elements<T>(x);
    T* to = MutableElements<T>(y);
    pool.ParallelFor(static_cast<int64_t>(blocks.size()), std::max<int64_t>(1, 16384 / std::max<int64_t>(1, size)),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; ++i) {
                         const T* block = from + blocks[static_cast<size_t>(i)] * size;
                         std::copy(block, block + size, to + i * size);
                       }
                     });
    return {};
  });
}

Result<std::unique_ptr<Kernel>> MakeGather(const KernelRequest& request) {
  const int64_t given_axis = IntOr(*request.attributes, "axis", 0);
  return MakeKernel([given_axis](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const Tensor* index_tensor, Required(context, 1));
    RULERUN_ASSIGN(const int64_t axis, ResolveAxis(given_axis, x->rank()));
    const int64_t size = x->dims()[static_cast<size_t>(axis)];
    RULERUN_ASSIGN(const std::vector<int64_t> indices, ReadIndices(*index_tensor, size));
    Dims dims(x->dims().begin(), x->dims().begin() + axis);
    dims.insert(dims.end(), index_tensor->dims().begin(), index_tensor->dims().end());
    dims.insert(dims.end(), x->dims().begin() + axis + 1, x->dims().end());
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), dims));
    if (y->count() == 0) return {};
    const int64_t outer = Product(x->dims(), 0, axis);
    std::vector<int64_t> blocks;
    blocks.reserve(indices.size() * static_cast<size_t>(outer));
    for (int64_t o = 0; o < outer; ++o) {
      for (const int64_t index : indices) blocks.push_back(o * size + index);
    }
    return CopyBlocks(*x, blocks, Product(x->dims(), axis + 1, x->rank()), *y, context.pool());
  });
}

Result<std::unique_ptr<Kernel>> MakeGatherElements(const KernelRequest& request) {
  const int64_t given_axis = IntOr(*request.attributes, "axis", 0);
  return MakeKernel([given_axis](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const Tensor* index_tensor, Required(context, 1));
    RULERUN_ASSIGN(const int64_t axis, ResolveAxis(given_axis, x->rank()));
    const auto a = static_cast<size_t>(axis);
    const Dims& dims = index_tensor->dims();
    if (dims.size() != x->dims().size()) return Invalid("data and indices have different ranks");
    for (size_t i = 0; i < dims.size(); ++i) {
      if (i != a && dims[i] > x->dims()[i]) return Invalid("indices are larger than data beside the axis");
    }
    RULERUN_ASSIGN(const std::vector<int64_t> indices, ReadIndices(*index_tensor, x->dims()[a]));
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), dims));
    const std::vector<int64_t> strides = DenseStrides(x->dims()), index_strides = DenseStrides(dims);
    std::vector<int64_t> blocks(indices.size());
    for (size_t i = 0; i < blocks.size(); ++i) {
      int64_t rest = static_cast<int64_t>(i), offset = 0;
      for (size_t k = 0; k < dims.size(); ++k) {
        const int64_t at = rest / index_strides[k];
        rest %= index_strides[k];
        offset += (k == a ? indices[i] : at) * strides[k];
      }
      blocks[i] = offset;
    }
    return CopyBlocks(*x, blocks, 1, *y, context.pool());
  });
}

Result<std::unique_ptr<Kernel>> MakeGatherNd(const KernelRequest& request) {
  const int64_t batch_dims = IntOr(*request.attributes, "batch_dims", 0);
  return MakeKernel([batch_dims](KernelContext& context) -> Status {
    RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
    RULERUN_ASSIGN(const Tensor* index_tensor, Required(context, 1));
    const Dims& index_dims = index_tensor->dims();
    if (index_dims.empty() || x->rank() == 0) return Invalid("data and indices need at least one axis");
    const int64_t depth = index_dims.back();
    if (batch_dims < 0 || batch_dims >= index_tensor->rank() || depth < 0 || batch_dims + depth > x->rank() ||
        !std::equal(index_dims.begin(), index_dims.begin() + batch_dims, x->dims().begin())) {
      return Invalid("indices of shape " + DimsText(index_dims) + " do not fit data of shape " + DimsText(x->dims()));
    }
    Dims dims(index_dims.begin(), index_dims.end() - 1);
    dims.insert(dims.end(), x->dims().begin() + batch_dims + depth, x->dims().end());
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), dims));
    if (y->count() == 0) return {};
    const int64_t tuples = ElementCount(std::span(index_dims).first(index_dims.size() - 1)).value_or(0);
    const int64_t batches = Product(x->dims(), 0, batch_dims);
    const int64_t batch_size = Product(x->dims(), batch_dims, batch_dims + depth);
    std::vector<int64_t> blocks(static_cast<size_t>(tuples));
    for (int64_t t = 0; t < tuples; ++t) {
      int64_t offset = 0;
      for (int64_t k = 0; k < depth; ++k) {
        const int64_t size = x->dims()[static_cast<size_t>(batch_dims + k)];
        int64_t index = ElementAsInt(*index_tensor, t * depth + k);
        if (index < -size || index >= size) return Invalid("index " + std::to_string(index) + " is out of range");
        offset = offset * size + (index < 0 ? index + size : index);
      }
      blocks[static_cast<size_t>(t)] = t / (tuples / batches) * batch_size + offset;
    }
    return CopyBlocks(*x, blocks, Product(x->dims(), batch_dims + depth, x->rank()), *y, context.pool());
  });
}

}  // namespace

void Register_ops_gather(KernelRegistry& registry) {
  AddOp(registry, "Gather", {}, {MovableTypes(), IndexTypes()}, MakeGather);
  AddOp(registry, "GatherElements", {}, {MovableTypes(), IndexTypes()}, MakeGatherElements);
  AddOp(registry, "GatherND", {}, {MovableTypes(), {DataType::kInt64}}, MakeGatherNd);
}

}  // namespace rulerun
