#include "cli/outcome_text.h"

#include <algorithm>

#include "cli/table.h"
#include "engine/base/text.h"

namespace rulerun::cli {
namespace {

std::string InBrackets(const std::string& place) { return place.empty() ? "" : "  [" + place + "]"; }

std::string OutcomeText(const NodeOutcome& outcome, bool of_node) {
  if (!outcome.refused.empty()) {
    return "ONNX Runtime refuses the model" + (outcome.rule.empty() ? "" : ", by '" + outcome.rule + "'") + ": " +
           outcome.refused + InBrackets(outcome.place);
  }
  if (!of_node) return "loads";
  std::string text(Words(outcome.fate));
  if (!outcome.into.empty()) text += ": " + outcome.into;
  if (!outcome.rule.empty()) text += ", by '" + outcome.rule + "'";
  return text;
}

std::string Names(const std::vector<Level>& levels) {
  std::vector<std::string> names;
  for (const Level level : levels) names.emplace_back(Name(level));
  return Join(names, ", ");
}

}  // namespace

std::string EverywhereText(const std::vector<PlatformRuns>& outcomes, bool of_node, int width) {
  std::string text;
  for (const PlatformRuns& runs : outcomes) {
    text += "  " + (outcomes.size() == 1 ? "every platform" : Join(runs.platforms, ", ")) + "\n";
    size_t widest = 0;
    std::vector<std::string> labels;
    for (const LevelRun& run : runs.levels) {
      labels.push_back(runs.levels.size() == 1 ? "every level" : Names(run.levels));
      widest = std::max(widest, labels.back().size());
    }
    const size_t indent = 4 + widest + 2;
    for (size_t i = 0; i < labels.size(); ++i) {
      const std::string lines = Indented(OutcomeText(runs.levels[i].outcome, of_node), indent, width);
      text += "    " + labels[i] + lines.substr(4 + labels[i].size());
    }
  }
  return text;
}

std::string FaultText(const FaultHit& hit) {
  const std::string what = hit.note.empty() ? hit.effect : hit.effect + ", " + hit.note;
  const std::string start = IsByDesign(hit) ? "By design (" + hit.id + "): " + hit.note
                                            : "Warning: known fault " + hit.id + " of ONNX Runtime: " + what;
  return start + (hit.link.empty() ? "" : "  " + hit.link);
}

std::string ModelRefusalText(const RefusedModel& refused, int width) {
  const ModelRefusal& refusal = refused.refusal;
  std::string text = Indented(
      "ONNX Runtime refuses this model at level " + refused.level + " on " + refused.platform + ": " + refusal.message,
      0, width);
  std::string by;
  if (!refusal.node.empty()) by = "at '" + refusal.node + "'" + (refusal.op.empty() ? "" : " (" + refusal.op + ")");
  if (!refusal.by.empty()) {
    by += std::string(by.empty() ? "" : ", ") + "by " + (refusal.by_pass ? "pass '" : "rule '") + refusal.by + "'";
  }
  if (!by.empty()) text += Indented(by + InBrackets(refusal.place), 2, width);
  for (const FaultHit& hit : refusal.faults) text += Indented(FaultText(hit), 2, width);
  text += "\nWhere it loads:\n" + EverywhereText(refused.loads, /*of_node=*/false, width);
  return text + "\nWhat follows is true of level " + refused.coverage.level + " on " + refused.coverage.platform +
         ", the nearest at which it loads.\n\n";
}

}  // namespace rulerun::cli
