// Writes ONNX models.
#ifndef RULERUN_ENGINE_GRAPH_SAVE_H_
#define RULERUN_ENGINE_GRAPH_SAVE_H_

#include <cstddef>
#include <string>

#include "engine/base/result.h"
#include "engine/graph/model.h"

namespace rulerun {

struct SaveOptions {
  size_t largest_file = (size_t{1} << 31) - 1;  // tensors of a larger model go to a second file; protobuf's limit
};

// Writes the whole file or nothing (a temporary file beside it, then a rename). Nodes in TopologicalOrder, all domains
// that occur imported. Initializers go to OUT.data beside it where the model would pass 2 GB. A graph that nothing
// changed is written as it was read, byte for byte.
Status SaveModel(const Model& model, const std::string& path, const SaveOptions& options = {});

// Bytes of the parts of the model, as the size table of `inspect` shows them.
struct ModelSizes {
  size_t total = 0;
  size_t initializers = 0;  // serialized
  size_t nodes = 0;         // with their metadata
  size_t metadata = 0;      // of nodes
};
Result<ModelSizes> MeasureModel(const std::string& path);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_SAVE_H_
