// The commands. Each takes the arguments behind its name; its value is the exit code.
#ifndef RULERUN_CLI_COMMANDS_H_
#define RULERUN_CLI_COMMANDS_H_

#include <span>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "engine/base/result.h"

namespace rulerun::cli {

Result<int> RunOptimize(const Arguments& arguments);
Result<int> RunRun(const Arguments& arguments);
Result<int> RunCoverage(const Arguments& arguments);
Result<int> RunExplain(const Arguments& arguments);
Result<int> RunDiff(const Arguments& arguments);
Result<int> RunTest(const Arguments& arguments);
Result<int> RunDocs(const Arguments& arguments);
Result<int> RunDraw(const Arguments& arguments);
Result<int> RunInspect(const Arguments& arguments);
Result<int> RunVerify(const Arguments& arguments);
Result<int> RunCheck(const Arguments& arguments);
Result<int> RunOps(const Arguments& arguments);
Result<int> RunBench(const Arguments& arguments);
Result<int> RunModel(const Arguments& arguments);  // without a command

struct Command {
  std::string_view name;
  std::string_view summary;
  Result<int> (*run)(const Arguments& arguments);
};
std::span<const Command> Commands();

// All of `rulerun`: finds the command, runs it, reports its error. The value is the exit code.
int Main(const Arguments& arguments);

}  // namespace rulerun::cli

#endif  // RULERUN_CLI_COMMANDS_H_
