// RoiAlign: regions of an image, pooled to one size from samples between its pixels.
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

struct Attributes {
  int64_t height = 1, width = 1;  // of the output
  int64_t samples = 0;            // along each side of a bin; 0: as many as the bin covers pixels
  float scale = 1;                // from the region's units to pixels
  float offset = 0.5f;            // a pixel's centre; 0 in the older version, whose regions span at least a pixel
  bool maximum = false;
};

// Where a sample is taken: four pixels and their weights, all 0 for one that lies outside.
struct Sample {
  std::array<int64_t, 4> pixels{};
  std::array<float, 4> weights{};
};

struct Place {
  int64_t low, high;
  float part;  // of the higher one
};

Place Between(float at, int64_t size) {
  at = std::max(at, 0.0f);
  const auto low = static_cast<int64_t>(at);
  if (low >= size - 1) return {size - 1, size - 1, 0};
  return {low, low + 1, at - static_cast<float>(low)};
}

Sample SampleAt(float y, float x, int64_t height, int64_t width) {
  if (y < -1 || y > static_cast<float>(height) || x < -1 || x > static_cast<float>(width)) return {};
  const Place row = Between(y, height), column = Between(x, width);
  const float up = 1 - row.part, left = 1 - column.part;
  return {{row.low * width + column.low, row.low * width + column.high, row.high * width + column.low,
           row.high * width + column.high},
          {up * left, up * column.part, row.part * left, row.part * column.part}};
}

// One side of a region: where it begins, how long a bin is and how many samples it gets.
struct Side {
  float start, bin;
  int64_t samples;

  float At(int64_t index, int64_t sample) const {
    return start + static_cast<float>(index) * bin +
           (static_cast<float>(sample) + 0.5f) * bin / static_cast<float>(samples);
  }
};

Side MakeSide(const Attributes& attributes, float from, float to, int64_t bins) {
  const float start = from * attributes.scale - attributes.offset;
  float length = to * attributes.scale - attributes.offset - start;
  if (attributes.offset == 0) length = std::max(length, 1.0f);
  const auto count = static_cast<float>(bins);
  return {start, length / count,
          attributes.samples > 0 ? attributes.samples : static_cast<int64_t>(std::ceil(length / count))};
}

// The samples of every bin, bin by bin.
std::vector<Sample> SamplesOf(const Attributes& attributes, const Side& down, const Side& right, int64_t height,
                              int64_t width) {
  std::vector<Sample> samples;
  for (int64_t bin = 0; bin < attributes.height * attributes.width; ++bin) {
    for (int64_t i = 0; i < down.samples * right.samples; ++i) {
      samples.push_back(SampleAt(down.At(bin / attributes.width, i / right.samples),
                                 right.At(bin % attributes.width, i % right.samples), height, width));
    }
  }
  return samples;
}

float Pool(const float* image, const Sample* samples, int64_t count, bool maximum) {
  float result = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::array<float, 4> parts{};
    for (size_t k = 0; k < 4; ++k) parts[k] = samples[i].weights[k] * image[samples[i].pixels[k]];
    if (!maximum) {
      result += parts[0] + parts[1] + parts[2] + parts[3];
      continue;
    }
    const float best = *std::max_element(parts.begin(), parts.end());
    result = i == 0 ? best : std::max(result, best);
  }
  return maximum ? result : result / static_cast<float>(std::max<int64_t>(count, 1));
}

Status RunRoiAlign(const Attributes& attributes, KernelContext& context) {
  RULERUN_ASSIGN(const Tensor* x, Required(context, 0));
  RULERUN_ASSIGN(const Tensor* regions, Required(context, 1));
  RULERUN_ASSIGN(const Tensor* images, Required(context, 2));
  if (x->rank() != 4 || regions->dims() != Dims{images->count(), 4}) {
    return Invalid("an input of shape " + DimsText(x->dims()) + " and regions of shape " + DimsText(regions->dims()) +
                   " do not fit");
  }
  const int64_t channels = x->dims()[1], height = x->dims()[2], width = x->dims()[3];
  const int64_t bins = attributes.height * attributes.width;
  for (int64_t i = 0; i < images->count(); ++i) {
    const int64_t image = images->data<int64_t>()[i];
    if (image < 0 || image >= x->dims()[0]) return Invalid("there is no image " + std::to_string(image));
  }
  for (const float edge : regions->values<float>()) {
    if (!(std::abs(edge * attributes.scale) < 1e6f)) return Invalid("a region is not finite, or too large");
  }
  RULERUN_ASSIGN(Tensor * y,
                 context.Output(0, DataType::kFloat, {images->count(), channels, attributes.height, attributes.width}));
  if (y->count() == 0 || height * width == 0) return {};
  context.pool().ParallelFor(images->count(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* region = regions->data<float>() + r * 4;
      const Side down = MakeSide(attributes, region[1], region[3], attributes.height);
      const Side right = MakeSide(attributes, region[0], region[2], attributes.width);
      const std::vector<Sample> samples = SamplesOf(attributes, down, right, height, width);
      const int64_t per_bin = static_cast<int64_t>(samples.size()) / bins;
      for (int64_t i = 0; i < channels * bins; ++i) {
        const int64_t plane = images->data<int64_t>()[r] * channels + i / bins;
        y->mutable_data<float>()[r * channels * bins + i] =
            Pool(x->data<float>() + plane * height * width, samples.data() + i % bins * per_bin, per_bin,
                 attributes.maximum);
      }
    }
  });
  return {};
}

Result<std::unique_ptr<Kernel>> MakeRoiAlign(const KernelRequest& request) {
  const AttributeMap& given = *request.attributes;
  Attributes attributes;
  attributes.height = IntOr(given, "output_height", 1);
  attributes.width = IntOr(given, "output_width", 1);
  attributes.samples = IntOr(given, "sampling_ratio", 0);
  attributes.scale = FloatOr(given, "spatial_scale", 1);
  attributes.maximum = StringOr(given, "mode", "avg") == "max";
  const bool half =
      request.since_version >= 16 && StringOr(given, "coordinate_transformation_mode", "half_pixel") == "half_pixel";
  attributes.offset = half ? 0.5f : 0.0f;
  if (attributes.height < 1 || attributes.width < 1 || attributes.samples < 0 || attributes.samples > 1024) {
    return Invalid("output_height, output_width or sampling_ratio is out of range");
  }
  return MakeKernel([attributes](KernelContext& context) { return RunRoiAlign(attributes, context); });
}

}  // namespace

void Register_ops_roi_align(KernelRegistry& registry) {
  AddOp(registry, "RoiAlign", {}, {{DataType::kFloat}, {DataType::kFloat}, {DataType::kInt64}}, MakeRoiAlign);
}

}  // namespace rulerun
