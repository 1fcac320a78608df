// Predicates about nodes, their attributes and quantizers, and about the target.
#include <algorithm>

#include "engine/base/text.h"
#include "engine/match/predicates_impl.h"

namespace rulerun {

bool SameQuantization(const Graph& graph, const Node& a, const Node& b) {
  const Tensor* scales[2];
  const Tensor* zeros[2];
  const Node* const nodes[2] = {&a, &b};
  for (int i = 0; i < 2; ++i) {
    const auto present =
        std::count_if(nodes[i]->inputs.begin(), nodes[i]->inputs.end(), [](ValueId id) { return id != kNoValue; });
    if (present != 3 || nodes[i]->inputs.size() != 3) return false;
    scales[i] = graph.Constant(nodes[i]->input(1));
    zeros[i] = graph.Constant(nodes[i]->input(2));
    if (scales[i] == nullptr || zeros[i] == nullptr) return false;
    if (IsScalar(ToShape(scales[i]->dims())) != Truth::kTrue) return false;
    if (IsScalar(ToShape(zeros[i]->dims())) != Truth::kTrue) return false;
  }
  const DataType type = scales[0]->type();
  const bool usable = type == DataType::kFloat || type == DataType::kFloat16 || type == DataType::kBfloat16;
  if (!usable || scales[1]->type() != type || zeros[0]->type() != zeros[1]->type()) return false;
  if (ElementAsDouble(*scales[0], 0) != ElementAsDouble(*scales[1], 0)) return false;
  const auto left = zeros[0]->raw_span();
  const auto right = zeros[1]->raw_span();
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

namespace predicates {
namespace {

// The nodes a name of `same_qparams` speaks of: a label's, or the quantizers of a unit's operands.
std::vector<const Node*> Quantizers(const Call& call, const std::string& name) {
  const Graph& graph = call.binding.graph();
  if (const Node* node = call.binding.NodeOf(name)) return {node};
  std::vector<const Node*> nodes;
  const auto bound = call.binding.values.find(name);
  if (bound == call.binding.values.end()) return nodes;
  for (const Operand& item : bound->second.items) {
    if (item.quantizer != kNoNode) nodes.push_back(graph.node(item.quantizer));
  }
  return nodes;
}

// "scale 0.1 and zero point 3 (uint8)", or what is not there.
std::string ParametersOf(const Graph& graph, const Node& quantizer) {
  const auto show = [&](size_t slot) -> std::string {
    const ValueId id = quantizer.input(slot);
    if (id == kNoValue) return "none";
    const Tensor* constant = graph.Constant(id);
    if (constant == nullptr && graph.Initializer(id) != nullptr) return "one that a graph input may override";
    if (constant == nullptr) return "one that is not constant";
    if (constant->count() != 1) return "one of shape " + ToString(ToShape(constant->dims()));
    return FormatFloat(static_cast<float>(ElementAsDouble(*constant, 0)));
  };
  const ValueId zero = quantizer.input(2);
  const std::string type = zero == kNoValue ? "" : " (" + std::string(Name(graph.TypeOf(zero).element)) + ")";
  return "scale " + show(1) + " and zero point " + show(2) + type;
}

Truth SameQparams(Call& call) {
  const std::vector<const Node*> first = Quantizers(call, call.condition.values[0]);
  for (size_t i = 1; i < call.condition.values.size(); ++i) {
    for (const Node* b : Quantizers(call, call.condition.values[i])) {
      for (const Node* a : first) {
        if (SameQuantization(call.binding.graph(), *a, *b)) continue;
        call.actual = "'" + a->name + "' has " + ParametersOf(call.binding.graph(), *a) + ", '" + b->name + "' has " +
                      ParametersOf(call.binding.graph(), *b);
        return Truth::kFalse;
      }
    }
  }
  return Truth::kTrue;
}

// One input edge, or one input; one used output, which is no graph output (inventory-qdq.md 0.5, canRemoveNode).
Truth Removable(Call& call) {
  const Graph& graph = call.binding.graph();
  for (const std::string& label : call.condition.values) {
    const Node* node = call.binding.NodeOf(label);
    if (node == nullptr) continue;
    int used = 0;
    for (const ValueId output : node->outputs) used += output != kNoValue && graph.UseCount(output) > 0 ? 1 : 0;
    const bool one_way_in = graph.InputEdgeCount(*node) == 1 || node->inputs.size() == 1;
    if (one_way_in && used <= 1 && !graph.ProducesGraphOutput(*node)) continue;
    call.actual = "'" + node->name + "' has " + std::to_string(graph.InputEdgeCount(*node)) +
                  " inputs that a node produces and " + std::to_string(node->inputs.size()) + " in all";
    return Truth::kFalse;
  }
  return Truth::kTrue;
}

Truth Before(Call& call) {
  NodeIndex last = kNoNode;
  for (const std::string& label : call.condition.values) {
    const Node* node = call.binding.NodeOf(label);
    if (node == nullptr) continue;
    call.actual = "'" + node->name + "' was made earlier";
    if (last != kNoNode && node->index < last) return Truth::kFalse;
    last = node->index;
  }
  return Truth::kTrue;
}

// The node a dotted name's first part speaks of: a label, or the quantizer of a unit's operand.
const Node* NodeNamed(const Call& call, const std::string& name) {
  if (const Node* node = call.binding.NodeOf(name)) return node;
  const std::vector<const Node*> quantizers = Quantizers(call, name);
  return quantizers.empty() ? nullptr : quantizers.front();
}

bool SameAsWritten(const Attribute& attribute, const Yaml& wanted) {
  if (const auto* integer = std::get_if<int64_t>(&attribute)) return wanted.AsInt() == *integer;
  if (const auto* text = std::get_if<std::string>(&attribute)) return wanted.scalar == *text;
  if (const auto* number = std::get_if<float>(&attribute)) {
    return wanted.AsDouble() && static_cast<float>(*wanted.AsDouble()) == *number;
  }
  if (const auto* list = std::get_if<std::vector<int64_t>>(&attribute)) {
    const bool one_for_all = wanted.IsScalar();
    if (!one_for_all && wanted.items.size() != list->size()) return false;
    for (size_t i = 0; i < list->size(); ++i) {
      if ((one_for_all ? wanted : wanted.items[i]).AsInt() != (*list)[i]) return false;
    }
    return true;
  }
  return false;
}

// {label.attribute: value}; `any` asks whether it is there. An attribute without a value anywhere counts as 0: schemas
// before it had that attribute behave so.
Truth AttributeIs(Call& call) {
  for (const auto& [name, wanted] : call.condition.pairs) {
    const size_t dot = name.rfind('.');
    const Node* node = NodeNamed(call, name.substr(0, dot));
    if (node == nullptr) continue;
    const auto found = node->attributes.find(name.substr(dot + 1));
    const bool there = found != node->attributes.end();
    call.wanted = wanted.scalar == "any" ? "a value" : Choice(wanted);
    if (wanted.scalar == "any") {
      call.actual = "'" + node->name + "' has no such attribute";
      if (!there) return Truth::kFalse;
      continue;
    }
    const bool same = there ? SameAsWritten(found->second, wanted) : wanted.AsInt() == 0;
    if (same) continue;
    call.actual = "'" + node->name + "' has " + (there ? ToString(found->second) : "no such attribute");
    return Truth::kFalse;
  }
  return Truth::kTrue;
}

// The axis attribute of a quantizer, counted from the front. Default 1 (QuantizeLinear's, DequantizeLinear's).
std::optional<int64_t> NormalizedAxis(const Graph& graph, const Node& node) {
  const int64_t axis = IntOr(node.attributes, "axis", 1);
  if (axis >= 0) return axis;
  const auto& shape = graph.TypeOf(node.input(0)).shape;
  if (!shape) return std::nullopt;
  return axis + static_cast<int64_t>(shape->size());
}

std::optional<int64_t> WantedAxis(const Graph& graph, const Node& node, const Yaml& wanted) {
  const int64_t axis = wanted.AsInt().value_or(0);
  if (axis >= 0) return axis;
  const auto& shape = graph.TypeOf(node.input(0)).shape;
  if (!shape) return std::nullopt;
  return axis + static_cast<int64_t>(shape->size());
}

Truth AxisIs(Call& call, bool scalar_will_do) {
  const Graph& graph = call.binding.graph();
  for (const auto& [name, wanted] : call.condition.pairs) {
    const Node* node = NodeNamed(call, name);
    if (node == nullptr) continue;
    if (scalar_will_do && IsScalar(graph.TypeOf(node->input(1)).shape) == Truth::kTrue) continue;
    const auto axis = NormalizedAxis(graph, *node);
    const auto asked = WantedAxis(graph, *node, wanted);
    if (!axis || !asked) return Truth::kUnknown;
    if (*axis == *asked) continue;
    call.actual = "'" + node->name + "' has axis " + std::to_string(*axis);
    call.wanted = std::to_string(*asked);
    return Truth::kFalse;
  }
  return Truth::kTrue;
}

// {mean: [-1]}: the reduced axes, from the attribute or the constant second input, counted from the end.
Truth Reduces(Call& call) {
  const Graph& graph = call.binding.graph();
  for (const auto& [label, wanted] : call.condition.pairs) {
    const Node* node = call.binding.NodeOf(label);
    if (node == nullptr) continue;
    std::vector<int64_t> axes = IntsOr(node->attributes, "axes", {});
    if (const Tensor* input = graph.Constant(node->input(1))) axes = ToInts(*input);
    const auto& shape = graph.TypeOf(node->input(0)).shape;
    for (int64_t& axis : axes) {
      if (axis >= 0 && !shape) return Truth::kUnknown;
      if (axis >= 0) axis -= static_cast<int64_t>(shape->size());
    }
    std::vector<int64_t> asked;
    for (const Yaml& item : wanted.items) asked.push_back(item.AsInt().value_or(0));
    call.actual = "'" + node->name + "' reduces " + ToString(Attribute(axes));
    call.wanted = ToString(Attribute(asked));
    if (axes != asked) return Truth::kFalse;
  }
  return Truth::kTrue;
}

Truth OpIs(Call& call) {
  for (const auto& [label, wanted] : call.condition.pairs) {
    const Node* node = NodeNamed(call, label);
    const auto names = wanted.AsNames();
    if (node == nullptr || !names) continue;
    call.actual = "'" + node->name + "' is " + node->Op();
    call.wanted = Choice(wanted);
    if (std::find(names->begin(), names->end(), node->Op()) == names->end()) return Truth::kFalse;
  }
  return Truth::kTrue;
}

// {label: [6]}, or in units {operator: [12, 22]}, which speaks of that operator only.
Truth SinceIs(Call& call) {
  for (const auto& [name, wanted] : call.condition.pairs) {
    const Node* node = call.binding.NodeOf(name);
    if (node == nullptr && call.binding.rule().is_unit && call.binding.NodeOf("op")->Op() == name) {
      node = call.binding.NodeOf("op");
    }
    const auto versions = wanted.AsNames();
    if (node == nullptr || !versions) continue;
    if (std::find(versions->begin(), versions->end(), std::to_string(node->since_version)) != versions->end()) continue;
    call.actual = "'" + node->name + "' has version " + std::to_string(node->since_version);
    call.wanted = Choice(wanted);
    return Truth::kFalse;
  }
  return Truth::kTrue;
}

// [b]: an empty name behind the last operand counts as an operand for ONNX Runtime here and there.
Truth Trimmed(Call& call) {
  for (const std::string& name : call.condition.values) {
    const Node* node = NodeNamed(call, name);
    if (node == nullptr || node->inputs.empty() || node->inputs.back() != kNoValue) continue;
    call.actual = "'" + node->name + "' ends in one";
    return Truth::kFalse;
  }
  return Truth::kTrue;
}

// {b: transB}: scale and zero point of b alike: both one element, or both [N], N the columns of b (rows if transposed).
Truth ScalarOrPerColumn(Call& call) {
  const Graph& graph = call.binding.graph();
  for (const auto& [name, attribute] : call.condition.pairs) {
    const Node* dq = NodeNamed(call, name);
    if (dq != nullptr && dq->input(2) == kNoValue) call.actual = "'" + dq->name + "' has no zero point";
    if (dq == nullptr || dq->input(2) == kNoValue) return Truth::kUnknown;
    const auto& scale = graph.TypeOf(dq->input(1)).shape;
    const auto& zero = graph.TypeOf(dq->input(2)).shape;
    if (!scale || !zero) return Truth::kUnknown;
    call.actual =
        "'" + dq->name + "' has a scale of shape " + ToString(*scale) + " and a zero point of shape " + ToString(*zero);
    if (scale->size() != zero->size()) return Truth::kFalse;
    if (IsScalar(scale) == Truth::kTrue) {
      if (IsScalar(zero) != Truth::kTrue) return Truth::kFalse;
      continue;
    }
    const Computed transposed = call.binding.ConstantOf(attribute.scalar);
    const bool rows = transposed.state == Computed::State::kKnown && ElementAsInt(transposed.tensor, 0) != 0;
    const auto& shape = graph.TypeOf(dq->input(0)).shape;
    const bool has_columns = shape && shape->size() == 2 && (*shape)[rows ? 0 : 1].known();
    if (scale->size() != 1 || !(*scale)[0].known() || !(*zero)[0].known()) return Truth::kFalse;
    if ((*scale)[0].size != (*zero)[0].size) return Truth::kFalse;
    if (has_columns && (*shape)[rows ? 0 : 1].size != (*scale)[0].size) return Truth::kFalse;
  }
  return Truth::kTrue;
}

// {w: {axis: 0, sizes: [16, 32]}}: blockwise scales (and zero points) along that axis, in blocks of one of the sizes.
Truth Blocks(Call& call) {
  const Graph& graph = call.binding.graph();
  for (const auto& [name, wanted] : call.condition.pairs) {
    const Node* dq = NodeNamed(call, name);
    if (dq == nullptr) return Truth::kUnknown;
    const int64_t size = IntOr(dq->attributes, "block_size", 0);
    const Yaml* sizes = wanted.Get("sizes");
    const Yaml* axis = wanted.Get("axis");
    call.wanted = Choice(wanted);
    call.actual = "'" + dq->name + "' has " + (size > 0 ? "block_size " + std::to_string(size) : "no block_size");
    if (size <= 0 || sizes == nullptr || axis == nullptr) return Truth::kFalse;
    const auto allowed = sizes->AsNames().value_or(std::vector<std::string>{});
    if (std::find(allowed.begin(), allowed.end(), std::to_string(size)) == allowed.end()) return Truth::kFalse;
    if (NormalizedAxis(graph, *dq) != axis->AsInt()) return Truth::kFalse;
    auto shape = Static(graph.TypeOf(dq->input(0)).shape);
    if (!shape || shape->size() <= static_cast<size_t>(*axis->AsInt())) return Truth::kUnknown;
    int64_t& blocked = (*shape)[static_cast<size_t>(*axis->AsInt())];
    blocked = (blocked + size - 1) / size;
    if (Static(graph.TypeOf(dq->input(1)).shape) != shape) return Truth::kFalse;
    if (dq->input(2) != kNoValue && Static(graph.TypeOf(dq->input(2)).shape) != shape) return Truth::kFalse;
  }
  return Truth::kTrue;
}

// Names of the condition that are not set: `option: x`, `option: [x, y]`, `option: {loop: 1}`.
Truth TargetHas(Call& call) {
  const Target& target = *call.binding.scope().target;
  for (const std::string& name : call.condition.values) {
    call.wanted = name;
    if (target.Lookup(name).value_or(0) == 0) return Truth::kFalse;
  }
  for (const auto& [name, wanted] : call.condition.pairs) {
    call.wanted = name + "=" + wanted.scalar;
    if (target.Lookup(name) != wanted.AsInt()) return Truth::kFalse;
  }
  return Truth::kTrue;
}

Truth InRange(Call& call, int64_t value) {
  for (const auto& [key, limit] : call.condition.pairs) {
    call.wanted = (key == "min" ? "from " : "below ") + limit.scalar;
    call.actual = "it has " + std::to_string(value);
    if (key == "min" && value < limit.AsInt().value_or(0)) return Truth::kFalse;
    if (key == "below" && value >= limit.AsInt().value_or(0)) return Truth::kFalse;
  }
  return Truth::kTrue;
}

// The provider that has claimed the anchor; `none` for no one.
Truth Assigned(Call& call) {
  const std::vector<NodeIndex> matched = call.binding.MatchedNodes();
  if (matched.empty() || call.condition.values.empty()) return Truth::kUnknown;
  const std::string& provider = call.binding.graph().node(matched.front())->provider;
  const std::string& wanted = call.condition.values.front();
  return ToTruth(wanted == "none" ? provider.empty() : provider == wanted);
}

}  // namespace

void AddNodePredicates(Table& table) {
  table["same_qparams"] = SameQparams;
  table["removable"] = Removable;
  table["before"] = Before;
  table["attr"] = AttributeIs;
  table["axis"] = [](Call& call) { return AxisIs(call, false); };
  table["axis_or_scalar"] = [](Call& call) { return AxisIs(call, true); };
  table["reduces"] = Reduces;
  table["op"] = OpIs;
  table["since"] = SinceIs;
  table["trimmed"] = Trimmed;
  table["scalar_or_per_column"] = ScalarOrPerColumn;
  table["blocks"] = Blocks;
  table["option"] = TargetHas;
  table["fact"] = TargetHas;
  table["opset"] = [](Call& call) { return InRange(call, call.binding.graph().Opset("")); };
  table["level"] = [](Call& call) { return InRange(call, static_cast<int64_t>(call.binding.scope().target->level)); };
  table["assigned"] = Assigned;
}

}  // namespace predicates
}  // namespace rulerun
