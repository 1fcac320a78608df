// A page for every rule of a rule set, in Markdown, with a picture.
#ifndef RULERUN_ENGINE_REPORT_DOCS_RULE_DOCS_H_
#define RULERUN_ENGINE_REPORT_DOCS_RULE_DOCS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/ruleset/ruleset.h"
#include "kernels/kernel.h"

namespace rulerun {

// What the pages of one rule set speak of.
struct DocumentedRules {
  std::shared_ptr<const RuleSet> rules;
  std::vector<std::shared_ptr<const RuleSet>> bases;    // that it extends, nearest first
  std::vector<std::shared_ptr<const RuleSet>> derived;  // that extend it, directly
  std::string folder;                                   // in which the pages will lie

  const RuleSet* base() const { return bases.empty() ? nullptr : bases.front().get(); }
};

// File name -> content: README.md, the index, and RULE.md and RULE.svg for every rule. Rules that a derived rule set
// takes over unchanged have their page with the rule set it extends, in the folder ../<id>. No page depends on line
// numbers, so that a rule's page changes with that rule only.
Result<std::map<std::string, std::string>> DocumentRules(const DocumentedRules& documented,
                                                         const KernelRegistry& kernels);

// The index over several rule sets, each in a folder of its id.
std::string DocumentIndex(const std::vector<DocumentedRules>& all);

// A rule's name as a file name, without an extension.
std::string PageName(const std::string& rule);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DOCS_RULE_DOCS_H_
