// What a rule's test is run for: its `given`.
#ifndef RULERUN_ENGINE_REPORT_TEST_TARGET_H_
#define RULERUN_ENGINE_REPORT_TEST_TARGET_H_

#include <string>
#include <utility>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/pipeline/walk.h"
#include "engine/ruleset/ruleset.h"
#include "engine/ruleset/target.h"

namespace rulerun {

// Not to be copied or moved once `target` points at `platform`; Use() makes it so.
struct TestTarget {
  Platform platform;
  Target target;
  OpsetMap opsets;
  std::string provider = "cpu";  // of all nodes

  const Target& Use() {
    target.platform = &platform;
    return target;
  }
};

// Facts, options, platform, level, opset and ep; what is not given: the first platform by name, level all, opset 21.
Result<TestTarget> ReadTestTarget(const RuleSet& rules, const std::vector<std::pair<std::string, std::string>>& facts);

// A walk over a test's graph, told in `trace`, that has no rules yet. `given` must be in Use().
Walk WalkFor(const TestTarget& given, Graph& graph, const RuleSet& rules, const RuleFile& file,
             const KernelRegistry& kernels, Trace& trace);

// Puts every node on the provider, in subgraphs too.
void Claim(Graph& graph, const std::string& provider);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_TEST_TARGET_H_
