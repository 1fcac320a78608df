// What commands that find something have in common: when to fail, and the forms that other tools read.
#ifndef RULERUN_CLI_FINDING_OPTIONS_H_
#define RULERUN_CLI_FINDING_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/report/finding.h"

namespace rulerun::cli {

struct FindingOptions {
  std::string fail_level;  // "none" or a Severity
  std::string sarif;       // file
  bool github = false;
};

// --fail-level, --sarif and --github. `fail_level`: unless the user says otherwise; `meaning`: what each severity is
// here.
void AddFindingOptions(CLI::App& app, FindingOptions& options, const std::string& fail_level,
                       const std::string& meaning);

// Writes the SARIF file where one is asked for, whole or not at all.
Status WriteSarif(const std::vector<Finding>& findings, const FindingOptions& options);
// Prints annotations where they are asked for.
Status PrintGitHub(const std::vector<Finding>& findings, const FindingOptions& options);

// Findings that are as grave as --fail-level says, or graver; 0 where nothing fails.
size_t CountFailing(const std::vector<Finding>& findings, const FindingOptions& options);

}  // namespace rulerun::cli

#endif  // RULERUN_CLI_FINDING_OPTIONS_H_
