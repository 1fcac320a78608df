#include "cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "engine/base/codes.h"

namespace rulerun::cli {
namespace {

// Whether all of it could be written; false with errno set.
bool WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

void Complain(std::string_view text) {
  // Nobody is left to tell where this fails.
  [[maybe_unused]] const bool told = WriteAll(STDERR_FILENO, text);
}

constexpr size_t kMostTold = 20;  // errors of one rule set

std::string OneErrorText(const Error& error) {
  std::string text = "rulerun: " + Tag("error", error.code) + ": ";
  if (!error.place.empty()) text += error.place + ": ";
  text += error.message + "\n";
  if (!error.remedy.empty()) text += "  " + error.remedy + "\n";
  return text;
}

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

Status Print(std::string_view text) {
  if (WriteAll(STDOUT_FILENO, text) || errno == EPIPE) return {};
  return Error{Code::kCannotWrite, std::string("cannot write: ") + std::strerror(errno), "standard output",
               errno == ENOSPC ? "Make room on the disk, or send the output elsewhere." : ""};
}

std::string ErrorText(const Error& error) {
  std::string text = OneErrorText(error);
  for (size_t i = 0; i < std::min(error.more.size(), kMostTold - 1); ++i) text += OneErrorText(error.more[i]);
  if (error.more.size() < kMostTold) return text;
  return text + "rulerun: and " + std::to_string(error.more.size() + 1 - kMostTold) + " more errors\n";
}

void PrintError(const Error& error) { Complain(ErrorText(error)); }

void PrintWarning(std::string_view text) { Complain("rulerun: warning: " + std::string(text) + "\n"); }

int ExitCode(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kRules:
      return 2;
    case ErrorKind::kModel:
    case ErrorKind::kRefused:
    case ErrorKind::kUnsupported:
    case ErrorKind::kSystem:
      break;
  }
  return 3;
}

int TerminalWidth() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

bool UseColour() {
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::strcmp(term, "dumb") == 0;
  return ::isatty(STDOUT_FILENO) != 0 && !dumb && !IsSet("NO_COLOR");
}

Progress::Progress(bool quiet) : shown_(!quiet && ::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() { Done(); }

void Progress::Say(std::string_view what) {
  if (!shown_) return;
  Complain("\r\033[K" + std::string(what) + " ...");
  dirty_ = true;
}

void Progress::Done() {
  if (dirty_) Complain("\r\033[K");
  dirty_ = false;
}

}  // namespace rulerun::cli
