#include "engine/report/rule_coverage.h"

#include <algorithm>

#include "engine/report/condition_text.h"
#include "engine/report/structure_checks.h"

namespace rulerun {
namespace {

std::string Key(const std::string& file, const std::string& rule) { return file + "\n" + rule; }

}  // namespace

RuleCoverage::RuleCoverage(const RuleSet& rules) {
  for (const auto& [path, file] : rules.files) {
    for (const auto& rule : file.rules) AddRule(rules, file, *rule);
    for (const Group group : {Group::kReplace, Group::kDropQdq, Group::kDropDq}) AddGroup(file, group);
  }
}

bool CoverItem::IsOf(const std::string& rule) const {
  return std::find(rules.begin(), rules.end(), rule) != rules.end();
}

size_t RuleCoverage::Add(const CoverItem& item) {
  const auto [text, fresh] =
      texts_.emplace(item.where.ToString() + "\n" + item.check + "\n" + item.what, items_.size());
  if (fresh) {
    items_.push_back(item);
  } else if (!item.rules.empty() && !items_[text->second].IsOf(item.rule())) {
    items_[text->second].rules.push_back(item.rule());
  }
  return text->second;
}

void RuleCoverage::AddConditions(const CoverItem& base, const Conditions& conditions) {
  for (const Condition& condition : conditions) {
    CoverItem item = base;
    item.check = condition.predicate->name;
    item.what = ConditionText(condition);
    item.where = condition.where;
    conditions_[&condition] = Add(item);
    // What stands alone in a `not` is seen with it.
    const bool same = condition.predicate->args == ArgKind::kConditions && condition.groups[0].size() == 1;
    if (same && condition.groups[0][0].groups.empty()) continue;
    for (const Conditions& group : condition.groups) AddConditions(base, group);
  }
}

void RuleCoverage::AddRule(const RuleSet& rules, const RuleFile& file, const Rule& rule) {
  CoverItem base;
  base.file = file.path;
  base.rules = {rule.name};
  for (const StructureCheck& check : StructureChecks(rules, file, rule)) {
    CoverItem item = base;
    item.check = check.check;
    item.what = check.what;
    item.where = check.where;
    structures_[Key(file.path, rule.name)].push_back({Add(item), check.exact, rule.group, false});
  }
  AddConditions(base, rule.conditions);
  for (const auto& [flag, conditions] : rule.flags) AddConditions(base, conditions);
  for (const Case& one : rule.cases) AddConditions(base, one.conditions);
  AddExcuses(rule);
}

void RuleCoverage::AddExcuses(const Rule& rule) {
  const Yaml* excuses = rule.yaml.Get("uncovered");
  if (excuses == nullptr) return;
  for (size_t i = 0; i < excuses->entries.size(); ++i) {
    const auto& [what, why] = excuses->entries[i];
    for (CoverItem& item : items_) {
      if (item.IsOf(rule.name) && item.what == what) item.excused = why.scalar;
    }
    excuses_.push_back({rule.name, what, excuses->key_places[i]});
  }
}

std::vector<IdleExcuse> RuleCoverage::IdleExcuses() const {
  std::vector<IdleExcuse> idle;
  for (const IdleExcuse& excuse : excuses_) {
    const bool needed = std::any_of(items_.begin(), items_.end(), [&](const CoverItem& item) {
      return item.IsOf(excuse.rule) && item.what == excuse.what && !(item.seen_true && item.seen_false);
    });
    if (!needed) idle.push_back(excuse);
  }
  return idle;
}

void RuleCoverage::AddGroup(const RuleFile& file, Group group) {
  for (const StructureCheck& check : UnitChecks(file, group)) {
    CoverItem item;
    item.file = file.path;
    item.check = check.check;
    item.what = check.what + " (group " + std::string(Name(group)) + ")";
    item.where = check.where;
    structures_[Key(file.path, "")].push_back({Add(item), check.exact, group, true});
  }
}

ConditionObserver RuleCoverage::Observer() {
  return [this](const Condition& condition, Truth answer) {
    const auto found = conditions_.find(&condition);
    if (found == conditions_.end()) return;
    CoverItem& item = items_[found->second];
    (answer == Truth::kTrue ? item.seen_true : item.seen_false) = true;
  };
}

// A refusal by a check of the text names it and its place; whatever came after it has seen it hold.
void RuleCoverage::AddTest(const RuleFile& file, const Rule& rule, const Trace& trace) {
  const auto visit = [&](const std::vector<Structure>& structures, const TraceEntry& entry) {
    const auto refuses = [&](const Structure& structure) {
      const CoverItem& item = items_[structure.item];
      return entry.refusal.check == item.check &&
             (!structure.exact || entry.refusal.where.ToString() == item.where.ToString());
    };
    const bool refused = entry.verdict == TraceEntry::Verdict::kRefused;
    for (const Structure& structure : structures) {
      if (structure.of_group && structure.group != rule.group) continue;
      CoverItem& item = items_[structure.item];
      if (refused && refuses(structure)) item.seen_false = true;
      if (!refused) item.seen_true = true;
    }
  };
  for (const TraceEntry& entry : trace) {
    visit(structures_[Key(file.path, rule.name)], entry);
    if (rule.is_unit) visit(structures_[Key(file.path, "")], entry);
  }
}

CoverageSum RuleCoverage::Sum() const {
  CoverageSum sum;
  for (const CoverItem& item : items_) {
    const size_t seen = static_cast<size_t>(item.seen_true) + static_cast<size_t>(item.seen_false);
    sum.seen += seen;
    sum.all += item.excused.empty() ? 2 : seen;
  }
  return sum;
}

void RuleCoverage::Keep(const std::string& rule) {
  std::erase_if(items_, [&](const CoverItem& item) { return !item.IsOf(rule); });
  std::erase_if(excuses_, [&](const IdleExcuse& excuse) { return excuse.rule != rule; });
  conditions_.clear();  // they refer to items by number
  structures_.clear();
}

}  // namespace rulerun
