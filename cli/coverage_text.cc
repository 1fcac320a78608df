#include "cli/coverage_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "cli/console.h"
#include "cli/outcome_text.h"
#include "cli/percent.h"
#include "cli/table.h"
#include "engine/base/text.h"

namespace rulerun::cli {
namespace {

constexpr size_t kMostGroups = 10;  // kinds of refusal, unless --nodes asks for every node
constexpr size_t kMostRules = 12;   // likewise, --by-rule
constexpr size_t kMostPlaces = 3;   // nodes beside a rule

std::string CountText(int count) { return count == 0 ? "" : std::to_string(count); }

// "1.23 M"
std::string Scaled(int64_t number) {
  struct Unit {
    double size;
    const char* name;
  };
  constexpr auto kUnits = std::to_array<Unit>({{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}});
  for (const Unit& unit : kUnits) {
    if (static_cast<double>(number) < unit.size) continue;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g%s", static_cast<double>(number) / unit.size, unit.name);
    return text.data();
  }
  return std::to_string(number);
}

std::string Bytes(int64_t number) { return Scaled(number) + (number < 1000 ? " B" : "B"); }

std::string MostFrequent(const std::map<std::string, int>& counts) {
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string text = most->first + (most->second > 1 ? " (" + std::to_string(most->second) + " times)" : "");
  if (counts.size() > 1) text += ", and " + std::to_string(counts.size() - 1) + " more";
  return text;
}

std::vector<std::string> Keys(const std::map<std::string, int>& counts) {
  std::vector<std::string> keys;
  for (const auto& [key, count] : counts) keys.push_back(key);
  return keys;
}

std::string Outcome(const OpCoverage& row) {
  std::vector<std::string> parts;
  std::vector<std::string> into = Keys(row.into);
  std::replace(into.begin(), into.end(), row.op, std::string("the operator itself, on int8"));
  if (!into.empty()) parts.push_back(Join(into, ", "));
  const std::string as = row.float_into.empty() ? "" : ", as " + Join(Keys(row.float_into), ", ");
  if (row.in_float > 0) parts.push_back("float" + as + ": " + MostFrequent(row.reasons));
  const bool gone_alone = row.gone > 0 && !row.removers.begin()->first.empty();
  if (row.gone > 0) parts.push_back(gone_alone ? "gone: " + MostFrequent(row.removers) : "gone");
  if (row.other > 0 && parts.empty()) parts.push_back("no float numbers");
  return Join(parts, "; ");
}

std::string OpTable(const std::vector<OpCoverage>& ops, int width) {
  Table table({"operator", "group", "count", "int8", "moved", "float", "gone", "what became of it"});
  for (size_t column = 2; column <= 6; ++column) table.AlignRight(column);
  for (const OpCoverage& row : ops) {
    table.Add({row.op, row.group, std::to_string(row.count), CountText(row.int8), CountText(row.moved),
               CountText(row.in_float), CountText(row.gone), Outcome(row)});
  }
  return table.ToText(width);
}

std::string MismatchLines(const std::vector<OpCoverage>& ops) {
  std::vector<std::string> parts;
  for (const OpCoverage& row : ops) {
    for (const auto& [measured, count] : row.mismatches) {
      parts.push_back(row.op + " (" + row.group + "): " + measured + " " + Plural(count, "time"));
    }
  }
  return parts.empty() ? "" : "Not as the group says: " + Join(parts, ", ") + "\n";
}

std::string ShareLine(const Share& nodes, const Share& macs) {
  if (nodes.int8 + nodes.in_float == 0) return "No operator computes on float numbers.\n";
  std::string text = std::to_string(nodes.int8) + " of " + Plural(nodes.int8 + nodes.in_float, "operator") +
                     " run on int8 (" + Percent(nodes.Value()) + ")";
  if (macs.int8 + macs.in_float > 0) {
    text += "; " + Scaled(macs.int8) + " of " + Scaled(macs.int8 + macs.in_float) + " multiply-adds (" +
            Percent(macs.Value()) + ")";
  }
  text += ".\n";
  if (macs.unknown > 0) {
    text += "Multiply-adds of " + Plural(macs.unknown, "operator") +
            " are not known, since shapes are not; --dim NAME=SIZE gives a size.\n";
  }
  return text;
}

// Said of a model that nothing can be made int8 of.
std::string UnquantizedLine(const Coverage& coverage) {
  const bool quantized = !coverage.conversions.empty() || coverage.nodes.int8 > 0;
  return quantized ? "" : "The model is not quantized: it has no Q or DQ node. Quantize it first.\n";
}

std::string ConversionLine(const Coverage& coverage) {
  std::vector<std::string> parts;
  for (const ConversionCount& count : coverage.conversions) {
    parts.push_back(count.op + " " + std::to_string(count.before) + " -> " + std::to_string(count.after));
  }
  for (const auto& [op, count] : coverage.inserted) parts.push_back(op + " +" + std::to_string(count));
  return parts.empty() ? "" : "Conversions: " + Join(parts, ", ") + "\n";
}

std::string BoundaryLine(const BoundaryCost& cost) {
  const Conversions& at_work = cost.activations;
  if (at_work.count + cost.constants.count == 0) return "";
  std::string text = "Between int8 and float: " + Plural(at_work.count, "conversion") + " of activations";
  if (at_work.count > at_work.unknown) text += ", " + Bytes(at_work.bytes) + " read and written";
  if (at_work.unknown > 0) text += " (" + std::to_string(at_work.unknown) + " of unknown size)";
  if (cost.constants.count > 0) text += "; " + std::to_string(cost.constants.count) + " of constants";
  return text + "\n";
}

std::string Line(const NodeFate& fate) {
  const std::string inside = fate.node.inside.empty() ? "" : fate.node.inside + "/";
  std::string text = inside + fate.node.name + " (" + fate.node.op + ") " + std::string(Words(fate.fate));
  if (!fate.into.empty() && fate.into != fate.node.op) text += ": " + fate.into;
  if (fate.fate == Fate::kFloat) {
    text += ": " + fate.reason.Text();
    if (!fate.reason.place.empty()) text += "  [" + fate.reason.place + "]";
  } else if (!fate.rule.empty()) {
    text += ", by '" + fate.rule + "'";
  }
  if (fate.around.count > 0) text += "; " + Plural(fate.around.count, "conversion") + " around it";
  if (fate.around.bytes > 0) text += ", " + Bytes(fate.around.bytes);
  return text;
}

// Nodes that a rule refused: those a user can do something about.
bool WorthTelling(const NodeFate& fate) {
  return fate.fate == Fate::kFloat && fate.reason.kind == Reason::Kind::kRefused;
}

std::string AllNodes(const Coverage& coverage) {
  std::string text;
  for (const NodeFate& fate : coverage.fates.nodes) text += "  " + Line(fate) + "\n";
  return text.empty() ? "" : "\nNodes:\n" + text;
}

// "conv1, conv2 and 7 more"
std::string Few(const std::vector<std::string>& names) {
  if (names.size() <= kMostPlaces) return Join(names, ", ");
  return Join({names.begin(), names.begin() + kMostPlaces}, ", ") + " and " +
         std::to_string(names.size() - kMostPlaces) + " more";
}

// Nodes of one operator that one condition of one rule refused.
using Refused = std::vector<const NodeFate*>;

std::vector<Refused> GroupRefused(const Coverage& coverage) {
  std::vector<Refused> groups;
  for (const NodeFate& fate : coverage.fates.nodes) {
    if (!WorthTelling(fate)) continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Refused& group) {
      const NodeFate& first = *group.front();
      return first.node.op == fate.node.op && first.reason.place == fate.reason.place &&
             first.reason.rule == fate.reason.rule && first.reason.check == fate.reason.check;
    });
    if (same == groups.end()) {
      groups.push_back({&fate});
    } else {
      same->push_back(&fate);
    }
  }
  return groups;
}

