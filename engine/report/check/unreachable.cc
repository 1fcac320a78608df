// Rules that an earlier rule of the same walk leaves nothing to do.
//
// The proof: every line of the earlier rule (A) can be laid on a line of the later one (B) so that whatever B's text
// and conditions let through, A's let through too. Then A fires wherever B would, and the walk is done with the node.
// Nothing is claimed where the walk goes on after a rule fired, where A has cases, computes values for its conditions,
// or where its text has lines that may be missing.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/report/check/analyses.h"
#include "engine/report/condition_text.h"

namespace rulerun {
namespace {

using Names = std::map<std::string, std::string>;  // A's -> B's

class Subsumption {
 public:
  Subsumption(const RuleSet& rules, const Rule& a, const Rule& b) : rules_(rules), a_(a), b_(b) {}

  bool Holds() {
    if (a_.is_unit != b_.is_unit || !SameFrame()) return false;
    const Statement& first_a = AnchorOf(a_);
    const Statement& first_b = AnchorOf(b_);
    Names names;
    return Lay(first_a, first_b, names) && LayRest({&first_a}, names);
  }

 private:
  static const Statement& AnchorOf(const Rule& rule) {
    for (const Statement& line : rule.match) {
      if (!rule.anchor.empty() && line.label == rule.anchor) return line;
    }
    return rule.match.front();
  }

  // What is not text and not a condition: A must ask nothing there, or just what B asks.
  bool SameFrame() const {
    if (!a_.cases.empty() || !a_.gate_if.items.empty() || !a_.gate_unless.items.empty()) return false;
    const bool fires = a_.rewrite.kind == Rewrite::Kind::kReplace || a_.rewrite.kind == Rewrite::Kind::kBecomes ||
                       (a_.is_unit && a_.rewrite.kind == Rewrite::Kind::kNone);
    if (!fires || a_.providers != b_.providers || !a_.since.empty()) return false;
    if (!b_.is_unit && !b_.since.empty()) return false;  // may let in versions that A, without its own list, does not
    const bool renames = std::any_of(a_.rewrite.statements.begin(), a_.rewrite.statements.end(),
                                     [](const Statement& line) { return line.kind == Statement::Kind::kRename; });
    if (renames) return false;  // refused where the name cannot be given away
    if (a_.is_unit && (a_.group != b_.group || (a_.private_dq && !b_.private_dq))) return false;
    return SameTypes();
  }

  bool SameTypes() const {
    if (a_.types.empty()) return true;
    if (a_.types_are_rows != b_.types_are_rows || a_.types.size() != b_.types.size()) return false;
    for (size_t i = 0; i < a_.types.size(); ++i) {
      const TypeRow& a = a_.types[i];
      const TypeRow& b = b_.types[i];
      if (a.needs != b.needs || a.variables.size() != b.variables.size()) return false;
      for (size_t j = 0; j < a.variables.size(); ++j) {
        const auto& [name_a, set_a] = a.variables[j];
        const auto& [name_b, set_b] = b.variables[j];
        if (name_a != name_b || set_a.except != set_b.except || set_a.types != set_b.types) return false;
      }
    }
    return true;
  }

  // Lays the lines of A that are left on lines of B; every order is tried.
  bool LayRest(std::set<const Statement*> laid, const Names& names) {
    const auto next =
        std::find_if(a_.match.begin(), a_.match.end(), [&](const Statement& line) { return laid.count(&line) == 0; });
    if (next == a_.match.end()) return UsesHold(names) && ConditionsHold(names);
    laid.insert(&*next);
    return std::any_of(b_.match.begin(), b_.match.end(), [&](const Statement& line) {
      Names attempt = names;
      return Lay(*next, line, attempt) && LayRest(laid, attempt);
    });
  }

  static bool Bind(Names& names, const std::string& a, const std::string& b) {
    if (a.empty() || a == "_") return true;
    if (b.empty() || b == "_") return false;
    const auto [known, fresh] = names.emplace(a, b);
    return fresh || known->second == b;
  }

