// What happens at other levels and on other platforms, and models that ONNX Runtime refuses, as text.
#ifndef RULERUN_CLI_OUTCOME_TEXT_H_
#define RULERUN_CLI_OUTCOME_TEXT_H_

#include <string>
#include <vector>

#include "engine/report/refusal.h"

namespace rulerun::cli {

// A line for each run of levels, below the platforms where it is so. Of a model (FindLoads) or of a node.
std::string EverywhereText(const std::vector<PlatformRuns>& outcomes, bool of_node, int width);

// Why ONNX Runtime refuses the model for what was asked, where it loads, and of which of these the rest of the report
// tells.
std::string ModelRefusalText(const RefusedModel& refused, int width);

// "Warning: known fault C15 of ONNX Runtime: ...", or what is by design.
std::string FaultText(const FaultHit& hit);

}  // namespace rulerun::cli

#endif  // RULERUN_CLI_OUTCOME_TEXT_H_
