// Conditions that can never hold: two that contradict each other, one that contradicts the text, types that no schema
// allows, versions that no opset has.
//
// A condition on something that is not there drops out, so only names that every match binds once are looked at.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "engine/base/text.h"
#include "engine/graph/schema.h"
#include "engine/report/check/analyses.h"
#include "engine/report/condition_text.h"
#include "engine/ruleset/op_names.h"
#include "engine/ruleset/type_classes.h"

namespace rulerun {
namespace {

// What is known of one name, with the place that said so last.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  Location where;
};
struct Choice {
  std::set<std::string> left;
  Location where;
};

struct Conflict {
  Location where;
  Location with;        // the other side, or nowhere
  std::string what;     // what one side wants
  std::string against;  // what the other one does
};

constexpr size_t kMostListed = 6;

// "2", "at most 1", "0 to 1". A bound that a strict condition moved by the smallest step is told as it was written.
std::string RangeText(const Range& range) {
  const auto written = [](double bound) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.15g", bound);
    return std::string(text.data());
  };
  const auto strict = [&](double bound) { return std::strtod(written(bound).c_str(), nullptr) != bound; };
  const bool low = std::isfinite(range.low);
  const bool high = std::isfinite(range.high);
  if (low && high && range.low == range.high) return written(range.low);
  if (low && high) return written(range.low) + " to " + written(range.high);
  if (high) return (strict(range.high) ? "below " : "at most ") + written(range.high);
  return (strict(range.low) ? "above " : "at least ") + written(range.low);
}

std::string ListText(const std::set<std::string>& texts) {
  const auto end = std::next(texts.begin(), static_cast<std::ptrdiff_t>(std::min(texts.size(), kMostListed)));
  const std::string listed = Join({texts.begin(), end}, ", ");
  return texts.size() > kMostListed ? listed + " or " + std::to_string(texts.size() - kMostListed) + " more" : listed;
}

std::set<std::string> TextsOf(const Yaml& yaml) {
  const auto names = yaml.AsNames();
  return names ? std::set<std::string>(names->begin(), names->end()) : std::set<std::string>{};
}

// Names that every match binds, each to one value or node.
class SureNames {
 public:
  explicit SureNames(const Rule& rule) {
    for (const Statement& line : rule.match) {
      if (line.each || line.repeat != 0) continue;
      std::optional<std::set<std::string>> common;
      for (const Alternative& alternative : line.alternatives) {
        std::set<std::string> names;
        if (alternative.call) names = NamesOf(*alternative.call);
        if (common) std::erase_if(*common, [&](const std::string& name) { return names.count(name) == 0; });
        if (!common) common = std::move(names);
      }
      const bool a_node = std::all_of(line.alternatives.begin(), line.alternatives.end(),
                                      [](const Alternative& alternative) { return alternative.call.has_value(); });
      if (a_node && !line.label.empty()) names_.insert(line.label);
      if (common) names_.insert(common->begin(), common->end());
      for (const OutputPattern& output : line.outputs) {
        if (!output.optional && !output.repeated) names_.insert(output.name);
      }
    }
    if (rule.is_unit) names_.insert("op");
  }

  bool Has(const std::string& name) const {
    return names_.count(name) > 0 || names_.count(name.substr(0, name.find('.'))) > 0;
  }

 private:
  static std::set<std::string> NamesOf(const Call& call) {
    std::set<std::string> names;
    for (const OperandPattern& operand : call.operands) {
      if (!operand.optional && !operand.repeated && !operand.maybe_dequantized) names.insert(operand.name);
    }
    return names;
  }

  std::set<std::string> names_;
};

// All that a list of conditions says at once. Copied where alternatives begin.
class Facts {
 public:
  Facts(const RuleSet& rules, const RuleFile& file, const Rule& rule)
      : rules_(&rules), file_(&file), rule_(&rule), sure_(rule) {}

