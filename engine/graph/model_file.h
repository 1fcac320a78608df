// Reads the bytes of a model file: large tensors go from the file straight into their final place.
// For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_GRAPH_MODEL_FILE_H_
#define RULERUN_ENGINE_GRAPH_MODEL_FILE_H_

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/external_data.h"
#include "engine/graph/model.h"
#include "engine/graph/tensor.h"

namespace rulerun {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

struct ModelFile {
  onnx::ModelProto proto;                 // its graph without the initializers
  std::string header;                     // the bytes of `proto` without graph and functions
  std::vector<NamedTensor> initializers;  // of the main graph, in file order
  FileStamp stamp;
};

// `external` reads what lies in other files; nullptr leaves all initializers of the main graph out.
Result<ModelFile> ReadModelFile(const std::string& path, ExternalData* external);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_MODEL_FILE_H_
