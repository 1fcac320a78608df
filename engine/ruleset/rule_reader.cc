// One rule: YAML -> Rule.
#include <algorithm>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/reading.h"

namespace rulerun {
namespace {

class RuleReader {
 public:
  RuleReader(const Yaml& yaml, const ReadContext& context) : yaml_(yaml), context_(context) {}

  std::shared_ptr<Rule> Read(Group group, const Yaml* file_types) {
    rule_ = std::make_shared<Rule>();
    rule_->where = yaml_.where;
    rule_->group = group;
    rule_->yaml = yaml_;
    if (!CheckMap(yaml_, KeyTable::kRule, context_.errors)) return nullptr;
    rule_->name = TextOf(yaml_, "rule");
    ReadPlain();
    ReadPattern();
    ReadTypes(file_types);
    ReadConditionsAndCompute();
    ReadCases();
    rule_->rewrite = ReadRewrite(yaml_);
    CheckRewrites();
    ReadFaults();
    if (const Yaml* tests = yaml_.Get("tests")) rule_->tests = ReadTests(*tests, context_);
    return rule_;
  }

 private:
  Diagnostics& errors() const { return context_.errors; }
  bool IsUnitGroup() const { return rule_->group != Group::kPattern; }

  void ReadPlain() {
    rule_->summary = yaml_.Get("summary") != nullptr ? TextOf(yaml_, "summary") : yaml_.comment;
    rule_->anchor = TextOf(yaml_, "anchor");
    rule_->source = TextOf(yaml_, "source");
    rule_->since_ort = TextOf(yaml_, "since-ort");
    for (const std::string& name : NamesOf(yaml_, "shared")) rule_->shared.insert(name);
    for (const std::string& name : NamesOf(yaml_, "outputs-ok")) rule_->outputs_ok.insert(name);
    if (const Yaml* shapes = yaml_.Get("shapes")) {
      for (const auto& [made, source] : shapes->entries) rule_->shapes[made] = source.scalar;
    }
    rule_->prune = NamesOf(yaml_, "prune");
    rule_->overlaps = NamesOf(yaml_, "overlaps");
    rule_->providers = NamesOf(yaml_, "ep");
    if (const Yaml* value = yaml_.Get("private")) rule_->private_dq = value->AsBool().value_or(true);
    rule_->gate_if = ReadGate(yaml_.Get("if"), context_);
    rule_->gate_unless = ReadGate(yaml_.Get("unless"), context_);
    ReadSince();
    ReadNames(yaml_, rule_->names);
  }

  void ReadSince() {
    const Yaml* since = yaml_.Get("since");
    if (since == nullptr) return;
    for (size_t i = 0; i < since->entries.size(); ++i) {
      const auto& [name, value] = since->entries[i];
      std::vector<int>& versions = rule_->since[name];
      for (const Yaml& item : value.IsSequence() ? value.items : std::vector<Yaml>{value}) {
        const auto version = item.AsInt();
        if (!version || *version < 1 || *version > 1000) {
          errors().Add(Code::kBadValue, item.where, "a since-version is a small whole number");
        } else {
          versions.push_back(static_cast<int>(*version));
        }
      }
    }
  }

  void ReadPattern() {
    const Yaml* unit = yaml_.Get("unit");
    const Yaml* match = yaml_.Get("match");
    rule_->is_unit = unit != nullptr;
    if (unit != nullptr && match != nullptr) {
      errors().Add(Code::kKeysConflict, match->where, "a rule has either 'unit' or 'match'");
    } else if (unit == nullptr && match == nullptr) {
      errors().Add(Code::kMissingKey, yaml_.where, "the rule '" + rule_->name + "' has neither 'unit' nor 'match'");
    } else if (IsUnitGroup() && unit == nullptr) {
      errors().Add(Code::kKeysConflict, match->where,
                   "a rule of the group '" + std::string(Name(rule_->group)) + "' has a 'unit'",
                   "patterns stand under 'rules'");
    } else if (!IsUnitGroup() && unit != nullptr) {
      errors().Add(Code::kKeysConflict, unit->where, "a unit stands under 'replace', 'drop-qdq' or 'drop-dq'");
    } else {
      rule_->match =
          unit != nullptr ? ReadBlock(*unit, TextMode::kUnit, errors()) : ReadBlock(*match, TextMode::kMatch, errors());
    }
  }

  void ReadTypes(const Yaml* file_types) {
    const Yaml* types = yaml_.Get("types");
    if (types == nullptr) types = file_types;
    if (types != nullptr) rule_->types = ReadTypeRows(*types, context_, rule_->types_are_rows);
  }

