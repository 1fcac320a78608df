#include "kernels/int8/qdq_layout.h"

#include <algorithm>
#include <string>

#include "kernels/adapter.h"
#include "kernels/int8/float8.h"
#include "kernels/int8/params.h"

namespace rulerun::int8 {
namespace {

constexpr int64_t kGrain = 16384;  // elements worth a chunk of their own

Error BadShape(std::string_view op, const Dims& x, const Tensor& scale, int64_t axis, int64_t block_size) {
  return OpError(op, "scale" + ToText(scale.dims()) + " does not fit x" + ToText(x) + " with axis " +
                         std::to_string(axis) + (block_size == 0 ? "" : ", block_size " + std::to_string(block_size)));
}

Result<std::vector<int32_t>> ZeroPointsOf(const Tensor* tensor, const Tensor& scale, std::string_view op) {
  std::vector<int32_t> values(static_cast<size_t>(scale.count()), 0);
  if (tensor == nullptr || tensor->empty()) return values;
  if (tensor->count() != scale.count()) {
    return OpError(op, "zero point" + ToText(tensor->dims()) + " and scale" + ToText(scale.dims()) +
                           " differ in their number of elements");
  }
  if (IsFloat8(tensor->type())) {
    for (int64_t i = 0; i < tensor->count(); ++i) {
      if (ElementAsDouble(*tensor, i) != 0) return OpError(op, "the zero point of an 8-bit float must be 0");
    }
    return values;
  }
  if (!IsInteger(tensor->type()) || BitWidth(tensor->type()) > 32) {
    return OpError(op, "a zero point cannot be " + std::string(Name(tensor->type())));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int32_t>(ElementAsInt(*tensor, static_cast<int64_t>(i)));
  }
  return values;
}

}  // namespace

std::vector<DataType> QuantizedTypes() {
  return {DataType::kUint8,        DataType::kInt8,           DataType::kUint16,     DataType::kInt16,
          DataType::kUint4,        DataType::kInt4,           DataType::kUint2,      DataType::kInt2,
          DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ, DataType::kFloat8E5M2, DataType::kFloat8E5M2FNUZ};
}

Result<QdqLayout> QdqLayout::Make(const Dims& x, const Tensor& scale, const Tensor* zero_point, int64_t axis,
                                  int64_t block_size, std::string_view op) {
  if (!IsFloat(scale.type()) || scale.type() == DataType::kDouble) {
    return OpError(op, "scale is " + std::string(Name(scale.type())) + ", but must be float, float16 or bfloat16");
  }
  if (block_size < 0) return OpError(op, "block_size " + std::to_string(block_size) + " is negative");
  QdqLayout layout;
  const Tensor wide = scale.type() == DataType::kFloat ? scale : WidenTensor(scale);
  layout.scales_.assign(wide.data<float>(), wide.data<float>() + wide.count());
  RULERUN_ASSIGN(layout.zero_points_, ZeroPointsOf(zero_point, scale, op));

  const auto rank = static_cast<int64_t>(x.size());
  if (block_size == 0 && scale.count() == 1 && scale.rank() <= 1) {
    layout.per_tensor_ = true;
    layout.inner_ = ElementCount(x).value_or(0);
    return layout;
  }
  if (axis < -rank || axis >= rank) {
    return OpError(op, "axis " + std::to_string(axis) + " is outside x" + ToText(x));
  }
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  layout.length_ = x[at];
  layout.outer_ = ElementCount(std::span(x).first(at)).value_or(0);
  layout.inner_ = ElementCount(std::span(x).subspan(at + 1)).value_or(0);
  layout.blocked_ = block_size != 0;
  if (layout.blocked_) {
    Dims wanted = x;
    wanted[at] = x[at] == 0 ? 0 : (x[at] - 1) / block_size + 1;
    if (scale.dims() != wanted) return BadShape(op, x, scale, axis, block_size);
    layout.block_ = block_size;
    layout.blocks_ = wanted[at];
    layout.along_axis_ = layout.inner_ == 1;  // one scale per block
  } else {
    if (scale.rank() != 1 || scale.count() != x[at]) return BadShape(op, x, scale, axis, 0);
    layout.blocks_ = x[at];
    layout.along_axis_ = layout.inner_ == 1;  // one scale per element
  }
  return layout;
}

RowParams QdqLayout::ParamsOf(int64_t row) const {
  int64_t first = 0;
  bool per_element = false;
  if (per_tensor_) {
    first = 0;
  } else if (blocked_ && along_axis_) {  // a row is a block
    first = row;
  } else if (blocked_) {
    first = (row / length_ * blocks_ + row % length_ / block_) * inner_;
    per_element = true;
  } else if (along_axis_) {
    per_element = true;
  } else {
    first = row % length_;
  }
  return {scales_.data() + first, zero_points_.data() + first, per_element};
}

void QdqLayout::ForEachRow(ThreadPool& pool, const std::function<void(int64_t, int64_t, const RowParams&)>& row) const {
  if (outer_ == 0 || length_ == 0 || inner_ == 0) return;
  if (per_tensor_) {
    pool.ParallelFor(inner_, kGrain, [&](int64_t begin, int64_t end) { row(begin, end - begin, ParamsOf(0)); });
    return;
  }
  const bool by_block = blocked_ && along_axis_;
  const int64_t rows = by_block ? outer_ * blocks_ : along_axis_ ? outer_ : outer_ * length_;
  const int64_t elements = by_block ? std::min(block_, length_) : along_axis_ ? length_ : inner_;
  pool.ParallelFor(rows, std::max<int64_t>(1, kGrain / elements), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (by_block) {
        const int64_t start = i % blocks_ * block_;
        row(i / blocks_ * length_ + start, std::min(block_, length_ - start), ParamsOf(i));
      } else {
        row(i * elements, elements, ParamsOf(i));
      }
    }
  });
}

}  // namespace rulerun::int8