// The first of each group in full, the others by name.
std::string RefusedNodes(const Coverage& coverage) {
  const std::vector<Refused> groups = GroupRefused(coverage);
  if (groups.empty()) return "";
  std::string text = "\nRefused by a condition ('rulerun explain --node NAME' says what to change):\n";
  for (size_t i = 0; i < std::min(groups.size(), kMostGroups); ++i) {
    text += "  " + Line(*groups[i].front()) + "\n";
    std::vector<std::string> others;
    for (size_t k = 1; k < groups[i].size(); ++k) others.push_back(groups[i][k]->node.name);
    if (!others.empty()) text += "    likewise " + Few(others) + "\n";
  }
  if (groups.size() > kMostGroups) {
    text += "  and " + Plural(groups.size() - kMostGroups, "other kind") + ": 'rulerun coverage --nodes' lists all\n";
  }
  return text;
}

// Where a fault is: "conv1 (Conv), conv2 (Conv) and 7 more". Q and DQ nodes say what they stand next to.
std::string Hits(const std::vector<const FaultHit*>& hits) {
  std::vector<std::string> names;
  for (size_t i = 0; i < hits.size(); ++i) {
    std::string name = hits[i]->node + " (" + hits[i]->op + ")";
    if (!hits[i]->beside.empty()) name += " next to " + hits[i]->beside.front();
    names.push_back(std::move(name));
  }
  return Few(names);
}

