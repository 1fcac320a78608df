// How far the outputs of two runs of a model are apart, and how far rounding may take them.
#ifndef RULERUN_ENGINE_REPORT_COMPARE_OUTPUTS_H_
#define RULERUN_ENGINE_REPORT_COMPARE_OUTPUTS_H_

#include <map>
#include <string>
#include <vector>

#include "engine/graph/model.h"
#include "engine/report/verify.h"
#include "engine/ruleset/ruleset.h"
#include "kernels/executor/executor.h"

namespace rulerun {

// Largest difference that is let pass, by output.
using Tolerances = std::map<std::string, double, std::less<>>;

// In the order of `graph`'s outputs. NaN equals NaN.
std::vector<OutputDifference> Compare(const Graph& graph, const TensorMap& before, const TensorMap& after,
                                      const Tolerances& tolerances);

// What rounding explains: the largest deviation of each output when every code that a quantizer behind an operator
// writes is off by a random step of -1, 0 or 1, over a few runs, twice over; and what floating point may add. `before`
// are the outputs without any error. `executor` is that of `graph`.
Result<Tolerances> RoundingTolerances(Graph& graph, const RuleSet& rules, const TensorMap& inputs,
                                      const TensorMap& before, Executor& executor);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_COMPARE_OUTPUTS_H_
