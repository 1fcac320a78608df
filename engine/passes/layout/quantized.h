// DequantizeLinear and QuantizeLinear in the way of a Transpose: what a pair quantizes by, looking past one to a
// constant or a Transpose, and keeping every node between a DQ and a Q (a node unit).
#ifndef RULERUN_ENGINE_PASSES_LAYOUT_QUANTIZED_H_
#define RULERUN_ENGINE_PASSES_LAYOUT_QUANTIZED_H_

#include <optional>

#include "engine/passes/layout/editor.h"
#include "engine/passes/layout/transpose_table.h"

namespace rulerun {

struct Quantization {
  enum class Mode { kPerTensor, kPerAxis, kBlocked };
  Mode mode = Mode::kPerTensor;
  int64_t axis = 1;  // counted from the front; 1 where it does not matter

  bool supported() const { return mode != Mode::kBlocked; }
};

// std::nullopt where the scale's shape, or the axis, cannot be told.
std::optional<Quantization> QuantizationOf(const Editor& edit, NodeIndex node);

// A DQ whose data may be transposed or unsqueezed in its place.
class DequantizeToPass {
 public:
  DequantizeToPass(Editor& edit, NodeIndex node, Quantization quantization)
      : edit_(edit), node_(node), quantization_(quantization) {}

  NodeIndex node() const { return node_; }
  ValueId data() const { return edit_.node(node_).input(0); }
  // The DQ reads `data` from now on, which is its old data transposed by the inverse of `inverse`, or unsqueezed.
  void SetTransposed(ValueId data, const Perm& inverse);
  void SetUnsqueezed(ValueId data, const Axes& axes);

 private:
  void SetData(ValueId data);

  Editor& edit_;
  NodeIndex node_;
  Quantization quantization_;
};

// The DQ that makes `value`, where its data is a constant of this graph with known readers and `value` has one reader.
// Its `outer` form is satisfied with a constant of an enclosing graph, as the cost estimate is.
std::optional<DequantizeToPass> DequantizeOfConstant(Editor& edit, const TransposeTable& table, ValueId value);
bool IsDequantizedConstant(Editor& edit, const TransposeTable& table, ValueId value);

// DQ -> Transpose (or Unsqueeze) becomes DQ -> Transpose -> Q -> DQ, with the parameters of the first DQ. The node
// behind `dq` must be its only reader. False: not possible, nothing was changed.
bool MakeUnitBehind(Editor& edit, const TransposeTable& table, NodeIndex dq);

// Node -> Transpose -> Q becomes Node -> Q -> DQ -> Transpose -> Q, with the parameters of the last Q.
bool MakeUnitBefore(Editor& edit, const TransposeTable& table, NodeIndex transpose);

// DQ -> Q with the same parameters is taken out, where one node reads the result, or it is a graph output.
bool RemoveEmptyPair(Editor& edit, const TransposeTable& table, NodeIndex q);

// The attribute `perm` of a Transpose, where it is a permutation.
std::optional<Perm> PermOf(const Node& node);
// The axes of a Squeeze or Unsqueeze: its attribute, or a constant input. Not normalized.
std::optional<Axes> AxesOf(const Editor& edit, const TransposeTable& table, const Node& node);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_LAYOUT_QUANTIZED_H_
