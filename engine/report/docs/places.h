// Where in the pipeline a rule stands.
#ifndef RULERUN_ENGINE_REPORT_DOCS_PLACES_H_
#define RULERUN_ENGINE_REPORT_DOCS_PLACES_H_

#include <string>
#include <vector>

#include "engine/ruleset/ruleset.h"

namespace rulerun {

// One stage that applies the rule.
struct RulePlace {
  Level level = Level::kDisabled;
  std::vector<std::string> providers;  // empty or "any": all
  std::vector<const Gate*> gates_if;   // of the stage and those around it
  std::vector<const Gate*> gates_unless;
};

std::vector<RulePlace> PlacesOf(const RuleSet& rules, const std::string& file, const Rule& rule);

// Platforms of the rule set on which gates that ask for facts hold; all where none does.
std::vector<std::string> PlatformsOf(const RuleSet& rules, const RulePlace& place, const Rule& rule);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DOCS_PLACES_H_
