#include "engine/passes/layout/nchwc.h"

#include <algorithm>

#include "engine/passes/layout/filter_layout.h"
#include "engine/passes/layout/nchwc_graph.h"
#include "engine/passes/tools.h"

namespace rulerun {

void Nchwc::Visit(NodeIndex index) {
  const Node& node = edit_.node(index);
  const NchwcRow* row = table_.RowOf(node);
  if (row == nullptr || (row->converted && (node.inputs.empty() || HasInputEdge(node)))) return;
  edit_.SetSources(node.origins);
  const size_t blocked = blocked_.size();
  const size_t removed = removed_.size();
  (this->*row->handle)(index, *row);
  if (blocked_.size() == blocked && removed_.size() == removed) return;
  PassEvent event = edit_.TakeEvent("blocked the channels of '" + NameOf(node) + "' by " + std::to_string(block_));
  for (size_t i = removed; i < removed_.size(); ++i) event.removed.push_back(edit_.node(removed_[i]).name);
  events_.push_back(std::move(event));
}

bool Nchwc::Finish() {
  for (const NodeIndex index : removed_) edit_.RemoveNode(index);
  edit_.TakeEvent("");  // told when they were replaced
  for (const auto& [plain, blocked] : blocked_) {
    if (blocked.remaining <= 0) continue;
    edit_.SetSources(edit_.node(blocked.node).origins);
    AddReorder(table_.reorder_output, blocked.value, plain, {{"channels", blocked.channels}});
    events_.push_back(edit_.TakeEvent("joined the channels of '" + edit_.graph().value(plain).name + "'"));
  }
  return !removed_.empty();
}

// --- what is blocked

Nchwc::Blocked* Nchwc::Find(ValueId id) {
  const auto found = blocked_.find(id);
  return found == blocked_.end() ? nullptr : &found->second;
}

std::vector<Nchwc::Blocked*> Nchwc::FindAll(const Node& node) {
  std::vector<Blocked*> inputs;
  for (const ValueId id : node.inputs) {
    Blocked* blocked = Find(id);
    if (blocked == nullptr) return {};
    inputs.push_back(blocked);
  }
  return inputs;
}

bool Nchwc::HasInputEdge(const Node& node) const {
  const auto is_edge = [this](ValueId id) { return edit_.graph().Producer(id) != nullptr && !cut_.contains(id); };
  return std::any_of(node.inputs.begin(), node.inputs.end(), is_edge) ||
         std::any_of(node.implicit.begin(), node.implicit.end(), is_edge);
}

bool Nchwc::CanTakeIn(const Blocked& blocked) const {
  const Node& node = edit_.node(blocked.node);
  return IsConv(node) && blocked.uses == 1 && !node.attributes.contains("activation");
}

const Tensor* Nchwc::FloatVector(ValueId id, int64_t size) const {
  const Tensor* constant = edit_.graph().Constant(id);
  const bool fits = constant != nullptr && constant->type() == DataType::kFloat && constant->dims() == Dims{size};
  return fits ? constant : nullptr;
}

// --- making blocked values

int Nchwc::CutOutputs(NodeIndex index) {
  const Node& node = edit_.node(index);
  for (const ValueId id : node.outputs) cut_.insert(id);
  return edit_.graph().OutputEdgeCount(node) + (edit_.graph().ProducesGraphOutput(node) ? 1 : 0);
}

void Nchwc::SetBlockedType(ValueId plain, ValueId blocked) {
  std::optional<Shape> shape = edit_.ShapeOf(plain);
  if (shape && shape->size() == 4 && (*shape)[1].known()) (*shape)[1].size = RoundUp((*shape)[1].size, block_);
  edit_.graph().value(blocked).type = {DataType::kFloat, std::move(shape), ""};
}

void Nchwc::SetBlocked(NodeIndex index, NodeIndex made, int64_t channels, const SizeSource& sizes) {
  const int uses = CutOutputs(index);
  const ValueId plain = edit_.Output(index);
  const ValueId value = edit_.graph().AddValue(edit_.graph().UniqueValueName("reorder"));
  SetBlockedType(plain, value);
  edit_.graph().SetOutput(made, 0, value);
  blocked_[plain] = {made, value, uses, uses, channels, sizes};
}

void Nchwc::TakeIn(NodeIndex index, const Blocked& blocked) {
  Blocked taken = blocked;
  taken.uses = taken.remaining = CutOutputs(index);
  AddOrigins(edit_.node(index).origins, edit_.node(blocked.node).origins);
  blocked_[edit_.Output(index)] = taken;
  Remove(index);
}

NodeIndex Nchwc::AddBlocked(NodeIndex index, const std::string& op, const std::string& suffix,
                            std::vector<ValueId> inputs, AttributeMap attributes) {
  const std::string name = edit_.graph().UniqueNodeName(edit_.graph().value(edit_.Output(index)).name + suffix);
  return edit_.AddNamedNode(op, name, name, std::move(inputs), {kNoValue}, std::move(attributes));
}

Nchwc::SizeSource Nchwc::ReadBlocked(NodeIndex index, NodeIndex made, ValueId id, const Tensor* filter) {
  Blocked* input = Find(id);
  if (input == nullptr) {
    ReorderInput(made, id);
    return SizeSource::Of(edit_.Output(index));
  }
  edit_.SetInput(made, 0, input->value);
  --input->remaining;
  return SizesBehind(edit_.node(index), input->sizes, filter);
}

void Nchwc::ReorderInput(NodeIndex made, ValueId id) {
  const auto known = reordered_inputs_.find(id);
  if (known != reordered_inputs_.end()) return edit_.SetInput(made, 0, known->second);
  Graph& graph = edit_.graph();
  const ValueId value = graph.AddValue(graph.UniqueValueName("reorder"));
  SetBlockedType(id, value);
  reordered_inputs_[id] = value;
  ValueId source = id;
  AttributeMap attributes;
  if (last_transposed_ == id && last_transpose_ != kNoNode) {
    // The Transpose in front is done on the way.
    source = edit_.node(last_transpose_).input(0);
    attributes["channels_last"] = int64_t{1};
    CutOutputs(last_transpose_);
    Remove(last_transpose_);
    last_transpose_ = kNoNode;
  }
  AddReorder(table_.reorder_input, source, value, std::move(attributes));
  edit_.SetInput(made, 0, value);
}

void Nchwc::AddReorder(const std::string& op, ValueId from, ValueId to, AttributeMap attributes) {
  const std::string base = ParseOpName(op).op_type;
  edit_.AddNamedNode(op, edit_.graph().UniqueNodeName(base), base, {from}, {to}, std::move(attributes));
}

// --- the pass

namespace {

class Runner {
 public:
  Runner(const PassScope& scope, const NchwcTable& table, int64_t block, PassResult& result)
      : scope_(scope), table_(table), block_(block), result_(result) {
    provider_ = scope.providers.empty() ? scope.target->provider : scope.providers.front();
  }

  void Run(Graph& graph) {
    Editor edit(graph, scope_.rules->schemas, provider_);
    Nchwc nchwc(edit, table_, block_, result_.events);
    for (const NodeIndex index : TopologicalOrder(graph)) {
      for (Graph* subgraph : graph.Subgraphs(edit.node(index))) Run(*subgraph);
      if (!graph.Subgraphs(edit.node(index)).empty()) graph.RefreshImplicit(index);
      if (edit.node(index).provider == provider_) nchwc.Visit(index);
    }
    result_.modified = nchwc.Finish() || result_.modified;
  }

 private:
  const PassScope& scope_;
  const NchwcTable& table_;
  int64_t block_;
  PassResult& result_;
  std::string provider_;
};

}  // namespace

Result<PassResult> RunNchwc(const PassScope& scope) {
  RULERUN_ASSIGN(const NchwcTable table, ReadNchwcTable(scope.table));
  PassResult result;
  const int64_t block = scope.target->Lookup(table.block).value_or(0);
  if (block > 1) Runner(scope, table, block, result).Run(*scope.graph);
  return result;
}

}  // namespace rulerun
