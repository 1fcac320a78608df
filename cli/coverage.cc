// rulerun coverage, and rulerun MODEL: what became of every operator, and why some stay float.
#include <algorithm>
#include <filesystem>
#include <optional>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/coverage_text.h"
#include "cli/finding_options.h"
#include "cli/models.h"
#include "cli/percent.h"
#include "cli/run_options.h"
#include "cli/target_options.h"
#include "engine/base/text.h"
#include "engine/graph/load.h"
#include "engine/graph/write_file.h"
#include "engine/report/coverage_findings.h"
#include "engine/report/coverage_html.h"
#include "engine/report/draw/draw.h"
#include "engine/report/graph_data.h"
#include "kernels/thread_pool.h"

namespace rulerun::cli {
namespace {

constexpr size_t kMostDrawn = 1000;  // nodes of a graph that a page shows as a whole; nobody reads a larger picture
constexpr char kOutput[] = "Output";
constexpr char kGate[] = "Findings";

struct CoverageOptions {
  TargetOptions target;
  std::vector<std::string> models;
  std::vector<std::string> dims;
  int jobs = 0;  // 0: one per core
  CoverageTextOptions text;
  bool json = false;
  std::string html;
  FindingOptions findings;
  double min_int8 = 0;
  double min_macs = 0;
};

Result<MacTable> FindMacTable() {
  std::error_code error;
  for (const std::string& folder : RuleFolders()) {
    const std::string path = folder + "/words/macs.yaml";
    if (std::filesystem::exists(path, error)) return ReadMacTable(path);
  }
  return MacTable{};  // then no multiply-adds are counted
}

struct Covered {
  Coverage coverage;
  std::optional<FailedModel> refused;  // then nothing else is set
  Picture picture;                     // where a page is asked for
};

// A model that ONNX Runtime refuses: what it is where it loads.
Result<Covered> Refused(const std::string& path, const std::vector<std::string>& dims, const Error& error,
                        const Trace& trace, const Setup& setup, const MacTable& macs) {
  if (error.kind() != ErrorKind::kRefused) return error;
  RULERUN_ASSIGN(Model model, LoadModel(path, setup.rules->schemas));  // as it was
  RULERUN_RETURN_IF_ERROR(BindDims(*model.graph, dims, setup.rules->schemas));
  RULERUN_ASSIGN(RefusedModel refused,
                 AskWhereItLoads(model, error, trace, *setup.rules, setup.target, KernelRegistry::Default(), &macs, 1));
  Covered covered;
  covered.refused = FailedModel{path, error, std::move(refused)};
  return covered;
}

Result<Covered> CoverModel(const std::string& path, const CoverageOptions& options, const Setup& setup,
                           const MacTable& macs) {
  RULERUN_ASSIGN(Model model, LoadModel(path, setup.rules->schemas));
  const bool several = options.models.size() > 1 || path != options.models.front();
  const std::vector<std::string> dims = several ? DimsOf(*model.graph, options.dims) : options.dims;
  RULERUN_RETURN_IF_ERROR(BindDims(*model.graph, dims, setup.rules->schemas));
  Covered covered;
  Trace trace;
  auto coverage = MeasureCoverage(model, *setup.rules, setup.target, KernelRegistry::Default(), &trace, &macs);
  if (!coverage.ok()) return Refused(path, dims, coverage.error(), trace, setup, macs);
  covered.coverage = std::move(coverage).value();
  if (options.html.empty()) return covered;
  Drawing drawing = DrawGraph(*model.graph, *setup.rules);
  ColourRewritten(covered.coverage.fates, drawing);
  covered.picture.data = GraphData(drawing);
  if (CountNodes(drawing) > kMostDrawn) return covered;
  SvgOptions svg;
  svg.style = false;
  covered.picture.svg = PictureOf(std::move(drawing), svg);
  return covered;
}

struct CoveredAll {
  CoverageRun run;
  std::vector<Picture> pictures;
};

CoveredAll CoverAll(const std::vector<std::string>& paths, const CoverageOptions& options, const Setup& setup,
                    const MacTable& macs) {
  std::vector<std::optional<Result<Covered>>> results(paths.size());
  const auto count = static_cast<int64_t>(paths.size());
  ThreadPool pool(count == 1 ? 1 : options.jobs);
  pool.ParallelFor(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<size_t>(i);
      results[at] = CoverModel(paths[at], options, setup, macs);
    }
  });
  std::vector<Coverage> reports;
  std::vector<FailedModel> failed;
  std::vector<Picture> pictures;
  for (size_t i = 0; i < paths.size(); ++i) {
    if (!results[i]->ok()) {
      failed.push_back({paths[i], results[i]->error(), std::nullopt});
      continue;
    }
    Covered covered = std::move(*results[i]).value();
    if (covered.refused) {
      failed.push_back(std::move(*covered.refused));
      continue;
    }
    covered.picture.report = reports.size();
    if (!covered.picture.data.empty()) pictures.push_back(std::move(covered.picture));
    reports.push_back(std::move(covered.coverage));
  }
  return {AddUp(std::move(reports), std::move(failed)), std::move(pictures)};
}

