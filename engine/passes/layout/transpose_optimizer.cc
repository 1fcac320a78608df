#include "engine/passes/layout/transpose_optimizer.h"

#include <algorithm>
#include <iterator>

#include "engine/passes/layout/push.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

class Optimizer {
 public:
  Optimizer(Editor& edit, const TransposeTable& table, std::string provider, std::vector<PassEvent>& events)
      : edit_(edit), table_(table), provider_(std::move(provider)), events_(events), transposer_(edit, table) {}

  bool Run() {
    const std::vector<NodeIndex> order = TopologicalOrder(edit_.graph());
    FindTowards(order);
    bool dequantizes = false;
    bool changed = false;
    for (const NodeIndex index : order) {
      const Node* node = edit_.graph().node(index);
      if (node == nullptr) continue;
      dequantizes = dequantizes || table_.IsDequantize(node);
      if (MayChange(*node)) changed = PushInto(index) || changed;
    }
    // Only where there are node units, constants and units are put in order again.
    if (!dequantizes) return changed;
    changed = ForEachNode([this](NodeIndex index) { return FoldConstant(index); }) || changed;
    return ForEachNode([this](NodeIndex index) { return FixUnit(index); }) || changed;
  }

 private:
  bool MayChange(const Node& node) const { return node.provider.empty() || node.provider == provider_; }

  template <typename Step>
  bool ForEachNode(Step step) {
    bool changed = false;
    for (const NodeIndex index : TopologicalOrder(edit_.graph())) {
      const Node* node = edit_.graph().node(index);
      if (node == nullptr || !MayChange(*node)) continue;
      edit_.SetSources(node->origins);
      const std::string name = NameOf(*node);
      if (!step(index)) continue;
      Record("put in order at '" + name + "'");
      changed = true;
    }
    return changed;
  }

  void Record(std::string what) { events_.push_back(edit_.TakeEvent(std::move(what))); }

  // From back to front: which values lead to a Transpose past operators that hand one on.
  void FindTowards(const std::vector<NodeIndex>& order) {
    for (auto index = order.rbegin(); index != order.rend(); ++index) {
      const Node& node = edit_.node(*index);
      if (table_.IsTranspose(&node)) {
        towards_.insert(node.input(0));
        continue;
      }
      const HandlerRow* row = table_.RowOf(node);
      const bool leads = std::any_of(node.outputs.begin(), node.outputs.end(),
                                     [this](ValueId id) { return id != kNoValue && towards_.contains(id); });
      if (!leads || row == nullptr || !row->kind->transposes_outputs) continue;
      for (const size_t slot : SlotsOf(edit_, *row, node)) towards_.insert(node.input(slot));
    }
  }

  // The first input that a Transpose makes, and that may be had without it, decides.
  bool PushInto(NodeIndex index) {
    const std::vector<ValueId> inputs = edit_.node(index).inputs;
    for (size_t slot = 0; slot < inputs.size(); ++slot) {
      const Node* transpose = edit_.graph().Producer(inputs[slot]);
      if (!table_.IsTranspose(transpose)) continue;
      const auto perm = PermOf(*transpose);
      if (perm && PushThrough(transpose->index, index, slot, *perm)) return true;
    }
    return false;
  }

  bool PushThrough(NodeIndex transpose, NodeIndex index, size_t slot, const Perm& perm) {
    const Node& node = edit_.node(index);
    const HandlerRow* row = table_.RowOf(node);
    if (row == nullptr) return false;
    Push push{transposer_, transpose, index, perm, Inverse(perm), SlotsOf(edit_, *row, node), provider_};
    if (std::find(push.slots.begin(), push.slots.end(), slot) == push.slots.end()) return false;
    if (!AlwaysPushes(node) && !IsCheaper(push, *row, towards_)) return false;
    edit_.SetSources(edit_.node(transpose).origins);
    std::string what = "pushed '" + NameOf(edit_.node(transpose)) + "' past '" + NameOf(node) + "'";
    if (!row->kind->handle(push, *row)) return false;
    Record(std::move(what));
    return true;
  }

