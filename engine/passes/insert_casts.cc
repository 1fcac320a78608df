// Nodes with float16 operands that nobody has a kernel for run in float: casts go round them.
#include <algorithm>
#include <map>
#include <optional>

#include "engine/graph/resolve.h"
#include "engine/graph/type_name.h"
#include "engine/passes/duplicate_casts.h"
#include "engine/passes/kernel_table.h"
#include "engine/passes/passes.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

struct CastsTable {
  OpNames casts;
  std::string cast;
  std::string name;    // of a new cast and its value
  std::string prefix;  // what those names begin with
};

class Inserter {
 public:
  Inserter(const PassScope& scope, const CastsTable& table, const KernelTable& kernels)
      : table_(table), kernels_(kernels), schemas_(scope.rules->schemas), provider_(scope.target->provider) {}

  void Run(Graph& graph) {
    ReleaseIsolated(graph);
    std::map<ValueId, ValueId> widened;  // float16 value -> the same in float
    for (const NodeIndex index : TopologicalOrder(graph)) {
      if (NeedsCasts(graph, *graph.node(index))) Surround(graph, *graph.node(index), widened);
      for (Graph* subgraph : graph.Subgraphs(*graph.node(index))) Run(*subgraph);
    }
  }

  PassResult& result() { return result_; }

 private:
  static bool IsHalf(const Graph& graph, ValueId id) {
    return id != kNoValue && graph.TypeOf(id).element == DataType::kFloat16;
  }

