#include "engine/report/draw/graph_drawing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/base/text.h"
#include "engine/graph/schema.h"
#include "engine/graph/type_name.h"
#include "engine/report/draw/constant_text.h"
#include "engine/report/draw/measure.h"
#include "engine/report/rule_ops.h"

namespace rulerun {
namespace {

constexpr size_t kShownConstants = 3;
constexpr size_t kLongest = 36;     // characters of a line
constexpr int kQuantizedBits = 16;  // what Q and DQ convert from and to
constexpr size_t kScaleSlot = 1;    // of Q and DQ
constexpr size_t kZeroPointSlot = 2;

std::string TypeText(const ValueType& type) {
  std::string text = TypeName(type);
  if (!text.empty() && type.other.empty() && type.shape) text += ToString(*type.shape);
  return text;
}

Carries CarriesOf(const ValueType& type) {
  if (!type.other.empty()) return Carries::kOther;
  if (IsFloat(type.element)) return Carries::kFloat;
  const int bits = BitWidth(type.element);
  const bool quantized = bits > 0 && bits <= kQuantizedBits && type.element != DataType::kBool;
  return quantized ? Carries::kInt8 : Carries::kOther;
}

// A constant that a node reads, as it stands or behind a folded DQ.
struct Operand {
  std::string label;  // the schema's name of the input
  const Tensor* tensor = nullptr;
  std::string converted;  // " → int8 → float": element types behind each folded Q and DQ
};

class Drawer {
 public:
  Drawer(const Graph& graph, const RuleSet& rules) : graph_(graph), rules_(rules) {}

  Drawing Run() {
    drawing_.title = graph_.name();
    for (const ValueId id : graph_.inputs()) {
      if (!graph_.value(id).initializer) AddBoundary(id, "input");
    }
    const std::vector<NodeIndex> order = TopologicalOrder(graph_);
    for (const NodeIndex index : order) {
      if (IsFolded(*graph_.node(index))) folded_.insert(index);
    }
    for (const NodeIndex index : order) AddNode(*graph_.node(index));
    for (const ValueId id : graph_.outputs()) {
      const size_t at = AddBoundary(id, "output");
      AddEdge(id, at, 0);
    }
    return std::move(drawing_);
  }

 private:
  struct Source {
    size_t node = 0;
    int slot = 0;
  };

  // A Q or DQ of constants alone, or of another such one's result, that only nodes of this graph read as input: a line
  // of theirs says it.
  bool IsFolded(const Node& node) const {
    if (!IsQuantizer(rules_, node.Op()) || graph_.ProducesGraphOutput(node)) return false;
    const bool constant = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return id == kNoValue || graph_.Constant(id) != nullptr || FoldedProducer(id) != nullptr;
    });
    const ValueId output = node.output(0);
    return constant && output != kNoValue && !graph_.UsedBySubgraph(output) && graph_.UseCount(output) > 0;
  }

  const Node* FoldedProducer(ValueId id) const {
    const Node* producer = graph_.Producer(id);
    return producer != nullptr && folded_.count(producer->index) > 0 ? producer : nullptr;
  }

  size_t AddBoundary(ValueId id, const std::string& what) {
    const Value& value = graph_.value(id);
    DrawnNode node;
    node.tone = Tone::kBoundary;
    node.name = value.name;
    node.title = Elide(value.name, kLongest);
    node.subtitle = Elide(what + " " + TypeText(value.type), kLongest);
    node.details = {{what, TypeText(value.type)}};
    drawing_.nodes.push_back(std::move(node));
    if (what == "input") sources_[id] = {drawing_.nodes.size() - 1, 0};
    return drawing_.nodes.size() - 1;
  }

  void AddNode(const Node& node) {
    if (folded_.count(node.index) > 0) return;
    const size_t at = drawing_.nodes.size();
    drawing_.nodes.push_back(Describe(node));
    for (size_t slot = 0; slot < node.inputs.size(); ++slot) AddEdge(node.inputs[slot], at, static_cast<int>(slot));
    for (size_t i = 0; i < node.implicit.size(); ++i) {
      AddEdge(node.implicit[i], at, static_cast<int>(node.inputs.size() + i));
    }
    for (size_t slot = 0; slot < node.outputs.size(); ++slot) {
      if (node.outputs[slot] != kNoValue) sources_[node.outputs[slot]] = {at, static_cast<int>(slot)};
    }
  }

