// Names: whatever conditions, compute lines and rewrites speak of is declared, and what is declared is used.
#include <algorithm>
#include <cctype>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/checks.h"
#include "engine/ruleset/op_names.h"
#include "engine/ruleset/rule_names.h"

namespace rulerun {
namespace {

// What a name may stand for at some place.
enum class Wanted {
  kValue,  // anything with a value: values, computed ones, captures, dimensions, options
  kNode,   // a label; in a unit also a quantized value, for its DQ or Q
  kAny,
};

bool IsSlot(const std::string& member) {
  for (const std::string_view prefix : {"in", "out"}) {
    if (!StartsWith(member, prefix) || member.size() == prefix.size()) continue;
    const std::string digits = member.substr(prefix.size());
    if (digits.find_first_not_of("0123456789") == std::string::npos) return true;
  }
  return false;
}

class NameChecker {
 public:
  NameChecker(const Rule& rule, const RuleFile& file, const RuleSet& rules, Diagnostics& errors)
      : rule_(rule), file_(file), rules_(rules), errors_(errors) {}

  void Check() {
    // What only some cases bind is missing in the others.
    const RuleNames all = RuleNames::Of(rule_, rules_.vocabulary, nullptr, true);
    names_ = &all;
    of_any_case_ = &all.values;
    CheckClashes();
    CheckTypeNames();
    CheckLists();
    CheckTemplates();
    CheckConditions(rule_.conditions);
    CheckCompute(rule_.compute);
    for (const auto& [flag, conditions] : rule_.flags) CheckConditions(conditions);
    if (rule_.cases.empty()) CheckRewrite(rule_.rewrite);
    for (const Case& one : rule_.cases) CheckCase(one);
    for (const Fault& fault : rule_.faults) CheckConditions(fault.when);
    CheckUsed(all);
  }

 private:
  const Vocabulary& words() const { return rules_.vocabulary; }

  void Unknown(const std::string& what, const std::string& name, const Location& where,
               const std::vector<std::string>& known) {
    errors_.Add(Code::kUnknownName, where,
                "the rule '" + rule_.name + "' has no " + what + " '" + name + "'" + DidYouMean(name, known));
  }

  // --- declarations
  void CheckClashes() {
    for (const auto& [label, unused] : names_->labels) {
      if (names_->values.count(label) == 0 && names_->computed.count(label) == 0) continue;
      errors_.Add(Code::kWrongSort, rule_.where,
                  "the rule '" + rule_.name + "' uses '" + label + "' for a node and for a value");
    }
    for (const auto& [name, where] : names_->computed) {
      if (names_->values.count(name) == 0) continue;
      errors_.Add(Code::kWrongSort, where,
                  "'" + name + "' is a value of the pattern already; 'compute' makes new ones");
    }
  }

  bool IsType(const std::string& name) const { return ParseDataType(name) || file_.sets.count(name) > 0; }

  // In front of a value stands a type, a set, or a variable; those begin with a capital.
  void CheckTypeNames() {
    for (const auto& [name, where] : names_->type_names) {
      if (IsType(name) || (name[0] >= 'A' && name[0] <= 'Z')) continue;
      std::vector<std::string> known = DataTypeNames();
      for (const auto& [set, unused] : file_.sets) known.push_back(set);
      errors_.Add(Code::kUnknownType, where,
                  "'" + name + "' is no element type and no set of this file" + DidYouMean(name, known),
                  "a type variable begins with a capital");
    }
    // Only what stands in the rule itself: shared rows need not fit every rule.
    const Yaml* types = rule_.yaml.Get("types");
    if (types == nullptr || types->where.file != rule_.where.file || types->where.line < rule_.where.line) return;
    for (const TypeRow& row : rule_.types) {
      for (const auto& [variable, set] : row.variables) {
        if (names_->type_names.count(variable) > 0) continue;
        std::vector<std::string> known;
        for (const auto& [name, unused] : names_->type_names) known.push_back(name);
        errors_.Add(Code::kUnknownType, row.where,
                    "no value has the type '" + variable + "'" + DidYouMean(variable, known));
      }
    }
  }

