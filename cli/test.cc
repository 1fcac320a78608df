// rulerun test: runs the tests that the rules of a rule set carry.
#include <set>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/target_options.h"
#include "engine/base/text.h"
#include "engine/report/rule_tests.h"

namespace rulerun::cli {
namespace {

std::string Indented(const std::string& text) { return "    " + Join(Split(text, '\n'), "\n    ") + "\n"; }

std::string Report(const RuleSet& rules, const std::vector<RuleTestResult>& results, bool verbose) {
  std::string text;
  size_t failed = 0;
  for (const RuleTestResult& result : results) {
    if (!result.ok) ++failed;
    if (result.ok && !verbose) continue;
    text +=
        std::string(result.ok ? "ok    " : "FAIL  ") + result.place + "  " + result.rule + ": " + result.kind + "\n";
    if (!result.ok) text += Indented(result.message);
  }
  std::set<std::string> tested;
  for (const RuleTestResult& result : results) tested.insert(result.rule);
  text += rules.id + ": " + std::to_string(results.size() - failed) + " of " + std::to_string(results.size()) +
          " tests of " + std::to_string(tested.size()) + " rules pass";
  const auto untested = UntestedRules(rules);
  if (!untested.empty()) {
    std::vector<std::string> names;
    for (const Rule* rule : untested) names.push_back(rule->name);
    text += "; " + std::to_string(untested.size()) + " rules have none" + (verbose ? ": " + Join(names, ", ") : "");
  }
  return text + "\n";
}

}  // namespace

Result<int> RunTest(const Arguments& arguments) {
  const auto app =
      MakeApp("rulerun test", "Runs the tests that the rules of a rule set carry. Exit status 1 if one fails.",
              "rulerun test rules/ort130.yaml");
  std::string path;
  std::string rule_name;
  bool json = false;
  bool verbose = false;
  app->add_option("RULES", path, "Rule set: a YAML file, or the name of one that comes with rulerun")->required();
  app->add_option("--rule", rule_name, "Only this rule's tests")->option_text("NAME");
  app->add_flag("--json", json, "As JSON (schemas/rule-tests.schema.json)");
  app->add_flag("--verbose", verbose, "Tests that pass as well");
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;

  RULERUN_ASSIGN(const auto rules, LoadRules(path));
  std::vector<RuleTestResult> results = RunRuleTests(*rules, KernelRegistry::Default());
  if (!rule_name.empty()) {
    std::vector<std::string> names;
    for (const RuleTestResult& result : results) names.push_back(result.rule);
    std::erase_if(results, [&](const RuleTestResult& result) { return result.rule != rule_name; });
    if (results.empty()) {
      return Error{ErrorKind::kUsage, "no rule '" + rule_name + "' with tests" + DidYouMean(rule_name, names), "--rule",
                   ""};
    }
  }
  RULERUN_RETURN_IF_ERROR(Print(json ? ToJson(*rules, results) : Report(*rules, results, verbose)));
  for (const RuleTestResult& result : results) {
    if (!result.ok) return 1;
  }
  return 0;
}

}  // namespace rulerun::cli
