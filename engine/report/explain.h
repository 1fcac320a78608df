// All that the rules said about one node.
#ifndef RULERUN_ENGINE_REPORT_EXPLAIN_H_
#define RULERUN_ENGINE_REPORT_EXPLAIN_H_

#include <string>
#include <vector>

#include "engine/pipeline/trace.h"
#include "engine/report/fates.h"

namespace rulerun {

// One thing a rule or pass said, once although later rounds repeated it.
struct ExplainStep {
  const TraceEntry* entry = nullptr;
  int times = 1;
};

struct Explanation {
  const NodeFate* fate = nullptr;
  std::vector<ExplainStep> steps;  // in the order of the trace
};

// Names by which `Explain` finds nodes: those of the original model and of the rewritten one.
std::vector<std::string> ExplainableNames(const Fates& fates);

// The original nodes that `name` means: one of that name, or those that the rewritten node of that name stands for.
std::vector<Explanation> Explain(const Fates& fates, const Trace& trace, const std::string& name);

// "fired", with what it did, or "refused", with check and message, in one sentence.
std::string Describe(const TraceEntry& entry);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_EXPLAIN_H_
