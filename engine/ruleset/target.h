// What rules are applied for: a platform, an execution provider, a level and the values of the options.
#ifndef RULERUN_ENGINE_RULESET_TARGET_H_
#define RULERUN_ENGINE_RULESET_TARGET_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/graph.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {

// A condition that is taken to hold at a node, so that the next one can be seen.
struct Assumption {
  std::string condition;  // its place, file:line:column
  std::string node;       // of the original model
};

struct Target {
  const Platform* platform = nullptr;
  std::string provider = "cpu";
  Level level = Level::kAll;
  std::map<std::string, int64_t> options;  // value of every option of the rule set
  std::set<std::string> disabled;          // rules and passes switched off by name
  std::vector<Assumption> assumed;         // "what if"; none for the real thing

  // A fact of the platform, or an option's value; std::nullopt where neither has that name. An option that is set
  // wins over a fact of the same name.
  std::optional<int64_t> Lookup(std::string_view name) const;
};

// A target of `rules`: checks the platform's name and gives every option its default. `platform` may be "host".
Result<Target> MakeTarget(const RuleSet& rules, const std::string& platform, Level level,
                          const std::string& provider = "cpu");
// Sets an option by its name or its session key: "int8_allowed=1".
Status SetOption(const RuleSet& rules, Target& target, const std::string& assignment);
// The platform whose facts describe this machine, by name: "x86-64-avx2", "x86-64-avx512", "arm64".
std::string HostPlatform();

// Whether every item of the gate holds.
bool Holds(const Gate& gate, const Target& target, const Graph& graph);
// `if` holds and `unless` is empty or does not.
bool Open(const Gate& gate_if, const Gate& gate_unless, const Target& target, const Graph& graph);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_TARGET_H_
