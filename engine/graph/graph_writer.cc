#include "engine/graph/graph_writer.h"

#include <algorithm>
#include <map>

#include "engine/graph/proto.h"

namespace rulerun {
namespace {

// Field numbers of onnx-ml.proto.
constexpr uint32_t kGraphNode = 1;
constexpr uint32_t kGraphName = 2;
constexpr uint32_t kGraphInitializer = 5;
constexpr uint32_t kGraphDoc = 10;
constexpr uint32_t kGraphInput = 11;
constexpr uint32_t kGraphOutput = 12;
constexpr uint32_t kGraphValueInfo = 13;
constexpr uint32_t kNodeAttribute = 5;
constexpr uint32_t kAttributeGraph = 6;
constexpr uint32_t kAttributeGraphs = 11;
constexpr uint32_t kTensorRaw = 9;

// Smaller tensors are not worth a place in another file.
constexpr size_t kSmallestStored = 1024;
// Readers map the file: large tensors begin on a page, the rest on a cache line.
constexpr size_t kPage = 4096;
constexpr size_t kLine = 64;
constexpr size_t kLarge = size_t{1} << 20;

std::string ValueInfo(const Value& value) {
  onnx::ValueInfoProto proto;
  proto.set_name(value.name);
  ToProto(value.type, proto.mutable_type());
  if (proto.type().value_case() == onnx::TypeProto::VALUE_NOT_SET) proto.clear_type();
  if (!value.doc.empty()) proto.set_doc_string(value.doc);
  return proto.SerializeAsString();
}

const std::string& NameOf(const Graph& graph, ValueId id) {
  static const auto& none = *new std::string;
  return id == kNoValue ? none : graph.value(id).name;
}

std::vector<NodeIndex> Order(const Graph& graph) {
  if (graph.modified()) return TopologicalOrder(graph);
  std::vector<NodeIndex> order;
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    if (graph.node(index) != nullptr) order.push_back(index);
  }
  return order;
}

// Loading has taken the constants out of the nodes, so that nothing produces their outputs.
bool IsMovedConstant(const Graph& graph, const onnx::NodeProto& node) {
  if (node.input_size() > 0 || node.output_size() != 1) return false;
  const auto output = graph.Find(node.output(0));
  return !output || graph.value(*output).producer == kNoNode;
}

}  // namespace

Rope GraphWriter::Write(const Graph& graph) {
  Rope rope;
  for (const NodeIndex index : Order(graph)) rope.AddField(kGraphNode, WriteNode(graph, *graph.node(index)));
  rope.AddField(kGraphName, graph.name());
  WriteInitializers(graph, &rope);
  if (!graph.doc().empty()) rope.AddField(kGraphDoc, graph.doc());
  WriteValues(graph, &rope);
  return rope;
}

void GraphWriter::WriteInitializers(const Graph& graph, Rope* rope) {
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const Value& value = graph.value(static_cast<ValueId>(i));
    if (value.initializer) rope->AddField(kGraphInitializer, WriteTensor(value.name, *value.initializer));
  }
}

Rope GraphWriter::WriteAsRead(const Graph& graph, const onnx::GraphProto& source) {
  // What is no node, in one piece.
  onnx::GraphProto rest;
  rest.set_name(source.name());
  if (source.has_doc_string()) rest.set_doc_string(source.doc_string());
  *rest.mutable_input() = source.input();
  *rest.mutable_output() = source.output();
  *rest.mutable_value_info() = source.value_info();
  *rest.mutable_quantization_annotation() = source.quantization_annotation();
  *rest.mutable_metadata_props() = source.metadata_props();
  Rope rope;
  for (const auto& node : source.node()) {
    domains_.insert(std::string(NormalDomain(node.domain())));
    if (!IsMovedConstant(graph, node)) rope.AddField(kGraphNode, node.SerializeAsString());
  }
  WriteInitializers(graph, &rope);
  rope.Add(rest.SerializeAsString());
  return rope;
}

