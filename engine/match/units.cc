// Unit rules: y = Q(Op(DQ(x), ...)). What language.md 3 and 13 build into every unit, in that order.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/text.h"
#include "engine/graph/node_name.h"
#include "engine/match/compute.h"
#include "engine/match/conditions.h"
#include "engine/match/match.h"
#include "engine/match/shapes.h"

namespace rulerun {
namespace {

class UnitMatcher {
 public:
  UnitMatcher(const MatchScope& scope, const Rule& rule, NodeIndex node)
      : scope_(scope),
        rule_(rule),
        graph_(*scope.graph),
        unit_(rule.match.front()),
        node_(*scope.graph->node(node)),
        binding_(scope, rule),
        types_(binding_) {
    binding_.nodes["op"] = node;
    binding_.captures["since"] = static_cast<int64_t>(node_.since_version);
    if (!unit_.label.empty()) binding_.nodes[unit_.label] = node;
  }

  MatchResult Run() {
    FindBetween();
    FindQuantizers();
    if (!Concerns()) return {};
    const Call* call = nullptr;
    for (const Alternative& alternative : unit_.alternatives) {
      if (call == nullptr && alternative.call && IsOperator(scope_, *alternative.call, node_))
        call = &*alternative.call;
    }
    const auto refusal = Check(*call);
    if (refusal) {
      MatchResult result;
      result.kind = MatchResult::Kind::kRefused;
      result.refusal = *refusal;
      return result;
    }
    MatchResult result = Conclude(std::move(binding_));
    if (result.kind == MatchResult::Kind::kMatched && between_ != nullptr) return Redundant(std::move(result));
    return result;
  }

 private:
  Refusal Fail(std::string check, std::string message) const {
    return {std::move(check), std::move(message), unit_.where, {}, "", ""};
  }
  // `wanted`: what to do about it, in the imperative.
  Refusal FailOperands(std::string message, std::string wanted) const {
    return {"operands", std::move(message), unit_.where, {}, std::move(wanted), ""};
  }
  std::string Quoted(const Node& node) const { return "'" + NameOf(node) + "' (" + node.Op() + ")"; }

  bool IsBetween(const Node& node) const {
    const std::vector<std::string>& ops = scope_.file->units.between;
    return std::find(ops.begin(), ops.end(), node.op_type) != ops.end();
  }

  // The op's only use is a `between` op that itself has exactly one use and is no graph output.
  void FindBetween() {
    if (graph_.OutputEdgeCount(node_) != 1) return;
    for (const ValueId output : node_.outputs) {
      if (output == kNoValue || graph_.value(output).uses.empty()) continue;
      const Node& user = *graph_.node(graph_.value(output).uses.front().node);
      if (IsBetween(user) && graph_.OutputEdgeCount(user) == 1 && !graph_.ProducesGraphOutput(user)) between_ = &user;
    }
  }

  // Qs behind the op (or behind the `between` op), by output slot, then in the order of consumers.
  void FindQuantizers() {
    const Node& source = between_ != nullptr ? *between_ : node_;
    for (const ValueId output : source.outputs) {
      if (output == kNoValue) continue;
      for (const Use& use : graph_.value(output).uses) {
        const Node& user = *graph_.node(use.node);
        if (InOpSet(scope_, "Q", user)) quantizers_.push_back({&user, output});
      }
    }
  }

  const Node* Dequantizer(ValueId input) const {
    if (input == kNoValue) return nullptr;
    const Node* producer = graph_.Producer(input);
    return producer != nullptr && InOpSet(scope_, "DQ", *producer) ? producer : nullptr;
  }

  // Neither a DQ in front nor a Q behind: nothing here looks like a unit.
  bool Concerns() const {
    if (!quantizers_.empty()) return true;
    return std::any_of(node_.inputs.begin(), node_.inputs.end(),
                       [this](ValueId input) { return Dequantizer(input) != nullptr; });
  }

  std::optional<Refusal> Check(const Call& call) {
    if (!ProviderFits(scope_, rule_, node_)) {
      return Fail("provider", Quoted(node_) + " is on provider '" + node_.provider + "'");
    }
    if (auto refusal = CheckBetween()) return refusal;
    if (auto refusal = BindOperands(call)) return refusal;
    if (auto refusal = BindAttributes(binding_, call, node_)) return refusal;
    if (auto refusal = BindOutputs()) return refusal;
    NameAll(call);
    if (auto refusal = CheckPrivate()) return refusal;
    if (auto refusal = CheckTypes(call)) return refusal;
    return CheckSince();
  }

