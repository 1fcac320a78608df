// What a coverage run found, one by one.
#ifndef RULERUN_ENGINE_REPORT_COVERAGE_FINDINGS_H_
#define RULERUN_ENGINE_REPORT_COVERAGE_FINDINGS_H_

#include <optional>
#include <vector>

#include "engine/report/finding.h"
#include "engine/report/totals.h"

namespace rulerun {

// By model, faults first, then nodes in the order of the model. An error is a known fault that stops the model, or a
// model that cannot be reported on; a warning a rule that refused, or a fault that makes numbers wrong; a note an
// operator that the rule set lists as unsupported.
std::vector<Finding> FindingsOf(const CoverageRun& run);

// Of what a fault does: whether numbers are wrong, or the model stops; std::nullopt where it does no harm.
std::optional<Code> CodeOf(const FaultHit& hit);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_COVERAGE_FINDINGS_H_
