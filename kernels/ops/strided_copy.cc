#include "kernels/ops/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

constexpr int64_t kGrain = 16384;  // elements worth a thread
constexpr int64_t kTile = 32;      // side of a tile in which a transposition stays in the cache

struct Axis {
  int64_t size, from, to;
};

// The axes without those of size 1, neighbours merged where both layouts allow it.
std::vector<Axis> Merged(const Dims& dims, const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  std::vector<Axis> axes;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    const Axis axis{dims[i], from[i], to[i]};
    if (!axes.empty() && axes.back().from == axis.from * axis.size && axes.back().to == axis.to * axis.size) {
      axes.back() = {axes.back().size * axis.size, axis.from, axis.to};
    } else {
      axes.push_back(axis);
    }
  }
  if (axes.empty()) axes.push_back({1, 1, 1});
  return axes;
}

template <typename T>
void CopyRow(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t count) {
  if (from_step == 1 && to_step == 1) {
    std::copy(from, from + count, to);
  } else if (from_step == 0 && to_step == 1) {
    std::fill(to, to + count, *from);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i * to_step] = from[i * from_step];
  }
}

// Rows of `inner`, and `across` beside it, whose elements are neighbours in what is read: tile by tile.
template <typename T>
void CopyTiled(const T* from, T* to, const Axis& across, const Axis& inner) {
  for (int64_t a = 0; a < across.size; a += kTile) {
    const int64_t a_end = std::min(a + kTile, across.size);
    for (int64_t b = 0; b < inner.size; b += kTile) {
      const int64_t b_end = std::min(b + kTile, inner.size);
      for (int64_t i = a; i < a_end; ++i) {
        const T* source = from + i * across.from;
        T* target = to + i * across.to;
        for (int64_t j = b; j < b_end; ++j) target[j * inner.to] = source[j * inner.from];
      }
    }
  }
}

template <typename T>
void Copy(const T* from, T* to, std::vector<Axis> axes, ThreadPool& pool) {
  const Axis inner = axes.back();
  axes.pop_back();
  // An axis that is contiguous in what is read while `inner` is not goes into the tile as well.
  Axis across{1, 0, 0};
  const auto contiguous = std::find_if(axes.begin(), axes.end(), [](const Axis& axis) { return axis.from == 1; });
  if (inner.from != 1 && inner.from != 0 && contiguous != axes.end()) {
    across = *contiguous;
    axes.erase(contiguous);
  }
  int64_t rows = 1;
  for (const Axis& axis : axes) rows *= axis.size;
  const auto copy_row = [&](int64_t row) {
    const T* source = from;
    T* target = to;
    for (size_t i = axes.size(); i-- > 0;) {
      const int64_t index = row % axes[i].size;
      row /= axes[i].size;
      source += index * axes[i].from;
      target += index * axes[i].to;
    }
    if (across.size > 1) {
      CopyTiled(source, target, across, inner);
    } else {
      CopyRow(source, inner.from, target, inner.to, inner.size);
    }
  };
  const int64_t row_size = across.size * inner.size;
  pool.ParallelFor(rows, std::max<int64_t>(1, kGrain / row_size), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) copy_row(row);
  });
}

}  // namespace

std::vector<int64_t> DenseStrides(const Dims& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

Status CopyStrided(const Tensor& from, const StridedView& from_view, Tensor& to, const StridedView& to_view,
                   const Dims& dims, ThreadPool& pool) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return {};
  std::vector<Axis> axes = Merged(dims, from_view.strides, to_view.strides);
  return DispatchWidth(from.type(), [&]<typename T>(TypeTag<T>) -> Status {
    Copy<T>(Elements<T>(from) + from_view.offset, MutableElements<T>(to) + to_view.offset, axes, pool);
    return {};
  });
}

}  // namespace rulerun
