#include "engine/report/totals.h"

#include <algorithm>
#include <map>
#include <utility>

namespace rulerun {
namespace {

void Add(const std::map<std::string, int>& from, std::map<std::string, int>& to) {
  for (const auto& [key, count] : from) to[key] += count;
}

void Add(const OpCoverage& from, OpCoverage& to) {
  to.op = from.op;
  to.group = from.group;
  to.count += from.count;
  to.int8 += from.int8;
  to.moved += from.moved;
  to.in_float += from.in_float;
  to.gone += from.gone;
  to.other += from.other;
  Add(from.into, to.into);
  Add(from.float_into, to.float_into);
  Add(from.reasons, to.reasons);
  Add(from.removers, to.removers);
  Add(from.mismatches, to.mismatches);
}

void Add(const Share& from, Share& to) {
  to.int8 += from.int8;
  to.in_float += from.in_float;
  to.unknown += from.unknown;
}

}  // namespace

CoverageRun AddUp(std::vector<Coverage> reports, std::vector<FailedModel> failed) {
  CoverageRun run;
  std::map<std::string, OpCoverage> ops;
  std::map<std::pair<std::string, std::string>, size_t> index;
  for (const Coverage& report : reports) {
    for (const OpCoverage& row : report.ops) Add(row, ops[row.op]);
    for (const RuleUse& use : report.rule_use) {
      const auto [known, fresh] = index.emplace(std::make_pair(use.stage, use.rule), run.rules.size());
      if (fresh) run.rules.push_back({use.rule, use.stage, use.group, use.place, 0, 0, 0});
      RuleTotal& total = run.rules[known->second];
      total.fired += use.fired;
      total.refused += use.refused;
      total.models += use.fired > 0 ? 1 : 0;
    }
    Add(report.nodes, run.nodes);
    Add(report.macs, run.macs);
    run.boundary.activations.Add(report.boundary.activations);
    run.boundary.constants.Add(report.boundary.constants);
  }
  for (auto& [op, row] : ops) run.ops.push_back(std::move(row));
  std::stable_sort(run.ops.begin(), run.ops.end(),
                   [](const OpCoverage& a, const OpCoverage& b) { return a.count > b.count; });
  std::stable_sort(run.rules.begin(), run.rules.end(),
                   [](const RuleTotal& a, const RuleTotal& b) { return a.fired > b.fired; });
  run.reports = std::move(reports);
  run.failed = std::move(failed);
  return run;
}

}  // namespace rulerun
