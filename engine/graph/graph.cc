#include "engine/graph/graph.h"

#include <algorithm>
#include <cassert>

#include "engine/base/text.h"

namespace rulerun {

Shape ToShape(const Dims& dims) {
  Shape shape;
  shape.reserve(dims.size());
  for (const int64_t size : dims) shape.push_back(Dim{size, ""});
  return shape;
}

std::optional<Dims> Static(const std::optional<Shape>& shape) {
  if (!shape) return std::nullopt;
  Dims dims;
  for (const Dim& dim : *shape) {
    if (!dim.known()) return std::nullopt;
    dims.push_back(dim.size);
  }
  return dims;
}

std::string ToString(const Shape& shape) {
  std::vector<std::string> parts;
  for (const Dim& dim : shape) {
    parts.push_back(dim.known() ? std::to_string(dim.size) : dim.symbol.empty() ? "?" : dim.symbol);
  }
  return "[" + Join(parts, ", ") + "]";
}

Graph::Graph(OpsetMap opsets, int64_t ir_version, Graph* parent)
    : opsets_(std::move(opsets)), ir_version_(ir_version), parent_(parent) {}

int Graph::Opset(std::string_view domain) const {
  const auto found = opsets_.find(domain);
  return found == opsets_.end() ? 0 : found->second;
}

// --- values

std::optional<ValueId> Graph::Find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

ValueId Graph::AddValue(std::string name, ValueType type) {
  assert(!name.empty() && by_name_.count(name) == 0);
  const auto id = static_cast<ValueId>(values_.size());
  by_name_.emplace(name, id);
  values_.emplace_back();
  values_.back().name = std::move(name);
  values_.back().type = std::move(type);
  return id;
}

ValueId Graph::FindOrAddValue(std::string_view name) {
  const auto found = Find(name);
  return found ? *found : AddValue(std::string(name));
}

ValueId Graph::AddInitializer(const std::string& name, Tensor tensor) {
  const ValueId id = FindOrAddValue(name);
  Value& added = value(id);
  added.type.element = tensor.type();
  added.type.shape = ToShape(tensor.dims());
  added.initializer = std::move(tensor);
  MarkModified();
  return id;
}

void Graph::AddInput(ValueId id) {
  value(id).graph_input = true;
  inputs_.push_back(id);
}

void Graph::AddOutput(ValueId id) {
  value(id).graph_output = true;
  outputs_.push_back(id);
}

void Graph::DropUnused() {
  for (Value& candidate : values_) {
    const bool kept = candidate.graph_input || candidate.graph_output || !candidate.uses.empty();
    if (candidate.initializer && !kept) candidate.initializer.reset();
  }
}

// --- nodes

void Graph::AddUse(ValueId id, Use use) {
  if (id == kNoValue) return;
  std::vector<Use>& uses = value(id).uses;
  uses.insert(std::lower_bound(uses.begin(), uses.end(), use), use);
}

void Graph::RemoveUse(ValueId id, Use use) {
  if (id == kNoValue) return;
  std::vector<Use>& uses = value(id).uses;
  const auto found = std::lower_bound(uses.begin(), uses.end(), use);
  if (found != uses.end() && *found == use) uses.erase(found);
}

Node& Graph::AddNode(Node added) {
  const auto index = static_cast<NodeIndex>(nodes_.size());
  added.index = index;
  nodes_.push_back(std::make_unique<Node>(std::move(added)));
  Node& node = *nodes_.back();
  ++live_nodes_;
  ++node_names_[node.name];
  node.implicit.clear();
  for (size_t slot = 0; slot < node.inputs.size(); ++slot) AddUse(node.inputs[slot], {index, static_cast<int>(slot)});
  for (size_t slot = 0; slot < node.outputs.size(); ++slot) {
    if (node.outputs[slot] == kNoValue) continue;
    Value& output = value(node.outputs[slot]);
    assert(output.producer == kNoNode);
    output.producer = index;
    output.producer_slot = static_cast<int>(slot);
  }
  for (Graph* subgraph : Subgraphs(node)) {
    subgraph->parent_ = this;
    subgraph->parent_node_ = index;
  }
  RefreshImplicit(index);
  MarkModified();
  return node;
}

void Graph::RemoveNode(NodeIndex index) {
  std::unique_ptr<Node>& slot = nodes_[static_cast<size_t>(index)];
  assert(slot != nullptr);
  const Node& node = *slot;
  for (size_t i = 0; i < node.inputs.size(); ++i) RemoveUse(node.inputs[i], {index, static_cast<int>(i)});
  for (size_t i = 0; i < node.implicit.size(); ++i) {
    RemoveUse(node.implicit[i], {index, static_cast<int>(node.inputs.size() + i)});
  }
  for (const ValueId output : node.outputs) {
    if (output != kNoValue && value(output).producer == index) value(output).producer = kNoNode;
  }
  if (--node_names_[node.name] == 0) node_names_.erase(node.name);
  slot.reset();
  --live_nodes_;
  MarkModified();
}

void Graph::SetInput(NodeIndex index, int slot, ValueId id) {
  Node& changed = *node(index);
  std::vector<ValueId> inputs = changed.inputs;
  if (inputs.size() <= static_cast<size_t>(slot)) inputs.resize(static_cast<size_t>(slot) + 1, kNoValue);
  inputs[static_cast<size_t>(slot)] = id;
  SetInputs(index, std::move(inputs));
}

void Graph::SetInputs(NodeIndex index, std::vector<ValueId> ids) {
  Node& changed = *node(index);
  for (size_t i = 0; i < changed.inputs.size(); ++i) RemoveUse(changed.inputs[i], {index, static_cast<int>(i)});
  for (size_t i = 0; i < changed.implicit.size(); ++i) {
    RemoveUse(changed.implicit[i], {index, static_cast<int>(changed.inputs.size() + i)});
  }
  changed.inputs = std::move(ids);
  for (size_t i = 0; i < changed.inputs.size(); ++i) AddUse(changed.inputs[i], {index, static_cast<int>(i)});
  for (size_t i = 0; i < changed.implicit.size(); ++i) {
    AddUse(changed.implicit[i], {index, static_cast<int>(changed.inputs.size() + i)});
  }
  MarkModified();
}

void Graph::SetOutput(NodeIndex index, int slot, ValueId id) {
  std::vector<ValueId> outputs = node(index)->outputs;
  if (outputs.size() <= static_cast<size_t>(slot)) outputs.resize(static_cast<size_t>(slot) + 1, kNoValue);
  outputs[static_cast<size_t>(slot)] = id;
  SetOutputs(index, std::move(outputs));
}

void Graph::SetOutputs(NodeIndex index, std::vector<ValueId> ids) {
  Node& changed = *node(index);
  for (const ValueId id : changed.outputs) {
    if (id != kNoValue && value(id).producer == index) value(id).producer = kNoNode;
  }
  changed.outputs = std::move(ids);
  for (size_t i = 0; i < changed.outputs.size(); ++i) {
    const ValueId id = changed.outputs[i];
    if (id == kNoValue) continue;
    assert(value(id).producer == kNoNode);
    value(id).producer = index;
    value(id).producer_slot = static_cast<int>(i);
  }
  MarkModified();
}

namespace {

// Makes subgraphs below `graph` that read `from` of an enclosing graph read `to` instead.
void RenameOuterReads(Graph& graph, const std::string& from, const std::string& to) {
  const auto outer = graph.Find(from);
  if (outer && !graph.FromOuterScope(*outer)) return;  // the name means something else here
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    const Node* node = graph.node(index);
    if (node == nullptr) continue;
    for (Graph* subgraph : graph.Subgraphs(*node)) RenameOuterReads(*subgraph, from, to);
  }
  if (outer) {
    const ValueId replacement = graph.FindOrAddValue(to);
    const std::vector<Use> uses = graph.value(*outer).uses;
    for (const Use& use : uses) {
      const Node& node = *graph.node(use.node);
      if (static_cast<size_t>(use.slot) < node.inputs.size()) graph.SetInput(use.node, use.slot, replacement);
    }
  }
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    if (graph.node(index) != nullptr && !graph.Subgraphs(*graph.node(index)).empty()) graph.RefreshImplicit(index);
  }
}

}  // namespace

