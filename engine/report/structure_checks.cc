#include "engine/report/structure_checks.h"

#include <algorithm>
#include <set>

#include "engine/graph/schema.h"
#include "engine/ruleset/op_names.h"
#include "engine/ruleset/type_classes.h"

namespace rulerun {
namespace {

class Collector {
 public:
  Collector(const RuleSet& rules, const RuleFile& file, const Rule& rule) : rules_(rules), file_(file), rule_(rule) {
    lines_ = rule.match;
    for (const Case& one : rule.cases) lines_.insert(lines_.end(), one.match.begin(), one.match.end());
  }

  std::vector<StructureCheck> Collect() {
    if (rule_.is_unit) {
      Note("operands", "operands with and without a DQ", rule_.match.front().where, false);
    }
    for (const Statement& line : lines_) {
      for (const Alternative& alternative : line.alternatives) {
        if (alternative.call) AddCall(line, *alternative.call);
      }
      for (const OutputPattern& output : line.outputs) AddShape(output.name, output.type, line.where);
    }
    if (TypesCanRefuse()) Note("types", "element types", rule_.where, false);
    if (!rule_.is_unit && HasInterior()) Note("single-use", "uses of values between the nodes", rule_.where, false);
    return std::move(checks_);
  }

 private:
  void Note(std::string check, std::string what, const Location& where, bool exact) {
    const bool known = std::any_of(checks_.begin(), checks_.end(), [&](const StructureCheck& other) {
      return other.check == check && (!exact || other.where.ToString() == where.ToString());
    });
    if (!known) checks_.push_back({std::move(check), std::move(what), where, exact});
  }

  // The operators that a call may stand for.
  std::vector<std::string> Operators(const Call& call) const {
    std::vector<std::string> operators;
    for (const std::string& op : call.ops) {
      const auto set = rules_.vocabulary.op_sets.find(op);
      if (set == rules_.vocabulary.op_sets.end()) {
        operators.push_back(op);
      } else {
        operators.insert(operators.end(), set->second.begin(), set->second.end());
      }
    }
    return operators;
  }

  void AddCall(const Statement& line, const Call& call) {
    // The search itself passes by what does not have the attributes of such lines, and a node that may be missing is
    // taken for missing.
    const bool passed_by = line.first || line.repeat != 0;
    for (const AttrPattern& attribute : call.attributes) {
      if (!passed_by && AttributeCanRefuse(call, attribute)) {
        Note("attributes", "attribute " + attribute.name, attribute.where, true);
      }
    }
    for (const OperandPattern& operand : call.operands) {
      if (!operand.repeated) AddShape(operand.name, operand.type, rule_.is_unit ? line.where : operand.where);
    }
    if (line.repeat == 0 && VersionCanRefuse(line, call)) {
      Note("since", "version of " + call.ops.front(), line.where, true);
    }
  }

  void AddShape(const std::string& name, const TypePattern& type, const Location& where) {
    if (!type.shape) return;
    const bool any = std::all_of(type.shape->begin(), type.shape->end(), [](const DimPattern& dim) {
      return dim.kind == DimPattern::Kind::kAny && dim.repeated;
    });
    if (!any) Note("shape", "shape of '" + name + "'", where, true);
  }

  // Whether a node of this version may have as many operands as are written; others do not match in the first place.
  static bool TakesOperands(const OpSchema& schema, const Call& call) {
    size_t least = 0;
    bool open = false;
    for (const OperandPattern& operand : call.operands) {
      if (!operand.optional && !operand.repeated) ++least;
      open = open || operand.repeated;
    }
    const bool variadic = !schema.inputs.empty() && schema.inputs.back().variadic;
    const bool few_enough = variadic || least <= schema.inputs.size();
    return few_enough && (open || static_cast<int>(call.operands.size()) >= schema.min_inputs);
  }

  bool AttributeCanRefuse(const Call& call, const AttrPattern& attribute) const {
    const AttrValue& wanted = attribute.values.front();
    if (wanted.kind != AttrValue::Kind::kCapture) return true;
    if (wanted.optional) return false;
    for (const std::string& op : Operators(call)) {
      for (const OpSchema* schema : SchemasOf(rules_, op)) {
        if (!TakesOperands(*schema, call)) continue;
        const auto found = schema->attributes.find(attribute.name);
        if (found == schema->attributes.end()) return true;
        if (!found->second.required && !found->second.default_value) return true;
      }
    }
    return false;
  }

  // Whether a model of a supported opset may have another version than those that are listed.
  bool VersionCanRefuse(const Statement& line, const Call& call) const {
    for (const std::string& op : Operators(call)) {
      const auto own = rule_.since.find(rule_.is_unit ? op : line.label);
      const auto known = rules_.vocabulary.since.find(op);
      const std::vector<int>* listed = own != rule_.since.end()                                   ? &own->second
                                       : !rule_.is_unit && known != rules_.vocabulary.since.end() ? &known->second
                                                                                                  : nullptr;
      if (listed == nullptr) continue;
      const OpName name = SplitOpName(op);
      for (int opset = kOldestOpset; opset <= kNewestOpset; ++opset) {
        const OpSchema* schema = FindSchema(rules_.schemas, name.domain, name.type, opset);
        if (schema == nullptr || !TakesOperands(*schema, call)) continue;
        if (std::find(listed->begin(), listed->end(), schema->since_version) == listed->end()) return true;
      }
    }
    return false;
  }

