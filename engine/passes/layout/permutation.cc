#include "engine/passes/layout/permutation.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace rulerun {
namespace {

// Which of `rank` axes occur in `axes`.
std::vector<bool> Marked(const Axes& axes, size_t rank) {
  std::vector<bool> marked(rank, false);
  for (const int64_t axis : axes) marked[static_cast<size_t>(axis)] = true;
  return marked;
}

// Copies element `from` of `source` to element `to` of `target`, whatever their type.
class ElementCopier {
 public:
  ElementCopier(const Tensor& source, Tensor& target) : source_(source), target_(target) {
    const int bits = BitWidth(source.type());
    bytes_ = bits >= 8 ? static_cast<size_t>(bits / 8) : 0;
  }

  void Copy(int64_t from, int64_t to) {
    if (bytes_ > 0) {
      std::memcpy(target_.mutable_raw() + static_cast<size_t>(to) * bytes_,
                  source_.raw() + static_cast<size_t>(from) * bytes_, bytes_);
    } else if (source_.type() == DataType::kString) {
      target_.mutable_strings()[static_cast<size_t>(to)] = source_.strings()[static_cast<size_t>(from)];
    } else {
      CopyBits(from, to);
    }
  }

 private:
  // Packed elements of 2 or 4 bits, the first in the lowest.
  void CopyBits(int64_t from, int64_t to) {
    const int bits = BitWidth(source_.type());
    const int64_t per_byte = 8 / bits;
    const auto mask = static_cast<unsigned>((1 << bits) - 1);
    const auto shift_from = static_cast<unsigned>((from % per_byte) * bits);
    const auto shift_to = static_cast<unsigned>((to % per_byte) * bits);
    const unsigned value = (std::to_integer<unsigned>(source_.raw()[from / per_byte]) >> shift_from) & mask;
    std::byte& target = target_.mutable_raw()[to / per_byte];
    target = static_cast<std::byte>((std::to_integer<unsigned>(target) & ~(mask << shift_to)) | (value << shift_to));
  }

  const Tensor& source_;
  Tensor& target_;
  size_t bytes_ = 0;
};

}  // namespace

bool IsPermutation(const Perm& perm) {
  std::vector<bool> seen(perm.size(), false);
  for (const int64_t axis : perm) {
    if (axis < 0 || axis >= static_cast<int64_t>(perm.size()) || seen[static_cast<size_t>(axis)]) return false;
    seen[static_cast<size_t>(axis)] = true;
  }
  return !perm.empty();
}

bool IsIdentity(const Perm& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

Perm Inverse(const Perm& perm) {
  Perm inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return inverse;
}

Perm Compose(const Perm& first, const Perm& second) { return Permuted(first, second); }

Perm ChannelsLastToFirst(size_t rank) {
  if (rank < 2) return {};
  Perm perm(rank);
  perm[1] = static_cast<int64_t>(rank) - 1;
  for (size_t i = 2; i < rank; ++i) perm[i] = static_cast<int64_t>(i) - 1;
  return perm;
}

Perm ChannelsFirstToLast(size_t rank) { return Inverse(ChannelsLastToFirst(rank)); }

Perm SqueezePerm(const Axes& axes, const Perm& perm) {
  const std::vector<bool> removed = Marked(axes, perm.size());
  std::vector<int64_t> renumbered(perm.size(), 0);
  int64_t next = 0;
  for (size_t i = 0; i < perm.size(); ++i) {
    if (!removed[i]) renumbered[i] = next++;
  }
  Perm result;
  for (const int64_t axis : perm) {
    if (!removed[static_cast<size_t>(axis)]) result.push_back(renumbered[static_cast<size_t>(axis)]);
  }
  return result;
}

Perm UnsqueezePerm(const Axes& axes, const Perm& perm) {
  const size_t rank = perm.size() + axes.size();
  const std::vector<bool> added = Marked(axes, rank);
  std::vector<int64_t> renumbered;
  for (size_t i = 0; i < rank; ++i) {
    if (!added[i]) renumbered.push_back(static_cast<int64_t>(i));
  }
  Perm result;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    result.push_back(added[i] ? static_cast<int64_t>(i) : renumbered[static_cast<size_t>(perm[next++])]);
  }
  return result;
}

bool NormalizeAxis(int64_t& axis, size_t rank) {
  if (axis < 0) axis += static_cast<int64_t>(rank);
  return axis >= 0 && axis < static_cast<int64_t>(rank);
}

bool NormalizeAxes(Axes& axes, size_t rank) {
  std::vector<bool> seen(rank, false);
  for (int64_t& axis : axes) {
    if (!NormalizeAxis(axis, rank) || seen[static_cast<size_t>(axis)]) return false;
    seen[static_cast<size_t>(axis)] = true;
  }
  return true;
}

int64_t UnsqueezedAxis(Axes axes, int64_t axis) {
  std::sort(axes.begin(), axes.end());
  for (const int64_t added : axes) {
    if (added <= axis) ++axis;
  }
  return axis;
}

Axes MapAxes(const Axes& axes, const Perm& perm) { return Permuted(perm, axes); }

Axes MapAxesSorted(const Axes& axes, const Perm& perm) {
  Axes mapped = MapAxes(axes, perm);
  std::sort(mapped.begin(), mapped.end());
  return mapped;
}

Shape UnsqueezedShape(const Shape& shape, const Axes& axes) {
  const std::vector<bool> added = Marked(axes, shape.size() + axes.size());
  Shape result;
  size_t next = 0;
  for (const bool one : added) result.push_back(one ? Dim{1, ""} : shape[next++]);
  return result;
}

Dims UnsqueezedDims(const Dims& dims, const Axes& axes) { return *Static(UnsqueezedShape(ToShape(dims), axes)); }

Dims SqueezedDims(const Dims& dims, const Axes& axes) {
  Dims result;
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto is_this = [&](int64_t axis) {
      return (axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis) == static_cast<int64_t>(i);
    };
    const bool removed = axes.empty() ? dims[i] == 1 : std::any_of(axes.begin(), axes.end(), is_this);
    if (!removed) result.push_back(dims[i]);
  }
  return result;
}

Tensor Transposed(const Tensor& tensor, const Perm& perm) {
  const Dims dims = Permuted(tensor.dims(), perm);
  Tensor result(tensor.type(), dims);
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * tensor.dims()[i];
  strides = Permuted(strides, perm);  // of the result's axes in the source
  ElementCopier copier(tensor, result);
  std::vector<int64_t> index(dims.size(), 0);
  int64_t from = 0;
  for (int64_t to = 0; to < result.count(); ++to) {
    copier.Copy(from, to);
    for (size_t axis = dims.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < dims[axis]) break;
      from -= strides[axis] * dims[axis];
      index[axis] = 0;
    }
  }
  return result;
}

Tensor Picked(const Tensor& tensor, const std::vector<int64_t>& order) {
  Tensor result(tensor.type(), {static_cast<int64_t>(order.size())});
  ElementCopier copier(tensor, result);
  for (size_t i = 0; i < order.size(); ++i) copier.Copy(order[i], static_cast<int64_t>(i));
  return result;
}

std::optional<std::vector<int64_t>> Int64s(const Tensor* tensor, bool narrow) {
  if (tensor == nullptr) return std::nullopt;
  const bool fits = tensor->type() == DataType::kInt64 || (narrow && tensor->type() == DataType::kInt32);
  if (!fits) return std::nullopt;
  return ToInts(*tensor);
}

}  // namespace rulerun
