// The page of one rule. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_REPORT_DOCS_PAGE_H_
#define RULERUN_ENGINE_REPORT_DOCS_PAGE_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/report/docs/rule_docs.h"

namespace rulerun {

// A rule and where it stands.
struct PageSubject {
  const DocumentedRules* documented = nullptr;
  const RuleFile* file = nullptr;
  const Rule* rule = nullptr;

  const RuleSet& rules() const { return *documented->rules; }
};

// The rule of that name in a rule set, nullptr where there is none (yet, or any more).
const Rule* SameRule(const RuleSet* rules, const Rule& rule);
// Whether two rules are written alike.
bool Alike(const Rule& a, const Rule& b);
// "sets `where`, adds 2 tests; closes C27": what a derived rule set changes.
std::string ChangesOf(const Rule& base, const Rule& derived);

// One line: the rule's own summary, or what its group means.
std::string SummaryOf(const Rule& rule);

std::string WritePage(const PageSubject& subject, bool has_picture);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DOCS_PAGE_H_
