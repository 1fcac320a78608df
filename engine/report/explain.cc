#include "engine/report/explain.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/report/rule_list.h"

namespace rulerun {
namespace {

bool Has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr char kTypes[] = "types";  // the check that element types fit: what a pass did to a Q or DQ shows here

bool SaysTheSame(const TraceEntry& a, const TraceEntry& b) {
  return a.verdict == b.verdict && a.stage == b.stage && a.rule == b.rule && a.refusal.check == b.refusal.check &&
         a.refusal.message == b.refusal.message && a.what == b.what && a.created == b.created && a.removed == b.removed;
}

// The trace by the original nodes that its entries concern.
class Concerns {
 public:
  explicit Concerns(const Trace& trace) {
    for (const TraceEntry& entry : trace) {
      Add(entry.node, entry);
      for (const std::string& source : entry.sources) Add(source, entry);
    }
  }

  const std::vector<const TraceEntry*>& Of(const std::string& node) const {
    static const std::vector<const TraceEntry*> kNone;
    const auto found = entries_.find(node);
    return found == entries_.end() ? kNone : found->second;
  }

 private:
  void Add(const std::string& node, const TraceEntry& entry) {
    auto& list = entries_[node];
    if (list.empty() || list.back() != &entry) list.push_back(&entry);
  }

  std::map<std::string, std::vector<const TraceEntry*>> entries_;
};

// From which level a rule or pass is tried.
class LevelsOfRules {
 public:
  explicit LevelsOfRules(const RuleSet& rules) {
    for (const ListedRule& rule : ListRules(rules)) levels_.emplace(rule.name, rule.level);
  }

  std::string Of(const TraceEntry& entry) const {
    const auto found = levels_.find(entry.rule.empty() ? entry.stage : entry.rule);
    return found == levels_.end() ? "" : found->second;
  }

 private:
  std::map<std::string, std::string> levels_;
};

void AddStep(const TraceEntry& entry, const LevelsOfRules& levels, std::vector<ExplainStep>& steps) {
  const auto known = std::find_if(steps.begin(), steps.end(),
                                  [&](const ExplainStep& step) { return SaysTheSame(*step.entry, entry); });
  if (known != steps.end()) {
    ++known->times;
    return;
  }
  const bool refused = entry.verdict == TraceEntry::Verdict::kRefused && !entry.rule.empty();
  steps.push_back({&entry, 1, levels.Of(entry), refused ? AdviceFor(entry.refusal) : "", std::nullopt});
}

// Rules of the four groups before the others, those that came furthest before those that stopped early.
bool TellsMore(const ExplainStep& a, const ExplainStep& b) {
  const bool a_unit = a.entry->group != Group::kPattern;
  const bool b_unit = b.entry->group != Group::kPattern;
  if (a_unit != b_unit) return a_unit;
  return Nearness(a.entry->refusal.check) > Nearness(b.entry->refusal.check);
}

// What went wrong at a Q or DQ next to the operator, unless the operator itself is told of it.
void AddFaultsBeside(const TraceEntry& entry, const std::string& quantizer, Explanation& explanation) {
  if (Has(entry.sources, explanation.fate->node.name)) return;
  for (FaultHit& hit : FaultsOf(entry)) {
    if (hit.node != quantizer) continue;  // another operator's
    const bool told = std::any_of(explanation.faults_beside.begin(), explanation.faults_beside.end(),
                                  [&](const FaultHit& one) { return one.node == hit.node && one.id == hit.id; });
    if (!told && !IsByDesign(hit)) explanation.faults_beside.push_back(std::move(hit));
  }
}

Explanation ExplainNode(const NodeFate& fate, const Concerns& concerns, const LevelsOfRules& levels) {
  Explanation explanation;
  explanation.fate = &fate;
  if (fate.fate == Fate::kFloat || fate.fate == Fate::kFused) explanation.advice = AdviceFor(fate.reason);
  std::vector<const TraceEntry*> entries = concerns.Of(fate.node.name);
  const auto& as_now = concerns.Of(fate.now);
  entries.insert(entries.end(), as_now.begin(), as_now.end());
  std::sort(entries.begin(), entries.end());  // they all lie in one trace
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  for (const TraceEntry* entry : entries) {
    const bool fired = entry->verdict == TraceEntry::Verdict::kFired;
    AddStep(*entry, levels, fired ? explanation.fired : explanation.refused);
  }
  std::stable_sort(explanation.refused.begin(), explanation.refused.end(), TellsMore);
  const bool types = !explanation.refused.empty() && explanation.refused.front().entry->refusal.check == kTypes;
  for (const std::string& quantizer : fate.node.quantizers) {
    for (const TraceEntry* entry : concerns.Of(quantizer)) {
      AddFaultsBeside(*entry, quantizer, explanation);
      const bool refused = entry->verdict == TraceEntry::Verdict::kRefused && !entry->rule.empty();
      if (types && refused && !Has(entry->sources, fate.node.name)) AddStep(*entry, levels, explanation.refused_beside);
    }
  }
  return explanation;
}

// Nodes of that name that a rule made, edited ones of the original aside.
std::vector<MadeNode> MadeNodes(const Fates& fates, const Trace& trace, const std::string& name) {
  std::vector<MadeNode> made;
  const bool original =
      std::any_of(fates.nodes.begin(), fates.nodes.end(), [&](const NodeFate& fate) { return fate.node.name == name; });
  for (const TraceEntry& entry : trace) {
    const auto at = std::find(entry.created.begin(), entry.created.end(), name);
    if (at != entry.created.end() && !original) {
      const auto slot = static_cast<size_t>(at - entry.created.begin());
      const std::string op = slot < entry.created_ops.size() ? entry.created_ops[slot] : "";
      if (made.empty() || made.back().removed_by != nullptr) made.push_back({name, op, &entry, nullptr});
    }
    if (!made.empty() && Has(entry.removed, name)) made.back().removed_by = &entry;
  }
  return made;
}

std::string Made(const TraceEntry& entry) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < entry.created.size(); ++i) {
    const std::string op = i < entry.created_ops.size() ? " (" + entry.created_ops[i] + ")" : "";
    parts.push_back("'" + entry.created[i] + "'" + op);
  }
  std::string text;
  if (!parts.empty()) text += ", makes or edits " + Join(parts, ", ");
  if (!entry.removed.empty()) text += ", removes '" + Join(entry.removed, "', '") + "'";
  return text;
}

}  // namespace