  // The text of the rule itself.
  std::optional<Conflict> AddText() {
    const TypeClasses classes(*rules_, rule_->is_unit ? std::vector<Statement>{} : rule_->match);
    for (const Statement& line : rule_->match) {
      for (const Alternative& alternative : line.alternatives) {
        if (!alternative.call) continue;
        for (const OperandPattern& operand : alternative.call->operands) {
          if (auto conflict = AddType(classes, operand.name, operand.type, operand.where)) return conflict;
        }
      }
      for (const OutputPattern& output : line.outputs) {
        if (auto conflict = AddType(classes, output.name, output.type, line.where)) return conflict;
      }
      if (line.alternatives.size() != 1 || !line.alternatives[0].call || line.label.empty()) continue;
      for (const AttrPattern& attribute : line.alternatives[0].call->attributes) {
        const AttrValue& value = attribute.values.front();
        if (value.kind == AttrValue::Kind::kInt) {
          attributes_[line.label + "." + attribute.name] = {{std::to_string(value.integer)}, attribute.where};
        } else if (value.kind == AttrValue::Kind::kString) {
          attributes_[line.label + "." + attribute.name] = {{value.text}, attribute.where};
        }
      }
      Choice ops{{}, line.where};
      for (const std::string& op : line.alternatives[0].call->ops) {
        const auto set = rules_->vocabulary.op_sets.find(op);
        if (set == rules_->vocabulary.op_sets.end()) {
          ops.left.insert(op);
        } else {
          ops.left.insert(set->second.begin(), set->second.end());
        }
      }
      operators_[rule_->is_unit ? "op" : line.label] = std::move(ops);
    }
    return std::nullopt;
  }

  std::optional<Conflict> Add(const Conditions& conditions) {
    for (const Condition& condition : conditions) {
      if (auto conflict = Add(condition)) return conflict;
    }
    return std::nullopt;
  }

  std::optional<Conflict> Add(const Condition& condition) {
    const std::string_view name = condition.predicate->name;
    if (name == "any") return AddAny(condition);
    if (!IsSure(condition)) return std::nullopt;
    if (auto conflict = AddOpposite(condition)) return conflict;
    if (name == "rank") return AddRanges(ranks_, condition, "the rank", [](double n) { return Range{n, n, {}}; });
    if (name == "min_rank") {
      return AddRanges(ranks_, condition, "the rank", [](double n) {
        return Range{n, std::numeric_limits<double>::infinity(), {}};
      });
    }
    if (name == "scalar") {
      for (const std::string& value : condition.values) {
        if (auto conflict = Narrow(ranks_[value], {0, 1, condition.where}, "the rank of '" + value + "'")) {
          return conflict;
        }
      }
    }
    if (name == "shape") return AddShapes(condition);
    if (name == "uses" || name == "users" || name == "count") {
      return AddRanges(counts_[std::string(name)], condition, "the number", [](double n) { return Range{n, n, {}}; });
    }
    if (name == "all_equal" || name == "equals") {
      return AddRanges(values_, condition, "the value", [](double n) { return Range{n, n, {}}; });
    }
    if (name == "less" || name == "more" || name == "at_least" || name == "at_most") return AddBounds(condition);
    if (name == "type") return AddTypes(condition);
    if (name == "attr") return AddChoices(attributes_, condition, false);
    if (name == "op") return AddChoices(operators_, condition, true);
    if (name == "since") return AddVersions(condition);
    return std::nullopt;
  }

 private:
  bool IsSure(const Condition& condition) const {
    const auto sure = [&](const std::string& name) { return sure_.Has(name); };
    if (!std::all_of(condition.values.begin(), condition.values.end(), sure)) return false;
    if (!std::all_of(condition.items.begin(), condition.items.end(),
                     [&](const Yaml& item) { return item.AsDouble() || sure(item.scalar); })) {
      return false;
    }
    return std::all_of(condition.pairs.begin(), condition.pairs.end(),
                       [&](const auto& pair) { return sure(pair.first); });
  }

  static std::optional<Conflict> Narrow(Range& range, const Range& by, const std::string& of) {
    const Range before = range;
    range = {std::max(range.low, by.low), std::min(range.high, by.high), by.where};
    if (range.low <= range.high) return std::nullopt;
    return Conflict{by.where, before.where, of + " must be " + RangeText(by), RangeText(before)};
  }

  template <typename ToRange>
  static std::optional<Conflict> AddRanges(std::map<std::string, Range>& known, const Condition& condition,
                                           const std::string& what, const ToRange& to_range) {
    for (const auto& [name, wanted] : condition.pairs) {
      const auto number = wanted.AsDouble();
      if (!number) continue;
      Range range = to_range(*number);
      range.where = condition.where;
      std::string of = what;
      of.append(" of '").append(name).append("'");
      if (auto conflict = Narrow(known[name], range, of)) return conflict;
    }
    return std::nullopt;
  }