  void AddEdge(ValueId id, size_t to, int slot) {
    if (id == kNoValue || FoldedProducer(id) != nullptr) return;
    const auto known = sources_.find(id);
    if (known == sources_.end() && (graph_.Constant(id) != nullptr || !graph_.FromOuterScope(id))) return;
    const Source source = known == sources_.end() ? AddOuter(id) : known->second;
    const ValueType& type = graph_.TypeOf(id);
    drawing_.edges.push_back(
        {source.node, to, source.slot, slot, CarriesOf(type), graph_.value(id).name, Elide(TypeText(type), kLongest)});
  }

  // A value of an enclosing graph.
  Source AddOuter(ValueId id) {
    DrawnNode node;
    node.tone = Tone::kElsewhere;
    node.name = graph_.value(id).name;
    node.title = Elide(node.name, kLongest);
    node.subtitle = "from outside";
    drawing_.nodes.push_back(std::move(node));
    sources_[id] = {drawing_.nodes.size() - 1, 0};
    return sources_[id];
  }

  DrawnNode Describe(const Node& node) {
    DrawnNode drawn;
    drawn.op = node.Op();
    drawn.name = node.name;
    drawn.title = Elide(node.op_type, kLongest);
    const std::string between = node.domain.empty() || node.name.empty() ? "" : " · ";
    drawn.subtitle = Elide(node.domain + between + node.name, kLongest);
    drawn.origins = node.origins;
    if (drawn.origins.empty()) drawn.origins = {OriginOf(node)};
    drawn.tone = ToneOf(node);
    drawn.details.emplace_back("operator", node.Op() + ", since version " + std::to_string(node.since_version));
    if (!node.name.empty()) drawn.details.emplace_back("name", node.name);
    DescribeAttributes(node, drawn);
    DescribeInputs(node, drawn);
    for (const ValueId id : node.outputs) {
      if (id == kNoValue) continue;
      drawn.details.emplace_back("output", graph_.value(id).name + "  " + TypeText(graph_.value(id).type));
      drawn.names.push_back(graph_.value(id).name);
    }
    for (const auto& [name, attribute] : node.attributes) {
      if (const auto* one = std::get_if<GraphRef>(&attribute)) AddBody(name, **one, drawn);
      const auto* many = std::get_if<std::vector<GraphRef>>(&attribute);
      if (many == nullptr) continue;
      for (const GraphRef& body : *many) AddBody(name, *body, drawn);
    }
    return drawn;
  }

  void AddBody(const std::string& attribute, const Graph& body, DrawnNode& drawn) const {
    drawn.bodies.push_back(Drawer(body, rules_).Run());
    drawn.bodies.back().title = attribute;
  }

  void DescribeAttributes(const Node& node, DrawnNode& drawn) const {
    for (const auto& [name, attribute] : node.attributes) {
      if (std::holds_alternative<GraphRef>(attribute) || std::holds_alternative<std::vector<GraphRef>>(attribute)) {
        continue;
      }
      const auto* tensor = std::get_if<Tensor>(&attribute);
      drawn.details.emplace_back("attribute",
                                 name + " = " + (tensor != nullptr ? ShortText(*tensor) : ToString(attribute)));
    }
  }

  void DescribeInputs(const Node& node, DrawnNode& drawn) const {
    const OpSchema* schema =
        FindSchema(rules_.schemas, node.domain, node.op_type, std::max(graph_.Opset(node.domain), 1));
    const bool quantizer = IsQuantizer(rules_, node.Op());
    std::vector<Operand> operands;
    for (size_t slot = 0; slot < node.inputs.size(); ++slot) {
      const ValueId id = node.inputs[slot];
      if (id == kNoValue) continue;
      const std::string formal = FormalName(schema, slot);
      const auto operand = OperandAt(id, formal, drawn);
      std::string text = formal + ": " + graph_.value(id).name + "  ";
      text += operand ? "constant " + ShortText(*operand->tensor) : TypeText(graph_.TypeOf(id));
      drawn.details.emplace_back("input", text);
      if (!operand) continue;
      drawn.names.push_back(graph_.value(id).name);
      const bool parameter = quantizer && (slot == kScaleSlot || slot == kZeroPointSlot);
      if (!parameter) operands.push_back(*operand);
    }
    if (quantizer) DescribeQuantizer(node, drawn);
    DescribeConstants(std::move(operands), drawn);
  }

