// Moves quantization through operators that only move data: Q towards the inputs, DQ towards the outputs, so that more
// operators stand between a DQ and a Q. Only the first input and output of an operator are looked at.
#include <algorithm>
#include <deque>
#include <optional>

#include "engine/base/codes.h"
#include "engine/graph/resolve.h"
#include "engine/passes/passes.h"
#include "engine/passes/table.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

constexpr char kInvalid[] = "invalid";  // of `faults`: a node that it makes is

struct PropagationTable {
  OpNames quantize;
  OpNames dequantize;
  OpVersions movable;
  std::vector<std::string> attributes;        // of a Q that its new DQ takes over
  int64_t output_type_since = 0;              // from this version on a new Q says its type
  std::optional<std::set<DataType>> types;    // of data that may be moved; absent: any
  std::string before, between, after, q, dq;  // names
  PassFaults faults;
};

// Reads of one value: by a node, or as a graph output.
struct Reads {
  ValueId value = kNoValue;
  std::vector<Use> uses;
  bool output = false;

  size_t size() const { return uses.size() + (output ? 1 : 0); }
};

// What the new pair is made of.
struct Pair {
  std::string q_op, dq_op, domain;
  ValueId scale = kNoValue;
  ValueId zero_point = kNoValue;
  AttributeMap q_attributes, dq_attributes;
  std::vector<std::string> origins;
};

class Propagator {
 public:
  Propagator(const PassScope& scope, const PropagationTable& table) : scope_(scope), table_(table) {}

  Status Run(Graph& graph) {
    const std::vector<NodeIndex> order = TopologicalOrder(graph);
    for (const NodeIndex index : order) {
      for (Graph* subgraph : graph.Subgraphs(*graph.node(index))) RULERUN_RETURN_IF_ERROR(Run(*subgraph));
    }
    for (const NodeIndex index : order) RULERUN_RETURN_IF_ERROR(MoveBackward(graph, index));
    for (const NodeIndex index : order) RULERUN_RETURN_IF_ERROR(MoveForward(graph, index));
    return {};
  }

  PassResult TakeResult() { return std::move(result_); }

 private:
  bool Moves(const Graph& graph, const Node& node, const OpNames& ops) const {
    if (!ops.contains(node.Op()) || !Serves(scope_, node.provider)) return false;
    const auto constant_scalar = [&](ValueId id) { return IsScalar(graph, id) && graph.Constant(id) != nullptr; };
    if (!constant_scalar(node.input(1))) return false;
    return node.input(2) == kNoValue || constant_scalar(node.input(2));
  }

  // The counterpart of a Q or DQ has the same domain and the same place in its list.
  static std::string Counterpart(const Node& node, const OpNames& others) {
    for (const std::string& other : others) {
      const std::string domain = node.domain.empty() ? "" : node.domain + ".";
      if (StartsWithDomain(other, domain)) return other.substr(domain.size());
    }
    return "";
  }

  static bool StartsWithDomain(const std::string& op, const std::string& domain) {
    return op.compare(0, domain.size(), domain) == 0 && op.find('.', domain.size()) == std::string::npos;
  }

  static Pair PairOf(const Node& node) {
    Pair pair;
    pair.domain = node.domain;
    pair.scale = node.input(1);
    pair.zero_point = node.input(2);
    pair.origins = node.origins;
    return pair;
  }

  // --- towards the inputs

  // The read of the node's first input, if the pair may go there: nobody else reads that value.
  static std::optional<Reads> ReadBefore(const Graph& graph, const Node& node) {
    const ValueId value = node.input(0);
    if (value == kNoValue) return std::nullopt;
    const Reads read{value, {{node.index, 0}}, false};
    if (graph.Producer(value) == nullptr) return graph.value(value).graph_input ? std::optional(read) : std::nullopt;
    if (graph.value(value).graph_output || graph.UseCount(value) != 1) return std::nullopt;
    return read;
  }

  Status MoveBackward(Graph& graph, NodeIndex index) {
    const Node* node = graph.node(index);
    if (node == nullptr || !Moves(graph, *node, table_.quantize)) return {};
    Pair pair = PairOf(*node);
    pair.q_op = node->op_type;
    pair.dq_op = Counterpart(*node, table_.dequantize);
    pair.q_attributes = node->attributes;
    for (const std::string& name : table_.attributes) {
      const auto found = node->attributes.find(name);
      if (found != node->attributes.end()) pair.dq_attributes.insert(*found);
    }
    const std::optional<Reads> own = ReadBefore(graph, *node);
    NodeIndex source = own ? ProducerOf(graph, own->value) : kNoNode;
    while (source != kNoNode && Contains(table_.movable, *graph.node(source))) {
      const std::optional<Reads> read = ReadBefore(graph, *graph.node(source));
      if (!read) return {};
      source = ProducerOf(graph, read->value);
      if (source != kNoNode && table_.dequantize.contains(graph.node(source)->Op())) return {};
      RULERUN_RETURN_IF_ERROR(Insert(graph, *read, pair));
    }
    return {};
  }

