// rulerun explain: what became of a node, which rule did it, why others did not, and what to change.
#include "engine/report/explain.h"

#include <algorithm>
#include <optional>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/outcome_text.h"
#include "cli/table.h"
#include "cli/target_options.h"
#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/graph/load.h"

namespace rulerun::cli {
namespace {

std::string Headline(const NodeFate& fate) {
  const std::string inside = fate.node.inside.empty() ? "" : fate.node.inside + "/";
  std::string text = inside + fate.node.name + " (" + fate.node.op + ") " + std::string(Words(fate.fate));
  if (!fate.into.empty() && fate.into != fate.node.op) text += ": " + fate.into;
  if (!fate.now.empty() && fate.now != fate.node.name) text += " '" + fate.now + "'";
  if (fate.fate == Fate::kRemoved && !fate.rule.empty()) text += ", by '" + fate.rule + "'";
  return text + "\n";
}

// --- rules

std::string Who(const TraceEntry& entry) {
  if (entry.rule.empty()) return "pass '" + entry.stage + "'";
  const std::string group = entry.group == Group::kPattern ? "" : " (" + std::string(Name(entry.group)) + ")";
  return "rule '" + entry.rule + "'" + group;
}

std::string Times(const ExplainStep& step) {
  return step.times > 1 ? " (" + std::to_string(step.times) + " times)" : "";
}

// Those by design, which every fused operator has, only where there is room for them.
std::string FaultTexts(const std::vector<FaultHit>& hits, bool by_design, size_t indent, int width) {
  std::string text;
  for (const FaultHit& hit : hits) {
    if (by_design || !IsByDesign(hit)) text += Indented(FaultText(hit), indent, width);
  }
  return text;
}

std::string BesideTexts(const Explanation& explanation, int width) {
  std::string text;
  for (const FaultHit& hit : explanation.faults_beside) {
    text += Indented("At '" + hit.node + "' next to it: " + FaultText(hit), 2, width);
  }
  return text;
}

std::string FiredText(const ExplainStep& step, int width) {
  const TraceEntry& entry = *step.entry;
  const std::string level = step.level.empty() ? "" : "level " + step.level + ", ";
  std::string text = Indented(level + Who(entry) + " " + Describe(entry) + Times(step), 2, width);
  const std::string place = entry.where.ToString();
  if (!place.empty()) text += "    " + place + "\n";
  return text + FaultTexts(FaultsOf(entry), /*by_design=*/true, 4, width);
}

std::string Made(const std::string& verb, const WhatIf& what_if) {
  return what_if.into.empty() ? "" : " and " + verb + " " + what_if.into;
}

// What follows the first change.
std::string WhatIfText(const WhatIf& what_if, int width) {
  std::string text;
  for (size_t i = 1; i < what_if.conditions.size(); ++i) {
    const Refusal& next = what_if.conditions[i];
    const bool last = i + 1 == what_if.conditions.size() && what_if.kind == WhatIf::Kind::kStopsAt;
    const std::string advice = AdviceFor(next);
    text += Indented((last ? "Next it stops at " : "Next condition, ") + next.check + ": " + next.message +
                         (advice.empty() ? "" : ". To change: " + advice + "."),
                     4, width);
  }
  switch (what_if.kind) {
    case WhatIf::Kind::kFires:
      return text + Indented("Then the rule fires" + Made("makes", what_if) + ".", 4, width);
    case WhatIf::Kind::kNothingElse:
      return text + Indented("Nothing else in the rule stands in the way as the model is now: it would fire" +
                                 Made("make", what_if) + ", unless the change brings up another condition.",
                             4, width);
    case WhatIf::Kind::kStopsAt:
      return text + Indented("The rule asks its other conditions only after that.", 4, width);
    case WhatIf::Kind::kError:
      return text + Indented("Then ONNX Runtime would refuse the model: " + what_if.error, 4, width);
  }
  return text;
}

std::string RefusedText(const ExplainStep& step, bool advise, int width) {
  const TraceEntry& entry = *step.entry;
  std::string text = Indented(Who(entry) + " " + Describe(entry), 2, width);
  const std::string place = (entry.refusal.where.file != nullptr ? entry.refusal.where : entry.where).ToString();
  if (!place.empty()) text += "    " + place + "\n";
  text += FaultTexts(FaultsOf(entry), /*by_design=*/false, 4, width);
  if (!advise) return text;
  if (!step.advice.empty()) text += Indented("To change: " + step.advice + ".", 4, width);
  if (step.what_if) text += WhatIfText(*step.what_if, width);
  return text;
}

// --- nodes

std::string ReasonText(const Explanation& explanation, int width) {
  const NodeFate& fate = *explanation.fate;
  if (fate.fate != Fate::kFloat && fate.fate != Fate::kFused) return "";
  std::string text = Indented(fate.reason.Text(), 2, width);
  if (!fate.reason.place.empty()) text += "  " + fate.reason.place + "\n";
  if (!explanation.advice.empty()) text += Indented("To change: " + explanation.advice + ".", 2, width);
  return text;
}

// Faults of what was done to this very node, and of the Qs and DQs next to it.
std::string BriefFaults(const Explanation& explanation, int width) {
  std::string text;
  for (const auto* steps : {&explanation.fired, &explanation.refused}) {
    for (const ExplainStep& step : *steps) {
      std::vector<FaultHit> hits = FaultsOf(*step.entry);
      std::erase_if(hits, [&](const FaultHit& hit) { return hit.node != explanation.fate->node.name; });
      text += FaultTexts(hits, /*by_design=*/false, 2, width);
    }
  }
  return text + BesideTexts(explanation, width);
}

// A node among many: what became of it, and the first thing to change.
std::string Brief(const Explanation& explanation, int width) {
  const NodeFate& fate = *explanation.fate;
  // What is part of another node stays float for that node's reason.
  std::string text = Headline(fate) + (fate.fate == Fate::kFused ? "" : ReasonText(explanation, width));
  const bool refused = fate.fate == Fate::kFloat && fate.reason.kind == Reason::Kind::kRefused;
  for (const ExplainStep& step : explanation.refused) {
    const TraceEntry& entry = *step.entry;
    if (!refused || entry.refusal.message != fate.reason.message || step.advice.empty()) continue;
    text += Indented("To change: " + step.advice + ".", 2, width);
    break;
  }
  return text + BriefFaults(explanation, width);
}

// A rule for another execution provider: no user asked about that.
bool IsElsewhere(const ExplainStep& step) {
  return !step.entry->rule.empty() && step.entry->refusal.check == "provider";
}

bool IsUnit(const ExplainStep& step) { return step.entry->group != Group::kPattern; }

// Rules that are worth advice: units, which put an operator on int8; without one, all that looked at the node.
bool WorthAdvice(const Explanation& explanation, const ExplainStep& step) {
  return IsUnit(step) || std::none_of(explanation.refused.begin(), explanation.refused.end(), IsUnit);
}

// Units first.
std::string RefusedTexts(const Explanation& explanation, bool units, int width) {
  std::string text;
  for (const ExplainStep& step : explanation.refused) {
    if (IsUnit(step) == units && !IsElsewhere(step)) text += RefusedText(step, WorthAdvice(explanation, step), width);
  }
  if (text.empty()) return "";
  return (units ? "\nRules that could have put it on int8, and refused:\n"
                : "\nOther rules and passes that looked at it, and refused:\n") +
         text;
}

std::string Whole(const Explanation& explanation, int width) {
  std::string text = Headline(*explanation.fate);
  const bool told = !explanation.refused.empty() && explanation.fate->reason.kind == Reason::Kind::kRefused;
  if (!told) text += ReasonText(explanation, width);
  if (explanation.outcomes != nullptr)
    text += "\nWhat becomes of it:\n" + EverywhereText(*explanation.outcomes, /*of_node=*/true, width);
  text += RefusedTexts(explanation, true, width);
  if (!explanation.refused_beside.empty()) text += "\nWhat kept the types of the Qs and DQs next to it as they are:\n";
  for (const ExplainStep& step : explanation.refused_beside) {
    text += Indented("at '" + step.entry->node + "':", 2, width) + RefusedText(step, /*advise=*/false, width);
  }
  text += RefusedTexts(explanation, false, width);
  if (!explanation.fired.empty()) text += "\nRules and passes that did something to it:\n";
  for (const ExplainStep& step : explanation.fired) text += FiredText(step, width);
  if (explanation.refused.empty() && explanation.fired.empty()) text += "  no rule or pass said anything about it\n";
  const std::string beside = BesideTexts(explanation, width);
  return text + (beside.empty() ? "" : "\n" + beside);
}

std::string MadeText(const MadeNode& made, int width) {
  const auto by = [](const TraceEntry& entry) {
    const std::string place = entry.where.ToString();
    return Who(entry) + (place.empty() ? "" : "  [" + place + "]");
  };
  std::string text =
      "'" + made.name + "'" + (made.op.empty() ? "" : " (" + made.op + ")") + " is no node of the original model.\n";
  text += Indented("made from '" + Join(made.made_by->sources, "', '") + "' by " + by(*made.made_by), 2, width);
  if (made.removed_by != nullptr) text += Indented("removed by " + by(*made.removed_by), 2, width);
  return text;
}

std::string Text(const Explained& explained, bool brief, int width) {
  std::string text;
  for (const MadeNode& made : explained.made) text += MadeText(made, width);
  size_t quantizers = 0;
  for (const Explanation& explanation : explained.nodes) {
    if (brief && explanation.fate->node.quantizer && BriefFaults(explanation, width).empty()) {
      ++quantizers;
    } else if (brief) {
      text += Brief(explanation, width);
    } else {
      text += (text.empty() ? "" : "\n") + Whole(explanation, width);
    }
  }
  if (quantizers > 0) text += "Left out: " + Plural(quantizers, "Q or DQ node") + "; --node NAME explains one.\n";
  return text;
}

struct ExplainOptions {
  TargetOptions target;
  std::string model;
  std::string node;
  bool json = false;
  int jobs = 0;
};

Result<int> ExplainModel(const ExplainOptions& options) {
  Progress progress(options.target.quiet);
  progress.Say("rewriting " + options.model);
  const KernelRegistry& kernels = KernelRegistry::Default();
  RULERUN_ASSIGN(const Setup setup, MakeSetup(options.target));
  RULERUN_ASSIGN(Model model, LoadModel(options.model, setup.rules->schemas));
  const Model original = CloneModel(model);
  Trace trace;
  auto coverage = MeasureCoverage(model, *setup.rules, setup.target, kernels, &trace);
  std::optional<RefusedModel> refused;
  if (!coverage.ok()) {
    if (coverage.error().kind() != ErrorKind::kRefused) return coverage.error();
    RULERUN_ASSIGN(refused, AskWhereItLoads(original, coverage.error(), trace, *setup.rules, setup.target, kernels,
                                            nullptr, options.jobs));
    coverage = refused->coverage;
  }
  progress.Say("rewriting for every level and platform");
  RULERUN_ASSIGN(const Outcomes outcomes, FindOutcomes(original, *setup.rules, setup.target, kernels, options.jobs));
  Explained explained = Explain(coverage->fates, trace, *setup.rules, &outcomes, options.node);
  if (explained.nodes.empty() && explained.made.empty() && !options.node.empty()) {
    progress.Done();
    return Error{Code::kNothingNamed,
                 "the model has no node '" + options.node + "'" +
                     DidYouMean(options.node, ExplainableNames(coverage->fates, trace)),
                 "--node", "'rulerun explain MODEL' lists them all."};
  }
  if (!options.node.empty()) {
    progress.Say("asking what would come next");
    for (Explanation& explanation : explained.nodes) {
      for (ExplainStep& step : explanation.refused) {
        const bool by_rule = !step.entry->rule.empty() && step.entry->verdict == TraceEntry::Verdict::kRefused;
        if (!by_rule || !WorthAdvice(explanation, step)) continue;
        RULERUN_ASSIGN(step.what_if, AskWhatIf(original, *setup.rules, setup.target, kernels, *step.entry));
      }
    }
  }
  progress.Done();
  if (options.json) {
    RULERUN_RETURN_IF_ERROR(Print(ToJson(*coverage, explained, refused ? &*refused : nullptr)));
    return 0;
  }
  const int width = TerminalWidth();
  const std::string refusal = refused ? ModelRefusalText(*refused, width) : "";
  RULERUN_RETURN_IF_ERROR(Print(refusal + Text(explained, options.node.empty(), width)));
  return 0;
}

}  // namespace

Result<int> RunExplain(const Arguments& arguments) {
  const auto app = MakeApp("rulerun explain",
                           "Tells what became of a node, which rule did it, why others did not, and what to change.",
                           "rulerun explain --level extended --node node_conv2d model.onnx");
  ExplainOptions options;
  app->add_option("MODEL", options.model, "ONNX file")->required();
  app->add_option("--node", options.node, "Name of a node, before or after the rewriting; without it, all, in brief")
      ->option_text("NAME");
  app->add_flag("--json", options.json, "As JSON (schemas/explain.schema.json)");
  app->add_option("--jobs", options.jobs, "Levels and platforms at a time; 0 is one per core [0]")
      ->option_text("N")
      ->check(CLI::Range(0, 1024));
  AddTargetOptions(*app, options.target);
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;
  return ExplainModel(options);
}

}  // namespace rulerun::cli
