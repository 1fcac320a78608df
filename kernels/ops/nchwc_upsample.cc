// Upsample of com.microsoft.nchwc: images grow by whole factors.
#include <algorithm>
#include <array>

#include "kernels/ops/nchwc.h"
#include "kernels/ops/op.h"

namespace rulerun {
namespace {

constexpr int64_t kGrain = 16384;  // elements written that are worth a thread

enum class Coordinates { kAsymmetric, kAlignCorners, kHalfPixel };

struct Upsample {
  int64_t block = 0;
  std::array<int64_t, 2> scales = {1, 1};
  bool linear = false;
  Coordinates coordinates = Coordinates::kAsymmetric;
};

// An output position lies between two input positions.
struct Between {
  int64_t low = 0, high = 0;
  float low_weight = 1, high_weight = 0;
};

float SourceOf(const Upsample& upsample, int64_t scale, int64_t in, int64_t o) {
  const auto x = static_cast<float>(o);
  if (scale == 1) return x;
  switch (upsample.coordinates) {
    case Coordinates::kAlignCorners:
      return x * static_cast<float>(in - 1) / static_cast<float>(in * scale - 1);
    case Coordinates::kHalfPixel:
      return std::max(0.0f, (x + 0.5f) / static_cast<float>(scale) - 0.5f);
    default:
      return x / static_cast<float>(scale);
  }
}

std::vector<Between> PlanAxis(const Upsample& upsample, int64_t scale, int64_t in) {
  std::vector<Between> plan(static_cast<size_t>(in * scale));
  for (size_t o = 0; o < plan.size(); ++o) {
    if (!upsample.linear) {
      plan[o].low = plan[o].high = static_cast<int64_t>(o) / scale;
      continue;
    }
    const float source = SourceOf(upsample, scale, in, static_cast<int64_t>(o));
    plan[o].low = std::min(static_cast<int64_t>(source), in - 1);
    plan[o].high = std::min(plan[o].low + 1, in - 1);
    plan[o].high_weight = source - static_cast<float>(plan[o].low);
    plan[o].low_weight = 1 - plan[o].high_weight;
  }
  return plan;
}

template <int64_t kBlock>
void LinearRow(const Between& v, const std::vector<Between>& columns, const float* x, int64_t row, float* y) {
  for (const Between& h : columns) {
    const float w00 = v.low_weight * h.low_weight, w01 = v.low_weight * h.high_weight;
    const float w10 = v.high_weight * h.low_weight, w11 = v.high_weight * h.high_weight;
    const float* x00 = x + v.low * row + h.low * kBlock;
    const float* x01 = x + v.low * row + h.high * kBlock;
    const float* x10 = x + v.high * row + h.low * kBlock;
    const float* x11 = x + v.high * row + h.high * kBlock;
    for (int64_t c = 0; c < kBlock; ++c) y[c] = (w00 * x00[c] + w01 * x01[c]) + (w10 * x10[c] + w11 * x11[c]);
    y += kBlock;
  }
}

Status RunUpsample(const Upsample& upsample, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, NchwcInput(context, 0, upsample.block));
  const Dims& in = x->dims();
  const Dims dims = {in[0], in[1], in[2] * upsample.scales[0], in[3] * upsample.scales[1]};
  RULERUN_ASSIGN(Tensor * y, context.Output(0, DataType::kFloat, dims));
  if (y->count() == 0) return {};
  const std::vector<Between> rows = PlanAxis(upsample, upsample.scales[0], in[2]);
  const std::vector<Between> columns = PlanAxis(upsample, upsample.scales[1], in[3]);
  const int64_t in_row = in[3] * upsample.block, out_row = dims[3] * upsample.block;
  const int64_t planes = in[0] * in[1] / upsample.block;
  context.pool().ParallelFor(planes * dims[2], std::max<int64_t>(1, kGrain / out_row), [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const float* from = x->data<float>() + item / dims[2] * in[2] * in_row;
      float* to = y->mutable_data<float>() + item * out_row;
      const Between& row = rows[static_cast<size_t>(item % dims[2])];
      if (upsample.linear) {
        WithBlock(upsample.block,
                  [&](auto block) { LinearRow<decltype(block)::value>(row, columns, from, in_row, to); });
        continue;
      }
      for (const Between& column : columns) {
        const float* pixel = from + row.low * in_row + column.low * upsample.block;
        to = std::copy(pixel, pixel + upsample.block, to);
      }
    }
  });
  return {};
}

Result<std::unique_ptr<Kernel>> MakeUpsample(const KernelRequest& request) {
  Upsample upsample;
  RULERUN_ASSIGN(upsample.block, ChannelBlock(request));
  const std::vector<int64_t> scales = IntsOr(*request.attributes, "scales", {});
  if (scales.size() != 4 || scales[0] != 1 || scales[1] != 1 || scales[2] < 1 || scales[3] < 1) {
    return Invalid("scales must be [1, 1, height, width]");
  }
  upsample.scales = {scales[2], scales[3]};
  const std::string mode = StringOr(*request.attributes, "mode", "nearest");
  if (mode != "nearest" && mode != "linear") return Invalid("unknown mode '" + mode + "'");
  upsample.linear = mode == "linear";
  const std::string coordinates = StringOr(*request.attributes, "coordinate_transformation_mode", "asymmetric");
  if (coordinates == "align_corners") {
    upsample.coordinates = Coordinates::kAlignCorners;
  } else if (coordinates == "half_pixel") {
    upsample.coordinates = Coordinates::kHalfPixel;
  } else if (coordinates != "asymmetric") {
    return Invalid("unknown coordinate_transformation_mode '" + coordinates + "'");
  }
  return MakeKernel([upsample](KernelContext& context) { return RunUpsample(upsample, context); });
}

}  // namespace

void Register_ops_nchwc_upsample(KernelRegistry& registry) {
  AddOp(registry, "Upsample", {}, {{DataType::kFloat}}, MakeUpsample, kNchwc);
}

}  // namespace rulerun
