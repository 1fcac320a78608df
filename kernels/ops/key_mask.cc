#include "kernels/ops/key_mask.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

struct Sizes {
  int64_t batch, heads, queries, keys;
};

// What the mask adds to the scores of one query.
void FillMask(const KeyMask& in, const Sizes& sizes, const ScoreRow& at, std::vector<float>& row) {
  std::fill(row.begin(), row.end(), 0.0f);
  if (in.mask != nullptr) {
    const int32_t* mask = in.mask->data<int32_t>();
    if (in.mask->rank() == 1) {
      const auto place = [&](int64_t index) { return std::clamp<int64_t>(mask[index], 0, sizes.keys); };
      std::fill(row.begin() + place(at.batch), row.end(), in.masked);
      if (in.mask->count() == 2 * sizes.batch) {
        std::fill(row.begin(), row.begin() + place(sizes.batch + at.batch), in.masked);
      }
    } else {
      mask += (in.mask->rank() == 2 ? at.batch : at.batch * sizes.queries + at.query) * sizes.keys;
      for (size_t i = 0; i < row.size(); ++i) row[i] = mask[i] > 0 ? 0.0f : in.masked;
    }
  }
  const int64_t seen = in.past + at.query + 1;
  if (in.causal && sizes.queries > 1 && seen < sizes.keys) {
    std::fill(row.begin() + seen, row.end(), std::numeric_limits<float>::lowest());
  }
}

// The part of the bias that belongs to one query of one head.
const float* BiasRow(const Tensor& bias, const Sizes& sizes, const ScoreRow& at) {
  const Dims& dims = bias.dims();
  const int64_t matrix = (dims[0] == 1 ? 0 : at.batch) * dims[1] + (dims[1] == 1 ? 0 : at.head);
  return bias.data<float>() + (matrix * sizes.queries + at.query) * sizes.keys;
}

// The order of additions is ONNX Runtime's.
bool Score(const KeyMask& in, const Sizes& sizes, const ScoreRow& at) {
  const auto add = [&](const float* values) {
    for (int64_t i = 0; i < sizes.keys; ++i) at.values[i] += values[i];
  };
  for (int64_t i = 0; i < sizes.keys; ++i) at.values[i] *= in.scale;
  if (in.bias != nullptr) add(BiasRow(*in.bias, sizes, at));
  if (in.mask != nullptr || (in.causal && sizes.queries > 1)) {
    std::vector<float> row(static_cast<size_t>(sizes.keys));
    FillMask(in, sizes, at, row);
    add(row.data());
  }
  if (in.scores != nullptr) {
    const int64_t row = (at.batch * sizes.heads + at.head) * sizes.queries + at.query;
    std::copy_n(at.values, sizes.keys, in.scores + row * sizes.keys);
  }
  return true;
}

Status CheckShapes(const KeyMask& in, const Sizes& sizes) {
  if (in.mask != nullptr) {
    const Dims& dims = in.mask->dims();
    const bool ends = dims == Dims{sizes.batch} || dims == Dims{2 * sizes.batch} || dims == Dims{3 * sizes.batch + 2};
    if (!ends && dims != Dims{sizes.batch, sizes.keys} && dims != Dims{sizes.batch, sizes.queries, sizes.keys}) {
      return Invalid("a mask of shape " + DimsText(dims) + " does not fit " + std::to_string(sizes.batch) +
                     " sequences of " + std::to_string(sizes.queries) + " queries and " + std::to_string(sizes.keys) +
                     " keys");
    }
  }
  if (in.bias == nullptr) return {};
  const Dims& dims = in.bias->dims();
  const bool fits = dims.size() == 4 && (dims[0] == 1 || dims[0] == sizes.batch) &&
                    (dims[1] == 1 || dims[1] == sizes.heads) && dims[2] == sizes.queries && dims[3] == sizes.keys;
  if (fits) return {};
  return Invalid("an attention bias of shape " + DimsText(dims) + " does not fit");
}

}  // namespace

Status ApplyMask(const KeyMask& mask, ScaledAttention& attention) {
  const Sizes sizes{attention.batch, attention.heads, attention.queries, attention.keys};
  RULERUN_RETURN_IF_ERROR(CheckShapes(mask, sizes));
  attention.scaled = mask.scale != 1;
  attention.score = [mask, sizes](const ScoreRow& at) { return Score(mask, sizes, at); };
  return {};
}

}  // namespace rulerun
