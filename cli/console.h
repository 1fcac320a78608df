// What the program says: results to standard output, errors and progress to standard error.
#ifndef RULERUN_CLI_CONSOLE_H_
#define RULERUN_CLI_CONSOLE_H_

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace rulerun::cli {

// Writes to standard output. A reader that has gone (`| head`) is no error; a full disk is.
Status Print(std::string_view text);

// "rulerun: error[CODE]: place: message" and a line with the remedy; the same for the others that came with it, 20 at
// most.
std::string ErrorText(const Error& error);
void PrintError(const Error& error);
void PrintWarning(std::string_view text);

// "1 rule", "2 rules".
std::string Plural(std::integral auto count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

int ExitCode(ErrorKind kind);

// Columns of the terminal on standard output; 0 where it is none, or is as wide as it likes.
int TerminalWidth();
// Whether to colour what goes to standard output: a terminal, and neither NO_COLOR nor TERM=dumb.
bool UseColour();

// One line on standard error that says what is being done; only on a terminal, and gone at the end.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Say(std::string_view what);
  void Done();

 private:
  bool shown_;
  bool dirty_ = false;
};

}  // namespace rulerun::cli

#endif  // RULERUN_CLI_CONSOLE_H_