// Says which threshold is not met. Models count one by one: a good one must not hide a bad one.
bool MeetsShares(const CoverageRun& run, const CoverageOptions& options) {
  bool all = true;
  for (const Coverage& report : run.reports) {
    const auto check = [&](const Share& share, double wanted, const std::string& flag, const std::string& what) {
      if (share.Value() >= wanted) return;
      all = false;
      std::string text = report.model;
      text.append(": ").append(Percent(share.Value())).append(" of the ").append(what).append(" run on int8, ");
      text.append(flag).append(" wants at least ").append(Percent(wanted));
      PrintWarning(text);
    };
    check(report.nodes, options.min_int8, "--min-int8", "operators");
    if (options.min_macs > 0 && report.macs.unknown > 0) {
      all = false;
      PrintWarning(report.model + ": --min-macs cannot be checked, the multiply-adds of " +
                   std::to_string(report.macs.unknown) + " operators are not known; --dim NAME=SIZE gives a size");
      continue;
    }
    check(report.macs, options.min_macs, "--min-macs", "multiply-adds");
  }
  return all;
}

// Nothing is as grave as --fail-level says.
bool MeetsLevel(const std::vector<Finding>& findings, const FindingOptions& options) {
  const size_t grave = CountFailing(findings, options);
  if (grave == 0) return true;
  PrintWarning(Plural(grave, "finding") + " of level " + options.fail_level + " or above, --fail-level " +
               options.fail_level + " wants none");
  return false;
}

Status Write(const CoveredAll& outcome, const std::vector<Finding>& findings, const CoverageOptions& options) {
  const CoverageRun& run = outcome.run;
  if (!options.html.empty()) {
    RULERUN_RETURN_IF_ERROR(WriteFile(options.html, ToHtml(run, outcome.pictures, PageStyle())));
  }
  RULERUN_RETURN_IF_ERROR(WriteSarif(findings, options.findings));
  CoverageTextOptions text = options.text;
  text.width = TerminalWidth();
  RULERUN_RETURN_IF_ERROR(Print(options.json ? ToJson(run) : CoverageText(run, text)));
  return PrintGitHub(findings, options.findings);
}

Result<int> Cover(const CoverageOptions& options) {
  Progress progress(options.target.quiet);
  progress.Say("reading rules");
  RULERUN_ASSIGN(const Setup setup, MakeSetup(options.target));
  RULERUN_ASSIGN(const MacTable macs, FindMacTable());
  RULERUN_ASSIGN(const std::vector<std::string> paths, FindModels(options.models));
  progress.Say("rewriting " + (paths.size() == 1 ? paths.front() : std::to_string(paths.size()) + " models"));
  const CoveredAll outcome = CoverAll(paths, options, setup, macs);
  const CoverageRun& run = outcome.run;
  progress.Done();
  if (paths.size() == 1 && !run.failed.empty() && !run.failed.front().refused) return run.failed.front().error;
  const std::vector<Finding> findings = FindingsOf(run);
  RULERUN_RETURN_IF_ERROR(Write(outcome, findings, options));
  for (const FailedModel& failed : run.failed) PrintError(failed.error);
  const bool enough = MeetsShares(run, options);
  const bool below = MeetsLevel(findings, options.findings);
  if (!run.failed.empty()) return ExitCode(run.failed.front().error.kind());
  return enough && below ? 0 : 1;
}

Result<int> ParseAndCover(const std::string& name, const Arguments& arguments) {
  const auto app = MakeApp(name, "Tells which operators become int8, which stay float, and why.",
                           name + " --platform arm64 --html report.html model.onnx");
  CoverageOptions options;
  app->add_option("MODEL", options.models, "ONNX files, or folders of them")->required();
  app->add_option("--dim", options.dims, "Size of a symbolic dimension, also for the rewriting")
      ->option_text("NAME=SIZE ...")
      ->expected(1)
      ->take_all();
  app->add_option("--jobs", options.jobs, "Models at a time; 0 is one per core [0]")
      ->option_text("N")
      ->check(CLI::Range(0, 1024));
  app->add_flag("--nodes", options.text.nodes, "Every node, one by one")->group(kOutput);
  app->add_flag("--by-rule", options.text.by_rule, "Every rule and pass, and how its conditions came out")
      ->group(kOutput);
  app->add_flag("--each", options.text.each, "Of several models, each one's report, too")->group(kOutput);
  app->add_flag("--json", options.json, "As JSON (schemas/coverage.schema.json)")->group(kOutput);
  app->add_option("--html", options.html, "Also write a page for browsers, one file")
      ->option_text("FILE")
      ->group(kOutput);
  app->add_option("--min-int8", options.min_int8, "Exit status 1 where fewer of a model's operators run on int8: 0.9")
      ->option_text("SHARE")
      ->check(CLI::Range(0.0, 1.0))
      ->group(kGate);
  app->add_option("--min-macs", options.min_macs, "Likewise for its multiply-adds")
      ->option_text("SHARE")
      ->check(CLI::Range(0.0, 1.0))
      ->group(kGate);
  AddFindingOptions(*app, options.findings, "none",
                    "note (unsupported), warning (refused, wrong numbers), error (faults that stop the model)");
  AddTargetOptions(*app, options.target);
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;
  return Cover(options);
}

}  // namespace

Result<int> RunCoverage(const Arguments& arguments) { return ParseAndCover("rulerun coverage", arguments); }
Result<int> RunModel(const Arguments& arguments) { return ParseAndCover("rulerun", arguments); }

}  // namespace rulerun::cli
