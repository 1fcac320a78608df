// The analyses of `rulerun check`: what they find in a rule set that can be read.
#ifndef RULERUN_ENGINE_REPORT_CHECK_ANALYSES_H_
#define RULERUN_ENGINE_REPORT_CHECK_ANALYSES_H_

#include <vector>

#include "engine/report/finding.h"
#include "engine/ruleset/ruleset.h"
#include "kernels/kernel.h"

namespace rulerun {

// Rules that one walk tries at each node, in order, and how.
struct WalkRules {
  const Stage* stage = nullptr;
  std::vector<const Stage*> around;  // outermost first, the stage itself last
  const RuleFile* file = nullptr;
  std::vector<const Rule*> rules;
  bool visit_all = false;
};

// Every walk of the pipeline.
std::vector<WalkRules> WalksOf(const RuleSet& rules);

// --- the analyses, each in a file of its name

// Conditions that contradict each other, the text or the operators' schemas; operators in no version that the gates
// let in. A claim is a proof: what may be missing, and what is bound more than once, is left out.
std::vector<Finding> FindContradictions(const RuleSet& rules);
// Gates that no platform, value of an option, level and opset opens.
std::vector<Finding> FindClosedGates(const RuleSet& rules);
// Rules behind one that matches wherever they do.
std::vector<Finding> FindUnreachable(const RuleSet& rules);
// Rules that were seen to match at the node of another rule, rules that never won there, rules that nothing shows to
// match, and operators that cannot be run. All by running the rules on graphs made for them.
std::vector<Finding> FindByWitness(const RuleSet& rules, const KernelRegistry& kernels);

// All of them, by file, line and code; a rule that is proven never to fire is not reported as shadowed as well.
std::vector<Finding> FindAll(const RuleSet& rules, const KernelRegistry& kernels);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_CHECK_ANALYSES_H_