  std::optional<Refusal> CheckBetween() const {
    if (between_ == nullptr) return std::nullopt;
    const bool one_redundant = quantizers_.size() == 1 && MakesRedundant(*quantizers_.front().node);
    const bool with_q = unit_.quantized != Statement::Quantized::kNo;
    if (one_redundant && rule_.group == Group::kReplace && with_q) return std::nullopt;
    return Fail("between", Quoted(*between_) + " stands between " + Quoted(node_) + " and its Q, " +
                               (one_redundant ? "and this group allows none" : "and " + CutsText()));
  }

  // Where the operator between and the Q cut, for messages.
  std::string CutsText() const {
    if (quantizers_.size() != 1) return std::to_string(quantizers_.size()) + " Qs follow";
    const Bounds bounds = ClipBounds(scope_, *between_);
    const auto show = [](const Computed& bound) -> std::string {
      if (bound.state != Computed::State::kKnown) return "an unknown bound";
      return FormatFloat(static_cast<float>(ElementAsDouble(bound.tensor, 0)));
    };
    const std::string cuts = bounds.min.state == Computed::State::kAbsent
                                 ? "it cuts at 0"
                                 : "it cuts at " + show(bounds.min) + " and " + show(bounds.max);
    return cuts + ", the Q " + RangeText(*quantizers_.front().node);
  }

  // "from 0 to 25.5": what the Q can hold.
  std::string RangeText(const Node& q) const {
    const Tensor* scale = graph_.Constant(q.input(1));
    const Tensor* zero = q.input(2) == kNoValue ? nullptr : graph_.Constant(q.input(2));
    if (scale == nullptr || scale->count() != 1 || zero == nullptr || zero->count() != 1) {
      return "has no constant scalar parameters";
    }
    const auto range = RangeOf(zero->type());
    if (!range) return "has an unusual type";
    const double step = ElementAsDouble(*scale, 0);
    const auto at = [&](int64_t code) {
      return FormatFloat(static_cast<float>(static_cast<double>(code - ElementAsInt(*zero, 0)) * step));
    };
    return "holds " + at(range->min) + " to " + at(range->max);
  }

  // Whether quantizing alone cuts at least as much as the `between` op does: rint(bound / scale) + zero point reaches
  // the ends of the type (inventory-qdq.md 2, clipRedundant; language.md 13.4). An operator without bounds of its own
  // cuts at zero.
  bool MakesRedundant(const Node& q) const {
    const Tensor* scale = graph_.Constant(q.input(1));
    if (scale == nullptr || scale->rank() != 0 || scale->type() != DataType::kFloat) return false;
    DataType type = DataType::kUint8;
    int64_t zero = 0;
    if (q.input(2) != kNoValue) {
      const Tensor* constant = graph_.Constant(q.input(2));
      if (constant == nullptr || constant->rank() != 0) return false;
      type = constant->type();
      zero = ElementAsInt(*constant, 0);
    } else if (const int64_t asked = IntOr(q.attributes, "output_dtype", 0); asked != 0) {
      type = static_cast<DataType>(asked);
    }
    const int bits = BitWidth(type);
    if (!IsInteger(type) || (bits != 8 && bits != 16)) return false;
    const IntegerRange range = *RangeOf(type);
    const Bounds bounds = ClipBounds(scope_, *between_);
    const float step = *scale->data<float>();
    if (bounds.min.state == Computed::State::kAbsent) return zero == range.min;
    if (bounds.min.state != Computed::State::kKnown || bounds.max.state != Computed::State::kKnown) return false;
    return Code(bounds.min, step, zero) <= range.min && Code(bounds.max, step, zero) >= range.max;
  }

  // Computed through int32: a number that does not fit becomes the smallest one on x86, the nearest one on arm64.
  int64_t Code(const Computed& bound, float step, int64_t zero) const {
    const float rounded = std::nearbyint(static_cast<float>(ElementAsDouble(bound.tensor, 0)) / step);
    const bool fits = rounded >= -2147483648.0f && rounded < 2147483648.0f;
    const bool largest = rounded > 0 && scope_.target->Lookup("saturating_conversion").value_or(0) != 0;
    const int64_t beyond = largest ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int32_t>::min();
    return static_cast<int32_t>(static_cast<uint32_t>((fits ? static_cast<int64_t>(rounded) : beyond) + zero));
  }

