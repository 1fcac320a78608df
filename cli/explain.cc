// rulerun explain: what every rule and pass said about a node.
#include "engine/report/explain.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/target_options.h"
#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/graph/load.h"
#include "engine/report/coverage.h"

namespace rulerun::cli {
namespace {

std::string Headline(const NodeFate& fate) {
  std::string text = fate.node.name + " (" + fate.node.op + ") " + std::string(Words(fate.fate));
  if (!fate.into.empty() && fate.into != fate.node.op) text += ": " + fate.into;
  if (!fate.now.empty() && fate.now != fate.node.name) text += " '" + fate.now + "'";
  text += "\n";
  if (fate.fate != Fate::kFloat) return text;
  text += "  " + fate.reason.Text() + "\n";
  return fate.reason.place.empty() ? text : text + "  " + fate.reason.place + "\n";
}

std::string StepText(const ExplainStep& step) {
  const TraceEntry& entry = *step.entry;
  const std::string who = entry.rule.empty() ? "pass '" + entry.stage + "'" : "rule '" + entry.rule + "'";
  std::string text = "  " + who + " " + Describe(entry);
  if (step.times > 1) text += " (" + std::to_string(step.times) + " times)";
  text += "\n";
  const bool refused = entry.verdict != TraceEntry::Verdict::kFired && entry.refusal.where.file != nullptr;
  const std::string place = (refused ? entry.refusal.where : entry.where).ToString();
  if (!place.empty()) text += "    " + place + "\n";
  for (const Fault* fault : entry.faults) {
    text += "    beware: fault " + fault->id + ": " + fault->effect + ", " + fault->note + "\n";
  }
  return text;
}

std::string Text(const Explanation& explanation) {
  std::string text = Headline(*explanation.fate);
  if (!explanation.steps.empty()) text += "\n";
  for (const ExplainStep& step : explanation.steps) text += StepText(step);
  if (explanation.steps.empty()) text += "  no rule or pass said anything about it\n";
  return text;
}

Result<std::string> Explained(const Coverage& coverage, const Trace& trace, const std::string& node) {
  std::string text;
  if (node.empty()) {
    for (const NodeFate& fate : coverage.fates.nodes) text += Headline(fate);
    return text;
  }
  for (const Explanation& explanation : Explain(coverage.fates, trace, node)) {
    text += (text.empty() ? "" : "\n") + Text(explanation);
  }
  if (!text.empty()) return text;
  return Error{Code::kNothingNamed,
               "the model has no node '" + node + "'" + DidYouMean(node, ExplainableNames(coverage.fates)), "--node",
               "'rulerun explain MODEL' lists them all."};
}

}  // namespace

Result<int> RunExplain(const Arguments& arguments) {
  const auto app = MakeApp("rulerun explain", "Tells what every rule and pass said about a node.",
                           "rulerun explain --level extended --node node_conv2d model.onnx");
  TargetOptions options;
  std::string path;
  std::string node;
  app->add_option("MODEL", path, "ONNX file")->required();
  app->add_option("--node", node, "Name of a node, before or after the rewriting; without it, a line for each")
      ->option_text("NAME");
  AddTargetOptions(*app, options);
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;

  Progress progress(options.quiet);
  progress.Say("rewriting " + path);
  RULERUN_ASSIGN(const Setup setup, MakeSetup(options));
  RULERUN_ASSIGN(Model model, LoadModel(path, setup.rules->schemas));
  Trace trace;
  RULERUN_ASSIGN(const Coverage coverage,
                 MeasureCoverage(model, *setup.rules, setup.target, KernelRegistry::Default(), &trace));
  progress.Done();
  RULERUN_ASSIGN(const std::string text, Explained(coverage, trace, node));
  RULERUN_RETURN_IF_ERROR(Print(text));
  return 0;
}

}  // namespace rulerun::cli
