// What nothing reaches: rules without a stage, and names that stand for two rules.
#include <algorithm>
#include <map>
#include <set>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/ruleset/checks.h"

namespace rulerun {
namespace {

// Files that some stage runs as a whole, and rules that stages name.
struct Named {
  std::set<std::string> files;
  std::set<std::string> rules;
};

void Collect(const std::vector<Stage>& stages, Named& named) {
  for (const Stage& stage : stages) {
    Collect(stage.stages, named);
    if (stage.kind != Stage::Kind::kRules) continue;
    if (stage.only.empty()) {
      named.files.insert(stage.file);
    } else {
      named.rules.insert(stage.only.begin(), stage.only.end());
    }
  }
}

void CheckOverlaps(const RuleSet& rules, const Rule& rule, Diagnostics& errors) {
  for (const std::string& other : rule.overlaps) {
    if (rules.FindRule(other) != nullptr) continue;
    std::vector<std::string> known;
    for (const auto& [key, file] : rules.files) {
      for (const auto& one : file.rules) known.push_back(one->name);
    }
    errors.Add(Code::kNoSuchRule, rule.yaml.Get("overlaps")->where,
               "there is no rule '" + other + "'" + DidYouMean(other, known));
  }
}

}  // namespace

void CheckReach(const RuleSet& rules, Diagnostics& errors) {
  Named named;
  Collect(rules.pipeline, named);
  std::map<std::string, Location> seen;
  for (const auto& [key, file] : rules.files) {
    for (const auto& rule : file.rules) {
      const auto [first, fresh] = seen.emplace(rule->name, rule->where);
      if (!fresh) {
        errors.Add(Code::kDuplicateRule, rule->where,
                   "there is another rule '" + rule->name + "', at " + first->second.ToString());
      }
      if (named.files.count(key) == 0 && named.rules.count(rule->name) == 0) {
        errors.Add(Code::kRuleInNoStage, rule->where, "no stage of the pipeline names the rule '" + rule->name + "'");
      }
      CheckOverlaps(rules, *rule, errors);
    }
  }
}

}  // namespace rulerun
