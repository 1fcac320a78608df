#include "engine/match/pack_nbits.h"

#include <algorithm>
#include <cstring>

namespace rulerun {
namespace {

constexpr int64_t kDefaultBlock = 32;
constexpr int64_t kSmallestBlock = 16;
constexpr int64_t kLargestBlock = 256;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t ChooseBlock(int64_t wanted, int64_t k) {
  if (wanted > 0) return wanted;
  if (wanted == 0) return kDefaultBlock;
  int64_t best = kSmallestBlock;
  for (int64_t size = kSmallestBlock; size <= std::min(k, kLargestBlock); size *= 2) {
    if (CeilDiv(k, size) * size <= CeilDiv(k, best) * best) best = size;
  }
  return best;
}

// Element [block, column] of a parameter that is scalar, [N] or [blocks, N].
int64_t ParameterIndex(const Tensor& parameter, int64_t block, int64_t column) {
  switch (parameter.rank()) {
    case 0:
      return 0;
    case 1:
      return parameter.count() == 1 ? 0 : column;
    default:
      return block * parameter.dims()[1] + column;
  }
}

bool FitsBlocks(const Tensor& parameter, int64_t blocks, int64_t columns) {
  if (parameter.rank() <= 1) return parameter.count() == 1 || parameter.count() == columns;
  return parameter.dims() == Dims{blocks, columns};
}

class Packer {
 public:
  Packer(const Tensor& weight, int64_t block_size)
      : weight_(weight),
        bits_(BitWidth(weight.type())),
        signed_(IsSigned(weight.type())),
        shift_(signed_ ? int64_t{1} << (bits_ - 1) : 0),
        k_(weight.dims()[0]),
        n_(weight.dims()[1]),
        block_(block_size),
        blocks_(CeilDiv(k_, block_size)) {}

  Tensor Weight() const {
    const int64_t bytes = block_ * bits_ / 8;
    Tensor packed(DataType::kUint8, {n_, blocks_, bytes});
    for (int64_t column = 0; column < n_; ++column) {
      for (int64_t row = 0; row < blocks_ * block_; ++row) {
        Put(packed, column * blocks_ * bytes, row, row < k_ ? Code(row, column) : Padding(row, k_));
      }
    }
    return packed;
  }

  Tensor Scales(const Tensor& scale) const {
    Tensor flat(scale.type(), {n_ * blocks_});
    const size_t size = scale.type() == DataType::kFloat ? sizeof(float) : sizeof(uint16_t);
    for (int64_t column = 0; column < n_; ++column) {
      for (int64_t block = 0; block < blocks_; ++block) {
        const auto from = static_cast<size_t>(ParameterIndex(scale, block, column));
        const auto to = static_cast<size_t>(column * blocks_ + block);
        std::memcpy(flat.mutable_raw() + to * size, scale.raw() + from * size, size);
      }
    }
    return flat;
  }

  // Missing zero points of an unsigned type are 0; of a signed type they are the middle, which needs no tensor.
  std::optional<Tensor> Zeros(const Tensor* zero) const {
    if (zero == nullptr && signed_) return std::nullopt;
    const int64_t bytes = CeilDiv(blocks_ * bits_, 8);
    Tensor packed(DataType::kUint8, {n_ * bytes});
    for (int64_t column = 0; column < n_ && zero != nullptr; ++column) {
      for (int64_t block = 0; block < bytes * 8 / bits_; ++block) {
        const bool padding = block >= blocks_;
        const int64_t code =
            padding ? Padding(block, blocks_) : ElementAsInt(*zero, ParameterIndex(*zero, block, column)) + shift_;
        Put(packed, column * bytes, block, code);
      }
    }
    return packed;
  }

  int64_t blocks() const { return blocks_; }
  int64_t columns() const { return n_; }

 private:
  int64_t Code(int64_t row, int64_t column) const { return ElementAsInt(weight_, row * n_ + column) + shift_; }

  // What stands behind the `count` real elements: ONNX Runtime shifts signed types a byte at a time, so that padding in
  // a byte that holds data is shifted too. An 8-bit weight's padding rows are shifted throughout, zero points' cannot
  // be.
  int64_t Padding(int64_t index, int64_t count) const {
    if (!signed_) return 0;
    if (bits_ == 8) return shift_;
    return bits_ == 4 && index == count && count % 2 != 0 ? shift_ : 0;
  }

  void Put(Tensor& packed, int64_t base, int64_t index, int64_t code) const {
    const int64_t per_byte = 8 / bits_;
    uint8_t& byte = packed.mutable_data<uint8_t>()[base + index / per_byte];
    byte = static_cast<uint8_t>(byte | ((code & ((1 << bits_) - 1)) << (bits_ * (index % per_byte))));
  }

  const Tensor& weight_;
  int bits_;
  bool signed_;
  int64_t shift_;
  int64_t k_;
  int64_t n_;
  int64_t block_;
  int64_t blocks_;
};

}  // namespace

std::optional<NBits> PackNBits(const Tensor& weight, const Tensor& scale, const Tensor* zero, int64_t block_size,
                               int64_t wanted) {
  const int bits = BitWidth(weight.type());
  if (!IsInteger(weight.type()) || bits > 8 || weight.rank() != 2) return std::nullopt;
  if (scale.type() != DataType::kFloat && scale.type() != DataType::kFloat16) return std::nullopt;
  const int64_t block = block_size > 0 ? block_size : ChooseBlock(wanted, weight.dims()[0]);
  const Packer packer(weight, block);
  if (!FitsBlocks(scale, packer.blocks(), packer.columns())) return std::nullopt;
  if (zero != nullptr && !FitsBlocks(*zero, packer.blocks(), packer.columns())) return std::nullopt;
  return NBits{packer.Weight(), packer.Scales(scale), packer.Zeros(zero), bits, block};
}

}  // namespace rulerun
