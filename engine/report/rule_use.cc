#include "engine/report/rule_use.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "engine/report/rule_ops.h"
#include "engine/ruleset/condition_text.h"

namespace rulerun {
namespace {

bool SamePlace(const Location& a, const Location& b) {
  return a.line == b.line && a.column == b.column && a.file != nullptr && b.file != nullptr && *a.file == *b.file;
}

bool Contains(const Condition& condition, const Location& where);

bool ContainOne(const Conditions& conditions, const Location& where) {
  return std::any_of(conditions.begin(), conditions.end(),
                     [&](const Condition& condition) { return Contains(condition, where); });
}

bool Contains(const Condition& condition, const Location& where) {
  if (SamePlace(condition.where, where)) return true;
  return std::any_of(condition.groups.begin(), condition.groups.end(),
                     [&](const Conditions& group) { return ContainOne(group, where); });
}

class Counter {
 public:
  explicit Counter(const RuleSet& rules) : rules_(rules) {}

  void Add(const TraceEntry& entry) {
    const size_t at = IndexOf(entry);
    RuleUse& use = uses_[at];
    const std::string& node = entry.sources.empty() ? entry.node : entry.sources.front();
    if (entry.verdict == TraceEntry::Verdict::kFired) {
      ++use.fired;
      use.fired_at.push_back(node);
      for (ConditionUse& condition : use.conditions) ++condition.held;
      return;
    }
    const std::string where = entry.refusal.check + " " + entry.refusal.where.ToString();
    if (!said_.emplace(at, node, where).second) return;
    ++use.refused;
    use.refused_at.push_back(node);
    if (rules_of_[at] != nullptr) CountRefusal(entry.refusal, *rules_of_[at], use);
  }

  std::vector<RuleUse> Take() { return std::move(uses_); }

 private:
  size_t IndexOf(const TraceEntry& entry) {
    const auto [known, fresh] = index_.emplace(std::make_pair(entry.stage, entry.rule), uses_.size());
    if (!fresh) return known->second;
    const Rule* rule = RuleOf(rules_, entry.stage, entry.rule);
    RuleUse use;
    use.rule = entry.rule.empty() ? entry.stage : entry.rule;
    use.stage = entry.stage;
    use.group = entry.rule.empty() ? "pass" : std::string(Name(entry.group));
    use.place = entry.where.ToString();
    if (rule != nullptr) {
      for (const Condition& condition : rule->conditions) {
        use.conditions.push_back({Text(condition), condition.where.ToString(), 0, 0});
      }
    }
    uses_.push_back(std::move(use));
    rules_of_.push_back(rule);
    return known->second;
  }

  static void CountRefusal(const Refusal& refusal, const Rule& rule, RuleUse& use) {
    const auto found = std::find_if(rule.conditions.begin(), rule.conditions.end(),
                                    [&](const Condition& one) { return Contains(one, refusal.where); });
    // The cases come behind all conditions, the matcher's own checks before them.
    const bool in_case = std::any_of(rule.cases.begin(), rule.cases.end(), [&](const Case& one) {
      return ContainOne(one.conditions, refusal.where) || SamePlace(one.rewrite.where, refusal.where);
    });
    if (found == rule.conditions.end()) ++use.checks[refusal.check];
    if (found == rule.conditions.end() && !in_case) return;
    const auto at = static_cast<size_t>(found - rule.conditions.begin());
    for (size_t i = 0; i < at; ++i) ++use.conditions[i].held;
    if (found != rule.conditions.end()) ++use.conditions[at].refused;
  }

  const RuleSet& rules_;
  std::map<std::pair<std::string, std::string>, size_t> index_;
  std::vector<RuleUse> uses_;
  std::set<std::tuple<size_t, std::string, std::string>> said_;  // rule, node and check of the refusals
  std::vector<const Rule*> rules_of_;                            // beside uses_; nullptr for passes
};

}  // namespace

std::vector<RuleUse> UseOfRules(const Trace& trace, const RuleSet& rules) {
  Counter counter(rules);
  for (const TraceEntry& entry : trace) counter.Add(entry);
  return counter.Take();
}

}  // namespace rulerun
