#include "cli/finding_options.h"

#include <filesystem>

#include "cli/console.h"
#include "engine/graph/write_file.h"

namespace rulerun::cli {
namespace {

constexpr char kNever[] = "none";
constexpr char kGroup[] = "Findings";

std::string WorkingFolder() {
  std::error_code error;
  return std::filesystem::current_path(error).string();
}

}  // namespace

void AddFindingOptions(CLI::App& app, FindingOptions& options, const std::string& fail_level,
                       const std::string& meaning) {
  options.fail_level = fail_level;
  std::vector<std::string> levels = {kNever};
  for (const Severity severity : {Severity::kNote, Severity::kWarning, Severity::kError}) {
    levels.emplace_back(Name(severity));
  }
  app.add_option("--fail-level", options.fail_level,
                 "Exit status 1 where a finding is as grave: " + meaning + ", none [" + fail_level + "]")
      ->option_text("LEVEL")
      ->check(CLI::IsMember(levels))
      ->group(kGroup);
  app.add_option("--sarif", options.sarif, "Also write the findings as SARIF 2.1.0")
      ->option_text("FILE")
      ->group(kGroup);
  app.add_flag("--github", options.github, "Also print the findings as annotations of GitHub Actions")->group(kGroup);
}

Status WriteSarif(const std::vector<Finding>& findings, const FindingOptions& options) {
  if (options.sarif.empty()) return {};
  return WriteFile(options.sarif, ToSarif(findings, RULERUN_VERSION, WorkingFolder()));
}

Status PrintGitHub(const std::vector<Finding>& findings, const FindingOptions& options) {
  return options.github ? Print(ToGitHub(findings, WorkingFolder())) : Status();
}

size_t CountFailing(const std::vector<Finding>& findings, const FindingOptions& options) {
  const auto least = ParseSeverity(options.fail_level);
  return least ? CountFrom(findings, *least) : 0;
}

}  // namespace rulerun::cli
