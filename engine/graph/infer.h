// ONNX's inference functions, run over our graph without making an onnx.GraphProto of it.
// For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_GRAPH_INFER_H_
#define RULERUN_ENGINE_GRAPH_INFER_H_

#include <onnx/defs/schema.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace rulerun {

// What is known about one graph's values while it is being resolved.
class Scope {
 public:
  explicit Scope(Graph& graph) : graph_(graph) {}

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  // nullptr for an omitted value and one without a type.
  const onnx::TypeProto* Type(ValueId id);
  void TypeChanged(ValueId id) { types_.erase(id); }
  // The numbers of a small integer tensor, where all of them are known: a constant, or computed from shapes.
  const onnx::TensorShapeProto* Numbers(ValueId id);
  void SetNumbers(ValueId id, onnx::TensorShapeProto numbers) { numbers_[id] = std::move(numbers); }
  // As a message, for inference functions; nullptr where the value is not known, or too large to matter for shapes.
  const onnx::TensorProto* Data(ValueId id);

 private:
  Graph& graph_;
  std::unordered_map<ValueId, std::unique_ptr<onnx::TypeProto>> types_;
  std::unordered_map<ValueId, onnx::TensorShapeProto> numbers_;
  std::unordered_map<ValueId, std::unique_ptr<onnx::TensorProto>> data_;
};

// Resolves a subgraph after its inputs got their types. Its error is thrown as onnx::InferenceError by the context.
using ResolveSubgraph = std::function<Status(Graph&)>;

// One node as its inference function sees it.
class NodeContext final : public onnx::InferenceContext {
 public:
  // `inputs`: the values handed over, in order; not always those of the node.
  NodeContext(Scope& scope, const Node& node, std::vector<ValueId> inputs, ResolveSubgraph resolve);
  ~NodeContext() override;

  const onnx::AttributeProto* getAttribute(const std::string& name) const override;
  size_t getNumInputs() const override { return inputs_.size(); }
  const onnx::TypeProto* getInputType(size_t index) const override;
  const onnx::TensorProto* getInputData(size_t index) const override;
  const onnx::SparseTensorProto* getInputSparseData(size_t index) const override;
  // ONNX Runtime passes on shapes computed from shapes only where they are all numbers; so do we (getInputData).
  const onnx::TensorShapeProto* getSymbolicInput(size_t index) const override;
  size_t getNumOutputs() const override { return outputs_.size(); }
  onnx::TypeProto* getOutputType(size_t index) override;
  onnx::GraphInferencer* getGraphAttributeInferencer(const std::string& name) override;
  std::string getDisplayName() const override;

  const std::vector<onnx::TypeProto>& outputs() const { return outputs_; }
  // The first error inside a subgraph, which says more than what is thrown.
  const std::optional<Error>& subgraph_error() const { return subgraph_error_; }

 private:
  class Subgraph;

  Scope& scope_;
  const Node& node_;
  std::vector<ValueId> inputs_;
  std::vector<onnx::TypeProto> outputs_;
  ResolveSubgraph resolve_;
  mutable std::map<std::string, onnx::AttributeProto> attributes_;
  std::vector<std::unique_ptr<Subgraph>> subgraphs_;
  std::optional<Error> subgraph_error_;
};

// Lets a node compute the numbers of its outputs from those of its inputs, where it can.
void PropagateNumbers(Scope& scope, const Node& node, const onnx::OpSchema& schema);

// Merges what was inferred into what is known, as ONNX Runtime does: known sizes stay, symbols give way to sizes, and
// where the two contradict each other nothing is known any more.
void MergeShape(const Shape& inferred, std::optional<Shape>* known);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_INFER_H_