  static bool ReadsHalf(const Graph& graph, const Node& node) {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return IsHalf(graph, id); });
  }

  static bool WillBeCast(const Graph& graph, const Node& node) {
    return node.provider.empty() && ReadsHalf(graph, node);
  }

  static bool NeedsCasts(const Graph& graph, const Node& node) {
    return WillBeCast(graph, node) && graph.Subgraphs(node).empty();
  }

  // --- a node that could run in float16, but only between others that cannot

  void ReleaseIsolated(Graph& graph) {
    for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
      Node* node = graph.node(index);
      if (node != nullptr && node->provider == provider_ && IsIsolated(graph, *node)) node->provider.clear();
    }
  }

  bool IsIsolated(const Graph& graph, const Node& node) const {
    if (graph.InputEdgeCount(node) == 0 || !graph.Subgraphs(node).empty() || graph.ProducesGraphOutput(node)) {
      return false;
    }
    const OpSchema* schema = SchemaOf(graph, node, schemas_);
    if (schema == nullptr) return false;
    const std::vector<ValueId> inputs = HalfOperands(graph, *schema, schema->inputs, node.inputs);
    const std::vector<ValueId> outputs = HalfOperands(graph, *schema, schema->outputs, node.outputs);
    if (inputs.empty() || outputs.empty()) return false;
    return HasCastNeighboursOnly(graph, inputs, outputs) && kernels_.HasFor(node, TypesInFloat(graph, node, *schema));
  }

  // The float16 ones; of a list that is one formal parameter only the first, as ONNX Runtime.
  static std::vector<ValueId> HalfOperands(const Graph& graph, const OpSchema& schema,
                                           const std::vector<FormalParameter>& formals,
                                           const std::vector<ValueId>& actual) {
    std::vector<ValueId> operands;
    for (size_t i = 0; i < formals.size() && i < actual.size(); ++i) {
      if (schema.types.contains(formals[i].type) && IsHalf(graph, actual[i])) operands.push_back(actual[i]);
    }
    return operands;
  }

  static bool HasCastNeighboursOnly(const Graph& graph, const std::vector<ValueId>& inputs,
                                    const std::vector<ValueId>& outputs) {
    for (const ValueId input : inputs) {
      const Node* producer = graph.Producer(input);
      if (producer != nullptr && !WillBeCast(graph, *producer)) return false;
    }
    for (const ValueId output : outputs) {
      for (const Use& use : graph.value(output).uses) {
        if (!WillBeCast(graph, *graph.node(use.node))) return false;
      }
    }
    return true;
  }

  // What the node's type variables would stand for.
  static KernelTable::Types TypesInFloat(const Graph& graph, const Node& node, const OpSchema& schema) {
    KernelTable::Types types;
    const auto bind = [&](const std::vector<FormalParameter>& formals, const std::vector<ValueId>& actual) {
      for (size_t i = 0; i < formals.size() && i < actual.size(); ++i) {
        if (actual[i] == kNoValue || !schema.types.contains(formals[i].type)) continue;
        const bool half = IsHalf(graph, actual[i]);
        types[formals[i].type] = half ? std::string(Name(DataType::kFloat)) : TypeName(graph.TypeOf(actual[i]));
      }
    };
    bind(schema.inputs, node.inputs);
    bind(schema.outputs, node.outputs);
    return types;
  }

  // --- the casts

  void Surround(Graph& graph, Node& node, std::map<ValueId, ValueId>& widened) {
    PassEvent event;
    event.what = "no kernel for " + node.Op() + " in float16: '" + NameOf(node) + "' runs in float";
    event.sources = node.origins;
    const std::vector<ValueId> inputs = node.inputs;
    for (size_t slot = 0; slot < inputs.size(); ++slot) {
      if (!IsHalf(graph, inputs[slot])) continue;
      const auto [known, added] = widened.try_emplace(inputs[slot], kNoValue);
      if (added) known->second = AddWidening(graph, node, inputs[slot], event);
      graph.SetInput(node.index, static_cast<int>(slot), known->second);
    }
    node.provider = provider_;
    // Some operators say the type of their result in an attribute.
    if (IntOr(node.attributes, "dtype", 0) == static_cast<int64_t>(DataType::kFloat16)) {
      node.attributes["dtype"] = static_cast<int64_t>(DataType::kFloat);
    }
    const std::vector<ValueId> outputs = node.outputs;
    for (size_t slot = 0; slot < outputs.size(); ++slot) {
      if (IsHalf(graph, outputs[slot])) AddNarrowing(graph, node, static_cast<int>(slot), event);
    }
    result_.modified = true;
    result_.events.push_back(std::move(event));
  }

  ValueId AddWidening(Graph& graph, const Node& node, ValueId half, PassEvent& event) const {
    const std::string name = NameFor(graph, half);
    const ValueId wide = AddValue(graph, name, half);
    AddCast(graph, node, name, half, wide, DataType::kFloat, event);
    return wide;
  }

  void AddNarrowing(Graph& graph, const Node& node, int slot, PassEvent& event) const {
    const ValueId half = node.outputs[static_cast<size_t>(slot)];
    const std::string name = NameFor(graph, half);
    const ValueId wide = AddValue(graph, name, half);
    graph.SetOutput(node.index, slot, wide);
    AddCast(graph, node, name, wide, half, DataType::kFloat16, event);
  }

  std::string NameFor(Graph& graph, ValueId half) const {
    return graph.UniqueNodeName(Fill(table_.name, {{"value", graph.value(half).name}}));
  }

  // The value has the node's name, which is unique among nodes only.
  static ValueId AddValue(Graph& graph, const std::string& name, ValueId half) {
    ValueType type = graph.TypeOf(half);
    type.element = DataType::kFloat;
    return graph.AddValue(graph.Find(name) ? graph.UniqueValueName(name) : name, std::move(type));
  }

  void AddCast(Graph& graph, const Node& of, const std::string& name, ValueId from, ValueId to, DataType type,
               PassEvent& event) const {
    Node cast;
    cast.name = name;
    cast.op_type = table_.cast;
    cast.doc = "Stands between float16 and float";
    cast.attributes["to"] = static_cast<int64_t>(type);
    cast.inputs = {from};
    cast.outputs = {to};
    cast.provider = provider_;
    cast.origins = of.origins;
    event.created.push_back(name);
    graph.AddNode(std::move(cast));
  }

  const CastsTable& table_;
  const KernelTable& kernels_;
  const ExternalSchemas& schemas_;
  const std::string provider_;
  PassResult result_;
};

Result<CastsTable> ReadTable(const PassScope& scope) {
  RULERUN_ASSIGN(const Table table, Table::Read(scope, "insert-casts"));
  CastsTable result;
  RULERUN_ASSIGN(result.casts, table.Ops("cast"));
  RULERUN_ASSIGN(result.cast, table.Text("cast"));
  RULERUN_ASSIGN(result.name, table.Text("name"));
  result.prefix = result.name.substr(0, result.name.find("${"));
  return result;
}

}  // namespace

Result<PassResult> InsertCasts(const PassScope& scope) {
  RULERUN_ASSIGN(const CastsTable table, ReadTable(scope));
  RULERUN_ASSIGN(const KernelTable kernels, KernelTable::Read(scope));
  Inserter inserter(scope, table, kernels);
  inserter.Run(*scope.graph);
  RefreshOuterReads(*scope.graph);
  PassResult& result = inserter.result();
  if (result.modified) RULERUN_RETURN_IF_ERROR(Resolve(*scope.graph, scope.rules->schemas));
  // On every model at every level, casts of the model's own included.
  RemoveDuplicateCasts(*scope.graph, table.casts, table.prefix, result);
  RefreshOuterReads(*scope.graph);
  return std::move(result);
}

}  // namespace rulerun
