#include "kernels/int8/packed_bits.h"

#include <algorithm>

namespace rulerun::int8 {
namespace {

constexpr int64_t kGrain = 8192;  // bytes worth a chunk of their own

}  // namespace

DataType WideType(DataType packed) { return IsSigned(packed) ? DataType::kInt8 : DataType::kUint8; }

void Pack(ThreadPool& pool, const Tensor& wide, Tensor& packed) {
  const int bits = BitWidth(packed.type());
  const int64_t per_byte = 8 / bits;
  const int mask = (1 << bits) - 1;
  const uint8_t* from = wide.data<uint8_t>();
  uint8_t* to = packed.mutable_data<uint8_t>();
  pool.ParallelFor(static_cast<int64_t>(packed.bytes()), kGrain, [=, count = wide.count()](int64_t begin, int64_t end) {
    for (int64_t byte = begin; byte < end; ++byte) {
      int value = 0;
      const int64_t first = byte * per_byte;
      const int64_t present = std::min(per_byte, count - first);
      for (int64_t i = 0; i < present; ++i) value |= (from[first + i] & mask) << (bits * static_cast<int>(i));
      to[byte] = static_cast<uint8_t>(value);
    }
  });
}

void Unpack(ThreadPool& pool, const Tensor& packed, Tensor& wide) {
  const int bits = BitWidth(packed.type());
  const int64_t per_byte = 8 / bits;
  const int mask = (1 << bits) - 1;
  const int sign = IsSigned(packed.type()) ? 1 << (bits - 1) : 0;
  const uint8_t* from = packed.data<uint8_t>();
  uint8_t* to = wide.mutable_data<uint8_t>();
  pool.ParallelFor(packed.count(), kGrain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int value = (from[i / per_byte] >> (bits * static_cast<int>(i % per_byte))) & mask;
      to[i] = static_cast<uint8_t>((value ^ sign) - sign);
    }
  });
}

}  // namespace rulerun::int8