  void ReadConditionsAndCompute() {
    if (const Yaml* where = yaml_.Get("where")) rule_->conditions = ReadConditions(*where, context_);
    if (const Yaml* compute = yaml_.Get("compute")) rule_->compute = ReadBlock(*compute, TextMode::kCompute, errors());
    if (const Yaml* flags = yaml_.Get("flags")) {
      for (const auto& [name, value] : flags->entries) {
        rule_->flags.emplace_back(name, ReadConditions(value, context_));
      }
    }
  }

  void ReadCases() {
    const Yaml* cases = yaml_.Get("cases");
    if (cases == nullptr) return;
    for (const Yaml& item : cases->items) {
      if (!CheckMap(item, KeyTable::kCase, errors())) continue;
      Case one;
      one.where = item.where;
      if (const Yaml* match = item.Get("match")) one.match = ReadBlock(*match, TextMode::kMatch, errors());
      if (const Yaml* where = item.Get("where")) one.conditions = ReadConditions(*where, context_);
      if (const Yaml* compute = item.Get("compute")) one.compute = ReadBlock(*compute, TextMode::kCompute, errors());
      ReadNames(item, one.names);
      one.rewrite = ReadRewrite(item);
      rule_->cases.push_back(std::move(one));
    }
    for (size_t i = 0; i + 1 < rule_->cases.size(); ++i) {
      const Case& one = rule_->cases[i];
      if (!one.conditions.empty() || !one.match.empty()) continue;
      errors().Add(Code::kCaseNeverTaken, rule_->cases[i + 1].where,
                   "never taken: the case before it has no 'where' and always holds");
      break;
    }
    for (const Case& one : rule_->cases) {
      if (rule_->is_unit && !one.match.empty())
        errors().Add(Code::kKeysConflict, one.where, "a case of a unit adds no lines to match");
    }
  }

  Rewrite ReadRewrite(const Yaml& map) {
    Rewrite rewrite;
    const auto take = [&](const Yaml& value, Rewrite::Kind kind) {
      if (rewrite.kind != Rewrite::Kind::kNone) {
        errors().Add(Code::kNoRewrite, value.where, "only one of 'replace', 'becomes', 'error' and 'refuse'");
        return false;
      }
      rewrite.kind = kind;
      rewrite.where = value.where;
      return true;
    };
    const Yaml* replace = map.Get("replace");
    if (replace != nullptr && take(*replace, Rewrite::Kind::kReplace)) {
      rewrite.statements = ReadBlock(*replace, TextMode::kReplace, errors());
      if (rule_->is_unit) errors().Add(Code::kKeysConflict, replace->where, "a unit has 'becomes', not 'replace'");
    }
    const Yaml* becomes = map.Get("becomes");
    if (becomes != nullptr && take(*becomes, Rewrite::Kind::kBecomes)) {
      rewrite.statements = ReadBlock(*becomes, TextMode::kBecomes, errors());
      if (!rule_->is_unit) errors().Add(Code::kKeysConflict, becomes->where, "a pattern has 'replace', not 'becomes'");
    }
    const Yaml* error = map.Get("error");
    if (error != nullptr && take(*error, Rewrite::Kind::kError)) rewrite.error = error->scalar;
    const Yaml* refuse = map.Get("refuse");
    if (refuse != nullptr && take(*refuse, Rewrite::Kind::kRefuse)) rewrite.error = refuse->scalar;
    return rewrite;
  }

  // The rule brings one rewrite, or every case does.
  void CheckRewrites() {
    const bool has_own = rule_->rewrite.kind != Rewrite::Kind::kNone;
    for (const Case& one : rule_->cases) {
      const bool has_case = one.rewrite.kind != Rewrite::Kind::kNone;
      if (!has_own && !has_case) errors().Add(Code::kNoRewrite, one.where, "the case has no 'replace' and no 'error'");
      const bool rewrites = one.rewrite.kind == Rewrite::Kind::kReplace || one.rewrite.kind == Rewrite::Kind::kBecomes;
      if (has_own && rewrites) {
        errors().Add(Code::kNoRewrite, one.rewrite.where,
                     "the rule itself has a rewrite: move it into the cases, or leave it out here");
      }
    }
    const bool needs_one = rule_->group == Group::kPattern || rule_->group == Group::kReplace;
    if (needs_one && !has_own && rule_->cases.empty()) {
      errors().Add(Code::kNoRewrite, yaml_.where,
                   "the rule '" + rule_->name + "' has no " + (rule_->is_unit ? "'becomes'" : "'replace'"));
    }
  }