void Graph::ReplaceUses(ValueId from, ValueId to) {
  const std::vector<Use> uses = value(from).uses;
  const std::string old_name = value(from).name;
  const std::string new_name = value(to).name;
  for (const Use& use : uses) {
    Node& reader = *node(use.node);
    if (static_cast<size_t>(use.slot) < reader.inputs.size()) {
      SetInput(use.node, use.slot, to);
      continue;
    }
    for (Graph* subgraph : Subgraphs(reader)) RenameOuterReads(*subgraph, old_name, new_name);
    RefreshImplicit(use.node);
  }
}

void Graph::RefreshImplicit(NodeIndex index) {
  Node& changed = *node(index);
  for (size_t i = 0; i < changed.implicit.size(); ++i) {
    RemoveUse(changed.implicit[i], {index, static_cast<int>(changed.inputs.size() + i)});
  }
  changed.implicit.clear();
  for (Graph* subgraph : Subgraphs(changed)) {
    subgraph->parent_ = this;
    subgraph->parent_node_ = index;
    for (const std::string& name : subgraph->OuterReads()) {
      const ValueId id = FindOrAddValue(name);
      if (std::find(changed.implicit.begin(), changed.implicit.end(), id) == changed.implicit.end()) {
        changed.implicit.push_back(id);
      }
    }
  }
  for (size_t i = 0; i < changed.implicit.size(); ++i) {
    AddUse(changed.implicit[i], {index, static_cast<int>(changed.inputs.size() + i)});
  }
}

