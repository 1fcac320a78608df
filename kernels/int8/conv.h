// Convolution of 8-bit tensors, 1-D to 3-D: what QLinearConv and ConvInteger have in common.
//
// The image is copied once into a channels-last one that holds its padding (filled with the zero point), in the form
// the matrix product wants. An output pixel is then a row of A that starts at a pixel of that image, with the same list
// of offsets for all of them: no im2col. Depthwise convolutions have code of their own.
#ifndef RULERUN_KERNELS_INT8_CONV_H_
#define RULERUN_KERNELS_INT8_CONV_H_

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "kernels/geometry.h"
#include "kernels/int8/gemm.h"
#include "kernels/kernel.h"

namespace rulerun::int8 {

struct ConvAttributes {
  WindowAttributes window;
  int64_t group = 1;
  bool channels_last = false;
};
Result<ConvAttributes> ReadConvAttributes(const AttributeMap& attributes, std::string_view op);

// One node on one input shape, everything resolved and checked.
struct ConvShape {
  int64_t batch = 0;
  int64_t channels = 0;      // of x
  int64_t out_channels = 0;  // M
  int64_t group = 1;
  bool channels_last = false;
  std::array<Window, 3> axes;  // depth, height, width; leading ones trivial
  Dims out;                    // of y

  int64_t InPixels() const { return axes[0].in * axes[1].in * axes[2].in; }
  int64_t OutPixels() const { return axes[0].out * axes[1].out * axes[2].out; }
  int64_t Taps() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
};
// x: N, C, spatial... or, with channels_last, N, spatial..., C. w: M, C / group, kernel...
Result<ConvShape> ResolveConv(const ConvAttributes& attributes, const Dims& x, const Dims& w, std::string_view op);

// The filter of a convolution, ready to run on any input shape.
class ConvWeights {
 public:
  // `w_zero_points`: one per output channel.
  static Result<ConvWeights> Pack(const ConvAttributes& attributes, const Tensor& w,
                                  std::span<const int32_t> w_zero_points);
  // Packs at load where the inputs that Pack looks at are constant; else the result is empty.
  static Result<ConvWeights> PackConstant(const ConvAttributes& attributes, const KernelRequest& request, size_t w_slot,
                                          size_t zero_point_slot, std::string_view op);

  bool empty() const { return matrices_.empty() && depthwise_.empty(); }

 private:
  friend class ConvRun;

  bool is_signed_ = false;
  bool merged_rows_ = false;             // a run of K is a row of the kernel, not one tap
  std::vector<PackedMatrix> matrices_;   // one per group; empty if depthwise
  std::vector<int32_t> depthwise_;       // [pair of taps][channel]: two int16 weights minus zero point
  std::vector<int32_t> depthwise_sums_;  // per channel
};

// The parameters of a convolution, and what becomes of it.
struct ConvFinish {
  int32_t x_zero_point = 0;
  std::span<const int32_t> w_zero_points;  // M
  std::span<const int32_t> bias;           // M, or empty
  Epilogue::Kind kind = Epilogue::Kind::kInt32;
  std::span<const float> multiplier;  // M, or empty
  int32_t y_zero_point = 0;
  Limits limits;
};

// y has the shape and type that `shape` and `finish.kind` say, and is not empty.
Status RunConv(ThreadPool& pool, const ConvShape& shape, const Tensor& x, const ConvWeights& weights,
               const ConvFinish& finish, Tensor& y);

}  // namespace rulerun::int8

#endif  // RULERUN_KERNELS_INT8_CONV_H_
