// Makes our graph from an onnx.GraphProto. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_GRAPH_GRAPH_BUILDER_H_
#define RULERUN_ENGINE_GRAPH_GRAPH_BUILDER_H_

#include <onnx/onnx_pb.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/external_data.h"
#include "engine/graph/graph.h"
#include "engine/graph/model_file.h"
#include "engine/graph/schema.h"

namespace rulerun {

// The domains of all nodes, subgraphs included.
void CollectDomains(const onnx::GraphProto& graph, std::set<std::string>* domains);

// The opsets a model imports, checked, with those added that ONNX Runtime takes for granted for domains it knows.
Result<OpsetMap> ReadOpsets(const onnx::ModelProto& model, const ExternalSchemas& schemas, const std::string& file);

class GraphBuilder {
 public:
  // `file` begins every error's place.
  GraphBuilder(std::string file, OpsetMap opsets, int64_t ir_version, ExternalData* external);

  // Takes tensors out of `proto`. `initializers` come before those that `proto` holds itself.
  Result<std::unique_ptr<Graph>> Build(onnx::GraphProto& proto, std::vector<NamedTensor> initializers);
  // The main graph had constants that are nodes, or sparse initializers: they are initializers now.
  bool constants_moved() const { return constants_moved_; }

 private:
  Result<std::unique_ptr<Graph>> BuildGraph(onnx::GraphProto& proto, std::vector<NamedTensor> initializers,
                                            Graph* parent);
  Status AddInputs(Graph& graph, const onnx::GraphProto& proto);
  Status AddInitializers(Graph& graph, onnx::GraphProto& proto, std::vector<NamedTensor>& initializers);
  Status AddOutputs(Graph& graph, const onnx::GraphProto& proto);
  Status AddConstants(Graph& graph, onnx::GraphProto& proto);
  Status AddNodes(Graph& graph, onnx::GraphProto& proto);
  Result<Node> ConvertNode(Graph& graph, onnx::NodeProto& proto, int position);
  Result<Attribute> ConvertAttribute(Graph& graph, onnx::AttributeProto& proto);
  void AddValueInfo(Graph& graph, const onnx::GraphProto& proto);
  Status SetInitializer(Graph& graph, const std::string& name, Tensor tensor);
  Status CheckOutputs(const Graph& graph) const;
  Status CheckReads(const Graph& graph) const;
  Status CheckNames(const Graph& graph) const;
  Status CheckOrder(const Graph& graph) const;
  bool IsConstant(const onnx::NodeProto& node) const;

  Error At(const std::string& where, std::string message, std::string remedy) const;
  Error At(const std::string& where, Error error) const;

  std::string file_;
  OpsetMap opsets_;
  int64_t ir_version_;
  ExternalData* external_;
  bool constants_moved_ = false;
};

// "node 'conv1'", or "node 12 (Conv)" for one without a name.
std::string Describe(const onnx::NodeProto& node, int position);
std::string Describe(const Node& node);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_GRAPH_BUILDER_H_
