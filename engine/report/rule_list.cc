#include "engine/report/rule_list.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/ruleset/op_names.h"

namespace rulerun {
namespace {

// What a stage says of a rule file, a rule of it, or a pass: from which level on.
class Stages {
 public:
  explicit Stages(const RuleSet& rules) {
    for (const Stage& stage : rules.pipeline) Visit(stage, Level::kDisabled);
  }

  std::string LevelOf(const std::string& file, const std::string& rule) const {
    const auto whole = levels_.find({file, ""});
    const auto only = levels_.find({file, rule});
    if (whole == levels_.end() && only == levels_.end()) return "";
    if (whole == levels_.end() || only == levels_.end()) {
      return std::string(Name((whole == levels_.end() ? only : whole)->second));
    }
    return std::string(Name(std::min(whole->second, only->second)));
  }
  const std::map<std::string, const Stage*>& passes() const { return passes_; }
  Level LevelOfPass(const std::string& pass) const { return pass_levels_.at(pass); }

 private:
  void Visit(const Stage& stage, Level outer) {
    const Level level = std::max(outer, stage.level);
    if (stage.kind == Stage::Kind::kRules) {
      if (stage.only.empty()) Note({stage.file, ""}, level);
      for (const std::string& rule : stage.only) Note({stage.file, rule}, level);
    } else if (stage.kind == Stage::Kind::kPass && passes_.emplace(stage.pass, &stage).second) {
      pass_levels_[stage.pass] = level;
    }
    for (const Stage& inner : stage.stages) Visit(inner, level);
  }
  void Note(const std::pair<std::string, std::string>& key, Level level) {
    const auto [place, fresh] = levels_.emplace(key, level);
    if (!fresh) place->second = std::min(place->second, level);
  }

  std::map<std::pair<std::string, std::string>, Level> levels_;
  std::map<std::string, const Stage*> passes_;
  std::map<std::string, Level> pass_levels_;
};

// The operators that a name in a rewrite stands for: itself, or one per alternative of the unit where it is a template
// that ends in the operator's name. Other templates depend on the match.
std::vector<std::string> OperatorsOf(const Rule& rule, const std::string& name) {
  constexpr std::string_view kOp = "${op}";
  const size_t at = name.find(kOp);
  if (at == std::string::npos) {
    return name.find("${") == std::string::npos ? std::vector<std::string>{name} : std::vector<std::string>{};
  }
  std::vector<std::string> operators;
  for (const Alternative& alternative : rule.match.front().alternatives) {
    if (!alternative.call) continue;
    for (const std::string& op : alternative.call->ops) {
      operators.push_back(name.substr(0, at) + SplitOpName(op).type + name.substr(at + kOp.size()));
    }
  }
  return operators;
}

bool HasKernel(const KernelRegistry& kernels, const std::string& op) {
  const OpName name = SplitOpName(op);
  return std::any_of(kernels.all().begin(), kernels.all().end(), [&](const KernelDef& kernel) {
    return kernel.op_type == name.type && kernel.domain == name.domain;
  });
}

std::vector<const Rewrite*> RewritesOf(const Rule& rule) {
  std::vector<const Rewrite*> rewrites = {&rule.rewrite};
  for (const Case& rule_case : rule.cases) rewrites.push_back(&rule_case.rewrite);
  return rewrites;
}

std::set<std::string> BuiltOperators(const RuleSet& rules, const Rule& rule) {
  std::set<std::string> operators;
  for (const Rewrite* rewrite : RewritesOf(rule)) {
    for (const Statement& line : rewrite->statements) {
      for (const Alternative& alternative : line.alternatives) {
        if (!alternative.call) continue;
        for (const std::string& name : alternative.call->ops) {
          if (rules.vocabulary.op_sets.count(name) > 0) continue;
          for (const std::string& op : OperatorsOf(rule, name)) operators.insert(op);
        }
      }
    }
  }
  return operators;
}

}  // namespace

std::vector<ListedRule> ListRules(const RuleSet& rules) {
  const Stages stages(rules);
  std::vector<ListedRule> list;
  for (const auto& [path, file] : rules.files) {
    for (const auto& rule : file.rules) {
      list.push_back({rule->name, std::string(Name(rule->group)), path, stages.LevelOf(path, rule->name),
                      rule->where.ToString(), rule->tests.size()});
    }
  }
  for (const auto& [pass, stage] : stages.passes()) {
    list.push_back({pass, "pass", "", std::string(Name(stages.LevelOfPass(pass))), stage->where.ToString(), 0});
  }
  return list;
}

std::vector<MissingKernel> ReplacementsWithoutKernel(const RuleSet& rules, const KernelRegistry& kernels) {
  std::vector<MissingKernel> missing;
  for (const auto& [path, file] : rules.files) {
    for (const auto& rule : file.rules) {
      for (const std::string& op : BuiltOperators(rules, *rule)) {
        if (!HasKernel(kernels, op)) missing.push_back({op, rule->name, rule->where});
      }
    }
  }
  return missing;
}

}  // namespace rulerun
