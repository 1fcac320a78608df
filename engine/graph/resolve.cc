#include "engine/graph/resolve.h"

#include <algorithm>
#include <exception>
#include <map>
#include <set>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/graph/formal_shapes.h"
#include "engine/graph/graph_builder.h"
#include "engine/graph/infer.h"
#include "engine/graph/node_check.h"
#include "engine/graph/onnx_schema.h"
#include "engine/graph/proto.h"

namespace rulerun {
namespace {

// A set of element types with one member, the type of a value whose schema leaves no choice.
bool Known(const ValueType& type) { return type.element != DataType::kUndefined || !type.other.empty(); }

// The type of a value without its shape.
ValueType WithoutShape(const ValueType& type) { return {type.element, std::nullopt, type.other}; }

class Resolver {
 public:
  explicit Resolver(const ExternalSchemas& external) : external_(external) {}

  Status ResolveGraph(Graph& graph) {
    Scope scope(graph);
    const std::vector<NodeIndex> order = TopologicalOrder(graph);
    std::vector<bool> done(static_cast<size_t>(graph.node_limit()), false);
    for (const NodeIndex index : order) {
      RULERUN_RETURN_IF_ERROR(CheckProducers(graph, *graph.node(index), done));
      RULERUN_RETURN_IF_ERROR(ResolveNode(scope, *graph.node(index)));
      done[static_cast<size_t>(index)] = true;
    }
    // Nodes that only reach each other are in no order at all.
    if (order.size() != graph.node_count()) return Cycle("graph '" + graph.name() + "'");
    resolved_.insert(&graph);
    return {};
  }

  Status ResolveNode(Scope& scope, Node& node) {
    RULERUN_ASSIGN(const SchemaView schema, FindSchemaOf(scope.graph(), node));
    node.since_version = schema.ours->since_version;
    // ONNX Runtime lets a control-flow node pass that neither reads nor gives anything.
    const bool idle = node.inputs.empty() && node.outputs.empty() && !scope.graph().Subgraphs(node).empty();
    if (idle) return ResolveRemaining(scope.graph(), node);
    RULERUN_RETURN_IF_ERROR(CheckNode(node, *schema.ours));
    AddDefaults(node, *schema.ours);
    TypeBindings bindings;
    RULERUN_RETURN_IF_ERROR(CheckInputTypes(scope, node, schema, &bindings));
    RULERUN_ASSIGN(const std::vector<ValueType> inferred, Infer(scope, node, schema));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      const ValueType none;
      RULERUN_RETURN_IF_ERROR(SetOutput(scope, node, schema, i, i < inferred.size() ? inferred[i] : none, bindings));
    }
    if (schema.onnx != nullptr) PropagateNumbers(scope, node, *schema.onnx);
    return ResolveRemaining(scope.graph(), node);
  }

 private:
  static Error Cycle(const std::string& where) {
    return {Code::kBadGraph, "nodes depend on their own outputs", where, "Break the cycle."};
  }

  static Status CheckProducers(const Graph& graph, const Node& node, const std::vector<bool>& done) {
    const auto missing = [&](ValueId id) {
      return id != kNoValue && graph.value(id).producer != kNoNode &&
             !done[static_cast<size_t>(graph.value(id).producer)];
    };
    const bool cycle = std::any_of(node.inputs.begin(), node.inputs.end(), missing) ||
                       std::any_of(node.implicit.begin(), node.implicit.end(), missing);
    return cycle ? Status(Cycle(Describe(node))) : Status();
  }

  Result<SchemaView> FindSchemaOf(const Graph& graph, const Node& node) {
    if (const OnnxSchema* found = FindOnnxSchema(node.domain, node.op_type, graph.Opset(node.domain))) {
      return SchemaView{&found->ours, found->theirs, &found->inputs, &found->outputs};
    }
    const OpSchema* external = external_.Find(node.domain, node.op_type);
    if (external == nullptr) return UnknownOperator(graph, node, external_);
    auto [known, added] = external_types_.try_emplace(external);
    if (added) known->second = {AllowedInputs(*external), AllowedOutputs(*external)};
    return SchemaView{external, nullptr, &known->second.first, &known->second.second};
  }

