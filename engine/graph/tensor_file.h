// Reads tensors that lie in files of their own, as ONNX's test data does.
#ifndef RULERUN_ENGINE_GRAPH_TENSOR_FILE_H_
#define RULERUN_ENGINE_GRAPH_TENSOR_FILE_H_

#include <string>

#include "engine/base/result.h"
#include "engine/graph/tensor.h"

namespace rulerun {

// The onnx.TensorProto in `path`. Data in further files is refused.
Result<Tensor> ReadTensorFile(const std::string& path);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_TENSOR_FILE_H_
