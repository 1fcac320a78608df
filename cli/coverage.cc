// rulerun coverage, and rulerun MODEL: what became of every operator, and why some stay float.
#include <algorithm>
#include <cmath>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/models.h"
#include "cli/table.h"
#include "cli/target_options.h"
#include "engine/base/text.h"
#include "engine/graph/load.h"
#include "engine/report/coverage.h"

namespace rulerun::cli {
namespace {

constexpr size_t kMostNodes = 10;  // float nodes told one by one, unless --nodes asks for all

std::string CountText(int count) { return count == 0 ? "" : std::to_string(count); }

std::string MostFrequent(const std::map<std::string, int>& counts) {
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string text = most->first + (most->second > 1 ? " (" + std::to_string(most->second) + " times)" : "");
  if (counts.size() > 1) text += ", and " + std::to_string(counts.size() - 1) + " more";
  return text;
}

std::vector<std::string> Keys(const std::map<std::string, int>& counts) {
  std::vector<std::string> keys;
  for (const auto& [key, count] : counts) keys.push_back(key);
  return keys;
}

std::string Outcome(const OpCoverage& row) {
  std::vector<std::string> parts;
  std::vector<std::string> into = Keys(row.into);
  std::replace(into.begin(), into.end(), row.op, std::string("the operator itself, on int8"));
  if (!into.empty()) parts.push_back(Join(into, ", "));
  const std::string as = row.float_into.empty() ? "" : ", as " + Join(Keys(row.float_into), ", ");
  if (row.in_float > 0) parts.push_back("float" + as + ": " + MostFrequent(row.reasons));
  const bool gone_alone = row.gone > 0 && !row.removers.begin()->first.empty();
  if (row.gone > 0) parts.push_back(gone_alone ? "gone: " + MostFrequent(row.removers) : "gone");
  if (row.other > 0 && parts.empty()) parts.push_back("no float numbers");
  return Join(parts, "; ");
}

Table OpTable(const Coverage& coverage) {
  Table table({"operator", "group", "count", "int8", "moved", "float", "gone", "what became of it"});
  for (size_t column = 2; column <= 6; ++column) table.AlignRight(column);
  for (const OpCoverage& row : coverage.ops) {
    table.Add({row.op, row.group, std::to_string(row.count), CountText(row.int8), CountText(row.moved),
               CountText(row.in_float), CountText(row.gone), Outcome(row)});
  }
  return table;
}

std::string Totals(const Coverage& coverage) {
  const int all = coverage.int8 + coverage.in_float;
  std::string text;
  if (all == 0) {
    text = "No operator computes on float numbers.\n";
  } else {
    const auto percent = static_cast<int>(std::floor(100.0 * coverage.Int8Share()));
    text = std::to_string(coverage.int8) + " of " + std::to_string(all) + " operators run on int8 (" +
           std::to_string(percent) + " %).\n";
  }
  std::vector<std::string> parts;
  for (const ConversionCount& count : coverage.conversions) {
    parts.push_back(count.op + " " + std::to_string(count.before) + " -> " + std::to_string(count.after));
  }
  for (const auto& [op, count] : coverage.inserted) parts.push_back(op + " +" + std::to_string(count));
  if (!parts.empty()) text += "Conversions: " + Join(parts, ", ") + "\n";
  return text;
}

std::string Line(const NodeFate& fate) {
  std::string text = fate.node.name + " (" + fate.node.op + ") " + std::string(Words(fate.fate));
  if (!fate.into.empty() && fate.into != fate.node.op) text += ": " + fate.into;
  if (fate.fate == Fate::kFloat) {
    text += ": " + fate.reason.Text();
    if (!fate.reason.place.empty()) text += "  [" + fate.reason.place + "]";
  } else if (!fate.rule.empty()) {
    text += ", by '" + fate.rule + "'";
  }
  return text;
}

// Nodes that a rule refused: those a user can do something about.
bool WorthTelling(const NodeFate& fate) {
  return fate.fate == Fate::kFloat && fate.reason.kind == Reason::Kind::kRefused;
}

std::string NodeLines(const Coverage& coverage, bool all) {
  std::string text;
  size_t told = 0;
  size_t left = 0;
  for (const NodeFate& fate : coverage.fates.nodes) {
    if (!all && !WorthTelling(fate)) continue;
    if (!all && told == kMostNodes) {
      ++left;
      continue;
    }
    text += "  " + Line(fate) + "\n";
    ++told;
  }
  if (text.empty()) return "";
  if (left > 0) text += "  and " + std::to_string(left) + " more: 'rulerun coverage --nodes' lists all\n";
  return (all ? "\nNodes:\n" : "\nRefused by a condition:\n") + text;
}

std::string FaultLines(const Coverage& coverage) {
  std::string text;
  for (const FaultHit& hit : coverage.faults) {
    text += "  " + hit.node + " (" + hit.op + "): " + hit.effect + ", " + hit.note + " (rule '" + hit.rule +
            "', fault " + hit.id + ")  [" + hit.place + "]\n";
  }
  return text.empty() ? "" : "\nWarning: known faults of ONNX Runtime that these rules reproduce:\n" + text;
}

std::string Report(const Coverage& coverage, bool all_nodes, int width) {
  std::string text = coverage.model + "\n" + coverage.rules + ", level " + coverage.level + ", " + coverage.provider +
                     ", " + coverage.platform + "\n\n";
  return text + OpTable(coverage).ToText(width) + "\n" + Totals(coverage) + NodeLines(coverage, all_nodes) +
         FaultLines(coverage);
}

struct CoverageOptions {
  TargetOptions target;
  std::vector<std::string> models;
  bool json = false;
  bool nodes = false;
};

Result<Coverage> CoverModel(const std::string& path, const Setup& setup) {
  RULERUN_ASSIGN(Model model, LoadModel(path, setup.rules->schemas));
  return MeasureCoverage(model, *setup.rules, setup.target, KernelRegistry::Default());
}

Result<int> Cover(const CoverageOptions& options) {
  Progress progress(options.target.quiet);
  progress.Say("reading rules");
  RULERUN_ASSIGN(const Setup setup, MakeSetup(options.target));
  RULERUN_ASSIGN(const std::vector<std::string> paths, FindModels(options.models));
  std::vector<Coverage> reports;
  int exit_code = 0;
  for (const std::string& path : paths) {
    progress.Say("rewriting " + path);
    auto coverage = CoverModel(path, setup);
    if (coverage.ok()) {
      reports.push_back(std::move(coverage).value());
      continue;
    }
    if (paths.size() == 1) return coverage.error();
    progress.Done();
    PrintError(coverage.error());  // the other models still count
    exit_code = ExitCode(coverage.error().kind());
  }
  progress.Done();
  std::string text;
  if (options.json) {
    text = ToJson(reports);
  } else {
    for (const Coverage& coverage : reports) {
      text += (text.empty() ? "" : "\n") + Report(coverage, options.nodes, TerminalWidth());
    }
  }
  RULERUN_RETURN_IF_ERROR(Print(text));
  return exit_code;
}

Result<int> ParseAndCover(const std::string& name, const Arguments& arguments) {
  const auto app = MakeApp(name, "Tells which operators become int8, which stay float, and why.",
                           name + " --platform arm64 model.onnx");
  CoverageOptions options;
  app->add_option("MODEL", options.models, "ONNX files, or folders of them")->required();
  app->add_flag("--json", options.json, "As JSON (schemas/coverage.schema.json)");
  app->add_flag("--nodes", options.nodes, "Every node, one by one");
  AddTargetOptions(*app, options.target);
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;
  return Cover(options);
}

}  // namespace

Result<int> RunCoverage(const Arguments& arguments) { return ParseAndCover("rulerun coverage", arguments); }
Result<int> RunModel(const Arguments& arguments) { return ParseAndCover("rulerun", arguments); }

}  // namespace rulerun::cli