  static void AddDefaults(Node& node, const OpSchema& schema) {
    for (const auto& [name, attribute] : schema.attributes) {
      if (!attribute.default_value) continue;
      if (node.attributes.try_emplace(name, *attribute.default_value).second) node.defaulted.push_back(name);
    }
  }

  ResolveSubgraph SubgraphResolver() {
    return [this](Graph& graph) { return ResolveGraph(graph); };
  }

  // Types and shapes of the outputs, as far as the inference function knows; empty where there is none.
  Result<std::vector<ValueType>> Infer(Scope& scope, const Node& node, const SchemaView& schema) {
    std::vector<ValueType> types;
    if (schema.onnx == nullptr) {
      return HasOutputShapes(*schema.ours) ? InferWritten(scope, node, *schema.ours)
                                           : InferLike(scope, node, *schema.ours);
    }
    NodeContext context(scope, node, node.inputs, SubgraphResolver());
    try {
      schema.onnx->GetTypeAndShapeInferenceFunction()(context);
    } catch (const std::exception& failed) {
      if (context.subgraph_error()) return InSubgraph(*context.subgraph_error(), node);
      return Error{Code::kNodeShape, node.Op() + ": " + failed.what(), Describe(node),
                   "Check the shapes and attributes of the node."};
    }
    for (const onnx::TypeProto& type : context.outputs()) types.push_back(ToValueType(type));
    return types;
  }

  // Of an operator that ONNX does not define: the shapes that its schema writes down.
  static std::vector<ValueType> InferWritten(const Scope& scope, const Node& node, const OpSchema& schema) {
    std::vector<ValueType> types;
    for (auto& shape : OutputShapes(scope.graph(), node, schema)) types.push_back({{}, std::move(shape), {}});
    return types;
  }

  // Of an operator that ONNX does not define: the shapes are those of an ONNX operator on some of its inputs.
  std::vector<ValueType> InferLike(Scope& scope, const Node& node, const OpSchema& schema) {
    if (schema.like.empty() || !LikeHolds(node, schema)) return {};
    const int opset = scope.graph().Opset("");
    const OnnxSchema* like = FindOnnxSchema("", schema.like, opset > 0 ? opset : kNewestOpset);
    if (like == nullptr) return {};
    std::vector<ValueId> inputs;
    for (const int slot : schema.like_inputs) {
      inputs.push_back(slot < 0 ? kNoValue : node.input(static_cast<size_t>(slot)));
    }
    if (schema.like_step > 0) {
      const auto step = static_cast<size_t>(schema.like_step);
      for (size_t slot = static_cast<size_t>(schema.like_inputs.back()) + step; slot < node.inputs.size();
           slot += step) {
        inputs.push_back(node.input(slot));
      }
    }
    while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
    NodeContext context(scope, node, std::move(inputs), SubgraphResolver());
    try {
      like->theirs->GetTypeAndShapeInferenceFunction()(context);
    } catch (const std::exception&) {
      return {};  // the shapes stay unknown
    }
    std::vector<ValueType> types;
    for (const onnx::TypeProto& type : context.outputs()) types.push_back(ToValueType(type));
    return types;
  }

  static bool LikeHolds(const Node& node, const OpSchema& schema) {
    return std::all_of(schema.like_if.begin(), schema.like_if.end(),
                       [&](const auto& wanted) { return IntOr(node.attributes, wanted.first, 0) == wanted.second; });
  }

  // The element type of the first output where another input than those of its constraint decides it.
  static DataType OutputElement(const Scope& scope, const Node& node, const OpSchema& schema) {
    if (schema.output_type_of < 0) return DataType::kUndefined;
    const ValueId input = node.input(static_cast<size_t>(schema.output_type_of));
    return input == kNoValue ? schema.output_otherwise : scope.graph().TypeOf(input).element;
  }

