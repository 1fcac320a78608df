// QLinearSoftmax (com.microsoft): exponentials from a table, sums in float.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "kernels/int8/params.h"
#include "kernels/int8/rows.h"
#include "kernels/kernel.h"

namespace rulerun {
namespace int8 {
namespace {

constexpr std::string_view kOp = "QLinearSoftmax";
constexpr int64_t kGrain = 4096;  // elements worth a chunk of their own
enum Slot : size_t { kX, kXScale, kXZero, kYScale, kYZero };

// exp of a value less the row's maximum, by 255 - (maximum - value), shifted up so far that no row's sum overflows.
std::array<float, 256> Exponentials(float scale, int64_t length) {
  const float largest = std::numeric_limits<float>::max() / static_cast<float>(length);
  const double shift = std::max(0.0, std::log(static_cast<double>(largest)) - 5.0) / static_cast<double>(scale);
  std::array<float, 256> table;
  for (int i = 0; i < 256; ++i) {
    table[static_cast<size_t>(i)] =
        static_cast<float>(std::exp((static_cast<double>(i) - 255.0 + shift) * static_cast<double>(scale)));
  }
  return table;
}

class QLinearSoftmax : public Kernel {
 public:
  QLinearSoftmax(int64_t axis, bool one_axis) : axis_(axis), one_axis_(one_axis) {}

  Status Run(KernelContext& context) const override {
    RULERUN_ASSIGN(const Tensor* x, EightBitInput(context, kX, kOp, "X"));
    RULERUN_ASSIGN(const float x_scale, ReadScale(context, kXScale, kOp, "X_scale"));
    RULERUN_ASSIGN(const Quantization to, ReadQuantization(context, kYScale, x->type(), kOp, "Y"));
    const int64_t rank = x->rank();
    if (axis_ < -rank || axis_ >= rank) {
      return OpError(kOp, "axis " + std::to_string(axis_) + " is outside " + ToText(x->dims()));
    }
    RULERUN_ASSIGN(Tensor * y, context.Output(0, x->type(), x->dims()));
    if (x->count() == 0) return {};

    const auto axis = static_cast<size_t>(axis_ < 0 ? axis_ + rank : axis_);
    const std::span<const int64_t> dims = x->dims();
    Work work;
    work.length = one_axis_ ? dims[axis] : *ElementCount(dims.subspan(axis));
    work.inner = one_axis_ ? *ElementCount(dims.subspan(axis + 1)) : 1;
    work.is_signed = x->type() == DataType::kInt8;
    work.y = to;
    work.inverse = std::floor(1.0f / to.scale);
    work.exponentials = Exponentials(x_scale, work.length);
    for (size_t i = 0; i < 256; ++i) work.scaled[i] = work.exponentials[i] * work.inverse;
    const int64_t rows = x->count() / work.length;
    context.pool().ParallelFor(rows, std::max<int64_t>(1, kGrain / work.length), [&](int64_t begin, int64_t end) {
      RunRows(work, begin, end, x->data<uint8_t>(), y->mutable_data<uint8_t>());
    });
    return {};
  }

 private:
  struct Work {
    int64_t length = 1;  // of a row
    int64_t inner = 1;   // distance of a row's elements
    bool is_signed = false;
    Quantization y;
    float inverse = 1;  // of the output's scale, a whole number
    std::array<float, 256> exponentials;
    std::array<float, 256> scaled;  // times inverse
  };

  static void RunRows(const Work& work, int64_t begin, int64_t end, const uint8_t* x, uint8_t* y) {
    const auto length = static_cast<size_t>(work.length);
    std::vector<uint8_t> index(length);
    std::vector<float> values(length);
    std::vector<uint8_t> results(work.inner == 1 ? 0 : length);
    for (int64_t row = begin; row < end; ++row) {
      const int64_t start = row / work.inner * work.inner * work.length + row % work.inner;
      for (size_t i = 0; i < length; ++i) {
        // int8 -128 .. 127 as 0 .. 255: only differences count.
        index[i] = static_cast<uint8_t>(x[start + static_cast<int64_t>(i) * work.inner] ^ (work.is_signed ? 0x80 : 0));
      }
      if (work.inner == 1) {
        RunRow(work, index, values, y + start);
        continue;
      }
      RunRow(work, index, values, results.data());
      for (size_t i = 0; i < length; ++i) y[start + static_cast<int64_t>(i) * work.inner] = results[i];
    }
  }

  static void RunRow(const Work& work, std::span<uint8_t> index, std::span<float> values, uint8_t* y) {
    const uint8_t max = *std::max_element(index.begin(), index.end());
    const int lift = 255 - max;
    float sum = 0;  // left to right
    for (size_t i = 0; i < index.size(); ++i) {
      const auto at = static_cast<size_t>(index[i] + lift);
      sum += work.exponentials[at];
      values[i] = work.scaled[at];
    }
    // In a very short row the scaled exponentials overflow, and ONNX Runtime's results are accidental; these are right.
    if (std::isinf(work.scaled[255])) {
      for (size_t i = 0; i < index.size(); ++i) {
        const double e = work.exponentials[static_cast<size_t>(index[i] + lift)];
        values[i] = static_cast<float>(e * static_cast<double>(work.inverse) / static_cast<double>(sum));
      }
      sum = 1;
    }
    // Quantizing with the sum for a scale is f(values / sum), rounded, shifted and clamped.
    const RowParams params{&sum, &work.y.zero_point, false};
    QuantizeRow(values.data(), static_cast<int64_t>(values.size()), params, EightBit(work.is_signed),
                work.is_signed ? DataType::kInt8 : DataType::kUint8, y);
  }

  int64_t axis_;
  bool one_axis_;
};

Result<std::unique_ptr<Kernel>> Make(const KernelRequest& request) {
  const AttributeMap& attributes = *request.attributes;
  if (attributes.find("opset") == attributes.end()) return OpError(kOp, "attribute 'opset' is missing");
  const bool one_axis = IntOr(attributes, "opset", 13) >= 13;
  return std::unique_ptr<Kernel>(
      std::make_unique<QLinearSoftmax>(IntOr(attributes, "axis", one_axis ? -1 : 1), one_axis));
}

}  // namespace
}  // namespace int8

void Register_int8_qlinear_softmax(KernelRegistry& registry) {
  const auto& e = int8::kEightBitTypes;
  const auto& f = int8::kFloatOnly;
  registry.Add({"QLinearSoftmax", "com.microsoft", 1, 1, {e, f, e, f, e}, int8::Make});
}

}  // namespace rulerun