  // Keys of the rule that list names.
  void CheckLists() {
    const std::vector<std::string> values(names_->values.begin(), names_->values.end());
    const auto check = [&](const std::string& key, const auto& list) {
      const Yaml* place = rule_.yaml.Get(key);
      for (const std::string& name : list) {
        if (names_->values.count(name) == 0)
          Unknown("value", name, place != nullptr ? place->where : rule_.where, values);
      }
    };
    check("shared", rule_.shared);
    check("outputs-ok", rule_.outputs_ok);
    check("prune", rule_.prune);
    for (const auto& [made, source] : rule_.shapes) check("shapes", std::vector<std::string>{source});
    std::vector<std::string> labels;
    for (const auto& [label, unused] : names_->labels) labels.push_back(label);
    if (!rule_.anchor.empty() && AnchorIsNowhere()) {
      Unknown("label", rule_.anchor, rule_.yaml.Get("anchor")->where, labels);
    }
    for (const auto& [name, versions] : rule_.since) {
      if (names_->labels.count(name) > 0 || (rule_.is_unit && IsUnitOperator(name))) continue;
      Unknown(rule_.is_unit ? "operator" : "label", name, rule_.yaml.Get("since")->where, labels);
    }
  }

  bool AnchorIsNowhere() const {
    return std::none_of(rule_.match.begin(), rule_.match.end(),
                        [&](const Statement& line) { return line.label == rule_.anchor; });
  }

  bool IsUnitOperator(const std::string& name) const {
    const auto ops = names_->labels.find("op");
    return ops != names_->labels.end() && std::find(ops->second.begin(), ops->second.end(), name) != ops->second.end();
  }

  // --- references
  // Adds an error unless `name` is declared and fits; `member` of it likewise.
  void CheckReference(const std::string& name, const Location& where, Wanted wanted) {
    if (IsNumber(name) && wanted != Wanted::kNode) return;
    used_.insert(name);
    if (names_->Has(name)) return CheckKind(name, where, wanted);
    if (rule_.is_unit && name == "since") return;
    const DottedName dotted = SplitMember(name);
    if (dotted.member.empty()) return Unknown("name", name, where, names_->All());
    used_.insert(dotted.base);
    if (dotted.base == "option") return CheckOption(dotted.member, where);
    if (!names_->Has(dotted.base)) return Unknown("name", dotted.base, where, names_->All());
    CheckMember(dotted, where);
  }

  void CheckKind(const std::string& name, const Location& where, Wanted wanted) {
    const bool is_label = names_->labels.count(name) > 0;
    if (wanted == Wanted::kValue && is_label) {
      errors_.Add(Code::kWrongSort, where, "'" + name + "' is a node; a value is wanted here",
                  "its operands are " + name + ".in0, " + name + ".in1, ...");
    }
    const bool is_node = is_label || names_->quantized.count(name) > 0;
    if (wanted == Wanted::kNode && !is_node) {
      errors_.Add(Code::kWrongSort, where,
                  "'" + name + "' is no label" + (rule_.is_unit ? ", and no value behind a DQ or Q" : "") +
                      DidYouMean(name, Labels()));
    }
  }

  std::vector<std::string> Labels() const {
    std::vector<std::string> labels;
    for (const auto& [label, unused] : names_->labels) labels.push_back(label);
    return labels;
  }

  void CheckOption(const std::string& name, const Location& where) {
    if (rules_.options.count(name) > 0) return;
    std::vector<std::string> known;
    for (const auto& [option, unused] : rules_.options) known.push_back(option);
    errors_.Add(Code::kUnknownGate, where, "there is no option '" + name + "'" + DidYouMean(name, known));
  }

  void CheckMember(const DottedName& dotted, const Location& where) {
    std::vector<std::string> known{"name"};
    if (const auto label = names_->labels.find(dotted.base); label != names_->labels.end()) {
      if (IsSlot(dotted.member)) return;
      known.insert(known.end(), {"op", "since"});
      AddAttributes(label->second, known);
      AddColumns(label->second, known);
    } else {
      known.emplace_back("type");
      if (names_->quantized.count(dotted.base) > 0) {
        known.insert(known.end(), {"scale", "zero_point", "float"});
        for (const std::string_view set : {"Q", "DQ"}) {
          const auto ops = words().op_sets.find(std::string(set));
          if (ops != words().op_sets.end()) AddAttributes(ops->second, known);
        }
      }
    }
    if (std::find(known.begin(), known.end(), dotted.member) != known.end()) return;
    errors_.Add(Code::kUnknownName, where,
                "'" + dotted.base + "' has no member '" + dotted.member + "'" + DidYouMean(dotted.member, known));
  }

  void AddAttributes(const std::vector<std::string>& ops, std::vector<std::string>& names) const {
    for (const std::string& op : ops) {
      for (const OpSchema* schema : SchemasOf(rules_, op)) {
        for (const auto& [attribute, unused] : schema->attributes) names.push_back(attribute);
      }
    }
  }

