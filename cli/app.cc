#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <filesystem>
#include <new>

#include "cli/commands.h"
#include "cli/console.h"
#include "engine/base/codes.h"
#include "engine/base/text.h"

namespace rulerun::cli {
namespace {

constexpr auto kCommands = std::to_array<Command>({
    {"coverage", "which operators become int8, which stay float, and why", RunCoverage},
    {"explain", "what every rule said about a node", RunExplain},
    {"diff", "which nodes two targets or rule sets make different, and by which rule", RunDiff},
    {"inspect", "operators at every level, constants by role, sizes", RunInspect},
    {"draw", "a picture of a model, before or after rewriting", RunDraw},
    {"optimize", "rewrite a model and save the result", RunOptimize},
    {"run", "rewrite a model and run it once", RunRun},
    {"bench", "how long a model takes", RunBench},
    {"verify", "numbers before and after rewriting, and the first rule that changes them", RunVerify},
    {"check", "read a rule set and tell what is wrong with it", RunCheck},
    {"test", "run the tests that a rule set carries", RunTest},
    {"docs", "a page for every rule", RunDocs},
    {"ops", "operators that have a kernel", RunOps},
});

std::string Help() {
  std::string text = "rulerun " RULERUN_VERSION
                     ": ONNX Runtime's graph rewriting, as rules.\n\n"
                     "Usage: rulerun [--rules FILE] MODEL    which operators become int8, which stay float, and why\n"
                     "       rulerun COMMAND ...\n\nCommands:\n";
  size_t width = 0;
  for (const Command& command : kCommands) width = std::max(width, command.name.size());
  for (const Command& command : kCommands) {
    text += "  " + std::string(command.name) + std::string(width + 2 - command.name.size(), ' ') +
            std::string(command.summary) + "\n";
  }
  return text +
         "\n'rulerun COMMAND --help' tells a command's options and gives an example.\n"
         "Exit status: 0 good, 1 findings, 2 bad usage or bad rule file, 3 bad model.\n";
}

const Command* FindCommand(std::string_view name) {
  const auto found =
      std::find_if(kCommands.begin(), kCommands.end(), [&](const Command& command) { return command.name == name; });
  return found == kCommands.end() ? nullptr : &*found;
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  return names;
}

Result<int> Dispatch(const Arguments& arguments) {
  if (arguments.empty()) {
    return Error{Code::kCommandLine, "no model and no command", "", "See 'rulerun --help'."};
  }
  const std::string& first = arguments.front();
  if (first == "-h" || first == "--help" || first == "help") {
    RULERUN_RETURN_IF_ERROR(Print(Help()));
    return 0;
  }
  if (first == "--version") {
    RULERUN_RETURN_IF_ERROR(Print("rulerun " RULERUN_VERSION "\n"));
    return 0;
  }
  const Arguments rest(arguments.begin() + 1, arguments.end());
  if (const Command* command = FindCommand(first)) return command->run(rest);
  // A model without a command. What can be no file and is nearly a command was meant as one.
  std::error_code unreadable;
  if (first[0] != '-' && first.find_first_of("./") == std::string::npos &&
      !std::filesystem::exists(first, unreadable)) {
    return Error{Code::kUnknownCommand,
                 "there is no command or file '" + first + "'" + DidYouMean(first, CommandNames()), "",
                 "Commands: " + Join(CommandNames(), ", ") + "."};
  }
  for (const std::string& argument : rest) {
    if (FindCommand(argument) == nullptr || std::filesystem::exists(argument, unreadable)) continue;
    return Error{Code::kCommandLine, "the command '" + argument + "' must come first", "",
                 "Write rulerun " + argument + " and its options behind it."};
  }
  return RunModel(arguments);
}

}  // namespace

std::span<const Command> Commands() { return kCommands; }

int Main(const Arguments& arguments) {
  std::signal(SIGPIPE, SIG_IGN);  // a failing write tells
  Error error;
  try {
    auto result = Dispatch(arguments);
    if (result.ok()) return *result;
    error = result.error();
  } catch (const std::bad_alloc&) {
    error = {Code::kNoMemory, "not enough memory", "", "Use a machine with more memory, or a smaller model."};
  } catch (const std::exception& exception) {
    error = {Code::kUnexpected, std::string("unexpected: ") + exception.what(), "", "Please report this as a bug."};
  }
  PrintError(error);
  return ExitCode(error.kind());
}

}  // namespace rulerun::cli
