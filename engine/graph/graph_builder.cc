#include "engine/graph/graph_builder.h"

#include <algorithm>
#include <set>

#include "engine/base/codes.h"
#include "engine/graph/onnx_schema.h"
#include "engine/graph/proto.h"

namespace rulerun {
namespace {

constexpr char kExportAgain[] = "The file is damaged or was written by a broken tool: export the model again.";

// The graph's value for a name in the file, or kNoValue for "".
ValueId ToValue(Graph& graph, const std::string& name) { return name.empty() ? kNoValue : graph.FindOrAddValue(name); }

bool Defined(const Value& value) {
  return value.producer != kNoNode || value.graph_input || value.initializer.has_value();
}

// The value a constant node holds, in whichever of its forms.
Result<Tensor> ConstantValue(onnx::AttributeProto& proto, ExternalData* external) {
  switch (KindOf(proto)) {
    case onnx::AttributeProto::TENSOR:
      return ToTensor(*proto.mutable_t(), external);
    case onnx::AttributeProto::SPARSE_TENSOR:
      return ToTensor(*proto.mutable_sparse_tensor(), external);
    case onnx::AttributeProto::FLOAT:
      return Tensor::Scalar<float>(proto.f());
    case onnx::AttributeProto::INT:
      return Tensor::Scalar<int64_t>(proto.i());
    case onnx::AttributeProto::STRING:
      return Tensor(Dims{}, {proto.s()});
    case onnx::AttributeProto::FLOATS:
      return Tensor::Vector<float>({proto.floats().begin(), proto.floats().end()});
    case onnx::AttributeProto::INTS:
      return Tensor::Vector<int64_t>({proto.ints().begin(), proto.ints().end()});
    case onnx::AttributeProto::STRINGS:
      return Tensor({proto.strings_size()}, {proto.strings().begin(), proto.strings().end()});
    default:
      return Error{Code::kBadTensor, "a constant of this kind is unknown", "", kExportAgain};
  }
}

bool SameShape(const Shape& declared, const Dims& dims) {
  if (declared.size() != dims.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (declared[i].known() && declared[i].size != dims[i]) return false;
  }
  return true;
}

}  // namespace

std::string Describe(const onnx::NodeProto& node, int position) {
  if (!node.name().empty()) return "node '" + node.name() + "'";
  return "node " + std::to_string(position) + " (" + node.op_type() + ")";
}

std::string Describe(const Node& node) {
  if (!node.name.empty()) return "node '" + node.name + "'";
  return "node " + std::to_string(node.index) + " (" + node.Op() + ")";
}

GraphBuilder::GraphBuilder(std::string file, OpsetMap opsets, int64_t ir_version, ExternalData* external)
    : file_(std::move(file)), opsets_(std::move(opsets)), ir_version_(ir_version), external_(external) {}

Error GraphBuilder::At(const std::string& where, std::string message, std::string remedy) const {
  return At(where, {Code::kBadGraph, std::move(message), "", std::move(remedy)});
}

Error GraphBuilder::At(const std::string& where, Error error) const {
  error.place = file_.empty() ? where : file_ + ", " + where;
  return error;
}

Result<std::unique_ptr<Graph>> GraphBuilder::Build(onnx::GraphProto& proto, std::vector<NamedTensor> initializers) {
  RULERUN_ASSIGN(std::unique_ptr<Graph> graph, BuildGraph(proto, std::move(initializers), nullptr));
  RULERUN_RETURN_IF_ERROR(CheckReads(*graph));
  return graph;
}

Result<std::unique_ptr<Graph>> GraphBuilder::BuildGraph(onnx::GraphProto& proto, std::vector<NamedTensor> initializers,
                                                        Graph* parent) {
  auto graph = std::make_unique<Graph>(opsets_, ir_version_, parent);
  graph->set_name(proto.name());
  graph->set_doc(proto.doc_string());
  // In this order the type of a value comes from the place ONNX Runtime prefers.
  RULERUN_RETURN_IF_ERROR(AddInputs(*graph, proto));
  RULERUN_RETURN_IF_ERROR(AddInitializers(*graph, proto, initializers));
  RULERUN_RETURN_IF_ERROR(AddConstants(*graph, proto));
  RULERUN_RETURN_IF_ERROR(AddOutputs(*graph, proto));
  RULERUN_RETURN_IF_ERROR(AddNodes(*graph, proto));
  AddValueInfo(*graph, proto);
  RULERUN_RETURN_IF_ERROR(CheckOutputs(*graph));
  RULERUN_RETURN_IF_ERROR(CheckNames(*graph));
  RULERUN_RETURN_IF_ERROR(CheckOrder(*graph));
  return graph;
}

Status GraphBuilder::AddInputs(Graph& graph, const onnx::GraphProto& proto) {
  for (const auto& input : proto.input()) {
    if (input.name().empty()) return At("graph inputs", "an input has no name", kExportAgain);
    if (graph.Find(input.name())) {
      return At("input '" + input.name() + "'", "two inputs have the same name", "Rename one of them.");
    }
    const ValueId id = graph.AddValue(input.name(), ToValueType(input.type()));
    graph.value(id).doc = input.doc_string();
    graph.AddInput(id);
  }
  return {};
}

Status GraphBuilder::AddInitializers(Graph& graph, onnx::GraphProto& proto, std::vector<NamedTensor>& initializers) {
  for (NamedTensor& initializer : initializers) {
    RULERUN_RETURN_IF_ERROR(SetInitializer(graph, initializer.name, std::move(initializer.tensor)));
  }
  for (auto& initializer : *proto.mutable_initializer()) {
    auto tensor = ToTensor(initializer, external_);
    if (!tensor.ok()) {
      return At("initializer '" + initializer.name() + "'", tensor.error());
    }
    RULERUN_RETURN_IF_ERROR(SetInitializer(graph, initializer.name(), std::move(tensor).value()));
  }
  for (auto& initializer : *proto.mutable_sparse_initializer()) {
    constants_moved_ = constants_moved_ || graph.parent() == nullptr;
    const std::string name = initializer.values().name();
    auto tensor = ToTensor(initializer, external_);
    if (!tensor.ok()) return At("sparse initializer '" + name + "'", tensor.error());
    RULERUN_RETURN_IF_ERROR(SetInitializer(graph, name, std::move(tensor).value()));
  }
  return {};
}

Status GraphBuilder::SetInitializer(Graph& graph, const std::string& name, Tensor tensor) {
  if (name.empty()) return At("initializers", "an initializer has no name", kExportAgain);
  const ValueId id = graph.FindOrAddValue(name);
  Value& value = graph.value(id);
  const ValueType own{tensor.type(), ToShape(tensor.dims()), ""};
  if (value.graph_input && value.type.element != DataType::kUndefined) {
    if (value.type.element != tensor.type()) {
      return At("initializer '" + name + "'",
                "is " + std::string(Name(tensor.type())) + ", but the input of that name is " +
                    std::string(Name(value.type.element)),
                kExportAgain);
    }
    if (value.type.shape && !SameShape(*value.type.shape, tensor.dims())) {
      return At("initializer '" + name + "'",
                "has shape " + ToString(*own.shape) + ", but the input of that name " + ToString(*value.type.shape),
                kExportAgain);
    }
  }
  // From IR version 4 on the input may be given another value, so that its own type counts.
  if (!value.graph_input || ir_version_ < 4 || value.type.element == DataType::kUndefined) value.type = own;
  value.initializer = std::move(tensor);
  return {};
}

bool GraphBuilder::IsConstant(const onnx::NodeProto& node) const {
  if (node.input_size() > 0 || !NormalDomain(node.domain()).empty()) return false;
  const auto opset = opsets_.find("");
  if (opset == opsets_.end()) return false;
  const OnnxSchema* schema = FindOnnxSchema("", node.op_type(), opset->second);
  // The one operator without inputs whose output is an attribute.
  return schema != nullptr && schema->inputs.empty() && schema->outputs.size() == 1 &&
         schema->ours.attributes.contains("value");
}

Status GraphBuilder::AddConstants(Graph& graph, onnx::GraphProto& proto) {
  for (int i = 0; i < proto.node_size(); ++i) {
    onnx::NodeProto& node = *proto.mutable_node(i);
    if (!IsConstant(node)) continue;
    constants_moved_ = constants_moved_ || graph.parent() == nullptr;
    if (node.attribute_size() != 1 || node.output_size() != 1) {
      return At(Describe(node, i), "a constant must have one value and one output", kExportAgain);
    }
    if (node.output(0).empty()) continue;
    const auto known = graph.Find(node.output(0));
    if (known && graph.value(*known).graph_input) {
      return At(Describe(node, i), "output '" + node.output(0) + "' is an input of the graph too", kExportAgain);
    }
    auto tensor = ConstantValue(*node.mutable_attribute(0), external_);
    if (!tensor.ok()) return At(Describe(node, i), tensor.error());
    RULERUN_RETURN_IF_ERROR(SetInitializer(graph, node.output(0), std::move(tensor).value()));
  }
  return {};
}

Status GraphBuilder::AddOutputs(Graph& graph, const onnx::GraphProto& proto) {
  for (const auto& output : proto.output()) {
    if (output.name().empty()) return At("graph outputs", "an output has no name", kExportAgain);
    const ValueId id = graph.FindOrAddValue(output.name());
    Value& value = graph.value(id);
    if (!Defined(value) && value.type.element == DataType::kUndefined && value.type.other.empty()) {
      value.type = ToValueType(output.type());
    }
    if (value.doc.empty()) value.doc = output.doc_string();
    graph.AddOutput(id);
  }
  return {};
}

Status GraphBuilder::AddNodes(Graph& graph, onnx::GraphProto& proto) {
  for (int i = 0; i < proto.node_size(); ++i) {
    onnx::NodeProto& source = *proto.mutable_node(i);
    if (IsConstant(source)) continue;
    RULERUN_ASSIGN(Node node, ConvertNode(graph, source, i));
    std::set<ValueId> own;
    for (const ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      if (Defined(graph.value(output)) || !own.insert(output).second) {
        return At(Describe(source, i), "output '" + graph.value(output).name + "' is defined twice",
                  "Give every value of the graph its own name.");
      }
    }
    graph.AddNode(std::move(node));
    // Attribute tensors have moved; the rest of the message is not needed any more.
    source.Clear();
  }
  return {};
}

Result<Node> GraphBuilder::ConvertNode(Graph& graph, onnx::NodeProto& proto, int position) {
  Node node;
  node.name = proto.name();
  node.op_type = proto.op_type();
  node.domain = NormalDomain(proto.domain());
  node.doc = proto.doc_string();
  for (const std::string& name : proto.input()) node.inputs.push_back(ToValue(graph, name));
  for (const std::string& name : proto.output()) node.outputs.push_back(ToValue(graph, name));
  for (auto& attribute : *proto.mutable_attribute()) {
    if (!attribute.ref_attr_name().empty()) {
      return At(Describe(proto, position), "attribute '" + attribute.name() + "' refers to a function's attribute",
                "Only the nodes of a function can do so.");
    }
    auto converted = ConvertAttribute(graph, attribute);
    if (!converted.ok()) {
      if (!converted.error().place.empty()) return converted.error();  // in a subgraph, which has said where
      return At(Describe(proto, position) + ", attribute '" + attribute.name() + "'", converted.error());
    }
    node.attributes.insert_or_assign(attribute.name(), std::move(converted).value());
  }
  if (proto.metadata_props_size() > 0) {
    onnx::NodeProto metadata;
    metadata.mutable_metadata_props()->Swap(proto.mutable_metadata_props());
    node.metadata = metadata.SerializeAsString();
  }
  node.origins.push_back(node.name.empty() ? node.op_type + "#" + std::to_string(position) : node.name);
  return node;
}

Result<Attribute> GraphBuilder::ConvertAttribute(Graph& graph, onnx::AttributeProto& proto) {
  const auto kind = KindOf(proto);
  if (kind == onnx::AttributeProto::GRAPH) {
    RULERUN_ASSIGN(std::unique_ptr<Graph> subgraph, BuildGraph(*proto.mutable_g(), {}, &graph));
    return Attribute(GraphRef(std::move(subgraph)));
  }
  if (kind == onnx::AttributeProto::GRAPHS) {
    std::vector<GraphRef> subgraphs;
    for (auto& source : *proto.mutable_graphs()) {
      RULERUN_ASSIGN(std::unique_ptr<Graph> subgraph, BuildGraph(source, {}, &graph));
      subgraphs.emplace_back(std::move(subgraph));
    }
    return Attribute(std::move(subgraphs));
  }
  return ToAttribute(proto, external_);
}

void GraphBuilder::AddValueInfo(Graph& graph, const onnx::GraphProto& proto) {
  for (const auto& info : proto.value_info()) {
    const auto id = graph.Find(info.name());
    if (!id) continue;
    Value& value = graph.value(*id);
    value.declared = true;
    if (value.doc.empty()) value.doc = info.doc_string();
    if (value.type.element == DataType::kUndefined && value.type.other.empty() && !value.type.shape) {
      value.type = ToValueType(info.type());
    }
  }
}

}  // namespace rulerun
