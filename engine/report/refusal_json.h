// Refused models and outcomes by platform as JSON, for the reports that show them.
#ifndef RULERUN_ENGINE_REPORT_REFUSAL_JSON_H_
#define RULERUN_ENGINE_REPORT_REFUSAL_JSON_H_

#include <vector>

#include <nlohmann/json.hpp>

#include "engine/report/refusal.h"

namespace rulerun {

nlohmann::ordered_json ToOrderedJson(const FaultHit& hit);
nlohmann::ordered_json ToOrderedJson(const RefusedModel& refused);
// Of a node: with its fate; of a model, `FindLoads`: without.
nlohmann::ordered_json ToOrderedJson(const std::vector<PlatformRuns>& outcomes, bool of_node);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_REFUSAL_JSON_H_