  std::optional<Conflict> AddShapes(const Condition& condition) {
    for (const auto& [name, shape] : condition.pairs) {
      double fixed = 0;
      bool open = false;
      for (const Yaml& item : shape.items) {
        const bool repeated = EndsWith(item.scalar, "...");
        open = open || repeated;
        if (!repeated) ++fixed;
      }
      const Range range{fixed, open ? std::numeric_limits<double>::infinity() : fixed, condition.where};
      if (auto conflict = Narrow(ranks_[name], range, "the rank of '" + name + "'")) return conflict;
    }
    return std::nullopt;
  }

  // `less: [x, 3]`, `at_most: {R: 7}`; for whole numbers and others alike, with the bound itself let in.
  std::optional<Conflict> AddBounds(const Condition& condition) {
    std::vector<std::pair<std::string, double>> bounds;
    for (const auto& [name, bound] : condition.pairs) {
      if (const auto number = bound.AsDouble()) bounds.emplace_back(name, *number);
    }
    if (condition.items.size() == 2 && condition.items[1].AsDouble()) {
      bounds.emplace_back(condition.items[0].scalar, *condition.items[1].AsDouble());
    }
    const std::string_view name = condition.predicate->name;
    for (const auto& [value, bound] : bounds) {
      Range range{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), condition.where};
      const double infinity = std::numeric_limits<double>::infinity();
      if (name == "less") range.high = std::nextafter(bound, -infinity);
      if (name == "at_most") range.high = bound;
      if (name == "more") range.low = std::nextafter(bound, infinity);
      if (name == "at_least") range.low = bound;
      if (auto conflict = Narrow(values_[value], range, "the value of '" + value + "'")) return conflict;
    }
    return std::nullopt;
  }

  // --- types

  std::set<std::string> TypesOf(const Yaml& yaml) const {
    std::set<std::string> types;
    if (yaml.IsMap()) {
      const Yaml* excluded = yaml.Get("not");
      const std::set<std::string> out = excluded == nullptr ? std::set<std::string>{} : TypesOf(*excluded);
      for (const std::string& type : DataTypeNames()) {
        if (out.count(type) == 0) types.insert(type);
      }
      return types;
    }
    for (const std::string& name : TextsOf(yaml)) {
      const auto set = file_->sets.find(name);
      if (set == file_->sets.end()) {
        types.insert(name);
        continue;
      }
      for (const std::string& type : DataTypeNames()) {
        if (set->second.Has(*ParseDataType(type))) types.insert(type);
      }
    }
    return types;
  }

  static std::optional<Conflict> Narrow(Choice& choice, bool fresh, const std::set<std::string>& by,
                                        const Location& where, const std::string& of) {
    const Choice before = choice;
    if (fresh) {
      choice = {by, where};
    } else {
      std::erase_if(choice.left, [&](const std::string& text) { return by.count(text) == 0; });
      choice.where = where;
    }
    if (!choice.left.empty()) return std::nullopt;
    if (fresh) return Conflict{where, {}, of, ""};
    return Conflict{where, before.where, of, ListText(before.left)};
  }

  std::optional<Conflict> AddType(const TypeClasses& classes, const std::string& value, const TypePattern& pattern,
                                  const Location& where) {
    if (value.empty() || value == "_") return std::nullopt;
    const bool fresh = types_.count(value) == 0;
    Choice& choice = types_[value];
    if (fresh) {
      choice.where = where;
      const auto allowed = classes.Allowed(value);
      for (const std::string& type : DataTypeNames()) {
        if (!allowed || allowed->count(*ParseDataType(type)) > 0) choice.left.insert(type);
      }
    }
    if (pattern.name.empty() || !sure_.Has(value)) return std::nullopt;
    const auto set = file_->sets.find(pattern.name);
    const std::string no_type =
        "no operator here takes '" + value + "' of the type " + pattern.name + ", they take " + ListText(choice.left);
    if (set != file_->sets.end()) {
      std::set<std::string> types;
      for (const std::string& type : DataTypeNames()) {
        if (set->second.Has(*ParseDataType(type))) types.insert(type);
      }
      return Narrow(choice, false, types, where, no_type);
    }
    if (ParseDataType(pattern.name)) return Narrow(choice, false, {pattern.name}, where, no_type);
    return std::nullopt;
  }

  std::optional<Conflict> AddTypes(const Condition& condition) {
    for (const auto& [name, wanted] : condition.pairs) {
      const auto known = types_.find(name);
      const bool fresh = known == types_.end();
      const std::string of = "the element type of '" + name + "' must be " + ListText(TypesOf(wanted));
      if (auto conflict = Narrow(types_[name], fresh, TypesOf(wanted), condition.where, of)) return conflict;
    }
    return std::nullopt;
  }

  // --- attributes, operators, versions

  std::optional<Conflict> AddChoices(std::map<std::string, Choice>& known, const Condition& condition, bool operators) {
    for (const auto& [name, wanted] : condition.pairs) {
      if (wanted.IsScalar() && wanted.scalar == "any") continue;
      std::set<std::string> texts = TextsOf(wanted);
      if (operators) texts = Written(texts);
      const bool fresh = known.count(name) == 0;
      const std::string of = (operators ? "the operator of '" : "'") + name + "' must be " + ListText(texts);
      if (auto conflict = Narrow(known[name], fresh, texts, condition.where, of)) return conflict;
    }
    return std::nullopt;
  }

  // With sets of operators written out.
  std::set<std::string> Written(const std::set<std::string>& names) const {
    std::set<std::string> ops;
    for (const std::string& name : names) {
      const auto set = rules_->vocabulary.op_sets.find(name);
      if (set == rules_->vocabulary.op_sets.end()) {
        ops.insert(name);
      } else {
        ops.insert(set->second.begin(), set->second.end());
      }
    }
    return ops;
  }

  std::optional<Conflict> AddVersions(const Condition& condition) {
    for (const auto& [name, wanted] : condition.pairs) {
      const auto ops = operators_.find(name);
      const std::set<std::string> asked = ops != operators_.end() ? ops->second.left : std::set<std::string>{name};
      const std::set<std::string> versions = TextsOf(wanted);
      const bool some = std::any_of(asked.begin(), asked.end(), [&](const std::string& op) {
        const std::vector<int> known = OperatorVersions(rules_->schemas, op);
        return known.empty() || std::any_of(known.begin(), known.end(),
                                            [&](int version) { return versions.count(std::to_string(version)) > 0; });
      });
      if (!some) return Conflict{condition.where, {}, "no operator of '" + name + "' has such a version", ""};
    }
    return std::nullopt;
  }

  // --- logic

  // A condition and its own opposite.
  std::optional<Conflict> AddOpposite(const Condition& condition) {
    static const std::map<std::string_view, std::string_view> opposites = {
        {"present", "absent"},        {"absent", "present"},    {"internal", "graph_output"},
        {"graph_output", "internal"}, {"constant", "produced"}, {"produced", "constant"}};
    if (const auto opposite = opposites.find(condition.predicate->name); opposite != opposites.end()) {
      for (const std::string& value : condition.values) {
        const auto said = said_.find(std::string(opposite->second) + " " + value);
        if (said != said_.end()) {
          return Conflict{condition.where, said->second,
                          "'" + value + "' must be '" + std::string(condition.predicate->name) + "'",
                          "it '" + std::string(opposite->second) + "'"};
        }
        said_.emplace(std::string(condition.predicate->name) + " " + value, condition.where);
      }
    }
    const bool negated = condition.predicate->name == "not";
    if (negated && (condition.groups[0].size() != 1 || !IsSure(condition.groups[0][0]))) return std::nullopt;
    const std::string text = ConditionText(negated ? condition.groups[0][0] : condition);
    const auto other = said_.find((negated ? "" : "not ") + text);
    if (other != said_.end()) {
      const std::string_view held = negated ? "must not hold" : "must hold";
      return Conflict{condition.where, other->second, "'" + text + "' " + std::string(held), "the opposite"};
    }
    said_.emplace((negated ? "not " : "") + text, condition.where);
    return std::nullopt;
  }

  // Contradictory where every alternative is.
  std::optional<Conflict> AddAny(const Condition& condition) {
    std::optional<Conflict> first;
    for (const Conditions& group : condition.groups) {
      Facts attempt = *this;
      auto conflict = attempt.Add(group);
      if (!conflict) return std::nullopt;
      if (!first) first = std::move(conflict);
    }
    return first;
  }

  const RuleSet* rules_;
  const RuleFile* file_;
  const Rule* rule_;
  SureNames sure_;
  std::map<std::string, Range> ranks_;
  std::map<std::string, Range> values_;
  std::map<std::string, std::map<std::string, Range>> counts_;
  std::map<std::string, Choice> types_;
  std::map<std::string, Choice> attributes_;
  std::map<std::string, Choice> operators_;
  std::map<std::string, Location> said_;
};

