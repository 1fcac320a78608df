// Makes the bytes of an onnx.GraphProto from our graph. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_GRAPH_GRAPH_WRITER_H_
#define RULERUN_ENGINE_GRAPH_GRAPH_WRITER_H_

#include <onnx/onnx_pb.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/graph/rope.h"

namespace rulerun {

// Where a tensor lies in the second file.
struct Stored {
  std::string_view bytes;
  size_t offset = 0;
};

class GraphWriter {
 public:
  // `data_file`: name of the file that takes the large tensors; "" to keep them all in the model.
  explicit GraphWriter(std::string data_file) : data_file_(std::move(data_file)) {}

  Rope Write(const Graph& graph);
  // A graph that nothing changed, from the message it was read from: only its constants are no nodes any more.
  Rope WriteAsRead(const Graph& graph, const onnx::GraphProto& source);
  const std::vector<Stored>& stored() const { return stored_; }
  const std::set<std::string>& domains() const { return domains_; }

 private:
  Rope WriteNode(const Graph& graph, const Node& node);
  void WriteInitializers(const Graph& graph, Rope* rope);
  Rope WriteTensor(const std::string& name, const Tensor& tensor);
  void WriteValues(const Graph& graph, Rope* rope);

  std::string data_file_;
  std::vector<Stored> stored_;
  size_t end_ = 0;
  std::set<std::string> domains_;  // of all nodes written
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_GRAPH_WRITER_H_