  // --- operands

  Operand Quantized(const Node& dq, ValueId real) const {
    return {Operand::Kind::kDequantized, dq.input(0), dq.index, real};
  }

  std::optional<Refusal> BindOperands(const Call& call) {
    std::vector<ValueId> inputs = node_.inputs;
    while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
    size_t slot = 0;
    for (const OperandPattern& pattern : call.operands) {
      if (auto refusal = BindOperand(pattern, inputs, slot)) return refusal;
    }
    if (slot < inputs.size()) return Fail("operands", Quoted(node_) + " has more inputs than the unit");
    return std::nullopt;
  }

  std::optional<Refusal> BindOperand(const OperandPattern& pattern, const std::vector<ValueId>& inputs, size_t& slot) {
    const bool dequantized = pattern.kind == OperandPattern::Kind::kDequantized;
    BoundValue bound;
    bound.list = pattern.repeated && pattern.kind != OperandPattern::Kind::kAny;
    const size_t end = pattern.repeated ? inputs.size() : std::min(slot + 1, inputs.size());
    for (; slot < end; ++slot) {
      const ValueId input = inputs[slot];
      if (input == kNoValue) {
        if (pattern.repeated) continue;
        break;
      }
      const Node* dq = Dequantizer(input);
      if (!dequantized && dq != nullptr) {
        return FailOperands(Input(slot) + " comes from a DQ, the unit wants none there",
                            "give it '" + graph_.value(input).name + "' without a DQ");
      }
      if (dequantized && dq == nullptr && !pattern.maybe_dequantized) {
        return FailOperands(Input(slot) + " does not come from a DQ but " + Source(input), QuantizeAdvice(input));
      }
      bound.items.push_back(dq != nullptr ? Quantized(*dq, input) : Operand::Of(input));
    }
    if (bound.items.empty()) {
      if (slot < end) ++slot;  // an omitted one
      const bool may_lack = pattern.optional || (pattern.kind == OperandPattern::Kind::kAny && pattern.repeated);
      if (!may_lack) return Fail("operands", Quoted(node_) + " lacks input '" + pattern.name + "' of the unit");
      bound.items.push_back(Operand{});
    }
    if (!pattern.name.empty()) binding_.values[pattern.name] = std::move(bound);
    return std::nullopt;
  }

  std::string Input(size_t slot) const {
    return "input " + std::to_string(slot) + " of " + Quoted(node_) + ", '" + graph_.value(node_.inputs[slot]).name +
           "',";
  }

  std::string QuantizeAdvice(ValueId id) const {
    const std::string name = "'" + graph_.value(id).name + "'";
    if (graph_.Initializer(id) != nullptr) return "store " + name + " quantized, and put a DQ behind it";
    return "put a Q and a DQ between " + name + " and " + Quoted(node_);
  }

  std::string Source(ValueId id) const {
    if (const Node* producer = graph_.Producer(id)) return "from " + Quoted(*producer);
    return graph_.Initializer(id) != nullptr ? "is an initializer" : "is given at run time";
  }

  // --- outputs