std::vector<std::string> ExplainableNames(const Fates& fates, const Trace& trace) {
  std::set<std::string> names;
  for (const NodeFate& fate : fates.nodes) {
    names.insert(fate.node.name);
    names.insert(fate.now);
  }
  for (const InsertedNode& node : fates.inserted) names.insert(node.name);
  for (const TraceEntry& entry : trace) names.insert(entry.created.begin(), entry.created.end());
  names.erase("");
  return {names.begin(), names.end()};
}

Explained Explain(const Fates& fates, const Trace& trace, const RuleSet& rules, const Outcomes* outcomes,
                  const std::string& name) {
  Explained explained;
  std::set<std::string> origins;  // original nodes that a made one stands for
  if (!name.empty()) explained.made = MadeNodes(fates, trace, name);
  for (const MadeNode& made : explained.made)
    origins.insert(made.made_by->sources.begin(), made.made_by->sources.end());
  for (const InsertedNode& node : fates.inserted) {
    if (node.name == name) origins.insert(node.origins.begin(), node.origins.end());
  }
  const bool by_own_name =
      std::any_of(fates.nodes.begin(), fates.nodes.end(), [&](const NodeFate& fate) { return fate.node.name == name; });
  const auto is_meant = [&](const NodeFate& fate) {
    if (name.empty() || by_own_name) return name.empty() || fate.node.name == name;
    return fate.now == name || origins.count(fate.node.name) > 0;
  };
  const Concerns concerns(trace);
  const LevelsOfRules levels(rules);
  for (size_t i = 0; i < fates.nodes.size(); ++i) {
    if (!is_meant(fates.nodes[i])) continue;
    explained.nodes.push_back(ExplainNode(fates.nodes[i], concerns, levels));
    if (outcomes != nullptr) explained.nodes.back().outcomes = &(*outcomes)[i];
  }
  return explained;
}

std::string Describe(const TraceEntry& entry) {
  switch (entry.verdict) {
    case TraceEntry::Verdict::kFired:
      return (entry.what.empty() ? "fired" : entry.what) + Made(entry);
    case TraceEntry::Verdict::kRefused:
      if (entry.rule.empty()) return entry.what;
      return "refused, " + entry.refusal.check + ": " + entry.refusal.message;
    case TraceEntry::Verdict::kError:
      return "stops here, as ONNX Runtime does: " + entry.refusal.message;
  }
  return "";
}

}  // namespace rulerun