  bool Lay(const Statement& a, const Statement& b, Names& names) const {
    const bool plain = !a.each && !b.each && a.repeat == 0 && b.repeat == 0 && !a.first && a.quantized == b.quantized;
    if (!plain || a.alternatives.size() != 1 || b.alternatives.size() != 1) return false;
    if (!a.alternatives[0].call || !b.alternatives[0].call) return false;
    if (!a.label.empty() && !b.label.empty() && !Bind(names, a.label, b.label)) return false;
    if (a.outputs.size() != b.outputs.size()) return false;
    for (size_t i = 0; i < a.outputs.size(); ++i) {
      const OutputPattern& out_a = a.outputs[i];
      const OutputPattern& out_b = b.outputs[i];
      if (out_a.optional != out_b.optional || out_a.repeated != out_b.repeated) return false;
      if (!Bind(names, out_a.name, out_b.name) || !WiderType(out_a.type, out_b.type, names)) return false;
    }
    return LayCall(*a.alternatives[0].call, *b.alternatives[0].call, names);
  }

  std::set<std::string> Operators(const Call& call) const {
    std::set<std::string> ops;
    for (const std::string& op : call.ops) {
      const auto set = rules_.vocabulary.op_sets.find(op);
      if (set == rules_.vocabulary.op_sets.end()) {
        ops.insert(op);
      } else {
        ops.insert(set->second.begin(), set->second.end());
      }
    }
    return ops;
  }

  bool LayCall(const Call& a, const Call& b, Names& names) const {
    const std::set<std::string> ops_a = Operators(a);
    const std::set<std::string> ops_b = Operators(b);
    if (!std::includes(ops_a.begin(), ops_a.end(), ops_b.begin(), ops_b.end())) return false;
    if (a.ordered && !b.ordered) return false;
    const bool asks_all = std::all_of(a.attributes.begin(), a.attributes.end(), [&](const AttrPattern& wanted) {
      return std::any_of(b.attributes.begin(), b.attributes.end(), [&](const AttrPattern& given) {
        return given.name == wanted.name && SameValue(wanted.values.front(), given.values.front());
      });
    });
    return asks_all && LayOperands(a, b, names);
  }

  static bool SameValue(const AttrValue& a, const AttrValue& b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
      case AttrValue::Kind::kInt:
        return a.integer == b.integer;
      case AttrValue::Kind::kFloat:
        return a.number == b.number;
      case AttrValue::Kind::kString:
        return a.text == b.text;
      default:
        return false;  // captures, lists: nothing is claimed
    }
  }

  bool LayOperands(const Call& a, const Call& b, Names& names) const {
    size_t slot = 0;
    for (; slot < a.operands.size(); ++slot) {
      const OperandPattern& wanted = a.operands[slot];
      if (wanted.repeated) {
        if (wanted.kind == OperandPattern::Kind::kAny && !a_.is_unit) return true;
        const bool same =
            slot < b.operands.size() && b.operands[slot].repeated && SameOperand(wanted, b.operands[slot]);
        return same && slot + 1 == a.operands.size() && slot + 1 == b.operands.size() &&
               Bind(names, wanted.name, b.operands[slot].name);
      }
      if (slot >= b.operands.size()) {
        if (!wanted.optional) return false;
        continue;
      }
      const OperandPattern& given = b.operands[slot];
      if (given.repeated || (given.optional && !wanted.optional)) return false;
      if (!SameOperand(wanted, given) || !WiderType(wanted.type, given.type, names)) return false;
      if (wanted.kind != OperandPattern::Kind::kAny && !Bind(names, wanted.name, given.name)) return false;
    }
    return b.operands.size() <= a.operands.size();
  }

  bool SameOperand(const OperandPattern& wanted, const OperandPattern& given) const {
    if (wanted.kind == OperandPattern::Kind::kAny && !a_.is_unit) return true;
    if (wanted.kind == OperandPattern::Kind::kNumber) return given.kind == wanted.kind && given.number == wanted.number;
    if (wanted.kind == OperandPattern::Kind::kDequantized) {
      return given.kind == wanted.kind && (wanted.maybe_dequantized || !given.maybe_dequantized);
    }
    return wanted.kind == given.kind;
  }

