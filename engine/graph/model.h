// A model: its graph and what the file says beside it.
#ifndef RULERUN_ENGINE_GRAPH_MODEL_H_
#define RULERUN_ENGINE_GRAPH_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace rulerun {

// Tells whether a file is still the one that was read.
struct FileStamp {
  int64_t size = -1;
  int64_t time = 0;  // of the last change, in nanoseconds
  uint64_t inode = 0;

  bool operator==(const FileStamp&) const = default;
};

struct Model {
  std::string path;    // the file it was read from, "" for one made from text
  std::string header;  // bytes of the onnx.ModelProto without graph and inlined functions
  std::unique_ptr<Graph> graph;
  // Of the file at the time of reading; what a save needs to know before it copies the file.
  FileStamp stamp;
  bool external_data = false;    // some tensors lie in other files
  bool constants_moved = false;  // nodes that are constants became initializers of the main graph
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_MODEL_H_
