// Coverage of several models, taken together.
#ifndef RULERUN_ENGINE_REPORT_TOTALS_H_
#define RULERUN_ENGINE_REPORT_TOTALS_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/report/coverage.h"
#include "engine/report/refusal.h"

namespace rulerun {

// A model that could not be reported on.
struct FailedModel {
  std::string model;
  Error error;
  std::optional<RefusedModel> refused;  // where ONNX Runtime refuses it for the target, and loads it for another
};

struct RuleTotal {
  std::string rule;
  std::string stage;
  std::string group;
  std::string place;
  int fired = 0;
  int refused = 0;
  int models = 0;  // in which it fired
};

// Reports of one run, and their sums.
struct CoverageRun {
  std::vector<Coverage> reports;
  std::vector<FailedModel> failed;
  std::vector<OpCoverage> ops;  // the most frequent first
  std::vector<RuleTotal> rules;
  Share nodes;
  Share macs;
  BoundaryCost boundary;
};

CoverageRun AddUp(std::vector<Coverage> reports, std::vector<FailedModel> failed);

// As schemas/coverage.schema.json describes.
std::string ToJson(const CoverageRun& run, int indent = 2);  // -1: on one line

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_TOTALS_H_