  std::optional<Refusal> BindOutputs() {
    const bool wants_q = unit_.quantized == Statement::Quantized::kYes ||
                         (unit_.quantized == Statement::Quantized::kMaybe && !quantizers_.empty());
    if (!wants_q) {
      if (!quantizers_.empty() && rule_.group != Group::kDropDq) {
        return FailOperands(Quoted(node_) + " is followed by a Q, the unit wants none",
                            "leave out the Q behind " + Quoted(node_));
      }
      BindPlainOutputs();
      return std::nullopt;
    }
    std::vector<ValueId> outputs;
    for (const ValueId output : node_.outputs) {
      if (output != kNoValue) outputs.push_back(output);
    }
    if (outputs.size() != quantizers_.size()) {
      const std::string behind =
          quantizers_.empty() ? "no Q" : std::to_string(quantizers_.size()) + (quantizers_.size() == 1 ? " Q" : " Qs");
      const std::string source = between_ == nullptr ? "" : ", counted behind " + Quoted(*between_);
      return FailOperands(
          Quoted(node_) + " has " + std::to_string(outputs.size()) + (outputs.size() == 1 ? " output" : " outputs") +
              " and " + behind + " behind it" + source + Readers(),
          "put a Q, and a DQ for its readers, behind " + std::string(outputs.size() == 1 ? "" : "each output of ") +
              Quoted(between_ == nullptr ? node_ : *between_));
    }
    if (graph_.ProducesGraphOutput(node_)) return Fail("graph-output", Quoted(node_) + " produces a graph output");
    if (between_ == nullptr && graph_.OutputEdgeCount(node_) != static_cast<int>(quantizers_.size())) {
      return Fail("single-use", Quoted(node_) + " has other users than its Q" + Readers());
    }
    BoundValue bound;
    bound.list = unit_.outputs.front().repeated;
    for (const Quantizer& q : quantizers_) {
      bound.items.push_back({Operand::Kind::kQuantized, q.node->output(0), q.node->index, q.real});
    }
    binding_.values[unit_.outputs.front().name] = std::move(bound);
    return std::nullopt;
  }

  // The nodes behind the operator that are no Qs, for messages.
  std::string Readers() const {
    std::vector<std::string> readers;
    const Node& source = between_ != nullptr ? *between_ : node_;
    for (const ValueId output : source.outputs) {
      if (output == kNoValue) continue;
      for (const Use& use : graph_.value(output).uses) {
        const Node& user = *graph_.node(use.node);
        if (!InOpSet(scope_, "Q", user)) readers.push_back(Quoted(user));
      }
    }
    if (readers.empty()) return "";
    constexpr size_t kMost = 3;
    const bool more = readers.size() > kMost;
    if (more) readers.resize(kMost);
    return ": " + Join(readers, ", ") + (more ? ", ..." : "") + (readers.size() == 1 ? " reads it" : " read it");
  }

  void BindPlainOutputs() {
    BoundValue bound;
    bound.list = unit_.outputs.front().repeated;
    for (const ValueId output : node_.outputs) {
      if (output != kNoValue) bound.items.push_back(Operand::Of(output));
    }
    if (!bound.list && !bound.items.empty()) bound.items.resize(1);
    binding_.values[unit_.outputs.front().name] = std::move(bound);
  }

  // `in` and `out` stand for all operands and all results (language.md 7, everywhere).
  void NameAll(const Call& call) {
    BoundValue in{true, {}};
    for (const OperandPattern& pattern : call.operands) {
      const auto bound = binding_.values.find(pattern.name);
      if (bound == binding_.values.end()) continue;
      for (const Operand& item : bound->second.items) {
        if (item.present()) in.items.push_back(item);
      }
    }
    BoundValue out{true, binding_.values.at(unit_.outputs.front().name).items};
    binding_.values.emplace("in", std::move(in));
    binding_.values.emplace("out", std::move(out));
  }

  std::optional<Refusal> CheckPrivate() const {
    if (!rule_.private_dq) return std::nullopt;
    for (const Operand& item : binding_.values.at("in").items) {
      if (item.kind != Operand::Kind::kDequantized) continue;
      const Value& real = graph_.value(item.real);
      if (real.uses.size() == 1 && !real.graph_output) continue;
      return Fail("private", "'" + real.name + "' has other users than " + Quoted(node_) +
                                 (real.graph_output ? ", it is a graph output" : ""));
    }
    return std::nullopt;
  }

  std::optional<Refusal> CheckTypes(const Call& call) {
    for (const OperandPattern& pattern : call.operands) {
      if (auto refusal = CheckType(call, pattern.name, pattern.type)) return refusal;
    }
    // y = Q?(..): the type is that of the quantized tensor; without a Q there is none.
    const bool plain = unit_.quantized == Statement::Quantized::kMaybe && quantizers_.empty();
    for (const OutputPattern& pattern : unit_.outputs) {
      if (plain) break;
      if (auto refusal = CheckType(call, pattern.name, pattern.type)) return refusal;
    }
    binding_.types = types_.variables();
    if (types_.RowsHold()) return std::nullopt;
    std::string actual;
    for (const auto& [variable, type] : types_.variables()) {
      actual += (actual.empty() ? "" : ", ") + variable + " = " + std::string(Name(type)) + " (" +
                Join(ValuesOf(call, variable), ", ") + ")";
    }
    return Fail("types", "these element types are not taken: " + actual + "; the rule takes " + types_.Wanted());
  }

