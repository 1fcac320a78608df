#include "cli/arguments.h"

#include <algorithm>

#include "cli/console.h"
#include "engine/base/codes.h"
#include "engine/base/text.h"

namespace rulerun::cli {
namespace {

constexpr size_t kHelpIndent = 34;

Error UsageError(const CLI::App& app, std::string message) {
  return {Code::kCommandLine, std::move(message), "", "See '" + app.get_name() + " --help'."};
}

std::vector<std::string> FlagNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

bool LooksLikeFlag(const std::string& argument) { return argument.size() > 1 && argument[0] == '-'; }

// CLI11 would take the value of a misspelt flag for a positional argument, and complain about something else.
Status CheckFlags(const CLI::App& app, const Arguments& arguments) {
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (!LooksLikeFlag(arguments[i])) continue;
    const size_t equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr) {
      return UsageError(app, "there is no flag '" + name + "'" + DidYouMean(name, FlagNames(app)));
    }
    if (option->get_items_expected_min() > 0 && equals == std::string::npos) ++i;  // the next one is its value
  }
  return {};
}

// CLI11's messages have several lines and capitals; the first line says it.
std::string Tidy(std::string message) {
  message = message.substr(0, message.find('\n'));
  while (!message.empty() && (message.back() == '.' || message.back() == ' ')) message.pop_back();
  return message;
}

}  // namespace

std::unique_ptr<CLI::App> MakeApp(const std::string& name, const std::string& summary, const std::string& example) {
  auto app = std::make_unique<CLI::App>(summary, name);
  app->set_help_flag("-h,--help", "Print this help");
  app->get_formatter()->column_width(kHelpIndent);
  app->get_formatter()->label("TEXT", "");
  app->get_formatter()->label("REQUIRED", "");
  if (!example.empty()) app->footer("\nExample:\n  " + example);
  return app;
}

Result<bool> Parse(CLI::App& app, const Arguments& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  if (std::any_of(arguments.begin(), end, [](const std::string& a) { return a == "-h" || a == "--help"; })) {
    RULERUN_RETURN_IF_ERROR(Print(app.help()));
    return false;
  }
  RULERUN_RETURN_IF_ERROR(CheckFlags(app, arguments));
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them from the back
  } catch (const CLI::ExtrasError&) {
    const std::vector<std::string> rest = app.remaining();
    return UsageError(app, "one argument too many: '" + (rest.empty() ? "" : rest.front()) + "'");
  } catch (const CLI::ParseError& error) {
    return UsageError(app, Tidy(error.what()));
  }
  return true;
}

Result<Assignment> SplitAssignment(const std::string& flag, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return Error{Code::kBadFlagValue, "'" + text + "' is not NAME=VALUE", flag, "Write " + flag + " NAME=VALUE."};
  }
  return Assignment{text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace rulerun::cli
