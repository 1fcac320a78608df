#include "engine/passes/layout/push.h"

#include <numeric>
#include <optional>

namespace rulerun {
namespace {

// A constant that an input reads, itself or through a DQ.
struct ConstantInput {
  std::optional<DequantizeToPass> dq;
  ValueId data;
  Tensor constant;
  NodeIndex holder;  // the node that reads `data`: the DQ, or the node itself
  size_t slot;       // of the holder

  void Detach(Editor& edit) const { edit.SetInput(holder, slot, kNoValue); }
  void Attach(Editor& edit) const { edit.SetInput(holder, slot, data); }
};

std::optional<ConstantInput> ConstantAt(Editor& edit, const TransposeTable& table, NodeIndex node, size_t slot) {
  const ValueId input = edit.node(node).input(slot);
  if (const Tensor* constant = edit.graph().LocalConstant(input)) {
    return ConstantInput{std::nullopt, input, *constant, node, slot};
  }
  auto dq = DequantizeOfConstant(edit, table, input);
  if (!dq) return std::nullopt;
  return ConstantInput{dq, dq->data(), *edit.graph().LocalConstant(dq->data()), dq->node(), 0};
}

}  // namespace

NodeIndex Transposer::AddTranspose(ValueId input, const Perm& perm) const {
  return edit_.AddNode(table_.transpose, {input}, {{"perm", perm}});
}

NodeIndex Transposer::AddAxesNode(const std::string& op, ValueId input, const Axes& axes) const {
  if (opset() < table_.axes_input_since) return edit_.AddNode(op, {input}, {{"axes", axes}});
  return edit_.AddNode(op, {input, edit_.AddConstant(table_.constant, Tensor::Vector(axes))});
}

void Transposer::PutBetween(NodeIndex node, const Readers& readers, ValueId value) const {
  edit_.CopyType(value, edit_.Output(node));
  edit_.ReplaceReads(readers.nodes, value, edit_.Output(node));
}

// --- Transpose

void Transposer::TransposeInput(NodeIndex node, size_t slot, const Perm& perm) const {
  const ValueId input = edit_.node(node).input(slot);
  if (input == kNoValue) return;
  if (TransposeConstant(node, slot, perm) || TransposeTranspose(node, slot, perm)) return;
  for (const NodeIndex reader : edit_.ReadersOf(input).nodes) {
    if (reader == node || !table_.IsTranspose(&edit_.node(reader)) || PermOf(edit_.node(reader)) != perm) continue;
    return edit_.SetInput(node, slot, edit_.Output(reader));
  }
  const NodeIndex added = AddTranspose(input, perm);
  edit_.CopyType(input, edit_.Output(added));
  edit_.PermuteShape(edit_.Output(added), perm);
  edit_.SetInput(node, slot, edit_.Output(added));
  const Node* producer = edit_.graph().Producer(input);
  if (table_.IsDequantize(producer)) MakeUnitBehind(edit_, table_, producer->index);
}

void Transposer::TransposeInputs(NodeIndex node, const std::vector<size_t>& slots, const Perm& perm) const {
  for (const size_t slot : slots) TransposeInput(node, slot, perm);
}

// A constant is transposed in its place; its other readers get a Transpose back in between.
bool Transposer::TransposeConstant(NodeIndex node, size_t slot, const Perm& perm) const {
  auto input = ConstantAt(edit_, table_, node, slot);
  if (!input) return false;
  const Tensor& constant = input->constant;
  input->Detach(edit_);
  const Readers others = edit_.ReadersOf(input->data);
  input->Attach(edit_);
  if (!others.all) return false;
  if (constant.count() == 1) return true;
  if (!input->dq && constant.rank() == 1 && constant.dims()[0] == static_cast<int64_t>(perm.size())) {
    ReplaceConstant(node, slot, Picked(constant, perm));
    return true;
  }
  if (constant.dims().size() != perm.size()) return false;
  input->Detach(edit_);
  if (!others.nodes.empty()) PutBetween(AddTranspose(input->data, Inverse(perm)), others, input->data);
  edit_.SetConstant(input->data, Transposed(constant, perm));
  input->Attach(edit_);
  if (input->dq) input->dq->SetTransposed(input->data, Inverse(perm));
  return true;
}

// A Transpose in front, or in front of a DQ there, is cancelled; one right in front may be combined with the new one.
bool Transposer::TransposeTranspose(NodeIndex node, size_t slot, const Perm& perm) const {
  Graph& graph = edit_.graph();
  const ValueId input = edit_.node(node).input(slot);
  ValueId transposed = input;
  std::optional<DequantizeToPass> dq;
  if (const Node* producer = graph.Producer(input); table_.IsDequantize(producer)) {
    const auto quantization = QuantizationOf(edit_, producer->index);
    if (!quantization || !quantization->supported()) return false;
    dq.emplace(edit_, producer->index, *quantization);
    transposed = dq->data();
  }
  const Node* first = graph.Producer(transposed);
  if (!table_.IsTranspose(first)) return false;
  const auto first_perm = PermOf(*first);
  if (!first_perm || first_perm->size() != perm.size()) return false;
  const NodeIndex first_index = first->index;
  const ValueId original = first->input(0);
  if (*first_perm == Inverse(perm)) {
    if (dq) {
      dq->SetTransposed(original, Inverse(perm));
    } else {
      edit_.SetInput(node, slot, original);
    }
  } else if (!dq) {
    const NodeIndex combined = AddTranspose(original, Compose(*first_perm, perm));
    edit_.CopyType(input, edit_.Output(combined));
    edit_.PermuteShape(edit_.Output(combined), perm);
    edit_.SetInput(node, slot, edit_.Output(combined));
  } else {
    return false;
  }
  if (!edit_.HasReaders(transposed)) edit_.RemoveNode(first_index);
  return true;
}

ValueId Transposer::TransposeOutput(NodeIndex node, size_t slot, const Perm& perm) const {
  const ValueId output = edit_.Output(node, slot);
  const NodeIndex added = AddTranspose(kNoValue, perm);
  edit_.MoveOutput(node, slot, added, 0);
  const ValueId fresh = edit_.Output(node, slot);
  edit_.SetInput(added, 0, fresh);
  edit_.CopyType(output, fresh);
  edit_.PermuteShape(fresh, Inverse(perm));
  return output;
}

void Transposer::TransposeOutputs(NodeIndex node, const Perm& perm) const {
  if (IsIdentity(perm)) return;
  const size_t count = edit_.node(node).outputs.size();
  for (size_t slot = 0; slot < count; ++slot) {
    if (edit_.Output(node, slot) != kNoValue) TransposeOutput(node, slot, perm);
  }
}

// --- Unsqueeze

void Transposer::UnsqueezeInput(NodeIndex node, size_t slot, const Axes& axes) const {
  const ValueId input = edit_.node(node).input(slot);
  if (UnsqueezeConstant(node, slot, axes) || UnsqueezeSqueeze(node, slot, axes)) return;
  const NodeIndex added = AddAxesNode(table_.unsqueeze, input, axes);
  const ValueId output = edit_.Output(added);
  edit_.CopyType(input, output);
  if (const auto& shape = edit_.ShapeOf(output)) edit_.SetShape(output, UnsqueezedShape(*shape, axes));
  edit_.SetInput(node, slot, output);
  const Node* producer = edit_.graph().Producer(input);
  if (table_.IsTranspose(producer)) {
    // The walk does not come here again, so the Transpose is pushed on at once.
    if (const auto perm = PermOf(*producer)) edit_.SetInput(node, slot, PushBehindUnsqueeze(added, axes, *perm));
  } else if (table_.IsDequantize(producer)) {
    MakeUnitBehind(edit_, table_, producer->index);
  }
}

// A constant is reshaped in its place; its other readers get a Squeeze in between.
bool Transposer::UnsqueezeConstant(NodeIndex node, size_t slot, const Axes& axes) const {
  auto input = ConstantAt(edit_, table_, node, slot);
  if (!input) return false;
  input->Detach(edit_);
  const Readers others = edit_.ReadersOf(input->data);
  if (others.all) {
    if (!others.nodes.empty()) PutBetween(AddAxesNode(table_.squeeze, input->data, axes), others, input->data);
    edit_.SetConstant(input->data, input->constant.Reshaped(UnsqueezedDims(input->constant.dims(), axes)));
  }
  input->Attach(edit_);
  if (others.all && input->dq) input->dq->SetUnsqueezed(input->data, axes);
  return others.all;
}

// A Squeeze in front, or in front of a DQ there, is cancelled.
bool Transposer::UnsqueezeSqueeze(NodeIndex node, size_t slot, const Axes& axes) const {
  Graph& graph = edit_.graph();
  ValueId squeezed = edit_.node(node).input(slot);
  std::optional<DequantizeToPass> dq;
  if (const Node* producer = graph.Producer(squeezed); table_.IsDequantize(producer)) {
    const auto quantization = QuantizationOf(edit_, producer->index);
    if (quantization && quantization->supported()) {
      dq.emplace(edit_, producer->index, *quantization);
      squeezed = dq->data();
    }
  }
  const Node* squeeze = graph.Producer(squeezed);
  if (squeeze == nullptr || squeeze->Op() != table_.squeeze || AxesOf(edit_, table_, *squeeze) != axes) return false;
  const NodeIndex squeeze_index = squeeze->index;
  const ValueId original = squeeze->input(0);
  const ValueId squeeze_axes = squeeze->input(1);
  if (dq) {
    dq->SetUnsqueezed(original, axes);
  } else {
    edit_.SetInput(node, slot, original);
  }
  if (!edit_.HasReaders(squeezed)) {
    edit_.RemoveNode(squeeze_index);
    edit_.RemoveConstantIfUnused(squeeze_axes);
  }
  return true;
}

bool Transposer::UnsqueezeInputs(NodeIndex node, const std::vector<size_t>& slots, size_t rank) const {
  std::vector<size_t> missing;
  for (const size_t slot : slots) {
    const auto own = edit_.RankOf(edit_.node(node).input(slot));
    if (!own || *own > rank) return false;
    missing.push_back(rank - *own);
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    if (missing[i] == 0) continue;
    Axes axes(missing[i]);
    std::iota(axes.begin(), axes.end(), int64_t{0});
    UnsqueezeInput(node, slots[i], axes);
  }
  return true;
}

ValueId Transposer::PushBehindUnsqueeze(NodeIndex unsqueeze, const Axes& axes, const Perm& perm) const {
  TransposeInput(unsqueeze, 0, Inverse(perm));
  return TransposeOutput(unsqueeze, 0, UnsqueezePerm(axes, perm));
}

// --- constants

void Transposer::PickInput(NodeIndex node, size_t slot, const std::vector<int64_t>& order) const {
  const ValueId input = edit_.node(node).input(slot);
  const Tensor* constant = edit_.graph().Constant(input);
  const auto count = static_cast<int64_t>(order.size());
  if (constant != nullptr && constant->rank() == 1 && (constant->dims()[0] == count || constant->dims()[0] == 0)) {
    return ReplaceConstant(node, slot, constant->count() == 0 ? *constant : Picked(*constant, order));
  }
  const ValueId indices = edit_.AddConstant(table_.constant, Tensor::Vector(order));
  const NodeIndex gather = edit_.AddNode(table_.gather, {input, indices}, {{"axis", int64_t{0}}});
  edit_.CopyType(input, edit_.Output(gather));
  edit_.SetInput(node, slot, edit_.Output(gather));
}

void Transposer::ReplaceConstant(NodeIndex node, size_t slot, Tensor tensor) const {
  const ValueId old = edit_.node(node).input(slot);
  edit_.SetInput(node, slot, edit_.AddConstant(table_.constant, std::move(tensor)));
  edit_.RemoveConstantIfUnused(old);
}

void Transposer::ReplaceConstant(NodeIndex node, size_t slot, const std::vector<int64_t>& values) const {
  ReplaceConstant(node, slot, Tensor::Vector(values));
}

}  // namespace rulerun
