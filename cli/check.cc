// rulerun check: reads a rule set and tells everything that is wrong with it, or looks like it.
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/finding_options.h"
#include "cli/table.h"
#include "cli/target_options.h"
#include "engine/base/text.h"
#include "engine/report/check/analyses.h"
#include "engine/report/check/check_json.h"
#include "engine/report/rule_list.h"

namespace rulerun::cli {
namespace {

std::string Summary(const RuleSet& rules, const std::vector<ListedRule>& list, const std::vector<Finding>& findings) {
  size_t count = 0;
  size_t tests = 0;
  for (const ListedRule& rule : list) {
    if (rule.group != "pass") ++count;
    tests += rule.tests;
  }
  const size_t warnings = CountFrom(findings, Severity::kWarning);
  const size_t notes = findings.size() - warnings;
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
      PlaceText(finding.where) + ": " + Tag(Name(finding.severity), finding.code) + ": " + finding.message + "\n";
  if (!finding.witness.empty()) text += Indented(finding.witness);
  return text + "  " + finding.remedy + "\n";
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
  FindingOptions finding_options;
  bool list_rules = false;
  bool json = false;
  app->add_option("RULES", path, "Rule set: a YAML file, or the name of one that comes with rulerun")->required();
  app->add_flag("--list", list_rules, "All rules and passes, with their places");
  app->add_flag("--json", json, "As JSON (schemas/check.schema.json)");
  AddFindingOptions(*app, finding_options, "warning",
                    "note (overlaps), warning (what is never applied, or cannot be run), error (no rule set at all)");
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;

  const auto rules = LoadRules(path);
  if (!rules.ok()) {
    const std::vector<Finding> errors = FindingsOf(rules.error());
    RULERUN_RETURN_IF_ERROR(WriteSarif(errors, finding_options));
    if (json) RULERUN_RETURN_IF_ERROR(Print(ToJson(path, errors)));
    RULERUN_RETURN_IF_ERROR(PrintGitHub(errors, finding_options));
    if (json) return ExitCode(rules.error().kind());
    return rules.error();
  }
  const std::vector<ListedRule> list = ListRules(**rules);
  const std::vector<Finding> findings = FindAll(**rules, KernelRegistry::Default());
  RULERUN_RETURN_IF_ERROR(WriteSarif(findings, finding_options));
  if (json) {
    RULERUN_RETURN_IF_ERROR(Print(ToJson(**rules, list, findings)));
  } else {
    std::string text = list_rules ? RuleTable(list, TerminalWidth()) : "";
    for (const Finding& finding : findings) text += Text(finding);
    RULERUN_RETURN_IF_ERROR(Print(text + Summary(**rules, list, findings)));
  }
  RULERUN_RETURN_IF_ERROR(PrintGitHub(findings, finding_options));
  return CountFailing(findings, finding_options) > 0 ? 1 : 0;
}

}  // namespace rulerun::cli
