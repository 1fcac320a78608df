// What `rulerun check --json` prints.
#ifndef RULERUN_ENGINE_REPORT_CHECK_CHECK_JSON_H_
#define RULERUN_ENGINE_REPORT_CHECK_CHECK_JSON_H_

#include <string>
#include <vector>

#include "engine/report/finding.h"
#include "engine/report/rule_list.h"

namespace rulerun {

// As schemas/check.schema.json describes.
std::string ToJson(const RuleSet& rules, const std::vector<ListedRule>& list, const std::vector<Finding>& findings);
// The same for a rule set that cannot be read: its errors are the findings.
std::string ToJson(const std::string& path, const std::vector<Finding>& findings);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_CHECK_CHECK_JSON_H_
