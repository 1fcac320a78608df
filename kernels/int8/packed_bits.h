// Tensors with elements of 2 and 4 bits, to and from one byte an element.
#ifndef RULERUN_KERNELS_INT8_PACKED_BITS_H_
#define RULERUN_KERNELS_INT8_PACKED_BITS_H_

#include "engine/graph/tensor.h"
#include "kernels/buffer.h"
#include "kernels/thread_pool.h"

namespace rulerun::int8 {

// int8 for int2 and int4, uint8 for uint2 and uint4.
DataType WideType(DataType packed);

// packed = wide, which has as many elements of type WideType(packed.type()), all within the packed type's range.
void Pack(ThreadPool& pool, const Tensor& wide, Tensor& packed);
void Unpack(ThreadPool& pool, const Tensor& packed, Tensor& wide);

}  // namespace rulerun::int8

#endif  // RULERUN_KERNELS_INT8_PACKED_BITS_H_
