// The four 8-bit floats of ONNX (onnx.proto, TensorProto.DataType 17 to 20).
#ifndef RULERUN_KERNELS_INT8_FLOAT8_H_
#define RULERUN_KERNELS_INT8_FLOAT8_H_

#include <cstdint>

#include "engine/graph/tensor.h"

namespace rulerun {

bool IsFloat8(DataType type);  // of those four

// Rounds half to even. Beyond the largest finite value: that value if `saturate`, infinities too; else infinity where
// the type has one, NaN where not. NaN stays NaN. (ONNX Runtime 1.30 without saturation differs in two small ranges:
// float8e4m3fn [480, 496) gives 448, float8e5m2 [61440, 65536) gives NaN.)
uint8_t FloatToFloat8(float value, DataType type, bool saturate);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_INT8_FLOAT8_H_