// --- questions

const Node* Graph::Producer(ValueId id) const {
  return id == kNoValue || value(id).producer == kNoNode ? nullptr : node(value(id).producer);
}

Node* Graph::Producer(ValueId id) {
  return id == kNoValue || value(id).producer == kNoNode ? nullptr : node(value(id).producer);
}

bool Graph::UsedBySubgraph(ValueId id) const {
  for (const Use& use : value(id).uses) {
    if (static_cast<size_t>(use.slot) >= node(use.node)->inputs.size()) return true;
  }
  return false;
}

bool Graph::ProducesGraphOutput(const Node& asked) const {
  return std::any_of(asked.outputs.begin(), asked.outputs.end(),
                     [this](ValueId id) { return id != kNoValue && value(id).graph_output; });
}

int Graph::OutputEdgeCount(const Node& asked) const {
  int count = 0;
  for (const ValueId id : asked.outputs) {
    if (id != kNoValue) count += UseCount(id);
  }
  return count;
}

int Graph::InputEdgeCount(const Node& asked) const {
  int count = 0;
  for (const ValueId id : asked.inputs) count += Producer(id) != nullptr ? 1 : 0;
  for (const ValueId id : asked.implicit) count += Producer(id) != nullptr ? 1 : 0;
  return count;
}

bool Graph::Overridable(const Value& asked) const { return asked.graph_input && ir_version_ >= 4; }

bool Graph::FromOuterScope(ValueId id) const {
  const Value& asked = value(id);
  return parent_ != nullptr && asked.producer == kNoNode && !asked.graph_input && !asked.initializer;
}

const Tensor* Graph::LocalConstant(ValueId id) const {
  if (id == kNoValue) return nullptr;
  const Value& asked = value(id);
  return asked.initializer && !Overridable(asked) ? &*asked.initializer : nullptr;
}

const Tensor* Graph::Constant(ValueId id) const {
  if (id == kNoValue) return nullptr;
  if (const Tensor* local = LocalConstant(id)) return local;
  if (!FromOuterScope(id)) return nullptr;
  const auto outer = parent_->Find(value(id).name);
  return outer ? parent_->Constant(*outer) : nullptr;
}

