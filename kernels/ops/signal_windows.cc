// HannWindow, HammingWindow, BlackmanWindow and MelWeightMatrix.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "kernels/ops/op.h"

namespace rulerun {
namespace {

// Writes f(i) for every i of an output of `count` elements, in the type that 'output_datatype' names.
template <typename F>
Status FillOutput(KernelContext& context, DataType type, Dims dims, F f) {
  RULERUN_ASSIGN(Tensor * y, context.Output(0, type, std::move(dims)));
  return DispatchNumber(type, [&]<typename T>(TypeTag<T>) -> Status {
    for (int64_t i = 0; i < y->count(); ++i) y->mutable_data<T>()[i] = static_cast<T>(f(i));
    return {};
  });
}

DataType OutputType(const AttributeMap& attributes) {
  return static_cast<DataType>(IntOr(attributes, "output_datatype", static_cast<int64_t>(DataType::kFloat)));
}

// a - b cos(2 pi i / n) + c cos(4 pi i / n); ONNX Runtime has these as floats.
struct Cosines {
  float a, b, c;
};

KernelFactory Window(Cosines cosines) {
  return [cosines](const KernelRequest& request) -> Result<std::unique_ptr<Kernel>> {
    const bool periodic = IntOr(*request.attributes, "periodic", 1) != 0;
    return MakeKernel([=, type = OutputType(*request.attributes)](KernelContext& context) -> Status {
      RULERUN_ASSIGN(const Tensor* size, Required(context, 0));
      if (size->count() != 1 || ElementAsInt(*size, 0) < 0) return Invalid("the size must be one number, not negative");
      const int64_t count = ElementAsInt(*size, 0);
      const auto span = static_cast<double>(std::max<int64_t>(1, periodic ? count : count - 1));
      return FillOutput(context, type, {count}, [&](int64_t i) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(i) / span;
        return static_cast<double>(cosines.a) - static_cast<double>(cosines.b) * std::cos(angle) +
               static_cast<double>(cosines.c) * std::cos(2 * angle);
      });
    });
  };
}

double ToMel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double ToHertz(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

// Triangles over the bins of a spectrum, evenly spaced in mel.
Status RunMelWeightMatrix(DataType type, KernelContext& context) {
  std::array<double, 5> given;  // bands, length of the transform, sample rate, lowest and highest frequency
  for (size_t i = 0; i < given.size(); ++i) {
    RULERUN_ASSIGN(const Tensor* value, Required(context, i));
    if (value->count() != 1) return Invalid("every input must be one number");
    given[i] = ElementAsDouble(*value, 0);
  }
  const auto bands = static_cast<int64_t>(given[0]), bins = static_cast<int64_t>(given[1]) / 2 + 1;
  if (bands < 1 || given[1] < 1 || given[2] <= 0) return Invalid("bands, length and sample rate must be positive");
  const double low = ToMel(given[3]), step = (ToMel(given[4]) - low) / static_cast<double>(bands + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double hertz = ToHertz(low + step * static_cast<double>(i));
    edges.push_back(static_cast<int64_t>(std::floor((given[1] + 1) * hertz / given[2])));
  }
  return FillOutput(context, type, {bins, bands}, [&](int64_t index) {
    const int64_t bin = index / bands;
    const auto* edge = edges.data() + index % bands;  // where the triangle begins, peaks and ends
    const auto part = [](int64_t a, int64_t b) { return static_cast<double>(a) / static_cast<double>(b); };
    if (bin == edge[1] && edge[0] == edge[1]) return 1.0;
    if (bin >= edge[0] && bin <= edge[1]) return part(bin - edge[0], edge[1] - edge[0]);
    return bin > edge[1] && bin < edge[2] ? part(edge[2] - bin, edge[2] - edge[1]) : 0.0;
  });
}

Result<std::unique_ptr<Kernel>> MakeMelWeightMatrix(const KernelRequest& request) {
  return MakeKernel(
      [type = OutputType(*request.attributes)](KernelContext& context) { return RunMelWeightMatrix(type, context); });
}

}  // namespace

void Register_ops_signal_windows(KernelRegistry& registry) {
  AddOp(registry, "HannWindow", {}, {IndexTypes()}, Window({0.5f, 0.5f, 0}));
  AddOp(registry, "HammingWindow", {}, {IndexTypes()}, Window({25.0f / 46, 1 - 25.0f / 46, 0}));
  AddOp(registry, "BlackmanWindow", {}, {IndexTypes()}, Window({0.42f, 0.5f, 0.08f}));
  AddOp(registry, "MelWeightMatrix", {}, {IndexTypes(), IndexTypes(), IndexTypes(), FloatTypes(), FloatTypes()},
        MakeMelWeightMatrix);
}

}  // namespace rulerun
