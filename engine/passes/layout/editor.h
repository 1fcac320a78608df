// Small edits of a graph that the layout passes share: new nodes with made-up names, new constants, outputs that move
// from one node to another. Keeps account of what was made and removed.
#ifndef RULERUN_ENGINE_PASSES_LAYOUT_EDITOR_H_
#define RULERUN_ENGINE_PASSES_LAYOUT_EDITOR_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/graph/schema.h"
#include "engine/passes/layout/permutation.h"
#include "engine/passes/pass.h"

namespace rulerun {

// "com.microsoft.QLinearAdd" -> {"com.microsoft", "QLinearAdd"}; the domain of "Add" is "".
struct OpName {
  std::string domain;
  std::string op_type;
};
OpName ParseOpName(std::string_view text);

// Who reads a value.
struct Readers {
  std::vector<NodeIndex> nodes;  // that read it as an input, each once, by index
  bool all = true;               // these are all: no subgraph reads it, and it is no graph output
};

class Editor {
 public:
  // `provider` is the execution provider of new nodes.
  Editor(Graph& graph, const ExternalSchemas& schemas, std::string provider);

  Graph& graph() const { return graph_; }
  Node& node(NodeIndex index) const { return *graph_.node(index); }
  const std::string& provider() const { return provider_; }

  // Origins of the nodes made from now on.
  void SetSources(std::vector<std::string> origins) { sources_ = std::move(origins); }
  const std::vector<std::string>& sources() const { return sources_; }
  // What was done since the last call.
  PassEvent TakeEvent(std::string what);

  // --- nodes
  // A node with one new output; both are named after the operator. Inputs may be kNoValue.
  NodeIndex AddNode(const std::string& op, std::vector<ValueId> inputs, AttributeMap attributes = {});
  // Name and outputs as given.
  NodeIndex AddNamedNode(const std::string& op, std::string name, std::string doc, std::vector<ValueId> inputs,
                         std::vector<ValueId> outputs, AttributeMap attributes);
  // The same node as another operator: a new one takes over its inputs, outputs, attributes and provider.
  NodeIndex ReplaceNode(NodeIndex old, const std::string& op);
  void RemoveNode(NodeIndex index);
  void SetInput(NodeIndex index, size_t slot, ValueId value);
  void SetAttribute(NodeIndex index, std::string_view name, Attribute value);
  // Whether the operator, as the model's opset has it, knows the attribute.
  bool KnowsAttribute(NodeIndex index, std::string_view name) const;
  void ClearAttribute(NodeIndex index, std::string_view name);
  // Output `from_slot` of `from`, name and readers included, becomes output `to_slot` of `to`; `from` gets a new value.
  void MoveOutput(NodeIndex from, size_t from_slot, NodeIndex to, size_t to_slot);
  ValueId Output(NodeIndex index, size_t slot = 0) const { return node(index).output(slot); }

  // --- values
  ValueId AddConstant(const std::string& base, Tensor tensor);
  void SetConstant(ValueId id, Tensor tensor);  // in place, under the same name
  void RemoveConstantIfUnused(ValueId id);
  Readers ReadersOf(ValueId id) const;
  bool HasReaders(ValueId id) const;  // graph outputs and subgraphs count
  // The only reader of output 0, if all readers are known and there is one.
  std::optional<NodeIndex> OnlyReader(NodeIndex producer) const;
  void ReplaceReads(const std::vector<NodeIndex>& readers, ValueId from, ValueId to);

  // --- types
  const std::optional<Shape>& ShapeOf(ValueId id) const;
  std::optional<size_t> RankOf(ValueId id) const;
  DataType TypeOf(ValueId id) const;
  std::optional<Dims> SizesOf(ValueId id) const;  // -1 for each unknown dimension
  void CopyType(ValueId from, ValueId to);
  void SetShape(ValueId id, std::optional<Shape> shape);
  void PermuteShape(ValueId id, const Perm& perm);

 private:
  Graph& graph_;
  const ExternalSchemas& schemas_;
  std::string provider_;
  std::vector<std::string> sources_;
  PassEvent event_;
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_LAYOUT_EDITOR_H_
