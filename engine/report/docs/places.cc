#include "engine/report/docs/places.h"

#include <algorithm>

namespace rulerun {
namespace {

bool Applies(const Stage& stage, const std::string& file, const Rule& rule) {
  if (stage.kind != Stage::Kind::kRules || stage.file != file) return false;
  return stage.only.empty() || std::find(stage.only.begin(), stage.only.end(), rule.name) != stage.only.end();
}

void Visit(const Stage& stage, RulePlace place, const std::string& file, const Rule& rule,
           std::vector<RulePlace>& places) {
  place.level = std::max(place.level, stage.level);
  if (!stage.providers.empty()) place.providers = stage.providers;
  if (!stage.gate_if.items.empty()) place.gates_if.push_back(&stage.gate_if);
  if (!stage.gate_unless.items.empty()) place.gates_unless.push_back(&stage.gate_unless);
  if (Applies(stage, file, rule)) places.push_back(place);
  for (const Stage& inner : stage.stages) Visit(inner, place, file, rule, places);
}

bool HasFact(const Platform& platform, const Gate::Item& item) {
  const auto fact = platform.facts.find(item.name);
  const int64_t value = fact == platform.facts.end() ? 0 : fact->second;
  return item.equals ? value == *item.equals : value != 0;
}

bool FactsHold(const Platform& platform, const Gate& gate) {
  return std::all_of(gate.items.begin(), gate.items.end(),
                     [&](const Gate::Item& item) { return item.kind != Gate::Kind::kFact || HasFact(platform, item); });
}

// A gate of `unless` closes for certain where it asks for facts alone, and they hold.
bool FactsClose(const Platform& platform, const Gate& gate) {
  const bool facts_alone = std::all_of(gate.items.begin(), gate.items.end(),
                                       [](const Gate::Item& item) { return item.kind == Gate::Kind::kFact; });
  return !gate.items.empty() && facts_alone && FactsHold(platform, gate);
}

}  // namespace

std::vector<RulePlace> PlacesOf(const RuleSet& rules, const std::string& file, const Rule& rule) {
  std::vector<RulePlace> places;
  for (const Stage& stage : rules.pipeline) Visit(stage, {}, file, rule, places);
  return places;
}

std::vector<std::string> PlatformsOf(const RuleSet& rules, const RulePlace& place, const Rule& rule) {
  std::vector<std::string> names;
  for (const auto& [name, platform] : rules.platforms) {
    const auto holds = [&, &facts = platform](const Gate* gate) { return FactsHold(facts, *gate); };
    const auto closes = [&, &facts = platform](const Gate* gate) { return FactsClose(facts, *gate); };
    const bool open = std::all_of(place.gates_if.begin(), place.gates_if.end(), holds) && holds(&rule.gate_if);
    const bool closed =
        std::any_of(place.gates_unless.begin(), place.gates_unless.end(), closes) || closes(&rule.gate_unless);
    if (open && !closed) names.push_back(name);
  }
  return names;
}

}  // namespace rulerun