  void AddColumns(const std::vector<std::string>& ops, std::vector<std::string>& names) const {
    for (const auto& [unused, table] : words().tables) {
      for (const std::string& op : ops) {
        const Yaml* row = table.Row(op);
        if (row == nullptr) continue;
        for (const auto& [other, columns] : table.rows) {
          for (const auto& [column, value] : columns.entries) names.push_back(column);
        }
      }
    }
  }

  void CheckText(std::string_view text, const Location& where) {
    for (const std::string& reference : ReferencesIn(text)) {
      if (rule_.is_unit && reference == "op") continue;
      CheckReference(reference, where, Wanted::kAny);
    }
  }

  void CheckTemplates() {
    const auto check = [&](const NameTemplates& names) {
      for (const auto& [name, text] : names) CheckText(text.text, rule_.where);
    };
    check(rule_.names);
    for (const Case& one : rule_.cases) check(one.names);
    for (const Fault& fault : rule_.faults) CheckText(fault.note, fault.where);
  }

  // --- conditions
  void CheckConditions(const Conditions& conditions) {
    for (const Condition& condition : conditions) {
      CheckText(condition.why, condition.where);
      CheckArguments(condition);
      for (const Conditions& group : condition.groups) CheckConditions(group);
    }
  }

  // {value: [operators]}
  static bool AsksForNeighbors(const PredicateInfo& predicate) {
    return predicate.name == "made_by" || predicate.name == "readers" || predicate.name == "read_by" ||
           predicate.name == "feeds";
  }

  static Wanted WantedBy(const PredicateInfo& predicate) {
    if (AsksForNeighbors(predicate)) return Wanted::kValue;
    switch (predicate.args) {
      case ArgKind::kLabels:
      case ArgKind::kLabelToSet:
      case ArgKind::kLabelToNumber:
      case ArgKind::kLabelToList:
      case ArgKind::kLabelAttr:
      case ArgKind::kValueToMap:
        return Wanted::kNode;
      default:
        break;
    }
    return predicate.name == "same_qparams" || predicate.name == "scalar_or_per_column" ? Wanted::kNode
                                                                                        : Wanted::kValue;
  }

  void CheckArguments(const Condition& condition) {
    const PredicateInfo& predicate = *condition.predicate;
    if (predicate.args == ArgKind::kName || predicate.args == ArgKind::kRange) return;
    const Wanted wanted = WantedBy(predicate);
    for (const std::string& name : condition.values) CheckReference(name, condition.where, wanted);
    for (const Yaml& item : condition.items) CheckReference(item.scalar, item.where, Wanted::kValue);
    if (predicate.args == ArgKind::kClose) return;
    for (const auto& [name, value] : condition.pairs) {
      if (predicate.args == ArgKind::kLabelAttr) {
        CheckAttribute(name, condition.where);
      } else if (predicate.name != "since" || !rule_.is_unit || !IsUnitOperator(name)) {
        CheckReference(name, condition.where, wanted);
      }
      if (predicate.args == ArgKind::kValueToValue || predicate.args == ArgKind::kMapOfNumbers) {
        CheckReference(value.scalar, value.where, Wanted::kValue);
      }
      if (predicate.name == "op" || AsksForNeighbors(predicate)) CheckOperators(value);
      if (predicate.name == "count" && names_->each.count(name) == 0) {
        errors_.Add(Code::kBadCondition, condition.where,
                    "'" + name + "' is bound by no 'each' line, so there is nothing to count");
      }
    }
  }

  void CheckAttribute(const std::string& name, const Location& where) {
    const DottedName dotted = SplitMember(name);
    used_.insert(dotted.base);
    const bool is_node = names_->labels.count(dotted.base) > 0 || names_->quantized.count(dotted.base) > 0;
    if (!is_node) return Unknown("label", dotted.base, where, Labels());
    CheckMember(dotted, where);
  }

  void CheckOperators(const Yaml& list) {
    for (const Yaml& item : list.items) {
      if (KnownOperator(rules_.schemas, item.scalar.substr(0, item.scalar.find("...")))) continue;
      errors_.Add(Code::kUnknownOperator, item.where,
                  "there is no operator '" + item.scalar + "'" + DidYouMean(item.scalar, OperatorNames(rules_)));
    }
  }

  // --- compute
  void CheckCompute(const std::vector<Statement>& statements) {
    for (const Statement& statement : statements) {
      for (const Alternative& alternative : statement.alternatives) {
        if (alternative.call) CheckComputeCall(*alternative.call);
      }
    }
  }

