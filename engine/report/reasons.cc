#include "engine/report/reasons.h"

#include <algorithm>
#include <iterator>

#include "engine/base/codes.h"

namespace rulerun {
namespace {

// The matcher's own checks in the order it makes them; conditions of the rule come behind them all.
constexpr std::string_view kOrder[] = {"provider",   "between", "operands", "attributes", "graph-output",
                                       "single-use", "private", "shape",    "types",      "since"};

const std::vector<const TraceEntry*>& Look(const std::map<std::string, std::vector<const TraceEntry*>>& map,
                                           const std::string& node) {
  static const std::vector<const TraceEntry*> kNone;
  const auto found = map.find(node);
  return found == map.end() ? kNone : found->second;
}

// Of the refusals in the last visit of a stage, the one by the rule that got furthest; the first of equals.
template <typename Filter>
const TraceEntry* MostTelling(const std::vector<const TraceEntry*>& entries, const Filter& filter) {
  const auto last = std::find_if(entries.rbegin(), entries.rend(), filter);
  if (last == entries.rend()) return nullptr;
  const TraceEntry* best = nullptr;
  for (const TraceEntry* entry : entries) {
    if (!filter(entry) || entry->stage != (*last)->stage || entry->round != (*last)->round) continue;
    if (best == nullptr || Nearness(entry->refusal.check) > Nearness(best->refusal.check)) best = entry;
  }
  return best;
}

// Where it first said so: later rounds speak of values that passes have put in since.
const TraceEntry& FirstLike(const std::vector<const TraceEntry*>& entries, const TraceEntry& entry) {
  const auto same = [&](const TraceEntry* other) {
    return other->verdict == entry.verdict && other->stage == entry.stage && other->rule == entry.rule &&
           other->refusal.check == entry.refusal.check &&
           other->refusal.where.ToString() == entry.refusal.where.ToString();
  };
  return **std::find_if(entries.begin(), entries.end(), same);
}

// In the order of the trace, each once.
std::vector<const TraceEntry*> AnchoredAtAny(const TraceIndex& trace, const std::vector<std::string>& names) {
  std::vector<const TraceEntry*> entries;
  for (const std::string& name : names) {
    const auto& more = trace.Anchored(name);
    entries.insert(entries.end(), more.begin(), more.end());
  }
  std::sort(entries.begin(), entries.end());  // they all lie in one trace
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  return entries;
}

Reason Refused(const TraceEntry& entry) {
  const Location& where = entry.refusal.where.file != nullptr ? entry.refusal.where : entry.where;
  return {Reason::Kind::kRefused, entry.rule, entry.refusal.check, entry.refusal.message, where.ToString()};
}

}  // namespace

std::string Reason::Text() const {
  return kind == Kind::kRefused ? "rule '" + rule + "', " + check + ": " + message : message;
}

std::string Reason::Short() const { return kind == Kind::kRefused ? "rule '" + rule + "' refused: " + check : message; }

std::string_view Name(Reason::Kind kind) {
  switch (kind) {
    case Reason::Kind::kRefused:
      return "refused";
    case Reason::Kind::kUnsupported:
      return "unsupported";
    case Reason::Kind::kNoRule:
      return "no-rule";
    case Reason::Kind::kNotQuantized:
      return "not-quantized";
    case Reason::Kind::kLevel:
      return "level";
    case Reason::Kind::kDisabled:
      return "disabled";
  }
  return "";
}

Code CodeOf(Reason::Kind kind) {
  switch (kind) {
    case Reason::Kind::kRefused:
      return Code::kNodeRefused;
    case Reason::Kind::kUnsupported:
      return Code::kNodeUnsupported;
    case Reason::Kind::kNoRule:
      return Code::kNodeWithoutRule;
    case Reason::Kind::kNotQuantized:
      return Code::kNodeNotQuantized;
    case Reason::Kind::kLevel:
      return Code::kRuleAtHigherLevel;
    case Reason::Kind::kDisabled:
      return Code::kRuleDisabled;
  }
  return Code::kUnexpected;
}

TraceIndex::TraceIndex(const Trace& trace) {
  for (const TraceEntry& entry : trace) {
    // After a rewrite a kept node may list another origin first; its name still tells.
    if (!entry.sources.empty()) anchored_[entry.sources.front()].push_back(&entry);
    if (!entry.node.empty() && (entry.sources.empty() || entry.node != entry.sources.front())) {
      anchored_[entry.node].push_back(&entry);
    }
    if (entry.verdict != TraceEntry::Verdict::kFired) continue;
    for (const std::string& source : entry.sources) {
      auto& list = fired_[source];
      if (list.empty() || list.back() != &entry) list.push_back(&entry);
    }
  }
}

const std::vector<const TraceEntry*>& TraceIndex::Anchored(const std::string& node) const {
  return Look(anchored_, node);
}

const std::vector<const TraceEntry*>& TraceIndex::Fired(const std::string& node) const { return Look(fired_, node); }

int Nearness(std::string_view check) {
  const auto found = std::find(std::begin(kOrder), std::end(kOrder), check);
  return static_cast<int>(found - std::begin(kOrder));
}

Reason ReasonFor(const RuleSet& rules, const Target& target, const TraceIndex& trace,
                 const std::vector<std::string>& names, const std::string& op) {
  const auto refused = [](const TraceEntry* entry) {
    return entry->verdict != TraceEntry::Verdict::kFired && !entry->rule.empty();
  };
  const auto unit = [&](const TraceEntry* entry) { return refused(entry) && entry->group != Group::kPattern; };
  const auto pattern = [&](const TraceEntry* entry) {
    if (!refused(entry) || entry->group != Group::kPattern || entry->op != op) return false;
    const Rule* rule = RuleOf(rules, entry->stage, entry->rule);
    return rule != nullptr && MentionsQuantizers(rules, *rule);
  };
  const std::vector<const TraceEntry*> entries = AnchoredAtAny(trace, names);
  const OpRules known = RulesFor(rules, op);
  // What another operator that it was taken apart into lacks tells less than that the operator itself has no int8 form.
  const bool none = known.units.empty() && known.unsupported != nullptr;
  if (const TraceEntry* entry = none ? nullptr : MostTelling(entries, unit)) return Refused(FirstLike(entries, *entry));
  if (!known.units.empty() && known.first_level > target.level) {
    return {Reason::Kind::kLevel, "", "", "its int8 rules begin at level " + std::string(Name(known.first_level)), ""};
  }
  const bool disabled = std::all_of(known.units.begin(), known.units.end(),
                                    [&](const Rule* rule) { return target.disabled.count(rule->name) > 0; });
  if (!known.units.empty() && disabled) {
    return {Reason::Kind::kDisabled, "", "", "rule '" + known.units.front()->name + "' is disabled",
            known.units.front()->where.ToString()};
  }
  if (!known.units.empty()) {
    return {Reason::Kind::kNotQuantized, "", "", "neither its inputs nor its outputs are quantized",
            known.units.front()->where.ToString()};
  }
  if (const TraceEntry* entry = MostTelling(entries, pattern)) return Refused(FirstLike(entries, *entry));
  if (known.unsupported != nullptr) {
    return {Reason::Kind::kUnsupported, "", "", ReasonText(*known.unsupported, op),
            known.unsupported->where.ToString()};
  }
  return {Reason::Kind::kNoRule, "", "", "no rule has an int8 form of this operator", ""};
}

}  // namespace rulerun
