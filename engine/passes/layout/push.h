// Moving Transposes (and Unsqueezes) to other places of a graph: the steps that the handlers are made of.
#ifndef RULERUN_ENGINE_PASSES_LAYOUT_PUSH_H_
#define RULERUN_ENGINE_PASSES_LAYOUT_PUSH_H_

#include <string>
#include <unordered_set>
#include <vector>

#include "engine/passes/layout/editor.h"
#include "engine/passes/layout/quantized.h"
#include "engine/passes/layout/transpose_table.h"

namespace rulerun {

class Transposer {
 public:
  Transposer(Editor& edit, const TransposeTable& table) : edit_(edit), table_(table) {}

  Editor& edit() const { return edit_; }
  const TransposeTable& table() const { return table_; }
  int opset() const { return edit_.graph().Opset(""); }

  // Input `slot` reads its value transposed by `perm`: a constant is transposed, a Transpose in front is cancelled or
  // combined, one that exists already is used, or a new one is added.
  void TransposeInput(NodeIndex node, size_t slot, const Perm& perm) const;
  void TransposeInputs(NodeIndex node, const std::vector<size_t>& slots, const Perm& perm) const;
  // A new Transpose by `perm` makes output `slot`, the node a new value. Returns the former output.
  ValueId TransposeOutput(NodeIndex node, size_t slot, const Perm& perm) const;
  void TransposeOutputs(NodeIndex node, const Perm& perm) const;  // all of them, unless `perm` changes nothing

  // The same for an Unsqueeze; the axes count from 0 and start with 0.
  void UnsqueezeInput(NodeIndex node, size_t slot, const Axes& axes) const;
  // Unsqueezes the inputs in front until their rank is `rank`. False, and nothing changed, where one has more or is
  // unknown.
  bool UnsqueezeInputs(NodeIndex node, const std::vector<size_t>& slots, size_t rank) const;
  // Pushes the Transpose by `perm` in front of an Unsqueeze behind it; returns what is read in its place.
  ValueId PushBehindUnsqueeze(NodeIndex unsqueeze, const Axes& axes, const Perm& perm) const;

  // Input `slot`, of rank 1, has its elements picked in that order: a new constant, or a node that gathers.
  void PickInput(NodeIndex node, size_t slot, const std::vector<int64_t>& order) const;
  // Input `slot` reads a new constant instead; the old one goes where nothing else reads it.
  void ReplaceConstant(NodeIndex node, size_t slot, Tensor tensor) const;
  void ReplaceConstant(NodeIndex node, size_t slot, const std::vector<int64_t>& values) const;

 private:
  bool TransposeConstant(NodeIndex node, size_t slot, const Perm& perm) const;
  bool TransposeTranspose(NodeIndex node, size_t slot, const Perm& perm) const;
  bool UnsqueezeConstant(NodeIndex node, size_t slot, const Axes& axes) const;
  bool UnsqueezeSqueeze(NodeIndex node, size_t slot, const Axes& axes) const;
  NodeIndex AddTranspose(ValueId input, const Perm& perm) const;
  // The readers read the output of `node` in place of `value`.
  void PutBetween(NodeIndex node, const Readers& readers, ValueId value) const;
  NodeIndex AddAxesNode(const std::string& op, ValueId input, const Axes& axes) const;

  Editor& edit_;
  const TransposeTable& table_;
};

// One attempt to move a Transpose behind the node that reads it.
struct Push {
  const Transposer& transposer;
  NodeIndex transpose = kNoNode;
  NodeIndex node = kNoNode;
  Perm perm;
  Perm inverse;
  std::vector<size_t> slots;  // of the node, to be transposed together
  std::string provider;       // whose nodes may be changed beside those that nobody runs

  Editor& edit() const { return transposer.edit(); }
  const TransposeTable& table() const { return transposer.table(); }
  Node& target() const { return edit().node(node); }
  // The usual end of a handler: data is transposed back in front of the node and its outputs behind it.
  void TransposeFirst() const { transposer.TransposeInput(node, 0, inverse); }
  void TransposeBack(const Perm& behind) const { transposer.TransposeOutputs(node, behind); }
};

// Values from which, past operators with handlers, a Transpose is reached.
using TowardsTranspose = std::unordered_set<ValueId>;

// The inputs that the row names; omitted ones count where all do.
std::vector<size_t> SlotsOf(const Editor& edit, const HandlerRow& row, const Node& node);

// Whether pushing leaves fewer, or smaller, Transposes.
bool IsCheaper(const Push& push, const HandlerRow& row, const TowardsTranspose& towards);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_LAYOUT_PUSH_H_