  // --- types

  struct Typed {
    std::string value;
    std::string type;
  };

  std::vector<Typed> TypedValues() const {
    std::vector<Typed> typed;
    for (const Statement& line : lines_) {
      for (const Alternative& alternative : line.alternatives) {
        if (!alternative.call) continue;
        for (const OperandPattern& operand : alternative.call->operands) {
          if (!operand.type.name.empty()) typed.push_back({operand.name, operand.type.name});
        }
      }
      for (const OutputPattern& output : line.outputs) {
        if (!output.type.name.empty()) typed.push_back({output.name, output.type.name});
      }
    }
    return typed;
  }

  bool TypesCanRefuse() const {
    const std::vector<Typed> typed = TypedValues();
    if (typed.empty()) return false;
    if (rule_.is_unit) return true;  // codes: nothing but the rule says of which type
    const TypeClasses classes(rules_, lines_);
    for (const Typed& one : typed) {
      const auto allowed = classes.Allowed(one.value);
      const auto concrete = ParseDataType(one.type);
      const auto set = file_.sets.find(one.type);
      if (concrete || set != file_.sets.end()) {
        if (!allowed) return true;
        const auto fits = [&](DataType type) { return concrete ? type == *concrete : set->second.Has(type); };
        if (!std::all_of(allowed->begin(), allowed->end(), fits)) return true;
        continue;
      }
      const auto other_class = [&](const Typed& other) {
        return other.type == one.type && classes.ClassOf(other.value) != classes.ClassOf(one.value);
      };
      if (std::any_of(typed.begin(), typed.end(), other_class)) return true;
      if (RowsExclude(one.type, allowed)) return true;
    }
    return false;
  }

  bool RowsExclude(const std::string& variable, const std::optional<std::set<DataType>>& allowed) const {
    const bool named = std::any_of(rule_.types.begin(), rule_.types.end(), [&](const TypeRow& row) {
      return std::any_of(row.variables.begin(), row.variables.end(),
                         [&](const auto& entry) { return entry.first == variable; });
    });
    if (!named) return false;
    if (!allowed) return true;
    return !std::all_of(allowed->begin(), allowed->end(), [&](DataType type) {
      return std::any_of(rule_.types.begin(), rule_.types.end(), [&](const TypeRow& row) {
        return std::all_of(row.variables.begin(), row.variables.end(),
                           [&](const auto& entry) { return entry.first != variable || entry.second.Has(type); });
      });
    });
  }

  // A value that one line writes and another reads, and that others must not read. A node that may be missing is taken
  // for missing where its values have other users.
  bool HasInterior() const {
    const auto optional = [](const Statement& line) {
      return line.repeat != 0 || std::any_of(line.alternatives.begin(), line.alternatives.end(),
                                             [](const Alternative& one) { return !one.call.has_value(); });
    };
    std::set<std::string> read;
    for (const Statement& line : lines_) {
      if (optional(line)) continue;
      for (const Alternative& alternative : line.alternatives) {
        if (!alternative.call) continue;
        for (const OperandPattern& operand : alternative.call->operands) read.insert(operand.name);
      }
    }
    return std::any_of(lines_.begin(), lines_.end(), [&](const Statement& line) {
      if (optional(line)) return false;
      return std::any_of(line.outputs.begin(), line.outputs.end(), [&](const OutputPattern& output) {
        return read.count(output.name) > 0 && output.name != "_" && rule_.shared.count(output.name) == 0;
      });
    });
  }

  const RuleSet& rules_;
  const RuleFile& file_;
  const Rule& rule_;
  std::vector<Statement> lines_;
  std::vector<StructureCheck> checks_;
};

}  // namespace

std::vector<StructureCheck> StructureChecks(const RuleSet& rules, const RuleFile& file, const Rule& rule) {
  return Collector(rules, file, rule).Collect();
}

std::vector<StructureCheck> UnitChecks(const RuleFile& file, Group group) {
  const Rule* first = nullptr;
  bool quantized = false;
  bool is_private = false;
  for (const auto& rule : file.rules) {
    if (!rule->is_unit || rule->group != group) continue;
    if (first == nullptr) first = rule.get();
    quantized = quantized || rule->match.front().quantized != Statement::Quantized::kNo;
    is_private = is_private || rule->private_dq;
  }
  std::vector<StructureCheck> checks;
  if (first == nullptr) return checks;
  const auto note = [&](const char* check, const char* what) { checks.push_back({check, what, first->where, false}); };
  if (is_private) note("private", "a DQ with other users");
  if (quantized) note("graph-output", "an operator that produces a graph output");
  if (quantized) note("single-use", "an operator with other users than its Q");
  if (!file.units.between.empty()) note("between", "an operator between the unit's and its Q");
  return checks;
}

}  // namespace rulerun
