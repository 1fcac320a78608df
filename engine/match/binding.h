// What the names of a rule's text stand for in one match.
#ifndef RULERUN_ENGINE_MATCH_BINDING_H_
#define RULERUN_ENGINE_MATCH_BINDING_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/match/verdict.h"
#include "engine/ruleset/rule.h"
#include "engine/ruleset/ruleset.h"
#include "engine/ruleset/target.h"
#include "kernels/kernel.h"

namespace rulerun {

// Told of every condition that is asked, those inside `any`, `not` and `if` too, and of the answer. Conditions that
// decide whether an optional line is taken are asked more than once.
using ConditionObserver = std::function<void(const Condition& condition, Truth answer)>;

// What a rule is tried with: everything but the node.
struct MatchScope {
  Graph* graph = nullptr;
  const RuleSet* rules = nullptr;
  const RuleFile* file = nullptr;
  const Target* target = nullptr;
  const KernelRegistry* kernels = nullptr;
  std::vector<std::string> providers;             // of the stage; empty: any
  NodeIndex first_new = 0;                        // nodes from here on were made by the walk
  const ConditionObserver* conditions = nullptr;  // nullptr: nobody listens
};

// One value that a name stands for.
struct Operand {
  enum class Kind {
    kAbsent,       // an optional operand that is not there
    kValue,        // a value of the graph
    kDequantized,  // units: read through a DQ; `value` is the quantized tensor
    kQuantized,    // units: written through a Q; `value` is the quantized tensor
  };
  Kind kind = Kind::kAbsent;
  ValueId value = kNoValue;
  NodeIndex quantizer = kNoNode;  // the DQ or Q
  ValueId real = kNoValue;        // what the operator itself reads or writes

  bool present() const { return kind != Kind::kAbsent; }
  static Operand Of(ValueId id) { return {Kind::kValue, id, kNoNode, id}; }
};

// A name's operands: one, or any number for `x...` and what `each` binds.
struct BoundValue {
  bool list = false;
  std::vector<Operand> items;
};

// A computed value: not there (an operand was absent), unknown (an operand is no constant), or a tensor.
struct Computed {
  enum class State { kAbsent, kUnknown, kKnown };
  State state = State::kUnknown;
  Tensor tensor;
  static Computed Absent() { return {State::kAbsent, {}}; }
  static Computed Unknown() { return {State::kUnknown, {}}; }
  static Computed Known(Tensor tensor) { return {State::kKnown, std::move(tensor)}; }
};

// One `each` line with all that it matched.
struct EachMatch {
  const Statement* line = nullptr;
  std::vector<NodeIndex> nodes;
};

class Binding {
 public:
  Binding(const MatchScope& scope, const Rule& rule);

  const MatchScope& scope() const { return *scope_; }
  const Rule& rule() const { return *rule_; }
  Graph& graph() const { return *scope_->graph; }

  // Nodes, by label; lines without a label get "#<line>".
  std::map<std::string, NodeIndex> nodes;
  std::map<std::string, BoundValue> values;
  std::map<std::string, std::optional<Attribute>> captures;
  std::map<std::string, Dim> dims;
  std::map<std::string, std::vector<Dim>> dim_lists;
  std::map<std::string, DataType> types;
  std::vector<EachMatch> eaches;
  std::vector<NodeIndex> chain;  // nodes of `*` lines
  const Case* taken_case = nullptr;
  // Units.
  NodeIndex between = kNoNode;  // the lone operator between the op and its Q

  // Matched nodes in the order of the text.
  std::vector<NodeIndex> MatchedNodes() const;
  const Node* NodeOf(std::string_view label) const;  // nullptr where the label is not bound

  // Whether the text of the rule declares `name` (or its part before a member) at all.
  bool Declares(std::string_view name) const;
  // Operands of a name, members resolved: x, x.scale, x.zero_point, x.float, label.in0, label.out0. An absent one
  // comes back as kAbsent. std::nullopt: the name stands for no values (a computed value, a capture, a number).
  std::optional<std::vector<Operand>> Operands(std::string_view name) const;

  // Lazily computed lines, shared by copies of the binding made after them.
  void AddCompute(const std::vector<Statement>& lines);
  // The constant a name stands for: a constant value, a computed line, a capture, a dimension, an option.
  Computed ConstantOf(std::string_view name) const;
  // A captured attribute as a constant; absent where the taken alternative captures none of that name.
  Computed CaptureOf(std::string_view name) const;
  bool IsComputed(std::string_view name) const;
  // The line that computes it, as written: "f = Div(s, r)"; "" where nothing does.
  std::string ComputedBy(std::string_view name) const;
  // The binding with `name` standing for its item `i` alone, for conditions asked once per item.
  Binding Narrowed(const std::vector<std::string>& names, size_t i) const;

  // Replaces ${x}, ${label.op}, ${a|b} in a template: names of values and nodes, operators, element types.
  std::string Expand(std::string_view text) const;
  // The text of one ${...} reference, or std::nullopt where it stands for nothing here.
  std::optional<std::string> ExpandReference(std::string_view reference) const;

 private:
  const MatchScope* scope_;
  const Rule* rule_;
  struct Line {
    const Statement* statement = nullptr;
    int output = 0;
  };
  std::map<std::string, Line> compute_;
  mutable std::map<std::string, Computed> cache_;
  friend class Evaluator;
};

// The name by which a condition or template speaks of a node, value or operand in messages.
std::string Describe(const Binding& binding, std::string_view name);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_MATCH_BINDING_H_
