// Arithmetic on permutations, axes and shapes, as the layout passes need it. A permutation maps the axes of a
// Transpose's output to those of its input, like the attribute `perm`.
#ifndef RULERUN_ENGINE_PASSES_LAYOUT_PERMUTATION_H_
#define RULERUN_ENGINE_PASSES_LAYOUT_PERMUTATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/graph/tensor.h"

namespace rulerun {

using Perm = std::vector<int64_t>;
using Axes = std::vector<int64_t>;

bool IsPermutation(const Perm& perm);  // not of rank 0
bool IsIdentity(const Perm& perm);
Perm Inverse(const Perm& perm);
Perm Compose(const Perm& first, const Perm& second);  // a Transpose by `first`, then one by `second`
Perm ChannelsLastToFirst(size_t rank);                // {0, rank - 1, 1, 2, ...}; {} below rank 2
Perm ChannelsFirstToLast(size_t rank);

// The permutation that stays once `axes` of its input (its output) are taken away (put in). The axes count from 0, none
// occurs twice, those of UnsqueezePerm count in the result.
Perm SqueezePerm(const Axes& axes, const Perm& perm);
Perm UnsqueezePerm(const Axes& axes, const Perm& perm);

// Makes negative axes count from the front; false where one is out of range or occurs twice.
bool NormalizeAxis(int64_t& axis, size_t rank);
bool NormalizeAxes(Axes& axes, size_t rank);
// Where `axis` lands once an Unsqueeze has put in `axes`.
int64_t UnsqueezedAxis(Axes axes, int64_t axis);
Axes MapAxes(const Axes& axes, const Perm& perm);  // perm[axis] of each
Axes MapAxesSorted(const Axes& axes, const Perm& perm);

Dims UnsqueezedDims(const Dims& dims, const Axes& axes);
Dims SqueezedDims(const Dims& dims, const Axes& axes);  // of no axes: without every 1
Shape UnsqueezedShape(const Shape& shape, const Axes& axes);

template <typename T>
std::vector<T> Permuted(const std::vector<T>& values, const Perm& perm) {
  std::vector<T> result;
  result.reserve(perm.size());
  for (const int64_t from : perm) result.push_back(values[static_cast<size_t>(from)]);
  return result;
}

Tensor Transposed(const Tensor& tensor, const Perm& perm);
// Element i of the result is element order[i]; of rank 1.
Tensor Picked(const Tensor& tensor, const std::vector<int64_t>& order);

// Every number of a constant of int64, or of int32 too where `narrow` allows; std::nullopt for other types.
std::optional<std::vector<int64_t>> Int64s(const Tensor* tensor, bool narrow = false);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_LAYOUT_PERMUTATION_H_
