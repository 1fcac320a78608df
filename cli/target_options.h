// The options that say which rules are applied, and for what: --rules, --level, --ep, --platform, --option, --disable.
#ifndef RULERUN_CLI_TARGET_OPTIONS_H_
#define RULERUN_CLI_TARGET_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/ruleset/ruleset.h"
#include "engine/ruleset/target.h"

namespace rulerun::cli {

struct TargetOptions {
  std::string rules;  // a path, or the id of a rule set that comes with rulerun; "" is ort130
  std::string level = "all";
  std::string provider = "cpu";
  std::string platform = "host";
  std::vector<std::string> options;   // KEY=VALUE
  std::vector<std::string> disabled;  // rules and passes
  bool quiet = false;
};

void AddRulesOption(CLI::App& app, std::string& rules);
void AddTargetOptions(CLI::App& app, TargetOptions& options);

struct Setup {
  std::shared_ptr<const RuleSet> rules;
  Target target;
};

Result<Setup> MakeSetup(const TargetOptions& options);

// Folders that may hold the rule sets that come with rulerun: installed beside the binary, or in the source tree.
std::vector<std::string> RuleFolders();
// The rule set's file: a path as it is, an id found in RuleFolders().
Result<std::string> FindRules(const std::string& rules);
Result<std::shared_ptr<const RuleSet>> LoadRules(const std::string& rules);

// "extended" and every other spelling; an unknown one is an error with the nearest.
Result<Level> LevelFrom(const std::string& text);

}  // namespace rulerun::cli

#endif  // RULERUN_CLI_TARGET_OPTIONS_H_
