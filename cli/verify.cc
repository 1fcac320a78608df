// rulerun verify: numbers before and after rewriting, and the first rule that changes them.
#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/run_options.h"
#include "cli/table.h"
#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/report/verify.h"

namespace rulerun::cli {
namespace {

std::string Rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string Verdict(const OutputDifference& output) {
  if (!output.problem.empty()) return Tag("error", output.code) + ": " + output.problem;
  if (output.beyond) return Tag("error", output.code);
  return output.differing == 0 ? "same" : "rounding";
}

std::string Outputs(const std::vector<OutputDifference>& outputs) {
  Table table({"output", "elements", "differing", "max abs", "max rel", "tolerance", "verdict"});
  for (size_t column = 1; column < 6; ++column) table.AlignRight(column);
  for (const OutputDifference& output : outputs) {
    table.Add({output.output, std::to_string(output.elements), std::to_string(output.differing),
               Rounded(output.max_abs), Rounded(output.max_rel), Rounded(output.tolerance), Verdict(output)});
  }
  return table.ToText(TerminalWidth());
}

std::string NameOf(const VerifiedChange& change) {
  return std::string(change.is_pass ? "pass" : "rule") + " '" + change.rule + "'";
}

double Worst(const VerifiedChange& change) {
  double worst = 0;
  for (const OutputDifference& output : change.outputs) worst = std::max(worst, output.max_abs);
  return worst;
}

std::string Steps(const std::vector<VerifiedChange>& steps) {
  Table table({"change", "rule", "node", "max abs", "verdict"});
  table.AlignRight(0);
  table.AlignRight(3);
  for (const VerifiedChange& step : steps) {
    const bool same = Worst(step) == 0;
    table.Add({std::to_string(step.number), step.rule, step.node, step.failed ? "" : Rounded(Worst(step)),
               step.failed   ? "not run: " + ToString(*step.failed)
               : step.beyond ? "beyond"
               : same        ? "same"
                             : "rounding"});
  }
  return "Each change of the graph, against the model as it is:\n" + table.ToText(TerminalWidth()) + "\n";
}

std::string Guilty(const VerifiedChange& change, int64_t changes) {
  std::string text = change.where.ToString() + ": " + Tag("error", Code::kNumbersDiffer) + ": " + NameOf(change) +
                     " is the first to change the numbers, at node '" + change.node + "'" +
                     (change.op.empty() ? "" : " (" + change.op + ")") + ": change " + std::to_string(change.number) +
                     " of " + std::to_string(changes) + "\n";
  if (!change.sources.empty()) text += "  nodes of the model: " + Join(change.sources, ", ") + "\n";
  if (!change.created.empty()) text += "  it made: " + Join(change.created, ", ") + "\n";
  for (const Fault& fault : change.faults) {
    text +=
        "  known fault " + fault.id + " (" + fault.effect + ")" + (fault.note.empty() ? "" : ": " + fault.note) + "\n";
  }
  return text + "  --disable '" + change.rule + "' leaves it out; ort130-safe closes the known faults\n";
}

std::string Report(const RunOptions& options, const LoadedModel& loaded, const Verification& result) {
  const Target& target = loaded.setup.target;
  std::string text = options.model + "\n" + loaded.setup.rules->id + " " + loaded.setup.rules->version + ", level " +
                     std::string(Name(target.level)) + ", " + target.provider + ", " + target.platform->name + ", " +
                     Plural(static_cast<size_t>(result.changes), "change") + " of the graph\n\n";
  text += Outputs(result.outputs) + "\n";
  if (!result.steps.empty()) text += Steps(result.steps);
  if (result.guilty) return text + Guilty(*result.guilty, result.changes);
  return text + "No output differs by more than rounding explains.\n";
}

}  // namespace

Result<int> RunVerify(const Arguments& arguments) {
  const auto app = MakeApp(
      "rulerun verify",
      "Runs a model as it is and as rewritten, and names the first rule after which an output differs by more than its "
      "tolerance: what an error of one step at every quantization behind an operator does to that output, measured, "
      "plus the rounding of floating point. Exit status 1 if there is one.",
      "rulerun verify --rules ort130 --level extended --random-seed 7 model.onnx");
  RunOptions run;
  VerifyOptions options;
  bool json = false;
  AddRunOptions(*app, run);
  app->add_option("--tolerance", options.tolerance,
                  "Largest absolute difference of an output, instead of the measured one")
      ->option_text("NUMBER")
      ->check(CLI::NonNegativeNumber);
  app->add_flag("--steps", options.every_change, "The difference after each change of the graph, rule by rule");
  app->add_flag("--json", json, "As JSON (schemas/verify.schema.json)");
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;

  Progress progress(run.target.quiet);
  RULERUN_ASSIGN(const auto loaded, LoadWithInputs(run, progress));
  options.threads = run.threads;
  progress.Say("comparing");
  RULERUN_ASSIGN(const Verification result,
                 Verify(loaded->model, *loaded->setup.rules, loaded->setup.target, loaded->inputs, options));
  progress.Done();
  RULERUN_RETURN_IF_ERROR(Print(json ? ToJson(loaded->model, *loaded->setup.rules, loaded->setup.target, result)
                                     : Report(run, *loaded, result)));
  return result.beyond ? 1 : 0;
}

}  // namespace rulerun::cli
