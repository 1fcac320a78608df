// Runs a convolution: image by image, first the padded copy, then the products.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>

#include "engine/base/codes.h"
#include "kernels/buffer.h"
#include "kernels/int8/conv.h"
#include "kernels/int8/depthwise.h"
#include "kernels/int8/params.h"

namespace rulerun::int8 {
namespace {

constexpr int64_t kStrip = 128;        // pixels of a row that are copied at a time
constexpr int64_t kSlack = 64;         // bytes that loads may read behind the image
constexpr int64_t kCopyGrain = 32768;  // bytes worth a chunk of their own

// As long as the windows reach: the padded image's axis.
int64_t Reach(const Window& axis) { return (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1; }

}  // namespace

class ConvRun {
 public:
  ConvRun(ThreadPool& pool, const ConvShape& shape, const Tensor& x, const ConvWeights& weights,
          const ConvFinish& finish, Tensor& y)
      : pool_(pool), shape_(shape), x_(x), weights_(weights), finish_(finish), y_(y) {}

  Status Run() {
    RULERUN_RETURN_IF_ERROR(PlanImage());
    PlanTaps();
    PlanEpilogues();
    const size_t out_bytes =
        static_cast<size_t>(shape_.out_channels * shape_.OutPixels()) * epilogues_[0].ElementBytes();
    const int64_t in_bytes = shape_.channels * shape_.InPixels();
    for (int64_t n = 0; n < shape_.batch; ++n) {
      const uint8_t* x = x_.data<uint8_t>() + n * in_bytes;
      if (in_place_) {
        image_ = reinterpret_cast<const std::byte*>(x);
      } else {
        CopyImage(x);
      }
      Multiply(y_.mutable_raw() + static_cast<size_t>(n) * out_bytes);
    }
    return {};
  }

 private:
  bool depthwise() const { return !weights_.depthwise_.empty(); }
  const GemmCode& code() const { return depthwise() ? CurrentGemmCode() : weights_.matrices_[0].code(); }
  bool x_is_signed() const { return x_.type() == DataType::kInt8; }

  // Sizes of the padded image; whether x itself will do.
  Status PlanImage() {
    element_bytes_ = depthwise() ? 1 : code().element_bytes;
    flip_ = x_is_signed() && !depthwise();
    bool inside = shape_.channels_last && element_bytes_ == 1 && !flip_;
    for (size_t i = 0; i < 3; ++i) {
      size_[i] = Reach(shape_.axes[i]);
      inside = inside && shape_.axes[i].pad_begin == 0 && size_[i] <= shape_.axes[i].in;
    }
    // Loads of whole groups must not leave x.
    const int64_t run = shape_.channels / shape_.group * (weights_.merged_rows_ ? shape_.axes[2].kernel : 1);
    in_place_ = inside && (depthwise() || run % code().group == 0);
    if (in_place_) {
      for (size_t i = 0; i < 3; ++i) size_[i] = shape_.axes[i].in;
      return {};
    }
    const std::optional<int64_t> pixels = ElementCount(size_);
    // Padding or strides that no real model has would make an image of almost nothing but padding.
    const double useful = static_cast<double>(shape_.OutPixels()) * static_cast<double>(shape_.Taps()) +
                          static_cast<double>(shape_.InPixels());
    const std::optional<int64_t> bytes =
        ElementCount(std::array<int64_t, 5>{size_[0], size_[1], size_[2], shape_.channels, element_bytes_});
    if (pixels.has_value() && bytes.has_value() && static_cast<double>(*pixels) <= 64 * useful + 1e6) {
      buffer_ = AllocateBuffer(static_cast<size_t>(*bytes + kSlack));
    }
    if (buffer_ == nullptr) {
      return Error{Code::kNoMemory,
                   "convolution: no memory for an image padded to " + ToText(Dims(size_.begin(), size_.end())), "", ""};
    }
    image_ = buffer_.get();
    // What loads read behind the last element meets zeros of B, but must be initialised.
    std::memset(MutableImage() + *bytes, 0, static_cast<size_t>(kSlack));
    return {};
  }

  // Not shared while this object fills it.
  std::byte* MutableImage() const { return const_cast<std::byte*>(buffer_.get()); }  // NOLINT