// The same fault of the same rule is told once.
std::string FaultLines(const Coverage& coverage) {
  std::vector<std::vector<const FaultHit*>> groups;
  for (const FaultHit& hit : coverage.faults) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const std::vector<const FaultHit*>& group) {
      return group.front()->place == hit.place && group.front()->rule == hit.rule;
    });
    if (same == groups.end()) {
      groups.push_back({&hit});
    } else {
      same->push_back(&hit);
    }
  }
  std::string text;
  for (const std::vector<const FaultHit*>& group : groups) {
    const FaultHit& hit = *group.front();
    text += "  " + Hits(group) + ": " + hit.effect + ", " + hit.note + " ('" + hit.rule + "', fault " + hit.id +
            ")  [" + hit.place + "]" + (hit.link.empty() ? "" : "  " + hit.link) + "\n";
  }
  return text.empty() ? "" : "\nWarning: known faults of ONNX Runtime that these rules reproduce:\n" + text;
}

std::string ByDesignLine(const Coverage& coverage) {
  if (coverage.by_design.empty()) return "";
  const FaultHit& hit = coverage.by_design.front();
  return "Rounding: results of " + Plural(coverage.by_design.size(), "operator") +
         " on int8 may be a step of the output off those of float, on purpose (" + hit.id + ", " + hit.link + ").\n";
}

// --- by rule

