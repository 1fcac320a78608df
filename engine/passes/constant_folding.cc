#include <algorithm>
#include <limits>

#include "engine/base/codes.h"
#include "engine/graph/resolve.h"
#include "engine/passes/determinism.h"
#include "engine/passes/inline_branch.h"
#include "engine/passes/kernel_table.h"
#include "engine/passes/passes.h"
#include "engine/passes/result_size.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

constexpr char kUnknownSize[] = "unknown-size";  // of `faults`: not folded, as the size of the result is not known

struct FoldingTable {
  Determinism deterministic;
  ResultSize sizes;
  int64_t max_bytes = 0;
  std::string shape;   // the operator that gives the sizes of its input
  std::string branch;  // the operator that runs one of two subgraphs
  OpNames kept;        // not folded, so that units stay whole
  OpNames unit_ends;
  PassFaults faults;
};

bool IsSet(const PassScope& scope, const std::string& option) {
  return scope.target != nullptr && scope.target->Lookup(option).value_or(0) != 0;
}

Result<FoldingTable> ReadTable(const PassScope& scope) {
  RULERUN_ASSIGN(const Table table, Table::Read(scope, "constant-folding"));
  FoldingTable result;
  RULERUN_ASSIGN(result.deterministic, Determinism::Read(table));
  RULERUN_ASSIGN(result.sizes, ResultSize::Read(table));
  RULERUN_ASSIGN(result.max_bytes, table.Int("max_bytes"));
  RULERUN_ASSIGN(result.shape, table.Text("shape"));
  RULERUN_ASSIGN(result.branch, table.Text("branch"));
  RULERUN_ASSIGN(const std::string unless, table.Text("unless_option"));
  RULERUN_ASSIGN(const std::string and_not, table.Text("and_not_option"));
  RULERUN_ASSIGN(result.unit_ends, table.Ops("unless_between"));
  RULERUN_ASSIGN(result.faults, table.Faults({kUnknownSize}));
  if (!IsSet(scope, unless) || IsSet(scope, and_not)) {
    RULERUN_ASSIGN(result.kept, table.Ops("keep"));
  }
  return result;
}

class Folder {
 public:
  Folder(const PassScope& scope, const FoldingTable& table, const KernelTable& kernels)
      : scope_(scope), table_(table), kernels_(kernels) {}

  Status Run(Graph& graph) {
    bool folded = false;
    for (const NodeIndex index : TopologicalOrder(graph)) {
      if (graph.node(index) == nullptr) continue;
      const std::vector<Graph*> subgraphs = graph.Subgraphs(*graph.node(index));
      for (Graph* subgraph : subgraphs) RULERUN_RETURN_IF_ERROR(Run(*subgraph));
      // What was folded may tell more about the nodes behind it.
      if (folded && subgraphs.empty()) RULERUN_RETURN_IF_ERROR(ResolveNode(graph, index, scope_.rules->schemas));
      folded = Visit(graph, index) || folded;
    }
    result_.modified = result_.modified || folded;
    return {};
  }

  PassResult TakeResult() { return std::move(result_); }

 private:
  // Whether the node is gone.
  bool Visit(Graph& graph, NodeIndex index) {
    const Node& node = *graph.node(index);
    if (node.op_type == table_.branch) return FoldBranch(graph, index);
    if (node.op_type == table_.shape) return FoldShape(graph, node);
    if (!Foldable(graph, node) || !HasConstantInputs(graph, node)) return false;
    if (table_.kept.contains(node.Op()) && !IsInFoldableUnit(graph, node)) return false;
    return FoldConstant(graph, node);
  }

  bool FoldBranch(Graph& graph, NodeIndex index) {
    const Node& node = *graph.node(index);
    const Tensor* condition = graph.Constant(node.input(0));
    if (condition == nullptr || condition->count() != 1 || condition->type() != DataType::kBool) return false;
    const char* branch = ElementAsInt(*condition, 0) != 0 ? "then_branch" : "else_branch";
    PassEvent event;
    event.what = "the condition of '" + NameOf(node) + "' is constant: '" + branch + "' takes its place";
    event.sources = node.origins;
    event.removed = {NameOf(node)};
    auto created = InlineBranch(graph, index, branch);
    if (!created.ok()) return Decline(graph, index, created.error().message);
    event.created = std::move(created).value();
    result_.events.push_back(std::move(event));
    return true;
  }

  bool FoldShape(Graph& graph, const Node& node) {
    if (node.input(0) == kNoValue || node.output(0) == kNoValue) return false;
    const auto sizes = Static(graph.TypeOf(node.input(0)).shape);
    if (!sizes) return false;
    const auto rank = static_cast<int64_t>(sizes->size());
    const auto clamp = [rank](int64_t at) { return std::clamp(at < 0 ? at + rank : at, int64_t{0}, rank); };
    const int64_t start = clamp(IntOr(node.attributes, "start", 0));
    const int64_t end = clamp(IntOr(node.attributes, "end", std::numeric_limits<int64_t>::max()));
    std::vector<int64_t> taken;
    if (start < end) taken.assign(sizes->begin() + start, sizes->begin() + end);
    Replace(graph, node, {Tensor::Vector(taken)});
    return true;
  }

