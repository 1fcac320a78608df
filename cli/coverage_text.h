// The coverage report in plain text.
#ifndef RULERUN_CLI_COVERAGE_TEXT_H_
#define RULERUN_CLI_COVERAGE_TEXT_H_

#include <string>

#include "engine/report/totals.h"

namespace rulerun::cli {

struct CoverageTextOptions {
  bool nodes = false;    // every node
  bool by_rule = false;  // every rule and pass, with its conditions
  bool each = false;     // of several models, each one's own report, too
  int width = 0;         // of the terminal; 0 for no limit
};

// One report, or what several add up to.
std::string CoverageText(const CoverageRun& run, const CoverageTextOptions& options);

}  // namespace rulerun::cli

#endif  // RULERUN_CLI_COVERAGE_TEXT_H_
