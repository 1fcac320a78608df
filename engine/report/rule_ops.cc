#include "engine/report/rule_ops.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "engine/base/text.h"

namespace rulerun {
namespace {

constexpr std::string_view kQuantizers[] = {"Q", "DQ"};

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool Speaks(const RuleSet& rules, const Statement& line, std::string_view op) {
  for (const Alternative& alternative : line.alternatives) {
    if (!alternative.call) continue;
    for (const std::string& name : alternative.call->ops) {
      if (name == op || IsInOpSet(rules, name, op)) return true;
    }
  }
  return false;
}

// The lowest level at which a stage below `stage` reads the file, if any does.
void FindLevel(const Stage& stage, Level outer, const std::string& path, std::optional<Level>& found) {
  const Level level = std::max(outer, stage.level);
  if (stage.kind == Stage::Kind::kRules && stage.file == path && (!found || level < *found)) found = level;
  for (const Stage& inner : stage.stages) FindLevel(inner, level, path, found);
}

Level LevelOf(const RuleSet& rules, const std::string& path) {
  std::optional<Level> found;
  for (const Stage& stage : rules.pipeline) FindLevel(stage, Level::kDisabled, path, found);
  return found.value_or(Level::kDisabled);
}

}  // namespace

std::string OpRules::Group() const {
  std::vector<std::string> groups;
  for (const Rule* rule : units) {
    const std::string group(Name(rule->group));
    if (!Has(groups, group)) groups.push_back(group);
  }
  if (!groups.empty()) return Join(groups, ", ");
  return unsupported != nullptr ? "unsupported" : "not listed";
}

const Rule* RuleOf(const RuleSet& rules, const std::string& file, std::string_view rule) {
  const auto found = rules.files.find(file);
  if (found == rules.files.end()) return nullptr;
  const auto& all = found->second.rules;
  const auto named = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one->name == rule; });
  return named == all.end() ? nullptr : named->get();
}

OpRules RulesFor(const RuleSet& rules, std::string_view op) {
  OpRules found;
  for (const auto& [path, file] : rules.files) {
    for (const auto& rule : file.rules) {
      if (!rule->is_unit || !Speaks(rules, rule->match.front(), op)) continue;
      const Level level = LevelOf(rules, path);
      found.first_level = found.units.empty() ? level : std::min(found.first_level, level);
      found.units.push_back(rule.get());
    }
    for (const Unsupported& unsupported : file.unsupported) {
      if (found.unsupported == nullptr && Has(unsupported.ops, op)) found.unsupported = &unsupported;
    }
  }
  return found;
}

bool IsInOpSet(const RuleSet& rules, std::string_view set, std::string_view op) {
  const auto found = rules.vocabulary.op_sets.find(std::string(set));
  return found != rules.vocabulary.op_sets.end() && Has(found->second, op);
}

bool IsQuantizer(const RuleSet& rules, std::string_view op) {
  return std::any_of(std::begin(kQuantizers), std::end(kQuantizers),
                     [&](std::string_view set) { return IsInOpSet(rules, set, op); });
}

bool MentionsQuantizers(const RuleSet& rules, const Rule& rule) {
  if (rule.is_unit) return true;
  for (const Statement& line : rule.match) {
    for (const Alternative& alternative : line.alternatives) {
      if (!alternative.call) continue;
      for (const std::string& name : alternative.call->ops) {
        const bool is_set = std::find(std::begin(kQuantizers), std::end(kQuantizers), name) != std::end(kQuantizers);
        if (is_set || IsQuantizer(rules, name)) return true;
      }
    }
  }
  return false;
}

std::string ReasonText(const Unsupported& unsupported, std::string_view op) {
  constexpr std::string_view kPlace = "${op}";
  std::string text = unsupported.reason;
  for (size_t at = text.find(kPlace); at != std::string::npos; at = text.find(kPlace, at + op.size())) {
    text.replace(at, kPlace.size(), op);
  }
  return text;
}

}  // namespace rulerun