  static NodeIndex ProducerOf(const Graph& graph, ValueId value) { return graph.value(value).producer; }

  // --- towards the outputs

  static Reads ReadsAfter(const Graph& graph, const Node& node) {
    const ValueId value = node.output(0);
    if (value == kNoValue) return {};
    return {value, graph.value(value).uses, graph.value(value).graph_output};
  }

  Status MoveForward(Graph& graph, NodeIndex index) {
    const Node* node = graph.node(index);
    if (node == nullptr || !Moves(graph, *node, table_.dequantize) || !Lone(graph, *node, 1)) return {};
    // A weight stays where it is: other stages change its type and would not see the new Q.
    if (graph.Constant(node->input(0)) != nullptr) return {};
    const DataType type = graph.TypeOf(node->input(0)).element;
    if (table_.types && !table_.types->contains(type)) return {};
    Pair pair = PairOf(*node);
    pair.q_op = Counterpart(*node, table_.quantize);
    pair.dq_op = node->op_type;
    if (scope_.rules->refuse_invalid_replacement && !Gives(graph, pair, type)) return {};
    pair.q_attributes = node->attributes;
    pair.dq_attributes = node->attributes;
    if (node->since_version >= table_.output_type_since && type != DataType::kUndefined) {
      pair.q_attributes["output_dtype"] = static_cast<int64_t>(type);
    }
    const Reads reads = ReadsAfter(graph, *node);
    return reads.size() == 1 ? MoveForward(graph, reads, pair) : Status();
  }

  // Whether the new Q may give this type; it need not take all that its counterpart does.
  bool Gives(const Graph& graph, const Pair& pair, DataType type) const {
    const OpSchema* schema = FindSchema(scope_.rules->schemas, pair.domain, pair.q_op, graph.Opset(pair.domain));
    if (schema == nullptr || schema->outputs.empty()) return true;
    const auto types = schema->types.find(schema->outputs.front().type);
    return types == schema->types.end() ||
           std::find(types->second.begin(), types->second.end(), type) != types->second.end();
  }

  // Breadth first, from one value's reads to those behind the nodes that read it.
  Status MoveForward(Graph& graph, const Reads& start, const Pair& pair) {
    std::deque<Reads> open;
    PushBehind(graph, start, open);
    while (!open.empty()) {
      const Reads reads = std::move(open.front());
      open.pop_front();
      if (reads.size() == 0 || EndsInQuantize(graph, reads) || graph.UsedBySubgraph(reads.value)) continue;
      RULERUN_RETURN_IF_ERROR(Insert(graph, reads, pair));
      PushBehind(graph, reads, open);
    }
    return {};
  }

  void PushBehind(const Graph& graph, const Reads& reads, std::deque<Reads>& open) const {
    for (const Use& use : reads.uses) {
      const Node& reader = *graph.node(use.node);
      if (Contains(table_.movable, reader)) open.push_back(ReadsAfter(graph, reader));
    }
  }

  bool EndsInQuantize(const Graph& graph, const Reads& reads) const {
    for (const Use& use : reads.uses) {
      if (table_.quantize.contains(graph.node(use.node)->Op())) return true;
    }
    return false;
  }

  // --- the new nodes