class Finder {
 public:
  explicit Finder(const RuleSet& rules) : rules_(rules) {}

  std::vector<Finding> Find() {
    for (const auto& [path, file] : rules_.files) {
      for (const auto& rule : file.rules) Check(file, *rule);
    }
    return std::move(findings_);
  }

 private:
  void Check(const RuleFile& file, const Rule& rule) {
    CheckVersions(rule);
    Facts facts(rules_, file, rule);
    if (const auto conflict = facts.AddText()) return Report(rule, *conflict, "so the rule never fires");
    if (const auto conflict = facts.Add(rule.conditions)) return Report(rule, *conflict, "so the rule never fires");
    CheckAlternatives(facts, rule, rule.conditions);
    for (const Case& one : rule.cases) {
      Facts attempt = facts;
      if (const auto conflict = attempt.Add(one.conditions)) Report(rule, *conflict, "so the case is never taken");
    }
  }

  // An alternative of an `any` that contradicts what must hold anyway.
  void CheckAlternatives(const Facts& facts, const Rule& rule, const Conditions& conditions) {
    for (const Condition& condition : conditions) {
      if (condition.predicate->args != ArgKind::kConditionLists) continue;
      for (const Conditions& group : condition.groups) {
        Facts attempt = facts;
        if (const auto conflict = attempt.Add(group)) Report(rule, *conflict, "so the alternative is never taken");
      }
    }
  }

