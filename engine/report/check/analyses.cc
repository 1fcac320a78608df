#include "engine/report/check/analyses.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "engine/report/rule_list.h"

namespace rulerun {
namespace {

void Collect(const RuleSet& rules, const Stage& stage, std::vector<const Stage*> around,
             std::vector<WalkRules>& walks) {
  around.push_back(&stage);
  for (const Stage& inner : stage.stages) Collect(rules, inner, around, walks);
  if (stage.kind != Stage::Kind::kRules) return;
  const RuleFile& file = rules.files.at(stage.file);
  WalkRules walk{&stage, around, &file, {}, file.visit_all || stage.walk_together};
  if (stage.only.empty()) {
    for (const auto& rule : file.rules) walk.rules.push_back(rule.get());
    walks.push_back(std::move(walk));
    return;
  }
  std::vector<WalkRules> single;
  for (const std::string& name : stage.only) {
    for (const auto& rule : file.rules) {
      if (rule->name == name) walk.rules.push_back(rule.get());
    }
  }
  if (stage.walk_together) {
    walks.push_back(std::move(walk));
    return;
  }
  for (const Rule* rule : walk.rules) {
    WalkRules one = walk;
    one.rules = {rule};
    walks.push_back(std::move(one));
  }
}

auto Order(const Finding& finding) {
  const std::string file = finding.where.file == nullptr ? "" : *finding.where.file;
  return std::make_tuple(file, finding.where.line, finding.where.column, finding.code, finding.other);
}

bool Same(const Finding& a, const Finding& b) { return Order(a) == Order(b) && a.rule == b.rule; }

bool SamePair(const Finding& a, const Finding& b) { return a.rule == b.rule && a.other == b.other; }

// Operators that no kernel runs at all; where a graph shows one, it is not told again.
void AddMissingKernels(const RuleSet& rules, const KernelRegistry& kernels, std::vector<Finding>& all) {
  for (const MissingKernel& missing : ReplacementsWithoutKernel(rules, kernels)) {
    const bool told = std::any_of(all.begin(), all.end(), [&](const Finding& finding) {
      return finding.code == Code::kReplacementWithoutKernel && finding.rule == missing.rule &&
             finding.message.find(missing.op) != std::string::npos;
    });
    if (told) continue;
    Finding finding;
    finding.code = Code::kReplacementWithoutKernel;
    finding.where = missing.where;
    finding.rule = missing.rule;
    finding.message = "the rule '" + missing.rule + "' builds " + missing.op + ", which no kernel runs";
    finding.remedy = "add a kernel: 'rulerun run' refuses such a model";
    all.push_back(std::move(finding));
  }
}

}  // namespace

std::vector<WalkRules> WalksOf(const RuleSet& rules) {
  std::vector<WalkRules> walks;
  for (const Stage& stage : rules.pipeline) Collect(rules, stage, {}, walks);
  return walks;
}

std::vector<Finding> FindAll(const RuleSet& rules, const KernelRegistry& kernels) {
  std::vector<Finding> all = FindContradictions(rules);
  for (auto& findings : {FindClosedGates(rules), FindUnreachable(rules)}) {
    all.insert(all.end(), findings.begin(), findings.end());
  }
  std::set<std::string> proven;
  for (const Finding& finding : all) proven.insert(finding.rule);
  for (Finding& finding : FindByWitness(rules, kernels)) {
    const bool follows = finding.code == Code::kShadowed || finding.code == Code::kNotShown;
    if (follows && proven.count(finding.rule) > 0) continue;
    // That two rules match at one node goes with the proof that one never wins: it shows it.
    const auto proof = std::find_if(all.begin(), all.end(), [&](const Finding& known) {
      return finding.code == Code::kOverlap && known.code == Code::kUnreachable && SamePair(known, finding);
    });
    if (proof == all.end()) {
      all.push_back(std::move(finding));
    } else {
      proof->witness = finding.witness;
    }
  }
  // Likewise with what was seen of it.
  const std::vector<Finding> seen = all;
  std::erase_if(all, [&](const Finding& overlap) {
    return overlap.code == Code::kOverlap && std::any_of(seen.begin(), seen.end(), [&](const Finding& shadowed) {
             return shadowed.code == Code::kShadowed && SamePair(shadowed, overlap);
           });
  });
  AddMissingKernels(rules, kernels, all);
  std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) { return Order(a) < Order(b); });
  all.erase(std::unique(all.begin(), all.end(), Same), all.end());
  return all;
}

}  // namespace rulerun