  int64_t PixelOffset(int64_t d, int64_t h, int64_t w) const {
    return ((d * size_[1] + h) * size_[2] + w) * shape_.channels;
  }

  // Where the runs of K, or a depthwise kernel's taps, lie behind a window's first element.
  void PlanTaps() {
    const auto& [depth, height, width] = shape_.axes;
    std::vector<int64_t> starts;
    const int64_t columns = weights_.merged_rows_ ? 1 : width.kernel;
    for (int64_t d = 0; d < depth.kernel; ++d) {
      for (int64_t h = 0; h < height.kernel; ++h) {
        for (int64_t w = 0; w < columns; ++w) {
          starts.push_back(PixelOffset(d * depth.dilation, h * height.dilation, w * width.dilation));
        }
      }
    }
    if (depthwise()) {
      if (starts.size() % 2 != 0) starts.push_back(starts.back());
      offsets_ = std::move(starts);
    } else if (shape_.channels > 0) {
      offsets_ = weights_.matrices_[0].OffsetsOfRuns(starts);
    }
  }

  void PlanEpilogues() {
    const int64_t groups = depthwise() ? 1 : shape_.group;
    const auto columns = static_cast<size_t>(shape_.out_channels / groups);
    const int32_t x_zero = depthwise() ? finish_.x_zero_point : ShiftedA(x_is_signed(), finish_.x_zero_point);
    w_zeros_.assign(finish_.w_zero_points.begin(), finish_.w_zero_points.end());
    for (int32_t& zero : w_zeros_) zero = ShiftedB(weights_.is_signed_, zero);
    column_offsets_.resize(static_cast<size_t>(groups));
    epilogues_.resize(static_cast<size_t>(groups));
    for (size_t g = 0; g < epilogues_.size(); ++g) {
      const auto zeros = std::span<const int32_t>(w_zeros_).subspan(g * columns, columns);
      const auto bias = finish_.bias.empty() ? finish_.bias : finish_.bias.subspan(g * columns, columns);
      Epilogue& epilogue = epilogues_[g];
      if (depthwise()) {
        column_offsets_[g].assign(bias.begin(), bias.end());
        column_offsets_[g].resize(columns, 0);
        for (size_t c = 0; c < columns; ++c) {
          column_offsets_[g][c] = WrapSub(column_offsets_[g][c], WrapMul(x_zero, weights_.depthwise_sums_[c]));
        }
      } else {
        column_offsets_[g] = weights_.matrices_[g].ColumnOffsets(x_zero, zeros, bias);
        const bool symmetric = std::all_of(zeros.begin(), zeros.end(), [](int32_t zero) { return zero == 0; });
        epilogue.b_zero = symmetric ? nullptr : zeros.data();
      }
      epilogue.column_offset = column_offsets_[g].data();
      epilogue.kind = finish_.kind;
      epilogue.multiplier = finish_.multiplier.empty() ? nullptr : finish_.multiplier.data() + g * columns;
      epilogue.zero_point = finish_.y_zero_point;
      epilogue.limits = finish_.limits;
    }
  }

  void CopyImage(const uint8_t* x) const {
    const int64_t strips = (size_[2] + kStrip - 1) / kStrip;
    const int64_t strip_bytes = std::max<int64_t>(1, std::min(kStrip, size_[2]) * shape_.channels);
    pool_.ParallelFor(size_[0] * size_[1] * strips, std::max<int64_t>(1, kCopyGrain / strip_bytes),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) {
                          const int64_t row = i / strips;
                          CopyStrip(x, row / size_[1], row % size_[1], i % strips * kStrip);
                        }
                      });
  }

  // Pixels [w, w + kStrip) of a row of the padded image.
  void CopyStrip(const uint8_t* x, int64_t d, int64_t h, int64_t w) const {
    const auto& [depth, height, width] = shape_.axes;
    const int64_t end = std::min(w + kStrip, size_[2]);
    const int64_t from_d = d - depth.pad_begin;
    const int64_t from_h = h - height.pad_begin;
    const bool inside = from_d >= 0 && from_d < depth.in && from_h >= 0 && from_h < height.in;
    const int64_t first = inside ? std::clamp(width.pad_begin, w, end) : end;
    const int64_t last = inside ? std::clamp(width.pad_begin + width.in, first, end) : end;
    FillPadding(PixelOffset(d, h, w), first - w);
    if (first < last) {
      CopyPixels(x, (from_d * height.in + from_h) * width.in + first - width.pad_begin, last - first,
                 PixelOffset(d, h, first));
    }
    FillPadding(PixelOffset(d, h, last), end - last);
  }

