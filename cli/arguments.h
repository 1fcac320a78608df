// The command line of one command: CLI11 with our own words for what is wrong.
#ifndef RULERUN_CLI_ARGUMENTS_H_
#define RULERUN_CLI_ARGUMENTS_H_

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace rulerun::cli {

using Arguments = std::vector<std::string>;

// An empty parser for `rulerun NAME`. `example` ends the help.
std::unique_ptr<CLI::App> MakeApp(const std::string& name, const std::string& summary, const std::string& example);

// Parses. The value is false where help was asked for, which is then printed. Errors name the nearest valid spelling.
Result<bool> Parse(CLI::App& app, const Arguments& arguments);

// "NAME=VALUE" in two, at the first "="; an error that names `flag` where one of them is missing.
struct Assignment {
  std::string name;
  std::string value;
};
Result<Assignment> SplitAssignment(const std::string& flag, const std::string& text);

}  // namespace rulerun::cli

#endif  // RULERUN_CLI_ARGUMENTS_H_
