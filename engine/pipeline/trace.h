// The trace: the one record that all reports read. What every rule and pass said at every node it looked at.
#ifndef RULERUN_ENGINE_PIPELINE_TRACE_H_
#define RULERUN_ENGINE_PIPELINE_TRACE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/match/verdict.h"
#include "engine/ruleset/rule.h"

namespace rulerun {

struct TraceEntry {
  enum class Verdict {
    kFired,    // a rule or pass changed the graph
    kRefused,  // a rule's text fits, a check or condition does not hold; a pass declined
    kError,    // ONNX Runtime fails here
  };
  Verdict verdict = Verdict::kFired;
  std::string stage;  // path of the rule file, or name of the pass
  std::string rule;   // name of the rule; empty for passes
  Group group = Group::kPattern;
  int round = 0;                     // counts the visits of the stage
  int64_t change = 0;                // kFired: the how manieth change of the graph, from 1; a pass makes one a visit
  std::string node;                  // name of the anchor when the rule was tried
  std::string op;                    // its operator
  std::vector<std::string> sources;  // nodes of the original model that are concerned, the anchor's first
  std::vector<std::string> created;  // names of nodes made or edited
  std::vector<std::string> created_ops;
  std::vector<std::string> removed;                            // names of nodes
  std::vector<std::pair<std::string, std::string>> made_from;  // names of new values, and of the ones they stem from
  Refusal refusal;                                             // kRefused, kError
  std::string what;                                            // passes: what was done
  std::vector<Fault> faults;                                   // of the rule or pass, those whose condition holds here
  Location where;                                              // of the rule
};

using Trace = std::vector<TraceEntry>;

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PIPELINE_TRACE_H_