  void CheckComputeCall(const Call& call) {
    CheckAttributes(call);
    // A tensor function may take a node.
    const bool takes_node = FindTensorFunction(call.ops.front()) != nullptr;
    for (const OperandPattern& operand : call.operands) {
      if (operand.call) CheckComputeCall(*operand.call);
      if (operand.kind == OperandPattern::Kind::kCapture) CheckCapture(operand.name, operand.where);
      if (operand.kind == OperandPattern::Kind::kName) {
        CheckReference(operand.name, operand.where, takes_node ? Wanted::kAny : Wanted::kValue);
      }
    }
  }

  void CheckCapture(const std::string& name, const Location& where) {
    used_.insert(name);
    if (names_->captures.count(name) > 0) return;
    if (rule_.is_unit && name == "since") return;
    Unknown("captured attribute", name, where, {names_->captures.begin(), names_->captures.end()});
  }

  void CheckAttributes(const Call& call) {
    for (const AttrPattern& attribute : call.attributes) {
      for (const AttrValue& value : attribute.values) CheckValue(value, attribute.where);
      if (!attribute.flag.empty()) CheckFlag(attribute.flag, attribute.where);
    }
  }

  void CheckValue(const AttrValue& value, const Location& where) {
    if (value.kind == AttrValue::Kind::kCapture) CheckCapture(value.text, where);
    if (value.kind == AttrValue::Kind::kString) CheckText(value.text, where);
    const bool type_variable =
        names_->type_names.count(value.text) > 0 && std::isupper(static_cast<unsigned char>(value.text.front())) != 0;
    if (value.kind == AttrValue::Kind::kName && !ParseDataType(value.text) && !type_variable) {
      CheckReference(value.text, where, Wanted::kValue);
    }
    for (const AttrValue& item : value.list) CheckValue(item, where);
  }

  void CheckFlag(const std::string& flag, const Location& where) {
    flags_used_.insert(flag);
    std::vector<std::string> known;
    for (const auto& [name, unused] : rule_.flags) {
      if (name == flag) return;
      known.push_back(name);
    }
    Unknown("flag", flag, where, known);
  }

  // --- rewrites
  void CheckCase(const Case& one) {
    const RuleNames names = RuleNames::Of(rule_, words(), &one);
    const RuleNames* before = names_;
    names_ = &names;
    CheckConditions(one.conditions);
    CheckCompute(one.compute);
    CheckRewrite(one.rewrite.kind == Rewrite::Kind::kNone ? rule_.rewrite : one.rewrite);
    names_ = before;
  }

  void CheckRewrite(const Rewrite& rewrite) {
    if (rewrite.kind == Rewrite::Kind::kError || rewrite.kind == Rewrite::Kind::kRefuse) {
      return CheckText(rewrite.error, rewrite.where);
    }
    std::set<std::string> made;  // new values, which lines further up may read, too
    for (const Statement& statement : rewrite.statements) {
      for (const OutputPattern& output : statement.outputs) {
        if (names_->values.count(output.name) == 0 && !OfAnotherCase(output)) made.insert(output.name);
      }
    }
    for (const Statement& statement : rewrite.statements) {
      if (!statement.flag.empty()) CheckFlag(statement.flag, statement.where);
      for (const Alternative& alternative : statement.alternatives) {
        if (alternative.call) {
          CheckRewriteCall(*alternative.call, made);
        } else {
          CheckReference(alternative.value, alternative.where, Wanted::kValue);
        }
      }
      for (const OutputPattern& output : statement.outputs) {
        used_.insert(output.name);
      }
      if (statement.kind != Statement::Kind::kCall) {
        const std::string& name = statement.outputs.front().name;
        if (names_->values.count(name) == 0) Unknown("value", name, statement.where, names_->All());
      }
      if (statement.kind == Statement::Kind::kRename)
        CheckReference(statement.renamed_to, statement.where, Wanted::kValue);
    }
    CheckMadeAreRead(rewrite, made);
    CheckMadeKeys(rewrite, made);
  }

  void CheckRewriteCall(const Call& call, const std::set<std::string>& made) {
    CheckAttributes(call);
    for (const std::string& op : call.ops) CheckText(op, call.where);
    for (const OperandPattern& operand : call.operands) {
      if (operand.kind == OperandPattern::Kind::kStar && names_->quantized.count(operand.name) == 0) {
        used_.insert(operand.name);
        errors_.Add(Code::kWrongSort, operand.where,
                    "'*" + operand.name + "' needs a value behind a DQ" +
                        DidYouMean(operand.name, {names_->quantized.begin(), names_->quantized.end()}));
      } else if (OfAnotherCase(operand)) {
        used_.insert(operand.name);
      } else if (operand.kind == OperandPattern::Kind::kName && made.count(operand.name) == 0) {
        CheckReference(operand.name, operand.where, Wanted::kValue);
      }
    }
  }

