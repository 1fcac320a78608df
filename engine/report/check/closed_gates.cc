// Gates that nothing opens: every platform, every value of the options that the gates name, every level and every
// opset is tried.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/graph/schema.h"
#include "engine/report/check/analyses.h"
#include "engine/report/docs/sentences.h"
#include "engine/ruleset/target.h"

namespace rulerun {
namespace {

struct GatePair {
  const Gate* gate_if;
  const Gate* gate_unless;
};

// The values that tell the items of the gates apart: those that they compare with, one other, and none.
std::map<std::string, std::set<int64_t>> OptionValues(const RuleSet& rules, const std::vector<GatePair>& gates) {
  std::map<std::string, std::set<int64_t>> values;
  for (const GatePair& pair : gates) {
    for (const Gate* gate : {pair.gate_if, pair.gate_unless}) {
      for (const Gate::Item& item : gate->items) {
        const auto option = rules.options.find(item.name);
        if (option == rules.options.end()) continue;
        const auto add = [&, &own = option->second](int64_t value) {
          if (value >= own.min && value <= own.max) values[item.name].insert(value);
        };
        for (const int64_t value : {int64_t{0}, int64_t{1}, option->second.min, option->second.max}) add(value);
        if (item.equals) add(*item.equals);
        if (item.equals && *item.equals < INT64_MAX) add(*item.equals + 1);
      }
    }
  }
  return values;
}

class Gates {
 public:
  Gates(const RuleSet& rules, std::vector<GatePair> gates, Level from)
      : rules_(rules), gates_(std::move(gates)), from_(from), values_(OptionValues(rules, gates_)) {}

  bool CanOpen() const {
    if (rules_.platforms.empty()) return true;
    return std::any_of(rules_.platforms.begin(), rules_.platforms.end(), [&](const auto& platform) {
      Target target;
      target.platform = &platform.second;
      return TryOptions(target, values_.begin());
    });
  }

 private:
  using Values = std::map<std::string, std::set<int64_t>>::const_iterator;

  bool TryOptions(Target& target, Values next) const {
    if (next == values_.end()) return TryLevels(target);
    const auto rest = std::next(next);
    return std::any_of(next->second.begin(), next->second.end(), [&](int64_t value) {
      target.options[next->first] = value;
      return TryOptions(target, rest);
    });
  }

  bool TryLevels(Target& target) const {
    for (int level = static_cast<int>(from_); level <= static_cast<int>(Level::kAll); ++level) {
      target.level = static_cast<Level>(level);
      for (int opset = kOldestOpset; opset <= kNewestOpset; ++opset) {
        const Graph graph({{"", opset}}, 0);
        const bool open = std::all_of(gates_.begin(), gates_.end(), [&](const GatePair& pair) {
          return Open(*pair.gate_if, *pair.gate_unless, target, graph);
        });
        if (open) return true;
      }
    }
    return false;
  }

  const RuleSet& rules_;
  std::vector<GatePair> gates_;
  Level from_;
  std::map<std::string, std::set<int64_t>> values_;
};

class Finder {
 public:
  explicit Finder(const RuleSet& rules) : rules_(rules) {}

  std::vector<Finding> Find() {
    for (const Stage& stage : rules_.pipeline) Visit(stage, {}, Level::kDisabled);
    for (const auto& [rule, reach] : reached_) {
      if (!reach.open) Report(rule->where, rule->name, "the rule '" + rule->name + "' is never tried", reach.gates);
    }
    return std::move(findings_);
  }

 private:
  // Whether some walk gets to a rule, and the gates on the way of the last one.
  struct Reach {
    bool open = false;
    std::vector<GatePair> gates;
  };

  // "if opset below 7, unless the option loop is 1", outermost first.
  static std::string TextOf(const std::vector<GatePair>& gates) {
    std::vector<std::string> parts;
    for (const GatePair& pair : gates) {
      const std::string open = GateSentence(*pair.gate_if);
      const std::string closed = GateSentence(*pair.gate_unless);
      if (!open.empty()) parts.push_back("if " + open);
      if (!closed.empty()) parts.push_back("unless " + closed);
    }
    std::string text = Join(parts, ", ");
    std::erase(text, '`');
    return text;
  }

  void Visit(const Stage& stage, std::vector<GatePair> gates, Level from) {
    gates.push_back({&stage.gate_if, &stage.gate_unless});
    from = std::max(from, stage.level);
    if (!Gates(rules_, gates, from).CanOpen()) return Report(stage.where, "", "this stage never runs", gates);
    for (const Stage& inner : stage.stages) Visit(inner, gates, from);
    if (stage.kind != Stage::Kind::kRules) return;
    for (const auto& rule : rules_.files.at(stage.file).rules) {
      const bool named =
          stage.only.empty() || std::find(stage.only.begin(), stage.only.end(), rule->name) != stage.only.end();
      if (!named) continue;
      std::vector<GatePair> with_rule = gates;
      with_rule.push_back({&rule->gate_if, &rule->gate_unless});
      Reach& reach = reached_[rule.get()];
      reach.open = reach.open || Gates(rules_, with_rule, from).CanOpen();
      reach.gates = std::move(with_rule);
    }
  }

  void Report(const Location& where, const std::string& rule, const std::string& what,
              const std::vector<GatePair>& gates) {
    Finding finding;
    finding.code = Code::kGateNeverOpens;
    finding.where = where;
    finding.rule = rule;
    finding.message = what + ": no platform, value of an option, level and opset opens its gates: " + TextOf(gates);
    finding.remedy = "correct 'if', 'unless' and 'level' here and in the stages around it";
    findings_.push_back(std::move(finding));
  }

  const RuleSet& rules_;
  std::map<const Rule*, Reach> reached_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> FindClosedGates(const RuleSet& rules) { return Finder(rules).Find(); }

}  // namespace rulerun