  // One Q behind the value, and a DQ for each of its reads.
  Status Insert(Graph& graph, const Reads& reads, const Pair& pair) {
    const std::string base = graph.value(reads.value).name;
    const ValueType type = graph.value(reads.value).type;
    PassEvent event;
    event.what = "quantized '" + base + "', which the nodes around it only move";
    event.sources = pair.origins;
    const Node* source = graph.Producer(reads.value);
    ValueId before = reads.value;
    if (source != nullptr) before = graph.AddValue(graph.UniqueValueName(Fill(table_.before, {{"value", base}})), type);
    const ValueId between = graph.AddValue(graph.UniqueValueName(Fill(table_.between, {{"value", base}})));
    if (source != nullptr) graph.SetOutput(source->index, graph.value(reads.value).producer_slot, before);
    const Node& q = AddNode(graph, pair, true, before, between, Fill(table_.q, {{"value", base}}));
    event.created.push_back(q.name);
    event.made_from = {{graph.value(between).name, base}};
    if (before != reads.value) event.made_from.emplace_back(graph.value(before).name, base);
    RULERUN_RETURN_IF_ERROR(Check(graph, q, event));
    for (size_t k = 0; k < reads.size(); ++k) {
      const std::vector<std::pair<std::string_view, std::string>> words = {{"value", base},
                                                                           {"k", k == 0 ? "" : std::to_string(k)}};
      const bool to_output = k == reads.uses.size();
      const ValueId after =
          to_output ? reads.value : graph.AddValue(graph.UniqueValueName(Fill(table_.after, words)), type);
      const Node& dq = AddNode(graph, pair, false, between, after, Fill(table_.dq, words));
      event.created.push_back(dq.name);
      if (!to_output) event.made_from.emplace_back(graph.value(after).name, base);
      if (!to_output) graph.SetInput(reads.uses[k].node, reads.uses[k].slot, after);
      RULERUN_RETURN_IF_ERROR(Check(graph, dq, event));
    }
    result_.modified = true;
    result_.events.push_back(std::move(event));
    return {};
  }

  static Node& AddNode(Graph& graph, const Pair& pair, bool quantize, ValueId from, ValueId to,
                       const std::string& name) {
    Node node;
    node.name = graph.UniqueNodeName(name);
    node.op_type = quantize ? pair.q_op : pair.dq_op;
    node.domain = pair.domain;
    node.doc = "Moved here from a neighbour";
    node.attributes = quantize ? pair.q_attributes : pair.dq_attributes;
    node.inputs = {from, pair.scale};
    if (pair.zero_point != kNoValue) node.inputs.push_back(pair.zero_point);
    node.outputs = {to};
    node.origins = pair.origins;
    return graph.AddNode(std::move(node));
  }

  // The counterpart need not take the types of the original: ONNX Runtime then refuses the model.
  Status Check(Graph& graph, const Node& node, const PassEvent& event) {
    const Status valid = ResolveNode(graph, node.index, scope_.rules->schemas);
    if (valid.ok()) return {};
    Error error = valid.error();
    error.code = Code::kInvalidRewrite;
    error.message = "moving quantization makes a node that is not valid: " + error.message;
    result_.events.push_back(event);
    result_.events.back().faults = FaultsAt(table_.faults, kInvalid, node);
    result_.refused = error;
    return error;
  }

  const PassScope& scope_;
  const PropagationTable& table_;
  PassResult result_;
};

Status ReadNames(const Table& table, PropagationTable& result) {
  RULERUN_ASSIGN(const Table names, table.Sub("names"));
  RULERUN_ASSIGN(result.before, names.Text("before"));
  RULERUN_ASSIGN(result.between, names.Text("between"));
  RULERUN_ASSIGN(result.after, names.Text("after"));
  RULERUN_ASSIGN(result.q, names.Text("q"));
  RULERUN_ASSIGN(result.dq, names.Text("dq"));
  return {};
}

Result<PropagationTable> ReadTable(const PassScope& scope) {
  RULERUN_ASSIGN(const Table table, Table::Read(scope, "qdq-propagation"));
  PropagationTable result;
  RULERUN_ASSIGN(result.quantize, table.Ops("quantize"));
  RULERUN_ASSIGN(result.dequantize, table.Ops("dequantize"));
  RULERUN_ASSIGN(result.movable, table.Versions("movable"));
  RULERUN_ASSIGN(result.attributes, table.Names("attributes"));
  RULERUN_ASSIGN(result.output_type_since, table.Int("output_dtype_since"));
  if (table.Find("types") != nullptr) {
    RULERUN_ASSIGN(result.types, table.Types("types"));
  }
  RULERUN_ASSIGN(result.faults, table.Faults({kInvalid}));
  RULERUN_RETURN_IF_ERROR(ReadNames(table, result));
  return result;
}

}  // namespace

Result<PassResult> QdqPropagation(const PassScope& scope) {
  RULERUN_ASSIGN(const PropagationTable table, ReadTable(scope));
  Propagator propagator(scope, table);
  const Status done = propagator.Run(*scope.graph);
  PassResult result = propagator.TakeResult();
  if (!done.ok() && !result.refused) return done.error();
  RefreshOuterReads(*scope.graph);
  return result;
}

}  // namespace rulerun