  static Error InSubgraph(Error error, const Node& node) {
    error.place = Describe(node) + (error.place.empty() ? "" : ", " + error.place);
    return error;
  }

  // The output's type: that of the inputs its schema ties it to, the only one possible, or what was inferred.
  static ValueType TypeOfOutput(const SchemaView& schema, size_t slot, const ValueType& inferred,
                                const TypeBindings& bindings) {
    const size_t formal = std::min(slot, schema.ours->outputs.size() - 1);
    const AllowedTypes& allowed = (*schema.outputs)[formal];
    if (allowed.homogeneous) {
      const auto bound = bindings.find(schema.ours->outputs[formal].type);
      if (bound != bindings.end()) {
        const bool more = !bound->second.other.empty() && !inferred.other.empty();
        return WithoutShape(more ? inferred : bound->second);
      }
    }
    if (allowed.single()) return {allowed.only(), std::nullopt, ""};
    return WithoutShape(inferred);
  }

  Status SetOutput(Scope& scope, const Node& node, const SchemaView& schema, size_t slot, const ValueType& inferred,
                   const TypeBindings& bindings) {
    if (schema.ours->outputs.empty()) return {};
    Value& value = scope.graph().value(node.outputs[slot]);
    ValueType type = TypeOfOutput(schema, slot, inferred, bindings);
    if (const DataType element = OutputElement(scope, node, *schema.ours);
        slot == 0 && schema.onnx == nullptr && element != DataType::kUndefined) {
      type = {element, std::nullopt, ""};
    }
    if (Known(type) && Known(value.type) && !SameKind(type, value.type)) {
      return Error{Code::kNodeType,
                   "output '" + value.name + "' is declared " + KindName(value.type) + ", but " + node.Op() +
                       " gives " + KindName(type),
                   Describe(node), "Correct the declared type, or insert a conversion."};
    }
    if (!Known(value.type) || !type.other.empty()) {
      value.type.element = type.element;
      value.type.other = type.other;
    }
    if (inferred.shape && value.type.other.empty()) MergeShape(*inferred.shape, &value.type.shape);
    scope.TypeChanged(node.outputs[slot]);
    return {};
  }

  // Subgraphs that the node's inference function did not ask for.
  Status ResolveRemaining(const Graph& graph, const Node& node) {
    for (Graph* subgraph : graph.Subgraphs(node)) {
      if (resolved_.contains(subgraph)) continue;
      const Status status = ResolveGraph(*subgraph);
      if (!status.ok()) return InSubgraph(status.error(), node);
    }
    return {};
  }

  const ExternalSchemas& external_;
  std::map<const OpSchema*, std::pair<std::vector<AllowedTypes>, std::vector<AllowedTypes>>> external_types_;
  std::set<const Graph*> resolved_;
};

// Of this graph and its subgraphs, innermost first.
void DropUnused(Graph& graph) {
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    if (graph.node(index) == nullptr) continue;
    for (Graph* subgraph : graph.Subgraphs(*graph.node(index))) DropUnused(*subgraph);
  }
  graph.DropUnused();
}

}  // namespace

Status Resolve(Graph& graph, const ExternalSchemas& schemas) {
  try {
    Resolver resolver(schemas);
    RULERUN_RETURN_IF_ERROR(resolver.ResolveGraph(graph));
    DropUnused(graph);
    return {};
  } catch (const std::exception& error) {
    return Error{Code::kBadGraph, error.what(), "", "Check the model with onnx.checker."};
  }
}

Status ResolveNode(Graph& graph, NodeIndex node, const ExternalSchemas& schemas) {
  try {
    Scope scope(graph);
    return Resolver(schemas).ResolveNode(scope, *graph.node(node));
  } catch (const std::exception& error) {
    return Error{Code::kBadGraph, error.what(), "", ""};
  }
}

}  // namespace rulerun