  bool Foldable(const Graph& graph, const Node& node) const {
    return Serves(scope_, node.provider) && table_.deterministic.Has(node) && graph.Subgraphs(node).empty();
  }

  static bool HasConstantInputs(const Graph& graph, const Node& node) {
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId id) { return id == kNoValue || graph.Constant(id) != nullptr; });
  }

  // The node and what follows up to the end of its unit will all be folded.
  bool IsInFoldableUnit(const Graph& graph, const Node& node) const {
    if (!Lone(graph, node, 1)) return false;
    const Node& middle = OnlyReader(graph, node);
    if (middle.inputs.size() != 1 || middle.outputs.size() != 1 || !Lone(graph, middle, 1)) return false;
    const Node& end = OnlyReader(graph, middle);
    return table_.unit_ends.contains(end.Op()) && Foldable(graph, middle) && Foldable(graph, end);
  }

  static const Node& OnlyReader(const Graph& graph, const Node& node) {
    for (const ValueId output : node.outputs) {
      if (output != kNoValue && !graph.value(output).uses.empty()) {
        return *graph.node(graph.value(output).uses.front().node);
      }
    }
    return node;  // not reached: the caller has seen a reader
  }

  bool FoldConstant(Graph& graph, const Node& node) {
    const auto bytes = table_.sizes.Of(graph, node);
    if (!bytes) {
      Decline(graph, node.index, "the size of its result is not known beforehand");
      result_.events.back().faults = FaultsAt(table_.faults, kUnknownSize, node);
      return false;
    }
    if (*bytes > table_.max_bytes) return Decline(graph, node.index, "its result would be too large");
    if (std::any_of(node.outputs.begin(), node.outputs.end(),
                    [&](ValueId id) { return id != kNoValue && !graph.TypeOf(id).other.empty(); })) {
      return Decline(graph, node.index, "its result is no tensor");
    }
    if (!kernels_.Has(graph, node, scope_.rules->schemas)) {
      return Decline(graph, node.index, "the platform has no kernel for " + Described(graph, node));
    }
    auto results = Compute(graph, node);
    if (!results.ok()) return Decline(graph, node.index, results.error().message);
    Replace(graph, node, std::move(results).value());
    return true;
  }

  Result<std::vector<Tensor>> Compute(const Graph& graph, const Node& node) const {
    std::vector<const Tensor*> inputs;
    for (const ValueId input : node.inputs) inputs.push_back(input == kNoValue ? nullptr : graph.Constant(input));
    size_t count = node.outputs.size();
    while (count > 0 && node.outputs[count - 1] == kNoValue) --count;
    RULERUN_ASSIGN(std::vector<Tensor> results, RunOnce(*scope_.kernels, node.domain, node.op_type, node.since_version,
                                                        node.attributes, inputs, count));
    for (size_t i = 0; i < count; ++i) {
      if (node.outputs[i] != kNoValue && (i >= results.size() || results[i].empty())) {
        return Error{Code::kKernelLimit, "its kernel gave no result " + std::to_string(i), "", ""};
      }
    }
    return results;
  }

  // The node's results become initializers of the same names; what only fed the node goes too.
  void Replace(Graph& graph, const Node& node, std::vector<Tensor> results) {
    PassEvent event;
    event.what = "folded '" + NameOf(node) + "'";
    event.sources = node.origins;
    const NodeIndex index = node.index;
    const std::vector<ValueId> outputs = node.outputs;
    for (const NodeIndex producer : InputProducers(graph, node)) {
      if (graph.node(producer) != nullptr) PruneUp(graph, producer, event.removed);
    }
    event.removed.insert(event.removed.begin(), NameOf(node));
    graph.RemoveNode(index);
    for (size_t i = 0; i < outputs.size() && i < results.size(); ++i) {
      if (outputs[i] == kNoValue) continue;
      const std::string name = graph.value(outputs[i]).name;
      graph.AddInitializer(name, std::move(results[i]));
      event.created.push_back(name);
    }
    result_.events.push_back(std::move(event));
  }

  static std::vector<NodeIndex> InputProducers(const Graph& graph, const Node& node) {
    std::vector<NodeIndex> producers;
    for (const ValueId input : node.inputs) {
      if (const Node* producer = graph.Producer(input)) producers.push_back(producer->index);
    }
    return producers;
  }

  bool Decline(const Graph& graph, NodeIndex index, const std::string& why) {
    const Node& node = *graph.node(index);
    PassEvent event;
    event.what = "not folded '" + NameOf(node) + "' (" + node.Op() + "): " + why;
    event.changed = false;
    event.sources = node.origins;
    result_.events.push_back(std::move(event));
    return false;
  }

  const PassScope& scope_;
  const FoldingTable& table_;
  const KernelTable& kernels_;
  PassResult result_;
};

}  // namespace

Result<PassResult> ConstantFolding(const PassScope& scope) {
  RULERUN_ASSIGN(const FoldingTable table, ReadTable(scope));
  RULERUN_ASSIGN(const KernelTable kernels, KernelTable::Read(scope));
  Folder folder(scope, table, kernels);
  RULERUN_RETURN_IF_ERROR(folder.Run(*scope.graph));
  RefreshOuterReads(*scope.graph);
  return folder.TakeResult();
}

}  // namespace rulerun
