// Operators of the texts against the schemas: names, attributes, numbers of operands.
#include <algorithm>
#include <climits>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/checks.h"
#include "engine/ruleset/op_names.h"
#include "engine/ruleset/rule_names.h"

namespace rulerun {
namespace {

// How many operands a call writes: at least, and at most (INT_MAX behind "...").
struct Count {
  int least = 0;
  int most = 0;
};

Count Written(const Call& call, TextMode mode) {
  Count count;
  for (const OperandPattern& operand : call.operands) {
    const bool star = operand.kind == OperandPattern::Kind::kStar;
    const int slots = star ? 3 : 1;
    // In a rewrite `b?` still keeps its slot when something follows; only matching may do with less.
    if (!operand.optional && !operand.repeated) count.least += slots;
    if (operand.repeated && (star || operand.kind != OperandPattern::Kind::kAny)) count.least += slots;
    count.most = operand.repeated || count.most == INT_MAX ? INT_MAX : count.most + slots;
  }
  if (mode == TextMode::kReplace || mode == TextMode::kBecomes) count.least = std::min(count.least, count.most);
  return count;
}

// The operands in a tensor function's signature, "y = F<..>(a, b?, ...)".
Count Taken(std::string_view signature) {
  Count count;
  const size_t open = signature.find('(');
  for (const std::string& operand : Split(signature.substr(open + 1, signature.rfind(')') - open - 1), ',')) {
    if (operand.find("...") != std::string::npos) {
      count.most = INT_MAX;
    } else {
      ++count.most;
      if (operand.find('?') == std::string::npos) ++count.least;
    }
  }
  return count;
}

bool Fits(const OpSchema& schema, const Count& count) {
  const bool variadic = !schema.inputs.empty() && schema.inputs.back().variadic;
  const int most = variadic ? INT_MAX : static_cast<int>(schema.inputs.size());
  return count.least <= most && count.most >= schema.min_inputs;
}

std::string Range(const std::vector<const OpSchema*>& schemas) {
  int least = INT_MAX;
  int most = 0;
  for (const OpSchema* schema : schemas) {
    least = std::min(least, schema->min_inputs);
    const bool variadic = !schema->inputs.empty() && schema->inputs.back().variadic;
    most = std::max(most, variadic ? INT_MAX : static_cast<int>(schema->inputs.size()));
  }
  if (least == most) return std::to_string(least);
  return most == INT_MAX ? std::to_string(least) + " or more" : std::to_string(least) + " to " + std::to_string(most);
}

class OperatorChecker {
 public:
  OperatorChecker(const Rule& rule, const RuleSet& rules, Diagnostics& errors)
      : rules_(rules), errors_(errors), names_(RuleNames::Of(rule, rules.vocabulary, nullptr, true)) {}

  void CheckBlock(const std::vector<Statement>& statements, TextMode mode) {
    for (const Statement& statement : statements) {
      for (const Alternative& alternative : statement.alternatives) {
        if (alternative.call) CheckCall(*alternative.call, mode, static_cast<int>(statement.outputs.size()));
      }
    }
  }

 private:
  void CheckCall(const Call& call, TextMode mode, int outputs) {
    for (const OperandPattern& operand : call.operands) {
      if (operand.call) CheckCall(*operand.call, mode, 1);
    }
    const TensorFunctionInfo* function = FindTensorFunction(call.ops.front());
    if (mode == TextMode::kCompute && function != nullptr) return CheckFunction(*function, call);
    std::vector<const OpSchema*> all;
    for (const std::string& written : call.ops) {
      for (const std::string& op : WrittenOutOperators(written, names_, rules_.vocabulary)) {
        const std::vector<const OpSchema*> schemas = CheckOperator(op, call, mode);
        if (schemas.empty()) continue;
        CheckCounts(op, schemas, call, mode, outputs);
        all.insert(all.end(), schemas.begin(), schemas.end());
      }
    }
    if (!all.empty()) CheckAttributes(call, all);
  }

  void CheckFunction(const TensorFunctionInfo& function, const Call& call) {
    const Count taken = Taken(function.signature);
    const auto written = static_cast<int>(call.operands.size());
    if (written >= taken.least && written <= taken.most) return;
    errors_.Add(Code::kWrongArity, call.where,
                "'" + std::string(function.name) + "' does not take " + std::to_string(written) +
                    (written == 1 ? " operand: " : " operands: ") + std::string(function.signature));
  }