  // Versions that `since:` lists and no schema has: likely a misread number.
  void CheckVersions(const Rule& rule) {
    for (const auto& [label, versions] : rule.since) {
      std::vector<std::string> ops;
      for (const Statement& line : rule.match) {
        for (const Alternative& alternative : line.alternatives) {
          if (!alternative.call) continue;
          for (const std::string& op : alternative.call->ops) {
            if (line.label == label || op == label) ops.push_back(op);
          }
        }
      }
      if (ops.empty()) continue;
      const bool some = std::any_of(ops.begin(), ops.end(), [&, &listed = versions](const std::string& op) {
        const std::vector<int> known = OperatorVersions(rules_.schemas, op);
        return known.empty() || std::any_of(known.begin(), known.end(), [&](int version) {
                 return std::find(listed.begin(), listed.end(), version) != listed.end();
               });
      });
      if (some) continue;
      const Yaml* place = rule.yaml.Get("since");
      Report(rule, {place != nullptr ? place->where : rule.where, {}, "'" + label + "' has none of these versions", ""},
             "so the rule never fires");
    }
  }

  void Report(const Rule& rule, const Conflict& conflict, const std::string& effect) {
    Finding finding;
    finding.code = Code::kNeverTrue;
    finding.where = conflict.where;
    finding.rule = rule.name;
    finding.other_where = conflict.with;
    const std::string with = conflict.with.ToString();
    const bool two = !with.empty() && with != conflict.where.ToString();
    finding.message = "rule '" + rule.name + "': " + conflict.what +
                      (two ? ", but " + with + " wants " + conflict.against : "") + ", " + effect;
    finding.remedy = "remove one of the two sides, or the rule";
    // What a derived rule set rules out with a condition of its own is meant to be dead.
    const bool derived =
        conflict.where.file != nullptr && conflict.with.file != nullptr && *conflict.where.file != *conflict.with.file;
    if (derived) {
      finding.severity = Severity::kNote;
      finding.remedy = "the rule set that extends the other closes it; nothing to do";
    }
    findings_.push_back(std::move(finding));
  }

  const RuleSet& rules_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> FindContradictions(const RuleSet& rules) { return Finder(rules).Find(); }

}  // namespace rulerun
