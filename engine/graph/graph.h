// The graph in memory: values, nodes, and the edges between them.
//
// Behaves like ONNX Runtime's own graph where that decides what a rewrite does: node indices only grow, removed nodes
// leave a hole, consumers are ordered by (node index, slot), names are made unique with one counter per graph
// (shared/ort130/inventory-qdq.md, sections 0.1 to 0.5).
#ifndef RULERUN_ENGINE_GRAPH_GRAPH_H_
#define RULERUN_ENGINE_GRAPH_GRAPH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/graph/attribute.h"
#include "engine/graph/tensor.h"

namespace rulerun {

// A dimension is a size, a symbol ("N"), or unknown.
struct Dim {
  int64_t size = -1;
  std::string symbol;

  bool known() const { return size >= 0; }
  bool unknown() const { return size < 0 && symbol.empty(); }
  // Both sizes known and equal, or the same symbol.
  bool Equals(const Dim& other) const {
    return known() ? size == other.size : !symbol.empty() && !other.known() && symbol == other.symbol;
  }
};
using Shape = std::vector<Dim>;

Shape ToShape(const Dims& dims);
std::optional<Dims> Static(const std::optional<Shape>& shape);  // the sizes, if every one is known
std::string ToString(const Shape& shape);                       // "[1, N, ?, 3]"

// What is known about a value's type.
struct ValueType {
  DataType element = DataType::kUndefined;  // of a tensor
  std::optional<Shape> shape;               // std::nullopt: not even the rank is known
  std::string other;                        // bytes of an onnx.TypeProto that is no dense tensor, else empty
};

// Index of a value in its graph, or kNoValue for an input or output that is left out ("").
using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;
using NodeIndex = int32_t;
inline constexpr NodeIndex kNoNode = -1;

// One read of a value. A slot at or behind the node's inputs is an implicit one: a subgraph of the node reads it.
struct Use {
  NodeIndex node = kNoNode;
  int slot = 0;

  bool operator==(const Use&) const = default;
  auto operator<=>(const Use&) const = default;
};

struct Value {
  std::string name;
  ValueType type;
  NodeIndex producer = kNoNode;  // in the same graph
  int producer_slot = 0;
  std::vector<Use> uses;  // ordered by (node, slot), implicit ones included
  bool graph_input = false;
  bool graph_output = false;
  std::optional<Tensor> initializer;
  bool declared = false;  // had a value_info in the file
  std::string doc;
};

struct Node {
  NodeIndex index = kNoNode;
  std::string name;
  std::string op_type;
  std::string domain;  // "" for ai.onnx
  std::string doc;
  int since_version = 1;  // of the schema that the model's opset selects; 1 where there is no schema
  AttributeMap attributes;
  std::vector<std::string> defaulted;  // attributes that only its schema gave it: an unchanged graph is saved without
  std::vector<ValueId> inputs;         // kNoValue for an omitted one, trailing ones kept as written
  std::vector<ValueId> outputs;        // likewise
  std::vector<ValueId> implicit;       // values of this graph that subgraphs of the node read, in order of first use
  std::string provider;                // execution provider, "" while no one has claimed the node
  std::string metadata;                // serialized metadata_props, kept only by a graph nothing changed
  // Nodes of the original model this one stands for: names, or "op_type#position" where unnamed.
  std::vector<std::string> origins;

  // The operator with its domain in front: "Conv", "com.microsoft.QGemm".
  std::string Op() const { return domain.empty() ? op_type : domain + "." + op_type; }
  ValueId input(size_t slot) const { return slot < inputs.size() ? inputs[slot] : kNoValue; }
  ValueId output(size_t slot) const { return slot < outputs.size() ? outputs[slot] : kNoValue; }
};

// Domain -> version, as in the model's opset_import; "" is ai.onnx.
using OpsetMap = std::map<std::string, int, std::less<>>;

class Graph {
 public:
  explicit Graph(OpsetMap opsets, int64_t ir_version, Graph* parent = nullptr);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  const std::string& doc() const { return doc_; }
  void set_doc(std::string doc) { doc_ = std::move(doc); }

  Graph* parent() const { return parent_; }
  NodeIndex parent_node() const { return parent_node_; }
  const OpsetMap& opsets() const { return opsets_; }
  void SetOpset(const std::string& domain, int version) { opsets_[domain] = version; }
  int Opset(std::string_view domain) const;  // 0 where the model does not import the domain
  int64_t ir_version() const { return ir_version_; }

