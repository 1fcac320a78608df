#include "engine/graph/function_body.h"

#include <algorithm>
#include <exception>
#include <unordered_map>

#include "engine/base/codes.h"
#include "engine/graph/graph_builder.h"
#include "engine/graph/onnx_schema.h"
#include "engine/graph/proto.h"

namespace rulerun {
namespace {

onnx::NodeProto CallProto(const Graph& graph, const Node& node) {
  onnx::NodeProto proto;
  proto.set_name(node.name);
  proto.set_op_type(node.op_type);
  proto.set_domain(node.domain);
  for (const ValueId id : node.inputs) proto.add_input(id == kNoValue ? "" : graph.value(id).name);
  for (const ValueId id : node.outputs) proto.add_output(id == kNoValue ? "" : graph.value(id).name);
  for (const auto& [name, attribute] : node.attributes) ToProto(name, attribute, proto.add_attribute());
  return proto;
}

std::vector<onnx::TypeProto> InputTypes(const Graph& graph, const Node& node) {
  std::vector<onnx::TypeProto> types(node.inputs.size());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != kNoValue) ToProto(graph.TypeOf(node.inputs[i]), &types[i]);
  }
  return types;
}

// The body for the opset of the model; false where there is none that is valid for it. May throw.
bool BuildBody(const Graph& graph, const Node& node, const onnx::NodeProto& call, onnx::FunctionProto* body) {
  const OnnxSchema* schema = FindOnnxSchema(node.domain, node.op_type, graph.Opset(node.domain));
  if (schema == nullptr) return false;
  const bool onnx_domain = node.domain.empty();
  const int opset = onnx_domain ? graph.Opset("") : schema->theirs->SinceVersion();
  if (schema->theirs->HasContextDependentFunction()) {
    const onnx::FunctionBodyBuildContextImpl context(call, InputTypes(graph, node));
    return schema->theirs->BuildContextDependentFunction(context, *body, opset);
  }
  if (!schema->theirs->HasFunction()) return false;
  const onnx::FunctionProto* found = schema->theirs->GetFunction(opset, onnx_domain);
  if (found == nullptr) return false;
  *body = *found;
  return true;
}

// Gives the names in a body those of the call, and puts a prefix before all others.
class Renamer {
 public:
  Renamer(std::string prefix, const onnx::NodeProto& call, const onnx::FunctionProto& body)
      : prefix_(std::move(prefix)), scopes_(1) {
    for (const auto& attribute : body.attribute_proto()) attributes_[attribute.name()] = &attribute;
    for (const auto& attribute : call.attribute()) attributes_[attribute.name()] = &attribute;
    for (int i = 0; i < body.input_size(); ++i) {
      scopes_.back()[body.input(i)] = i < call.input_size() ? call.input(i) : "";
    }
    for (int i = 0; i < body.output_size(); ++i) {
      const bool bound = i < call.output_size() && !call.output(i).empty();
      scopes_.back()[body.output(i)] = bound ? call.output(i) : Prefixed(body.output(i));
    }
  }