  std::vector<const OpSchema*> CheckOperator(const std::string& op, const Call& call, TextMode mode) {
    if (KnownOperator(rules_.schemas, op)) return SchemasOf(rules_, op);
    std::vector<std::string> known = OperatorNames(rules_);
    if (mode == TextMode::kCompute) {
      for (const TensorFunctionInfo& function : TensorFunctions()) known.emplace_back(function.name);
    }
    errors_.Add(Code::kUnknownOperator, call.where, "there is no operator '" + op + "'" + DidYouMean(op, known));
    return {};
  }

  void CheckCounts(const std::string& op, const std::vector<const OpSchema*>& schemas, const Call& call, TextMode mode,
                   int outputs) {
    const Count count = Written(call, mode);
    if (std::none_of(schemas.begin(), schemas.end(), [&](const OpSchema* schema) { return Fits(*schema, count); })) {
      errors_.Add(Code::kWrongArity, call.where,
                  "'" + op + "' takes " + Range(schemas) + " operands, not " +
                      std::to_string(count.most == INT_MAX ? count.least : count.most));
    }
    const bool enough = std::any_of(schemas.begin(), schemas.end(), [&](const OpSchema* schema) {
      const bool variadic = !schema->outputs.empty() && schema->outputs.back().variadic;
      return variadic || outputs <= static_cast<int>(schema->outputs.size());
    });
    if (!enough)
      errors_.Add(Code::kWrongArity, call.where, "'" + op + "' has fewer than " + std::to_string(outputs) + " results");
  }

  // An attribute must be known to one of the operators that the call may be.
  void CheckAttributes(const Call& call, const std::vector<const OpSchema*>& schemas) {
    for (const AttrPattern& attribute : call.attributes) {
      const bool drops = attribute.values.size() == 1 && attribute.values[0].kind == AttrValue::Kind::kNone;
      std::vector<std::string> known;
      bool found = drops;  // what was taken over from another operator may be dropped
      for (const OpSchema* schema : schemas) {
        found = found || schema->attributes.count(attribute.name) > 0;
        for (const auto& [name, unused] : schema->attributes) known.push_back(name);
      }
      if (found) continue;
      errors_.Add(
          Code::kUnknownAttribute, attribute.where,
          "'" + call.ops.front() + "' has no attribute '" + attribute.name + "'" + DidYouMean(attribute.name, known));
    }
  }

  const RuleSet& rules_;
  Diagnostics& errors_;
  const RuleNames names_;
};

void CheckNamed(const std::vector<std::string>& ops, const Location& where, const RuleSet& rules, Diagnostics& errors) {
  for (const std::string& op : ops) {
    if (KnownOperator(rules.schemas, op)) continue;
    errors.Add(Code::kUnknownOperator, where,
               "there is no operator '" + op + "'" + DidYouMean(op, OperatorNames(rules)));
  }
}

}  // namespace

void CheckOperators(const Rule& rule, const RuleSet& rules, Diagnostics& errors) {
  OperatorChecker checker(rule, rules, errors);
  checker.CheckBlock(rule.match, rule.is_unit ? TextMode::kUnit : TextMode::kMatch);
  checker.CheckBlock(rule.compute, TextMode::kCompute);
  const auto check_rewrite = [&](const Rewrite& rewrite) {
    checker.CheckBlock(rewrite.statements,
                       rewrite.kind == Rewrite::Kind::kBecomes ? TextMode::kBecomes : TextMode::kReplace);
  };
  check_rewrite(rule.rewrite);
  for (const Case& one : rule.cases) {
    checker.CheckBlock(one.match, TextMode::kMatch);
    checker.CheckBlock(one.compute, TextMode::kCompute);
    check_rewrite(one.rewrite);
  }
}

void CheckOperators(const RuleFile& file, const RuleSet& rules, Diagnostics& errors) {
  for (const Unsupported& unsupported : file.unsupported) {
    CheckNamed(unsupported.ops, unsupported.where, rules, errors);
  }
  CheckNamed(file.units.between, file.where, rules, errors);
}

}  // namespace rulerun
