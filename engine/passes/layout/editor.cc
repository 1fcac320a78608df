#include "engine/passes/layout/editor.h"

#include <algorithm>

namespace rulerun {

OpName ParseOpName(std::string_view text) {
  const size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return {"", std::string(text)};
  return {std::string(text.substr(0, dot)), std::string(text.substr(dot + 1))};
}

Editor::Editor(Graph& graph, const ExternalSchemas& schemas, std::string provider)
    : graph_(graph), schemas_(schemas), provider_(std::move(provider)) {}

PassEvent Editor::TakeEvent(std::string what) {
  PassEvent event = std::exchange(event_, {});
  event.what = std::move(what);
  event.sources = sources_;
  return event;
}

// --- nodes

NodeIndex Editor::AddNode(const std::string& op, std::vector<ValueId> inputs, AttributeMap attributes) {
  const std::string name = graph_.UniqueNodeName(ParseOpName(op).op_type);
  const ValueId output = graph_.AddValue(graph_.UniqueValueName(name + "_out0"));
  return AddNamedNode(op, name, "Added in transpose optimizer", std::move(inputs), {output}, std::move(attributes));
}

NodeIndex Editor::AddNamedNode(const std::string& op, std::string name, std::string doc, std::vector<ValueId> inputs,
                               std::vector<ValueId> outputs, AttributeMap attributes) {
  const OpName parsed = ParseOpName(op);
  Node added;
  added.name = std::move(name);
  added.doc = std::move(doc);
  added.op_type = parsed.op_type;
  added.domain = parsed.domain;
  added.inputs = std::move(inputs);
  added.outputs = std::move(outputs);
  added.attributes = std::move(attributes);
  added.provider = provider_;
  added.origins = sources_;
  const OpSchema* schema = FindSchema(schemas_, added.domain, added.op_type, graph_.Opset(added.domain));
  if (schema != nullptr) {
    added.since_version = schema->since_version;
    for (const auto& [attribute, info] : schema->attributes) {
      if (info.default_value) added.attributes.try_emplace(attribute, *info.default_value);
    }
  }
  event_.created.push_back(added.name);
  return graph_.AddNode(std::move(added)).index;
}

NodeIndex Editor::ReplaceNode(NodeIndex old, const std::string& op) {
  const std::string name = graph_.UniqueNodeName(node(old).name);
  std::vector<ValueId> outputs;
  for (size_t i = 0; i < node(old).outputs.size(); ++i) {
    outputs.push_back(graph_.AddValue(graph_.UniqueValueName(name + "_out" + std::to_string(i))));
  }
  const NodeIndex added =
      AddNamedNode(op, name, "Added in transpose optimizer", node(old).inputs, outputs, node(old).attributes);
  node(added).provider = node(old).provider;
  node(added).origins = node(old).origins;
  for (size_t i = 0; i < node(old).outputs.size(); ++i) {
    if (Output(old, i) == kNoValue) {
      graph_.SetOutput(added, static_cast<int>(i), kNoValue);
    } else {
      MoveOutput(old, i, added, i);
    }
  }
  RemoveNode(old);
  return added;
}

void Editor::RemoveNode(NodeIndex index) {
  const std::string& name = node(index).name;
  const auto made = std::find(event_.created.begin(), event_.created.end(), name);
  if (made != event_.created.end()) {
    event_.created.erase(made);
  } else {
    event_.removed.push_back(name);
  }
  graph_.RemoveNode(index);
}

void Editor::SetInput(NodeIndex index, size_t slot, ValueId value) {
  graph_.SetInput(index, static_cast<int>(slot), value);
}

void Editor::SetAttribute(NodeIndex index, std::string_view name, Attribute value) {
  node(index).attributes.insert_or_assign(std::string(name), std::move(value));
  graph_.MarkModified();
}

bool Editor::KnowsAttribute(NodeIndex index, std::string_view name) const {
  const Node& asked = node(index);
  const OpSchema* schema = FindSchema(schemas_, asked.domain, asked.op_type, graph_.Opset(asked.domain));
  return schema != nullptr && schema->attributes.contains(name);
}

void Editor::ClearAttribute(NodeIndex index, std::string_view name) {
  node(index).attributes.erase(std::string(name));
  graph_.MarkModified();
}

void Editor::MoveOutput(NodeIndex from, size_t from_slot, NodeIndex to, size_t to_slot) {
  const ValueId moved = Output(from, from_slot);
  const ValueId fresh = graph_.AddValue(graph_.UniqueValueName(node(from).name));
  graph_.SetOutput(from, static_cast<int>(from_slot), fresh);
  graph_.SetOutput(to, static_cast<int>(to_slot), moved);
}

// --- values

ValueId Editor::AddConstant(const std::string& base, Tensor tensor) {
  const std::string name = graph_.UniqueValueName(base);
  event_.created.push_back(name);
  return graph_.AddInitializer(name, std::move(tensor));
}

void Editor::SetConstant(ValueId id, Tensor tensor) {
  const Dims dims = tensor.dims();
  graph_.value(id).initializer = std::move(tensor);
  SetShape(id, ToShape(dims));
  graph_.MarkModified();
}

void Editor::RemoveConstantIfUnused(ValueId id) {
  if (id == kNoValue || HasReaders(id)) return;
  graph_.value(id).initializer.reset();
  graph_.MarkModified();
}

Readers Editor::ReadersOf(ValueId id) const {
  Readers readers;
  if (id == kNoValue) return readers;
  const Value& value = graph_.value(id);
  readers.all = !value.graph_output && !graph_.UsedBySubgraph(id);
  for (const Use& use : value.uses) {
    const bool direct = static_cast<size_t>(use.slot) < node(use.node).inputs.size();
    if (direct && (readers.nodes.empty() || readers.nodes.back() != use.node)) readers.nodes.push_back(use.node);
  }
  return readers;
}

bool Editor::HasReaders(ValueId id) const { return graph_.UseCount(id) > 0 || graph_.value(id).graph_output; }

std::optional<NodeIndex> Editor::OnlyReader(NodeIndex producer) const {
  const Readers readers = ReadersOf(Output(producer));
  if (!readers.all || readers.nodes.size() != 1) return std::nullopt;
  return readers.nodes.front();
}

void Editor::ReplaceReads(const std::vector<NodeIndex>& readers, ValueId from, ValueId to) {
  for (const NodeIndex reader : readers) {
    const size_t count = node(reader).inputs.size();
    for (size_t slot = 0; slot < count; ++slot) {
      if (node(reader).inputs[slot] == from) SetInput(reader, slot, to);
    }
  }
}

// --- types

const std::optional<Shape>& Editor::ShapeOf(ValueId id) const {
  static const std::optional<Shape> kUnknown;
  return id == kNoValue ? kUnknown : graph_.TypeOf(id).shape;
}

std::optional<size_t> Editor::RankOf(ValueId id) const {
  const std::optional<Shape>& shape = ShapeOf(id);
  if (!shape) return std::nullopt;
  return shape->size();
}

DataType Editor::TypeOf(ValueId id) const { return id == kNoValue ? DataType::kUndefined : graph_.TypeOf(id).element; }

std::optional<Dims> Editor::SizesOf(ValueId id) const {
  const std::optional<Shape>& shape = ShapeOf(id);
  if (!shape) return std::nullopt;
  Dims sizes;
  for (const Dim& dim : *shape) sizes.push_back(dim.known() ? dim.size : -1);
  return sizes;
}

void Editor::CopyType(ValueId from, ValueId to) {
  if (from == kNoValue || to == kNoValue) return;
  const ValueType type = graph_.TypeOf(from);
  if (type.element == DataType::kUndefined && type.other.empty()) return;
  graph_.value(to).type = type;
}

void Editor::SetShape(ValueId id, std::optional<Shape> shape) { graph_.value(id).type.shape = std::move(shape); }

void Editor::PermuteShape(ValueId id, const Perm& perm) {
  std::optional<Shape>& shape = graph_.value(id).type.shape;
  if (!shape) return;
  if (shape->size() == perm.size()) {
    shape = Permuted(*shape, perm);
  } else {
    shape.reset();
  }
}

}  // namespace rulerun