void GraphWriter::WriteValues(const Graph& graph, Rope* rope) {
  for (const ValueId input : graph.inputs()) rope->AddField(kGraphInput, ValueInfo(graph.value(input)));
  std::map<std::string_view, const Value*> infos;
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const Value& value = graph.value(id);
    // Before IR version 4 every initializer must be an input too.
    if (value.initializer && !value.graph_input && graph.ir_version() < 4 && graph.parent() == nullptr) {
      rope->AddField(kGraphInput, ValueInfo(value));
    }
    const bool exists = value.producer != kNoNode || (value.initializer && !value.uses.empty());
    const bool typed = value.type.element != DataType::kUndefined || !value.type.other.empty();
    if (value.declared && exists && typed && !value.graph_input && !value.graph_output) infos[value.name] = &value;
  }
  for (const ValueId output : graph.outputs()) rope->AddField(kGraphOutput, ValueInfo(graph.value(output)));
  for (const auto& [name, value] : infos) rope->AddField(kGraphValueInfo, ValueInfo(*value));
}

Rope GraphWriter::WriteNode(const Graph& graph, const Node& node) {
  domains_.insert(node.domain);
  onnx::NodeProto proto;
  proto.set_name(node.name);
  proto.set_op_type(node.op_type);
  if (!node.domain.empty()) proto.set_domain(node.domain);
  if (!node.doc.empty()) proto.set_doc_string(node.doc);
  for (const ValueId input : node.inputs) proto.add_input(NameOf(graph, input));
  for (const ValueId output : node.outputs) proto.add_output(NameOf(graph, output));
  Rope subgraphs;
  for (const auto& [name, attribute] : node.attributes) {
    const auto* one = std::get_if<GraphRef>(&attribute);
    const auto* many = std::get_if<std::vector<GraphRef>>(&attribute);
    const bool only_default = std::find(node.defaulted.begin(), node.defaulted.end(), name) != node.defaulted.end();
    if (only_default && !graph.modified()) continue;
    if (one == nullptr && many == nullptr) {
      ToProto(name, attribute, proto.add_attribute());
      continue;
    }
    onnx::AttributeProto head;
    ToProto(name, attribute, &head);
    Rope body;
    body.Add(head.SerializeAsString());
    if (one != nullptr) body.AddField(kAttributeGraph, Write(**one));
    if (many != nullptr) {
      for (const GraphRef& graph_ref : *many) body.AddField(kAttributeGraphs, Write(*graph_ref));
    }
    subgraphs.AddField(kNodeAttribute, std::move(body));
  }
  Rope rope;
  rope.Add(proto.SerializeAsString());
  if (subgraphs.size() > 0) rope.Append(std::move(subgraphs));
  if (!graph.modified()) rope.Add(node.metadata);
  return rope;
}

Rope GraphWriter::WriteTensor(const std::string& name, const Tensor& tensor) {
  onnx::TensorProto proto;
  ToProtoWithoutData(tensor, &proto);
  proto.set_name(name);
  const std::string_view bytes = tensor.type() == DataType::kString
                                     ? std::string_view()
                                     : std::string_view(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes());
  Rope rope;
  if (data_file_.empty() || bytes.size() < kSmallestStored) {
    rope.Add(proto.SerializeAsString());
    if (tensor.type() != DataType::kString) rope.AddReferenceField(kTensorRaw, bytes);
    return rope;
  }
  const size_t unit = bytes.size() >= kLarge ? kPage : kLine;
  const size_t offset = (end_ + unit - 1) / unit * unit;
  end_ = offset + bytes.size();
  stored_.push_back({bytes, offset});
  proto.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add = [&proto](const char* key, std::string value) {
    auto* entry = proto.add_external_data();
    entry->set_key(key);
    entry->set_value(std::move(value));
  };
  add("location", data_file_);
  add("offset", std::to_string(offset));
  add("length", std::to_string(bytes.size()));
  rope.Add(proto.SerializeAsString());
  return rope;
}

}  // namespace rulerun