  static std::string FormalName(const OpSchema* schema, size_t slot) {
    if (schema == nullptr || schema->inputs.empty()) return "input " + std::to_string(slot);
    const size_t last = schema->inputs.size() - 1;
    const FormalParameter& formal = schema->inputs[std::min(slot, last)];
    return formal.variadic ? formal.name + "[" + std::to_string(slot - std::min(slot, last)) + "]" : formal.name;
  }

  std::optional<Operand> OperandAt(ValueId id, const std::string& label, DrawnNode& drawn) const {
    if (const Tensor* tensor = graph_.Constant(id)) return Operand{label, tensor, ""};
    const Node* folded = FoldedProducer(id);
    if (folded == nullptr) return std::nullopt;
    std::string converted;
    const Tensor* tensor = nullptr;
    for (; folded != nullptr; folded = FoldedProducer(folded->input(0))) {
      for (const ValueId read : folded->inputs) {
        if (read != kNoValue) drawn.names.push_back(graph_.value(read).name);
      }
      if (!folded->name.empty()) drawn.names.push_back(folded->name);
      drawn.ops.push_back(folded->Op());
      converted.insert(0, " → " + TypeName(graph_.value(folded->output(0)).type));
      tensor = graph_.Constant(folded->input(0));
    }
    if (tensor == nullptr) return std::nullopt;
    return Operand{label, tensor, converted};
  }

  // The largest first. Scales and zero points of int8 operators are told in the details only.
  static void DescribeConstants(std::vector<Operand> operands, DrawnNode& drawn) {
    const auto parameters = std::stable_partition(operands.begin(), operands.end(), [](const Operand& operand) {
      return !EndsWith(operand.label, "scale") && !EndsWith(operand.label, "zero_point");
    });
    const auto hidden = operands.end() - parameters;
    operands.erase(parameters, operands.end());
    std::stable_sort(operands.begin(), operands.end(),
                     [](const Operand& a, const Operand& b) { return a.tensor->count() > b.tensor->count(); });
    for (size_t i = 0; i < operands.size() && i < kShownConstants; ++i) {
      const Operand& operand = operands[i];
      drawn.lines.push_back(
          Elide(operand.label + " ‹" + ShortText(*operand.tensor) + operand.converted + "›", kLongest));
    }
    if (operands.size() > kShownConstants) {
      drawn.lines.push_back("+ " + std::to_string(operands.size() - kShownConstants) + " constants");
    }
    if (hidden > 0) drawn.lines.push_back(std::to_string(hidden) + " scales and zero points");
  }

  void DescribeQuantizer(const Node& node, DrawnNode& drawn) const {
    const auto add = [&](size_t slot, const char* what) {
      const ValueId id = node.input(slot);
      const Tensor* tensor = id == kNoValue ? nullptr : graph_.Constant(id);
      if (tensor != nullptr) drawn.lines.push_back(std::string(what) + " " + RangeText(*tensor));
    };
    add(kScaleSlot, "scale");
    add(kZeroPointSlot, "zero point");
  }

  Tone ToneOf(const Node& node) const {
    if (IsQuantizer(rules_, node.Op())) return Tone::kConversion;
    std::set<Carries> read;
    std::set<Carries> written;
    for (const ValueId id : node.inputs) {
      if (id != kNoValue && graph_.Constant(id) == nullptr) read.insert(CarriesOf(graph_.TypeOf(id)));
    }
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) written.insert(CarriesOf(graph_.TypeOf(id)));
    }
    if (read.count(Carries::kInt8) > 0 || written.count(Carries::kInt8) > 0) return Tone::kInt8;
    return read.count(Carries::kFloat) > 0 || written.count(Carries::kFloat) > 0 ? Tone::kFloat : Tone::kOther;
  }

  const Graph& graph_;
  const RuleSet& rules_;
  Drawing drawing_;
  std::set<NodeIndex> folded_;
  std::map<ValueId, Source> sources_;
};

}  // namespace

Drawing DrawGraph(const Graph& graph, const RuleSet& rules) { return Drawer(graph, rules).Run(); }

}  // namespace rulerun