std::string Places(const std::vector<std::string>& nodes) {
  const size_t shown = std::min(nodes.size(), kMostPlaces);
  std::string text = Join({nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ");
  return nodes.size() > shown ? text + ", ..." : text;
}

// Without --by-rule: what fired, and units that did not.
bool IsWorthARow(const std::string& group, int fired) { return group != "pass" && (fired > 0 || group != "rules"); }

std::string RuleTable(const std::vector<RuleUse>& uses, const CoverageTextOptions& options) {
  std::vector<const RuleUse*> shown;
  for (const RuleUse& use : uses) {
    if (options.by_rule || IsWorthARow(use.group, use.fired)) shown.push_back(&use);
  }
  std::stable_sort(shown.begin(), shown.end(), [](const RuleUse* a, const RuleUse* b) { return a->fired > b->fired; });
  const size_t left = options.by_rule || shown.size() <= kMostRules ? 0 : shown.size() - kMostRules;
  shown.resize(shown.size() - left);
  if (shown.empty()) return "";
  Table table({"rule", "group", "fired", "refused", "place", "at"});
  table.AlignRight(2);
  table.AlignRight(3);
  for (const RuleUse* use : shown) {
    const std::string refused_at = use->refused_at.empty() ? "" : "refused " + Places(use->refused_at);
    table.Add({use->rule, use->group, CountText(use->fired), CountText(use->refused), use->place,
               use->fired > 0 ? Places(use->fired_at) : refused_at});
  }
  std::string text = "\n" + table.ToText(options.width);
  if (left > 0) text += "and " + std::to_string(left) + " more rules: 'rulerun coverage --by-rule' lists all\n";
  return text;
}

std::string ConditionTable(const std::vector<RuleUse>& uses, int width) {
  Table table({"rule", "held", "refused", "place", "condition"});
  table.AlignRight(1);
  table.AlignRight(2);
  for (const RuleUse& use : uses) {
    for (const ConditionUse& condition : use.conditions) {
      table.Add({use.rule, CountText(condition.held), CountText(condition.refused), condition.place, condition.text});
    }
    for (const auto& [check, count] : use.checks) {
      table.Add({use.rule, "", CountText(count), use.place, "built-in check: " + check});
    }
  }
  return table.empty() ? "" : "\n" + table.ToText(width);
}

std::string Heading(const Coverage& coverage) {
  return coverage.rules + ", level " + coverage.level + ", " + coverage.provider + ", " + coverage.platform;
}

// Without the model's name and the heading.
std::string Body(const Coverage& coverage, const CoverageTextOptions& options) {
  std::string text = OpTable(coverage.ops, options.width) + "\n" + ShareLine(coverage.nodes, coverage.macs) +
                     UnquantizedLine(coverage) + ConversionLine(coverage) + BoundaryLine(coverage.boundary) +
                     ByDesignLine(coverage) + MismatchLines(coverage.ops) +
                     (options.nodes ? AllNodes(coverage) : RefusedNodes(coverage)) + FaultLines(coverage) +
                     RuleTable(coverage.rule_use, options);
  if (options.by_rule) text += ConditionTable(coverage.rule_use, options.width);
  return text;
}

std::string Report(const Coverage& coverage, const CoverageTextOptions& options) {
  return coverage.model + "\n" + Heading(coverage) + "\n\n" + Body(coverage, options);
}

std::string Report(const FailedModel& failed, const CoverageTextOptions& options) {
  const Coverage& coverage = failed.refused->coverage;
  return failed.model + "\n" + coverage.rules + "\n\n" + ModelRefusalText(*failed.refused, options.width) +
         Body(coverage, options);
}

// --- several models

std::string ShareText(const Share& share) { return share.int8 + share.in_float == 0 ? "-" : Percent(share.Value()); }

std::string ModelTable(const CoverageRun& run, int width) {
  Table table({"operators", "on int8", "multiply-adds", "conversions", "faults", "model"});
  for (size_t column = 0; column <= 4; ++column) table.AlignRight(column);
  for (const Coverage& report : run.reports) {
    table.Add({std::to_string(report.nodes.int8 + report.nodes.in_float), ShareText(report.nodes),
               ShareText(report.macs), CountText(report.boundary.activations.count),
               CountText(static_cast<int>(report.faults.size())), report.model});
  }
  for (const FailedModel& failed : run.failed)
    table.Add({"", failed.refused ? "refused" : "failed", "", "", "", failed.model});
  return table.ToText(width);
}

std::string TotalRuleTable(const std::vector<RuleTotal>& rules, const CoverageTextOptions& options) {
  Table table({"rule", "group", "fired", "in models", "refused", "place"});
  for (size_t column = 2; column <= 4; ++column) table.AlignRight(column);
  size_t shown = 0;
  size_t left = 0;
  for (const RuleTotal& total : rules) {
    const bool worth = options.by_rule || IsWorthARow(total.group, total.fired);
    if (!worth || (!options.by_rule && shown == kMostRules)) {
      left += worth ? 1 : 0;
      continue;
    }
    table.Add({total.rule, total.group, CountText(total.fired), CountText(total.models), CountText(total.refused),
               total.place});
    ++shown;
  }
  if (table.empty()) return "";
  std::string text = "\n" + table.ToText(options.width);
  if (left > 0) text += "and " + std::to_string(left) + " more rules: 'rulerun coverage --by-rule' lists all\n";
  return text;
}

std::string Totals(const CoverageRun& run, const CoverageTextOptions& options) {
  if (run.reports.empty()) return ModelTable(run, options.width);
  return Heading(run.reports.front()) + "\n\n" + ModelTable(run, options.width) + "\nAll models:\n" +
         OpTable(run.ops, options.width) + "\n" + ShareLine(run.nodes, run.macs) + BoundaryLine(run.boundary) +
         MismatchLines(run.ops) + TotalRuleTable(run.rules, options);
}

}  // namespace

std::string CoverageText(const CoverageRun& run, const CoverageTextOptions& options) {
  const size_t models = run.reports.size() + run.failed.size();
  if (models == 1 && run.failed.empty()) return Report(run.reports.front(), options);
  if (models == 1) return run.failed.front().refused ? Report(run.failed.front(), options) : "";
  std::string text;
  if (options.each) {
    for (const Coverage& report : run.reports) text += Report(report, options) + "\n";
    for (const FailedModel& failed : run.failed) text += failed.refused ? Report(failed, options) + "\n" : "";
  }
  return text + Totals(run, options);
}

}  // namespace rulerun::cli
