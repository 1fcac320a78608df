#include "kernels/ops/row_norm.h"

#include <cmath>

#include "kernels/ops/vector_math.h"

namespace rulerun {
namespace {

// Shorter rows go the scalar way.
constexpr int64_t kVectorRow = 8;
constexpr int64_t kVectorRmsRow = 16;

float MeanInDouble(const float* x, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]);
  return static_cast<float>(sum / static_cast<double>(count));
}

}  // namespace

RowMoments LayerNormRow(const float* x, const float* scale, const float* bias, float epsilon, float* y, int64_t count) {
  if (count < kVectorRow) return WelfordNormRow(x, scale, bias, epsilon, y, count);
  RowMoments moments;
  moments.mean = MeanInDouble(x, count);
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] - moments.mean;
  const float variance = VectorSumOfSquares(y, count) / static_cast<float>(count);
  moments.inverse_deviation = 1.0f / std::sqrt(variance + epsilon);
  for (int64_t i = 0; i < count; ++i) {
    const float normal = y[i] * moments.inverse_deviation;
    y[i] = bias == nullptr ? normal * scale[i] : std::fma(normal, scale[i], bias[i]);
  }
  return moments;
}

RowMoments WelfordNormRow(const float* x, const float* scale, const float* bias, float epsilon, float* y,
                          int64_t count) {
  float mean = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float delta = x[i] - mean;
    mean += delta / static_cast<float>(i + 1);
    squares += delta * (x[i] - mean);
  }
  const float deviation = std::sqrt(squares / static_cast<float>(count) + epsilon);
  for (int64_t i = 0; i < count; ++i) {
    const float scaled = (x[i] - mean) / deviation * scale[i];
    y[i] = bias == nullptr ? scaled : scaled + bias[i];
  }
  return {mean, 1.0f / deviation};
}

RowMoments RmsNormRow(const float* x, const float* scale, float epsilon, float* y, int64_t count) {
  if (count < kVectorRmsRow) return SequentialRmsNormRow(x, scale, epsilon, y, count);
  const float inverse = 1.0f / std::sqrt(VectorSumOfSquares(x, count) / static_cast<float>(count) + epsilon);
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] * inverse * scale[i];
  return {0, inverse};
}

RowMoments SequentialRmsNormRow(const float* x, const float* scale, float epsilon, float* y, int64_t count) {
  float sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += x[i] * x[i];
  const float rms = std::sqrt(sum / static_cast<float>(count) + epsilon);
  for (int64_t i = 0; i < count; ++i) y[i] = x[i] / rms * scale[i];
  return {0, 1.0f / rms};
}

}  // namespace rulerun