  void FillPadding(int64_t offset, int64_t pixels) const {
    const int32_t zero = depthwise() ? finish_.x_zero_point : ShiftedA(x_is_signed(), finish_.x_zero_point);
    const int64_t count = pixels * shape_.channels;
    std::byte* to = MutableImage() + offset * element_bytes_;
    if (element_bytes_ == 1) {
      std::memset(to, zero, static_cast<size_t>(count));
    } else {
      std::fill_n(reinterpret_cast<int16_t*>(to), count, static_cast<int16_t>(zero));
    }
  }

  // Neighbouring pixels of x, from number `pixel` on.
  void CopyPixels(const uint8_t* x, int64_t pixel, int64_t pixels, int64_t offset) const {
    const int64_t channels = shape_.channels;
    const int64_t count = pixels * channels;
    std::byte* to = MutableImage() + offset * element_bytes_;
    const bool as_it_is = element_bytes_ == 1 && !flip_;
    const uint8_t* from = x + pixel * channels;
    if (!shape_.channels_last) {
      auto* pixels_first = reinterpret_cast<uint8_t*>(as_it_is ? to : Scratch(0, static_cast<size_t>(count)));
      code().transpose(x + pixel, shape_.InPixels(), channels, pixels, pixels_first, channels);
      if (as_it_is) return;
      from = pixels_first;
    }
    if (as_it_is) {
      std::memcpy(to, from, static_cast<size_t>(count));
    } else {
      code().convert(from, count, flip_, to);
    }
  }

