// rulerun check: reads a rule set and tells everything that is wrong with it.
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/table.h"
#include "cli/target_options.h"
#include "engine/report/rule_list.h"

namespace rulerun::cli {
namespace {

std::string Summary(const RuleSet& rules, const std::vector<ListedRule>& list) {
  size_t count = 0;
  size_t tests = 0;
  for (const ListedRule& rule : list) {
    if (rule.group != "pass") ++count;
    tests += rule.tests;
  }
  return rules.id + (rules.version.empty() ? "" : " " + rules.version) + ": good. " + std::to_string(count) +
         " rules in " + std::to_string(rules.files.size()) + " files, " + std::to_string(list.size() - count) +
         " passes, " + std::to_string(tests) + " tests ('rulerun test' runs them)\n";
}

std::string RuleTable(const std::vector<ListedRule>& list, int width) {
  Table table({"rule", "group", "from level", "tests", "place"});
  table.AlignRight(3);
  for (const ListedRule& rule : list) {
    table.Add({rule.name, rule.group, rule.level.empty() ? "never" : rule.level,
               rule.tests == 0 ? "" : std::to_string(rule.tests), rule.place});
  }
  return table.ToText(width);
}

}  // namespace

Result<int> RunCheck(const Arguments& arguments) {
  const auto app = MakeApp("rulerun check", "Reads a rule set and tells everything that is wrong with it.",
                           "rulerun check --list rules/ort130.yaml");
  std::string path;
  bool list_rules = false;
  bool json = false;
  bool strict = false;
  app->add_option("RULES", path, "Rule set: a YAML file, or the name of one that comes with rulerun")->required();
  app->add_flag("--list", list_rules, "All rules and passes, with their places");
  app->add_flag("--json", json, "As JSON (schemas/check.schema.json)");
  app->add_flag("--strict", strict, "Exit status 1 where there are warnings");
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;

  RULERUN_ASSIGN(const auto rules, LoadRules(path));
  const std::vector<ListedRule> list = ListRules(*rules);
  const std::vector<MissingKernel> missing = ReplacementsWithoutKernel(*rules, KernelRegistry::Default());
  if (!json) {
    for (const MissingKernel& kernel : missing) {
      PrintWarning(kernel.place + ": rule '" + kernel.rule + "' builds " + kernel.op +
                   ", which no kernel runs: 'rulerun run' will refuse such a model");
    }
  }
  std::string text = list_rules ? RuleTable(list, TerminalWidth()) : "";
  RULERUN_RETURN_IF_ERROR(Print(json ? ToJson(*rules, list, missing) : text + Summary(*rules, list)));
  return strict && !missing.empty() ? 1 : 0;
}

}  // namespace rulerun::cli
