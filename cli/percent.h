// Shares as text.
#ifndef RULERUN_CLI_PERCENT_H_
#define RULERUN_CLI_PERCENT_H_

#include <string>

namespace rulerun::cli {

// "61.2 %" of a share between 0 and 1. Rounded down, so that 100 % means all.
std::string Percent(double share);

}  // namespace rulerun::cli

#endif  // RULERUN_CLI_PERCENT_H_
