// All that the rules said about a node: what became of it everywhere, which rule did it, why others did not, and what
// to change.
#ifndef RULERUN_ENGINE_REPORT_EXPLAIN_H_
#define RULERUN_ENGINE_REPORT_EXPLAIN_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/pipeline/trace.h"
#include "engine/report/advice.h"
#include "engine/report/coverage.h"
#include "engine/report/fates.h"
#include "engine/report/outcomes.h"
#include "engine/report/refusal.h"

namespace rulerun {

// One thing a rule or pass said, once although later rounds repeated it.
struct ExplainStep {
  const TraceEntry* entry = nullptr;
  int times = 1;
  std::string level;              // from which its stage runs
  std::string advice;             // of a refusal
  std::optional<WhatIf> what_if;  // of a refusal, where asked for
};

struct Explanation {
  const NodeFate* fate = nullptr;
  const std::vector<PlatformRuns>* outcomes = nullptr;  // nullptr where not asked for
  std::string advice;                                   // of a reason that is no refusal
  std::vector<ExplainStep> fired;                       // in the order of the trace
  std::vector<ExplainStep> refused;                     // rules of the four groups first, the nearest to fire first
  std::vector<FaultHit> faults_beside;                  // known faults at the Qs and DQs next to an operator
  std::vector<ExplainStep> refused_beside;              // refusals there, where an operator's types do not fit
};

// A node that is no original one: who made it, and who took it away again.
struct MadeNode {
  std::string name;
  std::string op;
  const TraceEntry* made_by = nullptr;
  const TraceEntry* removed_by = nullptr;  // nullptr: it is in the rewritten graph
};

// What a name means: original nodes, by their own name or by that of what stands for them; or a node that a rule made.
struct Explained {
  std::vector<MadeNode> made;
  std::vector<Explanation> nodes;
};

// Names by which `Explain` finds nodes: those of the original model, of the rewritten one, and of those in between.
std::vector<std::string> ExplainableNames(const Fates& fates, const Trace& trace);

// `name`: "" for all original nodes. `outcomes` may be nullptr.
Explained Explain(const Fates& fates, const Trace& trace, const RuleSet& rules, const Outcomes* outcomes,
                  const std::string& name);

// "fired", with what it did, or "refused", with check and message, in one sentence.
std::string Describe(const TraceEntry& entry);

// As schemas/explain.schema.json describes.
// `refused`: nullptr where ONNX Runtime takes the model; else `coverage` is of where it loads.
std::string ToJson(const Coverage& coverage, const Explained& explained, const RefusedModel* refused);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_EXPLAIN_H_
