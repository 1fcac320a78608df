// Rewrites of units: `becomes`, or the operator itself moved onto the quantized values.
#include <algorithm>

#include "engine/graph/schema.h"
#include "engine/rewrite/rewrite.h"

namespace rulerun {
namespace {

class UnitRewriter {
 public:
  UnitRewriter(Binding& binding, const Rewrite& rewrite)
      : binding_(binding),
        rewrite_(rewrite),
        graph_(binding.graph()),
        target_(binding.nodes.at("op")),
        file_(*binding.scope().file) {
    for (const Operand& item : binding_.values.at("in").items) {
      if (item.kind == Operand::Kind::kDequantized) dequantizers_.push_back(item.quantizer);
    }
    for (const Operand& item : binding_.values.at("out").items) {
      if (item.kind == Operand::Kind::kQuantized) quantizers_.push_back(item);
    }
  }

  Result<Change> Run() {
    std::vector<NodeIndex> matched = {target_};
    matched.insert(matched.end(), dequantizers_.begin(), dequantizers_.end());
    for (const Operand& q : quantizers_) matched.push_back(q.quantizer);
    change_.sources = OriginsOf(graph_, matched);
    if (rewrite_.kind == Rewrite::Kind::kBecomes) {
      RULERUN_RETURN_IF_ERROR(Replace());
    } else {
      Move();
    }
    RemoveDead(graph_, dequantizers_, change_);
    return std::move(change_);
  }

 private:
  // The new node takes name, doc and attributes of the operator, and what its Qs (or it) wrote.
  Status Replace() {
    const Call& call = *rewrite_.statements.front().alternatives.front().call;
    const Node& old = *graph_.node(target_);
    Node made;
    std::tie(made.domain, made.op_type) = OperatorOf(binding_, call);
    made.name = old.name;
    made.doc = old.doc;
    made.attributes = old.attributes;
    made.provider = old.provider;
    made.origins = change_.sources;
    const OpSchema* schema =
        FindSchema(binding_.scope().rules->schemas, made.domain, made.op_type, std::max(graph_.Opset(made.domain), 1));
    SetAttributes(binding_, call, schema, made.attributes);
    made.inputs = Inputs(call);
    made.outputs = old.outputs;
    if (!quantizers_.empty()) {
      made.outputs.clear();
      for (const Operand& q : quantizers_) made.outputs.push_back(q.value);
    }
    for (const Operand& q : quantizers_) Remove(q.quantizer);
    Remove(target_);
    auto added = AddMade(binding_, std::move(made));
    if (!added.ok()) return added.error();
    change_.created.push_back(*added);
    return {};
  }

  // The operator stays: input 0 and output 0 are re-wired to the quantized values.
  void Move() {
    Node& node = *graph_.node(target_);
    if (!dequantizers_.empty()) graph_.SetInput(target_, 0, graph_.node(dequantizers_.front())->input(0));
    if (!quantizers_.empty()) {
      const ValueId output = quantizers_.front().value;
      Remove(quantizers_.front().quantizer);
      graph_.SetOutput(target_, 0, output);
    }
    node.origins = change_.sources;
    change_.edited.push_back(target_);
  }

  void Remove(NodeIndex index) {
    change_.removed.push_back(graph_.node(index)->name);
    graph_.RemoveNode(index);
  }

  // --- inputs of the new node

  std::vector<ValueId> Inputs(const Call& call) {
    std::vector<ValueId> inputs;
    size_t kept = 0;  // trailing operands that are absent and marked `?` are left out
    for (const OperandPattern& operand : call.operands) {
      if (operand.kind == OperandPattern::Kind::kStar) {
        for (const Operand& item : binding_.values.at(operand.name).items) AddQuantized(item, inputs);
        kept = inputs.size();
        continue;
      }
      const size_t before = inputs.size();
      AddPlain(operand, inputs);
      if (inputs.size() > before && (inputs.back() != kNoValue || !operand.optional)) kept = inputs.size();
    }
    inputs.resize(kept);
    return inputs;
  }

  // x, x.scale, x.zero_point
  void AddQuantized(const Operand& item, std::vector<ValueId>& inputs) {
    inputs.push_back(item.value);
    inputs.push_back(graph_.node(item.quantizer)->input(1));
    inputs.push_back(ZeroPoint(item));
  }

  void AddPlain(const OperandPattern& operand, std::vector<ValueId>& inputs) {
    if (operand.kind == OperandPattern::Kind::kAny) return inputs.push_back(kNoValue);
    if (binding_.IsComputed(operand.name)) {
      return inputs.push_back(ComputedInitializer(binding_, operand.name, made_).value_or(kNoValue));
    }
    const size_t dot = operand.name.rfind('.');
    if (dot != std::string::npos && operand.name.substr(dot + 1) == "zero_point") {
      const auto bound = binding_.values.find(operand.name.substr(0, dot));
      if (bound != binding_.values.end() && bound->second.items.front().quantizer != kNoNode) {
        return inputs.push_back(ZeroPoint(bound->second.items.front()));
      }
    }
    const auto operands = binding_.Operands(operand.name);
    if (!operands) return inputs.push_back(kNoValue);
    for (const Operand& item : *operands) inputs.push_back(item.present() ? item.value : kNoValue);
  }

  // The zero point of a quantizer; where it has none, an initializer of the stage's name stands for it, one per graph.
  ValueId ZeroPoint(const Operand& item) {
    const Node& quantizer = *graph_.node(item.quantizer);
    if (quantizer.input(2) != kNoValue) return quantizer.input(2);
    const bool dequantizer = item.kind == Operand::Kind::kDequantized;
    const DataType type = dequantizer ? graph_.TypeOf(item.value).element : DataType::kUndefined;
    std::string name;
    DataType made = DataType::kUint8;
    for (const auto& [for_type, given] : file_.units.zero_point) {
      if (for_type == rulerun::Name(type)) {
        name = given;
        made = type;
        break;
      }
      if (for_type == "other") name = given;
    }
    const auto existing = graph_.Find(name);
    const ValueId zero =
        existing && graph_.value(*existing).initializer ? *existing : graph_.AddInitializer(name, Tensor(made, {}));
    graph_.SetInput(item.quantizer, 2, zero);
    return zero;
  }

  Binding& binding_;
  const Rewrite& rewrite_;
  Graph& graph_;
  NodeIndex target_;
  const RuleFile& file_;
  std::vector<NodeIndex> dequantizers_;
  std::vector<Operand> quantizers_;
  std::map<std::string, ValueId> made_;
  Change change_;
};

}  // namespace

Result<Change> ApplyUnit(Binding& binding, const Rewrite& rewrite) { return UnitRewriter(binding, rewrite).Run(); }

}  // namespace rulerun
