// What pushing a Transpose is worth. Transposes are counted by the dimensions they move that are not 1.
#include <algorithm>

#include "engine/passes/layout/push.h"

namespace rulerun {
namespace {

constexpr int kRankOfUnknown = 5;

int MovedRank(const Editor& edit, ValueId id) {
  const auto& shape = edit.ShapeOf(id);
  if (!shape) return kRankOfUnknown;
  return static_cast<int>(std::count_if(shape->begin(), shape->end(), [](const Dim& dim) { return dim.size != 1; }));
}

bool IsConstant(const Push& push, ValueId id) {
  if (id == kNoValue) return false;
  if (push.edit().graph().Producer(id) == nullptr) return push.edit().graph().Constant(id) != nullptr;
  return IsDequantizedConstant(push.edit(), push.table(), id);
}

// The node that decides what transposing a value costs: the value's producer or, where that is a DQ, the node in front
// of it. A Squeeze there is looked past too, if a Transpose follows: that pair undoes a change to a shared constant.
const Node* DecidingProducer(const Push& push, ValueId id) {
  const Graph& graph = push.edit().graph();
  const Node* producer = graph.Producer(id);
  if (!push.table().IsDequantize(producer)) return producer;
  const Node* before = graph.Producer(producer->input(0));
  if (before == nullptr) return producer;
  if (before->Op() != push.table().squeeze) return before;
  const Node* further = graph.Producer(before->input(0));
  return push.table().IsTranspose(further) ? further : producer;
}

// Everything that reads the Transpose can be pushed through, as far as one can tell.
bool MayVanish(const Push& push, const Node& transpose) {
  const Readers readers = push.edit().ReadersOf(transpose.output(0));
  return readers.all && std::all_of(readers.nodes.begin(), readers.nodes.end(), [&](NodeIndex reader) {
           return push.table().RowOf(push.edit().node(reader)) != nullptr;
         });
}

int InputCost(const Push& push, ValueId id) {
  if (IsConstant(push, id)) return 0;
  const Node* producer = DecidingProducer(push, id);
  if (push.table().IsTranspose(producer)) {
    if (const auto perm = PermOf(*producer)) {
      const bool cancels = *perm == push.perm && MayVanish(push, *producer);
      return cancels ? -MovedRank(push.edit(), id) : 0;
    }
  }
  return MovedRank(push.edit(), id);
}

}  // namespace

bool IsCheaper(const Push& push, const HandlerRow& row, const TowardsTranspose& towards) {
  const Node& node = push.target();
  if (push.table().IsTranspose(&node)) return true;
  int cost = 0;
  for (const size_t slot : push.slots) cost += InputCost(push, node.input(slot));
  if (cost >= 0 || !row.kind->transposes_outputs) return cost < 0;
  // The Transpose behind the node counts too, unless it is likely to cancel further on.
  int behind = 0;
  for (const ValueId output : node.outputs) {
    if (output != kNoValue && towards.contains(output)) return true;
    behind = std::max(behind, MovedRank(push.edit(), output));
  }
  return cost + behind < 0;
}

std::vector<size_t> SlotsOf(const Editor& edit, const HandlerRow& row, const Node& node) {
  std::vector<size_t> slots;
  switch (row.slots.kind) {
    case Slots::Kind::kList:
      return row.slots.list;
    case Slots::Kind::kStepped:
      for (size_t i = row.slots.from; i < node.inputs.size(); i += row.slots.step) slots.push_back(i);
      break;
    case Slots::Kind::kAll:
      for (size_t i = 0; i < node.inputs.size(); ++i) slots.push_back(i);
      break;
    case Slots::Kind::kNonScalar:
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (edit.RankOf(node.inputs[i]) != size_t{0}) slots.push_back(i);
      }
      break;
  }
  return slots;
}

}  // namespace rulerun