  // Which of two types that ought to be one to change: to what the rule takes on this platform, the unsigned one if it
  // takes both, which no pass makes signed again. "" where neither helps.
  std::string SameTypeAdvice(const Call& call, const std::string& variable, ValueId other) const {
    const auto bound = types_.variables().find(variable);
    if (bound == types_.variables().end()) return "";
    const DataType type = graph_.TypeOf(other).element;
    const bool to_bound = types_.RowsHoldWith(variable, bound->second);
    const bool to_other = types_.RowsHoldWith(variable, type);
    if (to_other && (!to_bound || !IsSigned(type))) {
      return "quantize " + Join(ValuesOf(call, variable, bound->second), ", ") + " as " + std::string(Name(type));
    }
    return to_bound ? "quantize '" + graph_.value(other).name + "' as " + std::string(Name(bound->second)) : "";
  }

  // The values whose type the variable is: those of type `only`, if it is given.
  std::vector<std::string> ValuesOf(const Call& call, const std::string& variable,
                                    std::optional<DataType> only = std::nullopt) const {
    std::vector<std::string> names;
    const auto add = [&](const TypePattern& pattern, const std::string& name) {
      const auto bound = binding_.values.find(name);
      if (pattern.name != variable || bound == binding_.values.end()) return;
      for (const Operand& item : bound->second.items) {
        if (!item.present() || (only && graph_.TypeOf(item.value).element != *only)) continue;
        names.push_back("'" + graph_.value(item.value).name + "'");
      }
    };
    for (const OperandPattern& pattern : call.operands) add(pattern.type, pattern.name);
    for (const OutputPattern& pattern : unit_.outputs) add(pattern.type, pattern.name);
    return names;
  }

  std::optional<Refusal> CheckType(const Call& call, const std::string& name, const TypePattern& pattern) {
    const auto bound = binding_.values.find(name);
    if (bound == binding_.values.end()) return std::nullopt;
    for (const Operand& item : bound->second.items) {
      if (!item.present()) continue;
      const ValueType& type = graph_.TypeOf(item.value);
      if (!types_.Add(pattern, type.element)) {
        Refusal refusal = Fail("types", "'" + graph_.value(item.value).name + "' (" + name + ") " + types_.detail());
        refusal.wanted = SameTypeAdvice(call, pattern.name, item.value);
        return refusal;
      }
      if (!pattern.shape) continue;
      if (!type.shape || MatchShape(binding_, *pattern.shape, *type.shape) != Truth::kTrue) {
        return Fail("shape", "'" + graph_.value(item.value).name + "' has shape " +
                                 (type.shape ? ToString(*type.shape) : "unknown") + ", wanted " +
                                 ToString(*pattern.shape));
      }
    }
    return std::nullopt;
  }

  std::optional<Refusal> CheckSince() const {
    const auto narrowed = rule_.since.find(node_.op_type);
    if (narrowed == rule_.since.end()) return std::nullopt;
    const std::vector<int>& versions = narrowed->second;
    if (std::find(versions.begin(), versions.end(), node_.since_version) != versions.end()) return std::nullopt;
    return Fail("since", Quoted(node_) + " is of version " + std::to_string(node_.since_version));
  }

  // The unit matches, with an operator between that its Q makes redundant.
  MatchResult Redundant(MatchResult result) const {
    const std::string message = "ONNX Runtime replaces " + Quoted(node_) + " but keeps " + Quoted(*between_) +
                                ", and builds two nodes of one name";
    result.kind = scope_.file->units.redundant_is_error ? MatchResult::Kind::kError : MatchResult::Kind::kRefused;
    result.refusal = Fail("between", message);
    return result;
  }

  struct Quantizer {
    const Node* node;
    ValueId real;  // what it reads
  };

  const MatchScope& scope_;
  const Rule& rule_;
  const Graph& graph_;
  const Statement& unit_;
  const Node& node_;
  Binding binding_;
  TypeCheck types_;
  const Node* between_ = nullptr;
  std::vector<Quantizer> quantizers_;
};

}  // namespace

MatchResult MatchUnit(const MatchScope& scope, const Rule& rule, NodeIndex node) {
  return UnitMatcher(scope, rule, node).Run();
}

}  // namespace rulerun
