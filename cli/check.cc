// rulerun check: reads a rule set and tells everything that is wrong with it, or looks like it.
#include <algorithm>
#include <array>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/table.h"
#include "cli/target_options.h"
#include "engine/base/text.h"
#include "engine/report/check/check_json.h"
#include "engine/report/check/finding.h"
#include "engine/report/rule_list.h"

namespace rulerun::cli {
namespace {

size_t Count(const std::vector<Finding>& findings, Severity severity) {
  return static_cast<size_t>(std::count_if(findings.begin(), findings.end(),
                                           [&](const Finding& finding) { return finding.severity == severity; }));
}

std::string Summary(const RuleSet& rules, const std::vector<ListedRule>& list, const std::vector<Finding>& findings) {
  size_t count = 0;
  size_t tests = 0;
  for (const ListedRule& rule : list) {
    if (rule.group != "pass") ++count;
    tests += rule.tests;
  }
  const size_t warnings = Count(findings, Severity::kWarning);
  const size_t notes = Count(findings, Severity::kNote);
  std::string found = warnings == 0 ? "good" : Plural(warnings, "warning");
  if (notes > 0) found += ", " + Plural(notes, "note");
  return rules.id + (rules.version.empty() ? "" : " " + rules.version) + ": " + found + ". " + Plural(count, "rule") +
         " in " + Plural(rules.files.size(), "file") + ", " + std::to_string(list.size() - count) +
         (list.size() - count == 1 ? " pass, " : " passes, ") + Plural(tests, "test") + " ('rulerun test' runs them)\n";
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

std::string Indented(const std::string& text) {
  std::string indented;
  for (const std::string& line : Split(text, '\n')) {
    if (!line.empty()) indented += "    " + line + "\n";
  }
  return indented;
}

std::string Text(const Finding& finding) {
  std::string text =
      finding.where.ToString() + ": " + Tag(Name(finding.severity), finding.code) + ": " + finding.message + "\n";
  if (!finding.witness.empty()) text += Indented(finding.witness);
  return text + "  " + finding.remedy + "\n";
}

constexpr std::array<std::string_view, 3> kFailLevels = {"note", "warning", "never"};

bool Fails(const std::vector<Finding>& findings, const std::string& level) {
  if (level == "never") return false;
  return level == "note" ? !findings.empty() : Count(findings, Severity::kWarning) > 0;
}

}  // namespace

Result<int> RunCheck(const Arguments& arguments) {
  const auto app = MakeApp(
      "rulerun check",
      "Reads a rule set and tells everything that is wrong with it: spelling, names, types; rules that can never fire, "
      "or that another one takes the place of, with the smallest graph that shows it; conditions that contradict each "
      "other; operators without a kernel. docs/errors.md has the codes.",
      "rulerun check --fail-level note rules/ort130.yaml");
  std::string path;
  std::string fail_level = "warning";
  bool list_rules = false;
  bool json = false;
  app->add_option("RULES", path, "Rule set: a YAML file, or the name of one that comes with rulerun")->required();
  app->add_flag("--list", list_rules, "All rules and passes, with their places");
  app->add_flag("--json", json, "As JSON (schemas/check.schema.json)");
  app->add_option("--fail-level", fail_level, "Exit status 1 from this severity on: note, warning, never [warning]")
      ->option_text("SEVERITY")
      ->check(CLI::IsMember(std::vector<std::string>(kFailLevels.begin(), kFailLevels.end())));
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;

  const auto rules = LoadRules(path);
  if (!rules.ok() && json) {
    RULERUN_RETURN_IF_ERROR(Print(ToJson(path, rules.error())));
    return ExitCode(rules.error().kind());
  }
  if (!rules.ok()) return rules.error();
  const std::vector<ListedRule> list = ListRules(**rules);
  const std::vector<Finding> findings = FindAll(**rules, KernelRegistry::Default());
  if (json) {
    RULERUN_RETURN_IF_ERROR(Print(ToJson(**rules, list, findings)));
  } else {
    std::string text = list_rules ? RuleTable(list, TerminalWidth()) : "";
    for (const Finding& finding : findings) text += Text(finding);
    RULERUN_RETURN_IF_ERROR(Print(text + Summary(**rules, list, findings)));
  }
  return Fails(findings, fail_level) ? 1 : 0;
}

}  // namespace rulerun::cli