  static bool WiderType(const TypePattern& a, const TypePattern& b, Names& names) {
    if (!a.name.empty() && !Bind(names, "type " + a.name, "type " + b.name)) return false;
    if (!a.name.empty() && a.name != b.name) return false;
    if (!a.shape) return true;
    if (!b.shape || a.shape->size() != b.shape->size()) return false;
    for (size_t i = 0; i < a.shape->size(); ++i) {
      const DimPattern& dim_a = (*a.shape)[i];
      const DimPattern& dim_b = (*b.shape)[i];
      if (dim_a.repeated != dim_b.repeated) return false;
      if (dim_a.kind == DimPattern::Kind::kAny) continue;
      if (dim_a.kind != dim_b.kind || dim_a.size != dim_b.size) return false;
      if (dim_a.kind == DimPattern::Kind::kName && !Bind(names, "dim " + dim_a.name, "dim " + dim_b.name)) return false;
    }
    return true;
  }

  // What A wants to be used by matched nodes only, B wants so too: it lies between lines of B as well.
  bool UsesHold(const Names& names) const {
    const auto interior = [](const Rule& rule) {
      std::set<std::string> read;
      std::set<std::string> both;
      for (const Statement& line : rule.match) {
        for (const OperandPattern& operand : line.alternatives[0].call->operands) read.insert(operand.name);
      }
      for (const Statement& line : rule.match) {
        for (const OutputPattern& output : line.outputs) {
          if (read.count(output.name) > 0 && rule.shared.count(output.name) == 0) both.insert(output.name);
        }
      }
      return both;
    };
    if (a_.is_unit) return true;
    const bool plain = std::all_of(b_.match.begin(), b_.match.end(), [](const Statement& line) {
      return line.alternatives.size() == 1 && line.alternatives[0].call.has_value();
    });
    // With lines of B that A does not have, B's nodes are users that A does not know.
    if (!plain || a_.match.size() != b_.match.size()) return a_.match.size() == 1;
    const std::set<std::string> of_b = interior(b_);
    for (const std::string& value : interior(a_)) {
      const auto laid = names.find(value);
      if (laid == names.end() || of_b.count(laid->second) == 0 || b_.outputs_ok.count(laid->second) > 0) return false;
    }
    return true;
  }

  bool ConditionsHold(const Names& names) const {
    std::set<std::string> given;
    for (const Condition& condition : b_.conditions) given.insert(ConditionText(condition));
    const auto rename = [&](const std::string& name) {
      const size_t dot = name.find('.');
      const auto laid = names.find(name.substr(0, dot));
      if (laid == names.end()) return name;
      return dot == std::string::npos ? laid->second : laid->second + name.substr(dot);
    };
    // A name that only one of the two computes means another thing in the other.
    if (!a_.compute.empty() && !a_.conditions.empty()) return false;
    return std::all_of(a_.conditions.begin(), a_.conditions.end(),
                       [&](const Condition& condition) { return given.count(ConditionText(condition, rename)) > 0; });
  }

  const RuleSet& rules_;
  const Rule& a_;
  const Rule& b_;
};

void Check(const RuleSet& rules, const WalkRules& walk, std::vector<Finding>& findings) {
  if (walk.visit_all) return;
  for (size_t later = 1; later < walk.rules.size(); ++later) {
    const Rule& b = *walk.rules[later];
    for (size_t earlier = 0; earlier < later; ++earlier) {
      const Rule& a = *walk.rules[earlier];
      if (!Subsumption(rules, a, b).Holds()) continue;
      Finding finding;
      finding.code = Code::kUnreachable;
      finding.where = b.where;
      finding.rule = b.name;
      finding.other = a.name;
      finding.other_where = a.where;
      finding.message = "the rule '" + b.name + "' never fires: '" + a.name + "', at " + a.where.ToString() +
                        ", is tried first and matches wherever it does";
      finding.remedy = "put the narrower rule first ('insert: {before: " + a.name + "}'), or remove it";
      findings.push_back(std::move(finding));
      break;
    }
  }
}

}  // namespace

std::vector<Finding> FindUnreachable(const RuleSet& rules) {
  std::vector<Finding> findings;
  for (const WalkRules& walk : WalksOf(rules)) Check(rules, walk, findings);
  return findings;
}

}  // namespace rulerun