  void Rename(onnx::NodeProto& node) {
    if (!node.name().empty()) node.set_name(Prefixed(node.name()));
    for (std::string& input : *node.mutable_input()) input = Renamed(input, false);
    for (std::string& output : *node.mutable_output()) output = Renamed(output, true);
    ReplaceReferences(node);
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) RenameGraph(*attribute.mutable_g());
      for (auto& graph : *attribute.mutable_graphs()) RenameGraph(graph);
    }
  }

 private:
  std::string Prefixed(const std::string& name) const { return prefix_ + "_" + name; }

  std::string Renamed(const std::string& name, bool defines) {
    if (name.empty()) return name;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = scope->find(name);
      if (found != scope->end()) return found->second;
    }
    return defines ? Define(name) : name;
  }

  std::string Define(const std::string& name) { return scopes_.back()[name] = Prefixed(name); }

  // An attribute of the call or its default takes the place of a reference to it; one that is absent vanishes.
  void ReplaceReferences(onnx::NodeProto& node) const {
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> kept;
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.ref_attr_name().empty()) {
        kept.Add()->Swap(&attribute);
        continue;
      }
      const auto referred = attributes_.find(attribute.ref_attr_name());
      if (referred == attributes_.end()) continue;
      onnx::AttributeProto* added = kept.Add();
      *added = *referred->second;
      added->set_name(attribute.name());
    }
    node.mutable_attribute()->Swap(&kept);
  }

  void RenameGraph(onnx::GraphProto& graph) {
    scopes_.emplace_back();
    for (auto& input : *graph.mutable_input()) input.set_name(Define(input.name()));
    for (auto& initializer : *graph.mutable_initializer()) initializer.set_name(Define(initializer.name()));
    for (auto& output : *graph.mutable_output()) output.set_name(Define(output.name()));
    for (auto& node : *graph.mutable_node()) Rename(node);
    scopes_.pop_back();
  }

  const std::string prefix_;
  std::unordered_map<std::string, const onnx::AttributeProto*> attributes_;
  std::vector<std::unordered_map<std::string, std::string>> scopes_;
};

// The body as a graph of its own, whose inputs and outputs are the call's.
onnx::GraphProto BodyGraph(const onnx::NodeProto& call, onnx::FunctionProto& body, const std::string& prefix) {
  Renamer renamer(prefix, call, body);
  onnx::GraphProto graph;
  for (auto& node : *body.mutable_node()) {
    renamer.Rename(node);
    graph.add_node()->Swap(&node);
  }
  std::vector<std::string> inputs;
  for (const std::string& input : call.input()) {
    if (input.empty() || std::find(inputs.begin(), inputs.end(), input) != inputs.end()) continue;
    inputs.push_back(input);
    graph.add_input()->set_name(input);
  }
  for (const std::string& output : call.output()) {
    if (!output.empty()) graph.add_output()->set_name(output);
  }
  return graph;
}

// Takes initializers and nodes of `body` over. Values of the same name are the same value.
std::vector<NodeIndex> Take(const Graph& body, const std::vector<std::string>& origins, Graph& graph) {
  const auto move = [&](std::vector<ValueId>& ids) {
    for (ValueId& id : ids) {
      if (id != kNoValue) id = graph.FindOrAddValue(body.value(id).name);
    }
  };
  for (ValueId id = 0; id < static_cast<ValueId>(body.value_count()); ++id) {
    const Value& value = body.value(id);
    if (value.initializer) graph.AddInitializer(value.name, *value.initializer);
  }
  std::vector<NodeIndex> added;
  for (NodeIndex index = 0; index < body.node_limit(); ++index) {
    Node node = *body.node(index);
    move(node.inputs);
    move(node.outputs);
    node.origins = origins;
    added.push_back(graph.AddNode(std::move(node)).index);
  }
  return added;
}

Result<std::optional<std::vector<NodeIndex>>> Inline(Graph& graph, NodeIndex index) {
  const Node& node = *graph.node(index);
  const onnx::NodeProto call = CallProto(graph, node);
  onnx::FunctionProto body;
  if (!BuildBody(graph, node, call, &body)) return std::optional<std::vector<NodeIndex>>();
  const std::string prefix = graph.UniqueNodeName("_inlfunc_" + node.op_type);
  onnx::GraphProto proto = BodyGraph(call, body, prefix);
  GraphBuilder builder(Describe(node), graph.opsets(), graph.ir_version(), nullptr);
  RULERUN_ASSIGN(const std::unique_ptr<Graph> built, builder.Build(proto, {}));
  const std::vector<std::string> origins = node.origins;
  graph.RemoveNode(index);
  return std::optional(Take(*built, origins, graph));
}

}  // namespace

Result<std::optional<std::vector<NodeIndex>>> InlineFunctionBody(Graph& graph, NodeIndex node) {
  const std::string place = Describe(*graph.node(node));
  try {
    return Inline(graph, node);
  } catch (const std::exception& error) {
    return Error{Code::kBadFunction, error.what(), place, "Check the model with onnx.checker."};
  }
}

}  // namespace rulerun