  void ReadNames(const Yaml& map, NameTemplates& names) {
    const Yaml* entries = map.Get("names");
    if (entries == nullptr) return;
    for (size_t i = 0; i < entries->entries.size(); ++i) {
      const auto& [name, value] = entries->entries[i];
      NameTemplate one;
      const Yaml* text = &value;
      if (value.IsMap() && value.entries.size() == 1) {
        const std::string& how = value.entries[0].first;
        if (how != "exact" && how != "value") {
          errors().Add(Code::kUnknownKey, value.key_places[0],
                       "'" + how + "' is neither exact nor value" + DidYouMean(how, {"exact", "value"}));
        }
        one.kind = how == "value" ? NameTemplate::Kind::kFromValues : NameTemplate::Kind::kExact;
        text = &value.entries[0].second;
      }
      if (!text->IsScalar()) {
        errors().Add(Code::kBadValue, entries->key_places[i], "a name is a text, {exact: text} or {value: text}");
        continue;
      }
      one.text = text->scalar;
      names.emplace_back(name, std::move(one));
    }
  }

  void ReadFaults() {
    const Yaml* faults = yaml_.Get("faults");
    if (faults == nullptr) return;
    for (const Yaml& item : faults->items) {
      if (!CheckMap(item, KeyTable::kFault, errors())) continue;
      Fault fault;
      fault.where = item.where;
      fault.id = TextOf(item, "id");
      fault.effect = TextOf(item, "effect");
      fault.note = TextOf(item, "note");
      fault.link = TextOf(item, "link");
      if (const Yaml* when = item.Get("when")) fault.when = ReadConditions(*when, context_);
      rule_->faults.push_back(std::move(fault));
    }
  }

  const Yaml& yaml_;
  const ReadContext& context_;
  std::shared_ptr<Rule> rule_;
};

// The names `in` or `out` stand for in a unit: every operand or result; with a member, every one that has it.
std::vector<std::string> UnitNames(const Rule& rule, const std::string& name) {
  const bool in = name == "in" || StartsWith(name, "in.");
  const bool out = name == "out" || StartsWith(name, "out.");
  if (!in && !out) return {name};
  const std::string member = name.find('.') == std::string::npos ? "" : name.substr(name.find('.'));
  std::vector<std::string> names;
  const auto add = [&](const std::string& base) {
    if (std::find(names.begin(), names.end(), base + member) == names.end()) names.push_back(base + member);
  };
  for (const Statement& statement : rule.match) {
    if (out) {
      if (!member.empty() && statement.quantized == Statement::Quantized::kNo) continue;
      for (const OutputPattern& output : statement.outputs) add(output.name);
      continue;
    }
    for (const Alternative& alternative : statement.alternatives) {
      if (!alternative.call) continue;
      for (const OperandPattern& operand : alternative.call->operands) {
        const bool quantized = operand.kind == OperandPattern::Kind::kDequantized;
        if (quantized || (member.empty() && operand.kind == OperandPattern::Kind::kName)) add(operand.name);
      }
    }
  }
  return names;
}

Conditions WrittenOut(const Conditions& conditions, const Rule& rule) {
  Conditions written = conditions;
  for (Condition& condition : written) {
    std::vector<std::string> values;
    for (const std::string& value : condition.values) {
      for (std::string& name : UnitNames(rule, value)) values.push_back(std::move(name));
    }
    condition.values = std::move(values);
    std::vector<std::pair<std::string, Yaml>> pairs;
    for (const auto& [name, wanted] : condition.pairs) {
      for (std::string& one : UnitNames(rule, name)) pairs.emplace_back(std::move(one), wanted);
    }
    condition.pairs = std::move(pairs);
    for (Conditions& group : condition.groups) group = WrittenOut(group, rule);
  }
  return written;
}

}  // namespace

std::string_view Name(Group group) {
  switch (group) {
    case Group::kPattern:
      return "rules";
    case Group::kReplace:
      return "replace";
    case Group::kDropQdq:
      return "drop-qdq";
    case Group::kDropDq:
      return "drop-dq";
  }
  return "";
}

std::shared_ptr<Rule> ReadRule(const Yaml& yaml, Group group, const Yaml* file_types, const ReadContext& context) {
  return RuleReader(yaml, context).Read(group, file_types);
}

void AddEverywhere(const Conditions& everywhere, Rule& rule) {
  for (Condition& condition : WrittenOut(everywhere, rule)) rule.conditions.push_back(std::move(condition));
}

}  // namespace rulerun