  bool AlwaysPushes(const Node& node) const {
    if (provider_.empty() || node.provider != provider_) return false;
    const auto found = table_.always_push.find(node.Op());
    if (found == table_.always_push.end()) return false;
    const AlwaysPush& rule = found->second;
    const DataType type = edit_.TypeOf(node.input(0));
    if (rule.rank && edit_.RankOf(node.input(0)) != rule.rank) return false;
    if (!rule.types.empty() && std::find(rule.types.begin(), rule.types.end(), type) == rule.types.end()) return false;
    return std::all_of(rule.attributes.begin(), rule.attributes.end(), [&](const auto& wanted) {
      const auto has = node.attributes.find(wanted.first);
      return has != node.attributes.end() && SameAttribute(has->second, wanted.second);
    });
  }

  // A Transpose or Squeeze of a constant, as they are left behind where other readers kept the old constant.
  bool FoldConstant(NodeIndex index) {
    const Node& node = edit_.node(index);
    const bool transposes = table_.IsTranspose(&node);
    if (!transposes && node.Op() != table_.squeeze) return false;
    const ValueId input = node.input(0);
    const ValueId output = node.output(0);
    const Tensor* constant = edit_.graph().LocalConstant(input);
    const Readers readers = edit_.ReadersOf(output);
    if (constant == nullptr || readers.nodes.empty()) return false;
    const auto numbers = transposes ? PermOf(node) : AxesOf(edit_, table_, node);
    if (!numbers) return false;
    Tensor folded =
        transposes ? Transposed(*constant, *numbers) : constant->Reshaped(SqueezedDims(constant->dims(), *numbers));
    edit_.ReplaceReads(readers.nodes, output, edit_.AddConstant(table_.constant, std::move(folded)));
    if (!edit_.HasReaders(output)) edit_.RemoveNode(index);
    edit_.RemoveConstantIfUnused(input);
    return true;
  }

  // A Transpose that was stopped inside a node unit gets a unit of its own; an empty unit goes.
  bool FixUnit(NodeIndex index) {
    const Node& node = edit_.node(index);
    if (table_.IsQuantize(&node)) return RemoveEmptyPair(edit_, table_, index);
    if (!table_.IsTranspose(&node)) return false;
    return FixMissingQuantize(node) || MakeUnitBefore(edit_, table_, index);
  }

  bool FixMissingQuantize(const Node& transpose) {
    const Node* dq = edit_.graph().Producer(transpose.input(0));
    if (!table_.IsDequantize(dq)) return false;
    const Readers readers = edit_.ReadersOf(transpose.output(0));
    if (readers.nodes.size() > 1) return false;
    if (readers.nodes.size() == 1 && table_.IsQuantize(&edit_.node(readers.nodes.front()))) return false;
    return MakeUnitBehind(edit_, table_, dq->index);
  }

  Editor& edit_;
  const TransposeTable& table_;
  std::string provider_;
  std::vector<PassEvent>& events_;
  Transposer transposer_;
  TowardsTranspose towards_;
};

Status OptimizeGraph(const PassScope& scope, const TransposeTable& table, Graph& graph, PassResult& result) {
  const std::string provider = scope.providers.empty() ? "" : scope.providers.front();
  Editor edit(graph, scope.rules->schemas, provider);
  result.modified = OptimizeTransposes(edit, table, provider, result.events) || result.modified;
  for (Graph* subgraph : SubgraphsInOrder(graph)) {
    RULERUN_RETURN_IF_ERROR(OptimizeGraph(scope, table, *subgraph, result));
    graph.RefreshImplicit(subgraph->parent_node());
  }
  return {};
}

}  // namespace

bool OptimizeTransposes(Editor& edit, const TransposeTable& table, const std::string& provider,
                        std::vector<PassEvent>& events) {
  const int opset = edit.graph().Opset("");
  if (opset == 0 || opset < table.min_opset || opset > table.max_opset) return false;
  return Optimizer(edit, table, provider, events).Run();
}

std::vector<Graph*> SubgraphsInOrder(const Graph& graph) {
  std::vector<Graph*> subgraphs;
  for (const NodeIndex index : TopologicalOrder(graph)) {
    const std::vector<Graph*> own = graph.Subgraphs(*graph.node(index));
    std::copy(own.begin(), own.end(), std::back_inserter(subgraphs));
  }
  return subgraphs;
}

Result<PassResult> RunTransposeOptimizer(const PassScope& scope) {
  RULERUN_ASSIGN(const TransposeTable table, ReadTransposeTable(scope.table));
  PassResult result;
  RULERUN_RETURN_IF_ERROR(OptimizeGraph(scope, table, *scope.graph, result));
  return result;
}

}  // namespace rulerun
