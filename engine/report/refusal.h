// What is known of a model that ONNX Runtime refuses: why, where not, and what becomes of it there.
#ifndef RULERUN_ENGINE_REPORT_REFUSAL_H_
#define RULERUN_ENGINE_REPORT_REFUSAL_H_

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/report/coverage.h"
#include "engine/report/outcomes.h"

namespace rulerun {

// Why ONNX Runtime refuses a model.
struct ModelRefusal {
  std::string message;
  std::string by;  // rule or pass, "" where it refuses the model as it is
  bool by_pass = false;
  std::string place;  // file:line:column of it
  std::string node;   // original node at which it stops, or ""
  std::string op;
  std::vector<FaultHit> faults;  // known ones
};

// `error` is what the pipeline failed with (ErrorKind::kRefused), `trace` what it had said by then.
ModelRefusal RefusalOf(const Error& error, const Trace& trace);

// A refused model where it loads.
struct RefusedModel {
  ModelRefusal refusal;
  std::string level;  // for which it is refused
  std::string platform;
  std::vector<PlatformRuns> loads;  // at which levels on which platforms
  Coverage coverage;                // at the highest level below that loads, on the same platform or else another
};

// For a model, as it is before the pipeline runs, which MeasureCoverage failed for with `error` (ErrorKind::kRefused)
// and `trace`. Fails with `error` where the model loads nowhere.
Result<RefusedModel> AskWhereItLoads(const Model& model, const Error& error, const Trace& trace, const RuleSet& rules,
                                     const Target& target, const KernelRegistry& kernels, const MacTable* macs,
                                     int threads);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_REFUSAL_H_
