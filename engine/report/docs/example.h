// The picture of a rule: the graph of a test before and after.
#ifndef RULERUN_ENGINE_REPORT_DOCS_EXAMPLE_H_
#define RULERUN_ENGINE_REPORT_DOCS_EXAMPLE_H_

#include <string>

#include "engine/base/result.h"
#include "engine/ruleset/ruleset.h"
#include "kernels/kernel.h"

namespace rulerun {

// The first test in which the rule fires; nullptr where it has none.
const RuleTest* FiringTest(const Rule& rule);

// Runs the rule on the test's graph; SVG of that graph before and after, side by side, with what changes marked.
Result<std::string> DrawTest(const RuleSet& rules, const RuleFile& file, const Rule& rule, const RuleTest& test,
                             const KernelRegistry& kernels);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DOCS_EXAMPLE_H_
