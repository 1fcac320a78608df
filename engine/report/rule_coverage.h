// Which conditions of a rule set its own tests have seen hold, and seen refuse.
#ifndef RULERUN_ENGINE_REPORT_RULE_COVERAGE_H_
#define RULERUN_ENGINE_REPORT_RULE_COVERAGE_H_

#include <map>
#include <string>
#include <vector>

#include "engine/match/binding.h"
#include "engine/pipeline/trace.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {

// A condition of a rule, one inside `any`, `not` or `if` too, or a check of its text that can refuse. What several
// rules have from one text (`like:`, a YAML anchor) is one item: it is written once, and a test of any of them shows
// it.
struct CoverItem {
  std::string file;
  std::vector<std::string> rules;  // those that ask it; none: what the units of a group have in common
  std::string check;               // predicate or built-in check
  std::string what;                // "constant [W, b]", "shape of 'W'"
  Location where;
  bool seen_true = false;
  bool seen_false = false;
  std::string excused;  // why a side may be missing (`uncovered:` of the rule)

  // The rule that it is written in, "" for a group's.
  std::string rule() const { return rules.empty() ? "" : rules.front(); }
  bool IsOf(const std::string& rule) const;
  bool Missing(bool side) const { return excused.empty() && !(side ? seen_true : seen_false); }
};

// An entry of `uncovered:` that excuses nothing: no condition of the rule reads so, or the tests have seen it after
// all.
struct IdleExcuse {
  std::string rule;
  std::string what;
  Location where;
};

struct CoverageSum {
  size_t seen = 0;  // sides: true and false of every item; those that an item is excused from are in neither number
  size_t all = 0;

  double percent() const { return all == 0 ? 100 : 100 * static_cast<double>(seen) / static_cast<double>(all); }
};

class RuleCoverage {
 public:
  explicit RuleCoverage(const RuleSet& rules);

  // To be told of every condition that a test of `rule` asks.
  ConditionObserver Observer();
  // What came of a test of `rule`: its trace, whether it stopped with an error of the rule's.
  void AddTest(const RuleFile& file, const Rule& rule, const Trace& trace);

  // Forgets the items of other rules.
  void Keep(const std::string& rule);
  const std::vector<CoverItem>& items() const { return items_; }
  CoverageSum Sum() const;
  std::vector<IdleExcuse> IdleExcuses() const;

 private:
  struct Structure {
    size_t item;
    bool exact;
    Group group;
    bool of_group;
  };
  // The number of the item, a new one unless this text has one already.
  size_t Add(const CoverItem& item);
  void AddConditions(const CoverItem& base, const Conditions& conditions);
  void AddRule(const RuleSet& rules, const RuleFile& file, const Rule& rule);
  void AddExcuses(const Rule& rule);
  void AddGroup(const RuleFile& file, Group group);

  std::vector<CoverItem> items_;
  std::map<std::string, size_t> texts_;  // by place and words
  std::vector<IdleExcuse> excuses_;
  std::map<const Condition*, size_t> conditions_;
  std::map<std::string, std::vector<Structure>> structures_;  // by file and rule, or file alone
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_RULE_COVERAGE_H_
