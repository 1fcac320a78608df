// One graph on its way to blocked channels: what is blocked already, and how each kind of node gets there. Internal to
// the pass `nchwc`.
#ifndef RULERUN_ENGINE_PASSES_LAYOUT_NCHWC_GRAPH_H_
#define RULERUN_ENGINE_PASSES_LAYOUT_NCHWC_GRAPH_H_

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/passes/layout/editor.h"
#include "engine/passes/layout/nchwc_table.h"

namespace rulerun {

class Nchwc {
 public:
  Nchwc(Editor& edit, const NchwcTable& table, int64_t block, std::vector<PassEvent>& events)
      : edit_(edit), table_(table), block_(block), events_(events) {}

  // Converts the node if it can be; nodes come in topological order.
  void Visit(NodeIndex index);
  // Reorders blocked values that are still read in the plain layout, removes what was replaced. Whether anything was.
  bool Finish();

  // The handlers of the table. A node that does not qualify is left as it is.
  void Transpose(NodeIndex index, const NchwcRow& row);  // to or from channels-last
  void Convolve(NodeIndex index, const NchwcRow& row);
  void Pool(NodeIndex index, const NchwcRow& row);
  void Multiply(NodeIndex index, const NchwcRow& row);  // two blocked values, or one by a constant per channel
  void Add(NodeIndex index, const NchwcRow& row);
  void Concatenate(NodeIndex index, const NchwcRow& row);  // along the channels
  void Activate(NodeIndex index, const NchwcRow& row);
  void Normalize(NodeIndex index, const NchwcRow& row);  // a depthwise convolution
  void Resize(NodeIndex index, const NchwcRow& row);

 private:
  // Where the sizes of a blocked value come from: values whose size, halved `shifts` times, is this one's. It tells
  // equal shapes where the numbers are not known.
  struct SizeSource {
    std::array<ValueId, 4> dims{};
    std::array<int64_t, 2> shifts{};

    static SizeSource Of(ValueId id) { return {{id, id, id, id}, {0, 0}}; }
    bool SameAs(const SizeSource& other, size_t dim) const {
      return dims[dim] == other.dims[dim] && (dim < 2 || shifts[dim - 2] == other.shifts[dim - 2]);
    }
  };

  // The blocked form of a value.
  struct Blocked {
    NodeIndex node = kNoNode;  // that makes it
    ValueId value = kNoValue;
    int uses = 0;       // of the plain value, at first; as a graph output it has one more
    int remaining = 0;  // of them, not converted yet
    int64_t channels = 0;
    SizeSource sizes;
  };

  Blocked* Find(ValueId id);
  // The blocked forms of all inputs; empty where one has none.
  std::vector<Blocked*> FindAll(const Node& node);
  bool HasInputEdge(const Node& node) const;
  bool IsConv(const Node& node) const { return node.Op() == table_.conv; }
  // A convolution whose only reader is the node at hand, and that has no activation yet.
  bool CanTakeIn(const Blocked& blocked) const;
  const Tensor* FloatVector(ValueId id, int64_t size) const;

  // `made` makes the blocked form of output 0 of `node` (both may be the same node).
  void SetBlocked(NodeIndex node, NodeIndex made, int64_t channels, const SizeSource& sizes);
  // What `node` did is now done by the node that makes `blocked`.
  void TakeIn(NodeIndex node, const Blocked& blocked);
  int CutOutputs(NodeIndex node);  // returns the uses
  // A node for output 0 of `node`, called "<output><suffix>"; its output is set by SetBlocked.
  NodeIndex AddBlocked(NodeIndex node, const std::string& op, const std::string& suffix, std::vector<ValueId> inputs,
                       AttributeMap attributes);
  // Input 0 of `made` reads the blocked form of `id`, a reordered one if need be. Returns the sizes known of the
  // output of `node`.
  SizeSource ReadBlocked(NodeIndex node, NodeIndex made, ValueId id, const Tensor* filter);
  void ReorderInput(NodeIndex made, ValueId id);
  void AddReorder(const std::string& op, ValueId from, ValueId to, AttributeMap attributes);
  SizeSource SizesBehind(const Node& node, const SizeSource& input, const Tensor* filter) const;
  void SetBlockedType(ValueId plain, ValueId blocked);
  void Remove(NodeIndex node) { removed_.push_back(node); }

  struct FilterPlan {
    bool block_inputs = true;
    bool reorder_input = true;
    int64_t group = 1;
  };
  std::optional<FilterPlan> PlanFilter(const Tensor& filter, int64_t group) const;
  ValueId ReorderFilter(ValueId filter, bool block_inputs);
  ValueId PadBias(ValueId bias);

  bool SameShapes(const Node& node, const std::vector<Blocked*>& inputs) const;
  void UseBlockedInputs(NodeIndex index, const std::vector<Blocked*>& inputs);
  bool TakeInSum(NodeIndex index, const std::vector<Blocked*>& inputs);
  bool TakeInGate(NodeIndex index, const NchwcRow& row, Blocked& input);
  void Combine(NodeIndex index, bool adds);
  void AddReshaped(NodeIndex index, const std::vector<Blocked*>& inputs);
  NodeIndex AddReshape(ValueId input, ValueId output, bool split);
  std::optional<std::vector<int64_t>> ScalesOf(const Node& node) const;
  bool ModeFits(const Node& node, bool nearest) const;

  Editor& edit_;
  const NchwcTable& table_;
  int64_t block_;
  std::vector<PassEvent>& events_;
  std::map<ValueId, Blocked> blocked_;  // by the plain value
  std::set<ValueId> cut_;               // plain values whose reads no longer count as edges
  std::vector<NodeIndex> removed_;
  std::map<ValueId, ValueId> reordered_inputs_;  // plain value -> blocked one
  std::map<std::pair<ValueId, bool>, ValueId> filters_;
  std::map<ValueId, ValueId> biases_;
  ValueId split_shape_ = kNoValue;
  ValueId joined_shape_ = kNoValue;
  NodeIndex last_transpose_ = kNoNode;  // from channels-last, with one reader
  ValueId last_transposed_ = kNoValue;
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_LAYOUT_NCHWC_GRAPH_H_
