// What a derived rule set changes in a rule.
#include <algorithm>

#include "engine/base/text.h"
#include "engine/report/docs/page.h"
#include "engine/report/docs/sentences.h"

namespace rulerun {
namespace {

bool SameYaml(const Yaml& a, const Yaml& b) {
  const auto same_entry = [](const auto& x, const auto& y) {
    return x.first == y.first && SameYaml(x.second, y.second);
  };
  return a.kind == b.kind && a.scalar == b.scalar &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), SameYaml) &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(), same_entry);
}

bool IsPrefix(const Yaml& shorter, const Yaml& longer) {
  return shorter.IsSequence() && longer.IsSequence() && shorter.items.size() < longer.items.size() &&
         std::equal(shorter.items.begin(), shorter.items.end(), longer.items.begin(), SameYaml);
}

}  // namespace

const Rule* SameRule(const RuleSet* rules, const Rule& rule) {
  return rules == nullptr ? nullptr : rules->FindRule(rule.name);
}

bool Alike(const Rule& a, const Rule& b) {
  return SameYaml(a.yaml, b.yaml) && a.closed == b.closed && a.conditions.size() == b.conditions.size();
}

std::string ChangesOf(const Rule& base, const Rule& derived) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : derived.yaml.entries) {
    const Yaml* before = base.yaml.Get(key);
    if (before == nullptr) {
      parts.push_back("sets " + Code(key));
    } else if (IsPrefix(*before, value)) {
      parts.push_back("adds " + std::to_string(value.items.size() - before->items.size()) + " to " + Code(key));
    } else if (!SameYaml(*before, value) && key != "faults") {
      parts.push_back("replaces " + Code(key));
    }
  }
  for (const auto& [key, value] : base.yaml.entries) {
    if (derived.yaml.Get(key) == nullptr) parts.push_back("drops " + Code(key));
  }
  if (!derived.closed.empty()) {
    std::vector<std::string> ids;
    for (const std::string& id : derived.closed) ids.push_back(Code(id));
    parts.push_back("closes the faults " + Join(ids, ", "));
  }
  return Join(parts, "; ");
}

}  // namespace rulerun