  // Cuts the output into blocks of pixels by blocks of columns.
  void Multiply(std::byte* y) const {
    const int64_t wanted = pool_.threads() == 1 ? 1 : 4 * pool_.threads();
    const int64_t pixels = shape_.OutPixels();
    const int64_t tile = code().tile_rows;
    const int64_t fair = ((pixels + wanted - 1) / wanted + tile - 1) / tile * tile;
    const int64_t block = std::min(kMaxBlockRows, std::max(fair, 4 * tile));
    const int64_t blocks = (pixels + block - 1) / block;
    const int64_t panels = depthwise() || shape_.group != 1 ? 1 : weights_.matrices_[0].panels();
    const int64_t cuts = std::clamp<int64_t>((wanted + blocks - 1) / blocks, 1, panels);
    const int64_t block_panels = (panels + cuts - 1) / cuts;
    const int64_t column_blocks = (panels + block_panels - 1) / block_panels;
    pool_.ParallelFor(blocks * column_blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i / column_blocks * block;
        const int64_t panel = i % column_blocks * block_panels;
        RunPiece(first, std::min(block, pixels - first), panel, std::min(panel + block_panels, panels), y);
      }
    });
  }

  // Some output pixels, of the given panels or (grouped, depthwise) of all channels.
  void RunPiece(int64_t first, int64_t pixels, int64_t panel, int64_t end_panel, std::byte* y) const {
    std::array<const void*, static_cast<size_t>(kMaxBlockRows)> starts;
    FindStarts(first, pixels, starts.data());
    const bool all = depthwise() || shape_.group != 1;
    const int64_t channel = all ? 0 : panel * code().panel_columns;
    const int64_t channels =
        all ? shape_.out_channels : std::min(end_panel * code().panel_columns, shape_.out_channels) - channel;
    const size_t bytes = epilogues_[0].ElementBytes();

    // Channels-last results, straight into y or to be transposed from here.
    std::byte* out = y + static_cast<size_t>(first * shape_.out_channels + channel) * bytes;
    int64_t out_stride = shape_.out_channels;
    if (!shape_.channels_last) {
      out = Scratch(1, static_cast<size_t>(pixels * channels) * bytes);
      out_stride = channels;
    }
    if (depthwise()) {
      MultiplyDepthwise(starts.data(), pixels, out, out_stride);
    } else {
      MultiplyGroups(starts.data(), pixels, panel, end_panel, out, out_stride);
    }
    if (!shape_.channels_last) {
      StoreChannelsFirst(out, pixels, channels, y + static_cast<size_t>(channel * shape_.OutPixels() + first) * bytes);
    }
  }

  void FindStarts(int64_t first, int64_t pixels, const void** starts) const {
    const auto& [depth, height, width] = shape_.axes;
    int64_t w = first % width.out;
    int64_t h = first / width.out % height.out;
    int64_t d = first / width.out / height.out;
    for (int64_t i = 0; i < pixels; ++i) {
      starts[i] = image_ + PixelOffset(d * depth.stride, h * height.stride, w * width.stride) * element_bytes_;
      if (++w < width.out) continue;
      w = 0;
      if (++h < height.out) continue;
      h = 0;
      ++d;
    }
  }

  void MultiplyDepthwise(const void* const* starts, int64_t pixels, std::byte* out, int64_t out_stride) const {
    std::array<const uint8_t*, static_cast<size_t>(kMaxBlockRows)> from;
    std::transform(starts, starts + pixels, from.begin(), [](const void* p) { return static_cast<const uint8_t*>(p); });
    DepthwiseBlock block;
    block.pixels = from.data();
    block.pixel_count = pixels;
    block.taps = offsets_.data();
    block.pairs = static_cast<int64_t>(offsets_.size()) / 2;
    block.weights = weights_.depthwise_.data();
    block.channels = shape_.channels;
    block.epilogue = epilogues_.data();
    block.out = out;
    block.out_stride = out_stride;
    RunDepthwise(block, x_is_signed());
  }

  void MultiplyGroups(const void** starts, int64_t pixels, int64_t panel, int64_t end_panel, std::byte* out,
                      int64_t out_stride) const {
    GemmBlock block;
    block.rows = starts;
    block.offsets = offsets_.data();
    block.row_count = pixels;
    block.out_stride = out_stride;
    const int64_t step = shape_.channels / shape_.group * element_bytes_;  // of the image, from group to group
    for (size_t g = 0; g < weights_.matrices_.size(); ++g) {
      block.b = &weights_.matrices_[g];
      block.epilogue = &epilogues_[g];
      block.first_panel = shape_.group == 1 ? panel : 0;
      block.end_panel = shape_.group == 1 ? end_panel : block.b->panels();
      block.out = out + g * static_cast<size_t>(block.b->columns()) * epilogues_[g].ElementBytes();
      block.b->code().multiply(block);
      for (int64_t i = 0; i < pixels; ++i) starts[i] = static_cast<const std::byte*>(starts[i]) + step;
    }
  }

  // to[channel][pixel] = from[pixel][channel]
  void StoreChannelsFirst(const std::byte* from, int64_t pixels, int64_t channels, std::byte* to) const {
    const int64_t stride = shape_.OutPixels();
    if (epilogues_[0].ElementBytes() == 1) {
      code().transpose(reinterpret_cast<const uint8_t*>(from), channels, pixels, channels,
                       reinterpret_cast<uint8_t*>(to), stride);
      return;
    }
    const auto* values = reinterpret_cast<const int32_t*>(from);
    auto* out = reinterpret_cast<int32_t*>(to);
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t p = 0; p < pixels; ++p) out[c * stride + p] = values[p * channels + c];
    }
  }

  ThreadPool& pool_;
  const ConvShape& shape_;
  const Tensor& x_;
  const ConvWeights& weights_;
  const ConvFinish& finish_;
  Tensor& y_;

  int64_t element_bytes_ = 1;      // of the image
  bool flip_ = false;              // the image's bytes are those of x with the highest bit flipped
  bool in_place_ = false;          // the image is x
  std::array<int64_t, 3> size_{};  // of the image, in pixels
  std::shared_ptr<const std::byte> buffer_;
  const std::byte* image_ = nullptr;
  std::vector<int64_t> offsets_;
  std::vector<int32_t> w_zeros_;
  std::vector<std::vector<int32_t>> column_offsets_;
  std::vector<Epilogue> epilogues_;
};

Status RunConv(ThreadPool& pool, const ConvShape& shape, const Tensor& x, const ConvWeights& weights,
               const ConvFinish& finish, Tensor& y) {
  return ConvRun(pool, shape, x, weights, finish, y).Run();
}

}  // namespace rulerun::int8