const Tensor* Graph::Initializer(ValueId id) const {
  if (id == kNoValue) return nullptr;
  if (value(id).initializer) return &*value(id).initializer;
  if (!FromOuterScope(id)) return nullptr;
  const auto outer = parent_->Find(value(id).name);
  return outer ? parent_->Initializer(*outer) : nullptr;
}

const ValueType& Graph::TypeOf(ValueId id) const {
  const Value& asked = value(id);
  if (!FromOuterScope(id)) return asked.type;
  const auto outer = parent_->Find(asked.name);
  return outer ? parent_->TypeOf(*outer) : asked.type;
}

std::vector<Graph*> Graph::Subgraphs(const Node& asked) const {
  std::vector<Graph*> subgraphs;
  for (const auto& [attribute_name, attribute] : asked.attributes) {
    if (const auto* one = std::get_if<GraphRef>(&attribute)) {
      subgraphs.push_back(one->get());
    } else if (const auto* many = std::get_if<std::vector<GraphRef>>(&attribute)) {
      for (const GraphRef& ref : *many) subgraphs.push_back(ref.get());
    }
  }
  return subgraphs;
}

std::vector<std::string> Graph::OuterReads() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < values_.size(); ++i) {
    const Value& candidate = values_[i];
    const bool defined = candidate.producer != kNoNode || candidate.graph_input || candidate.initializer;
    if (!defined && (!candidate.uses.empty() || candidate.graph_output)) names.push_back(candidate.name);
  }
  return names;
}

// --- names

std::string Graph::UniqueValueName(const std::string& base) {
  std::string name = base;
  const auto taken = [this](const std::string& candidate) {
    return by_name_.count(candidate) > 0 || given_value_names_.count(candidate) > 0;
  };
  while (name.empty() || taken(name)) name = base + "_token_" + std::to_string(name_counter_++);
  given_value_names_.insert(name);
  return name;
}

std::string Graph::UniqueNodeName(const std::string& base) {
  std::string name = base;
  const auto taken = [this](const std::string& candidate) {
    return node_names_.count(candidate) > 0 || given_node_names_.count(candidate) > 0;
  };
  while (taken(name)) name = base + "_token_" + std::to_string(name_counter_++);
  given_node_names_.insert(name);
  return name;
}

void Graph::MarkModified() {
  for (Graph* graph = this; graph != nullptr; graph = graph->parent_) graph->modified_ = true;
}

// --- order

namespace {

// Producers of a node's inputs, implicit ones included, by ascending index, each once.
std::vector<NodeIndex> Producers(const Graph& graph, const Node& node) {
  std::vector<NodeIndex> producers;
  const auto add = [&](ValueId id) {
    if (id != kNoValue && graph.value(id).producer != kNoNode) producers.push_back(graph.value(id).producer);
  };
  for (const ValueId id : node.inputs) add(id);
  for (const ValueId id : node.implicit) add(id);
  std::sort(producers.begin(), producers.end());
  producers.erase(std::unique(producers.begin(), producers.end()), producers.end());
  return producers;
}

}  // namespace

std::vector<NodeIndex> TopologicalOrder(const Graph& graph) {
  struct Entry {
    NodeIndex node;
    bool leave;
  };
  std::vector<Entry> stack;
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    const Node* node = graph.node(index);
    if (node != nullptr && graph.OutputEdgeCount(*node) == 0) stack.push_back({index, false});
  }
  std::vector<NodeIndex> order;
  std::vector<bool> visited(static_cast<size_t>(graph.node_limit()), false);
  while (!stack.empty()) {
    const Entry entry = stack.back();
    stack.pop_back();
    if (entry.leave) {
      order.push_back(entry.node);
      continue;
    }
    if (visited[static_cast<size_t>(entry.node)]) continue;
    visited[static_cast<size_t>(entry.node)] = true;
    stack.push_back({entry.node, true});
    for (const NodeIndex producer : Producers(graph, *graph.node(entry.node))) {
      if (!visited[static_cast<size_t>(producer)]) stack.push_back({producer, false});
    }
  }
  return order;
}

}  // namespace rulerun
