#include "engine/report/explain.h"

#include <algorithm>
#include <set>

#include "engine/base/text.h"

namespace rulerun {
namespace {

bool Concerns(const TraceEntry& entry, const std::string& name) {
  return entry.node == name || std::find(entry.sources.begin(), entry.sources.end(), name) != entry.sources.end();
}

bool SaysTheSame(const TraceEntry& a, const TraceEntry& b) {
  return a.verdict == b.verdict && a.stage == b.stage && a.rule == b.rule && a.refusal.check == b.refusal.check &&
         a.refusal.message == b.refusal.message && a.what == b.what && a.created == b.created && a.removed == b.removed;
}

Explanation ExplainNode(const NodeFate& fate, const Trace& trace) {
  Explanation explanation;
  explanation.fate = &fate;
  for (const TraceEntry& entry : trace) {
    if (!Concerns(entry, fate.node.name)) continue;
    const auto known = std::find_if(explanation.steps.begin(), explanation.steps.end(),
                                    [&](const ExplainStep& step) { return SaysTheSame(*step.entry, entry); });
    if (known != explanation.steps.end()) {
      ++known->times;
    } else {
      explanation.steps.push_back({&entry, 1});
    }
  }
  return explanation;
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

std::vector<std::string> ExplainableNames(const Fates& fates) {
  std::set<std::string> names;
  for (const NodeFate& fate : fates.nodes) {
    names.insert(fate.node.name);
    if (!fate.now.empty()) names.insert(fate.now);
  }
  for (const InsertedNode& node : fates.inserted) {
    if (!node.name.empty()) names.insert(node.name);
  }
  return {names.begin(), names.end()};
}

std::vector<Explanation> Explain(const Fates& fates, const Trace& trace, const std::string& name) {
  std::vector<Explanation> found;
  for (const NodeFate& fate : fates.nodes) {
    if (fate.node.name == name) found.push_back(ExplainNode(fate, trace));
  }
  if (!found.empty()) return found;
  std::set<std::string> origins;
  for (const InsertedNode& node : fates.inserted) {
    if (node.name == name) origins.insert(node.origins.begin(), node.origins.end());
  }
  for (const NodeFate& fate : fates.nodes) {
    if (fate.now == name || origins.count(fate.node.name) > 0) found.push_back(ExplainNode(fate, trace));
  }
  return found;
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