  // Written `x?`: a value that only other cases bind is missing.
  template <typename Pattern>
  bool OfAnotherCase(const Pattern& pattern) const {
    return pattern.optional && names_->values.count(pattern.name) == 0 && of_any_case_->count(pattern.name) > 0;
  }

  // A new value that no line reads is most likely a misspelt result, unless it stands beside others.
  void CheckMadeAreRead(const Rewrite& rewrite, const std::set<std::string>& made) {
    if (rewrite.kind != Rewrite::Kind::kReplace) return;
    std::set<std::string> read;
    for (const Statement& statement : rewrite.statements) {
      for (const Alternative& alternative : statement.alternatives) {
        if (!alternative.call) continue;
        for (const OperandPattern& operand : alternative.call->operands) read.insert(operand.name);
      }
    }
    for (const Statement& statement : rewrite.statements) {
      const OutputPattern& output = statement.outputs.front();
      if (made.count(output.name) == 0 || read.count(output.name) > 0 || output.name == "_") continue;
      errors_.Add(Code::kNewValueUnread, output.where,
                  "the new value '" + output.name + "' is read by no line" +
                      DidYouMean(output.name, {names_->values.begin(), names_->values.end()}));
    }
  }

  // `names` and `shapes` speak of what the rewrite makes.
  void CheckMadeKeys(const Rewrite& rewrite, const std::set<std::string>& made) {
    CheckMadeKeys("names", rule_.names, rewrite, made);
    CheckMadeKeys("shapes", rule_.shapes, rewrite, made);
  }

  template <typename Entries>
  void CheckMadeKeys(const std::string& key, const Entries& entries, const Rewrite& rewrite,
                     const std::set<std::string>& made) {
    const Yaml* place = rule_.yaml.Get(key);
    const std::string speaks = "'" + key + "' speaks of '";
    for (const auto& [name, unused] : entries) {
      std::vector<std::string> known(made.begin(), made.end());
      known.emplace_back("copy");
      for (const Statement& statement : rewrite.statements) known.push_back(statement.label);
      const RuleNames all = RuleNames::Of(rule_, words(), nullptr, true);
      for (const auto& [computed, where] : all.computed) known.push_back(computed);
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      if (MadeByAnyCase(name)) continue;
      errors_.Add(Code::kUnknownName, place != nullptr ? place->where : rule_.where,
                  speaks + name + "', which the rule does not make" + DidYouMean(name, known));
    }
  }

  bool MadeByAnyCase(const std::string& name) const {
    return std::any_of(rule_.cases.begin(), rule_.cases.end(), [&](const Case& one) {
      return std::any_of(one.rewrite.statements.begin(), one.rewrite.statements.end(), [&](const Statement& statement) {
        return statement.label == name || std::any_of(statement.outputs.begin(), statement.outputs.end(),
                                                      [&](const OutputPattern& output) { return output.name == name; });
      });
    });
  }

  // --- what is declared is used
  void CheckUsed(const RuleNames& all) {
    for (const auto& [flag, conditions] : rule_.flags) {
      if (flags_used_.count(flag) > 0) continue;
      errors_.Add(Code::kUnused, rule_.yaml.Get("flags")->where, "the flag '" + flag + "' is never used");
    }
    const bool fails = rule_.rewrite.kind == Rewrite::Kind::kError;  // takes `compute` over along with `where`
    for (const auto& [name, where] : all.computed) {
      if (fails) break;
      if (used_.count(name) == 0)
        errors_.Add(Code::kUnused, where, "the computed value '" + name + "' is never used", "write _ for it");
    }
    for (const std::string& name : all.captures) {
      if (used_.count(name) == 0)
        errors_.Add(Code::kUnused, rule_.where, "the captured attribute '@" + name + "' is never used");
    }
  }

  const Rule& rule_;
  const RuleFile& file_;
  const RuleSet& rules_;
  Diagnostics& errors_;
  const RuleNames* names_ = nullptr;
  const std::set<std::string>* of_any_case_ = nullptr;
  std::set<std::string> used_;
  std::set<std::string> flags_used_;
};

}  // namespace

void CheckNames(const Rule& rule, const RuleFile& file, const RuleSet& rules, Diagnostics& errors) {
  NameChecker(rule, file, rules, errors).Check();
}

}  // namespace rulerun