  // --- values
  const Value& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }
  Value& value(ValueId id) { return values_[static_cast<size_t>(id)]; }
  size_t value_count() const { return values_.size(); }
  std::optional<ValueId> Find(std::string_view name) const;  // in this graph
  ValueId AddValue(std::string name, ValueType type = {});   // the name must be new
  ValueId FindOrAddValue(std::string_view name);
  ValueId AddInitializer(const std::string& name, Tensor tensor);  // likewise
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  void AddInput(ValueId id);
  void AddOutput(ValueId id);
  // Drops initializers and values that nothing uses and that are no graph input or output.
  void DropUnused();

  // --- nodes
  // nullptr for a removed one.
  const Node* node(NodeIndex index) const { return nodes_[static_cast<size_t>(index)].get(); }
  Node* node(NodeIndex index) { return nodes_[static_cast<size_t>(index)].get(); }
  NodeIndex node_limit() const { return static_cast<NodeIndex>(nodes_.size()); }
  size_t node_count() const { return live_nodes_; }
  // Takes the next index and connects inputs and outputs; outputs must have no producer yet.
  Node& AddNode(Node node);
  void RemoveNode(NodeIndex index);                        // disconnects it; its values stay
  void SetInput(NodeIndex node, int slot, ValueId value);  // grows the input list as needed
  void SetInputs(NodeIndex node, std::vector<ValueId> values);
  void SetOutput(NodeIndex node, int slot, ValueId value);  // value must have no producer, or this one
  void SetOutputs(NodeIndex node, std::vector<ValueId> values);
  // Every reader of `from` reads `to`, in subgraphs too; graph outputs are left alone.
  void ReplaceUses(ValueId from, ValueId to);
  // A subgraph attribute was added, changed or removed: finds the node's implicit inputs anew.
  void RefreshImplicit(NodeIndex node);

  // --- questions
  const Node* Producer(ValueId id) const;  // in this graph; nullptr for none and for kNoValue
  Node* Producer(ValueId id);
  int UseCount(ValueId id) const { return static_cast<int>(value(id).uses.size()); }
  bool UsedBySubgraph(ValueId id) const;
  bool ProducesGraphOutput(const Node& node) const;
  int OutputEdgeCount(const Node& node) const;  // reads of all its outputs, implicit ones included; no graph outputs
  int InputEdgeCount(const Node& node) const;   // inputs, implicit ones included, that a node of this graph produces
  // The constant a value stands for: an initializer, of this or an enclosing graph, that no caller can override.
  // nullptr where it is none.
  const Tensor* Constant(ValueId id) const;
  const Tensor* LocalConstant(ValueId id) const;  // of this very graph
  const Tensor* Initializer(ValueId id) const;    // overridable ones too, of any enclosing graph
  // Type of a value, looked up in the enclosing graph where it comes from there.
  const ValueType& TypeOf(ValueId id) const;
  // True for a value that an enclosing graph provides.
  bool FromOuterScope(ValueId id) const;
  std::vector<Graph*> Subgraphs(const Node& node) const;
  // Names of enclosing graphs' values that this graph or its subgraphs read.
  std::vector<std::string> OuterReads() const;

  // --- names
  // `base`, or base_token_<k> if a value (a node) has that name or was given it before.
  std::string UniqueValueName(const std::string& base);
  std::string UniqueNodeName(const std::string& base);

  // Something changed that a save must write. Resolving and running do not count.
  bool modified() const { return modified_; }
  void MarkModified();

 private:
  void AddUse(ValueId id, Use use);
  void RemoveUse(ValueId id, Use use);
  bool Overridable(const Value& value) const;
  friend class GraphCopier;  // loading and cloning, in this folder

  std::string name_;
  std::string doc_;
  OpsetMap opsets_;
  int64_t ir_version_;
  Graph* parent_;
  NodeIndex parent_node_ = kNoNode;
  std::vector<Value> values_;
  std::unordered_map<std::string, ValueId> by_name_;
  std::vector<std::unique_ptr<Node>> nodes_;
  size_t live_nodes_ = 0;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  int64_t name_counter_ = 0;
  std::unordered_map<std::string, int> node_names_;  // live nodes with that name
  std::unordered_set<std::string> given_value_names_;
  std::unordered_set<std::string> given_node_names_;
  bool modified_ = false;
};

// Reverse depth-first post-order from the nodes without consumers, the highest index first (inventory-qdq.md 0.1): the
// order in which every stage walks and in which a changed graph is saved.
std::vector<NodeIndex> TopologicalOrder(const Graph& graph);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_GRAPH_H_
