// rulerun test: runs the tests that the rules of a rule set carry.
#include <set>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/percent.h"
#include "cli/target_options.h"
#include "engine/base/codes.h"
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
    text += std::string(result.ok ? "ok    " : Tag("error", Code::kTestFails) + "  ") + result.place + "  " +
            result.rule + ": " + result.kind + "\n";
    if (!result.ok) text += Indented(result.message);
  }
  std::set<std::string> tested;
  for (const RuleTestResult& result : results) tested.insert(result.rule);
  text += rules.id + ": " + std::to_string(results.size() - failed) + " of " + std::to_string(results.size()) +
          " tests of " + std::to_string(tested.size()) + " rules pass";
  const auto untested = UntestedRules(rules);
  if (untested.empty()) return text + "\n";
  text += "; " + Plural(untested.size(), "rule") + " without tests\n";
  for (const Rule* rule : untested) {
    text +=
        rule->where.ToString() + ": " + Tag("note", Code::kNoTests) + ": the rule '" + rule->name + "' has no tests\n";
  }
  return text;
}

constexpr size_t kShownMissing = 10;

// What no test has seen, by place; without `all` the first few.
std::string Missing(const RuleCoverage& coverage, bool all) {
  std::string text;
  size_t count = 0;
  for (const CoverItem& item : coverage.items()) {
    for (const bool side : {true, false}) {
      if (!item.Missing(side)) continue;
      if (++count > kShownMissing && !all) continue;
      text += item.where.ToString() + ": " + Tag("note", side ? Code::kNeverHolds : Code::kNeverRefuses) + ": " +
              (item.rule().empty() ? "" : "rule '" + item.rule() + "', ") + item.what + ": never seen to " +
              (side ? "hold" : "refuse") + "\n";
    }
  }
  if (count <= kShownMissing || all) return text;
  return text + "  and " + std::to_string(count - kShownMissing) + " more: --verbose lists all\n";
}

std::string CoverageText(const RuleCoverage& coverage, bool all) {
  const CoverageSum sum = coverage.Sum();
  std::string idle;
  for (const IdleExcuse& excuse : coverage.IdleExcuses()) {
    idle += excuse.where.ToString() + ": " + Tag("error", Code::kIdleExcuse) + ": rule '" + excuse.rule +
            "': 'uncovered' excuses nothing that is missing: " + excuse.what + "\n";
  }
  return idle + Missing(coverage, all) + "Condition coverage: " + Percent(sum.percent() / 100) + ", " +
         std::to_string(sum.seen) + " of " + Plural(sum.all, "side") +
         " (each condition and check seen to hold, and seen to refuse)\n";
}

}  // namespace

Result<int> RunTest(const Arguments& arguments) {
  const auto app =
      MakeApp("rulerun test",
              "Runs the tests that the rules of a rule set carry, and tells which conditions they have seen hold and "
              "seen refuse. Exit status 1 if a test fails, or less is covered than --min-coverage asks for.",
              "rulerun test --min-coverage 100 rules/ort130.yaml");
  std::string path;
  std::string rule_name;
  bool json = false;
  bool verbose = false;
  double least = 0;
  app->add_option("RULES", path, "Rule set: a YAML file, or the name of one that comes with rulerun")->required();
  app->add_option("--rule", rule_name, "Only this rule's tests")->option_text("NAME");
  app->add_flag("--json", json, "As JSON (schemas/rule-tests.schema.json)");
  app->add_option("--min-coverage", least, "Exit status 1 where condition coverage is below PERCENT [0]")
      ->option_text("PERCENT")
      ->check(CLI::Range(0.0, 100.0));
  app->add_flag("--verbose", verbose, "Tests that pass as well, and all that they have not seen");
  RULERUN_ASSIGN(const bool go_on, Parse(*app, arguments));
  if (!go_on) return 0;

  RULERUN_ASSIGN(const auto rules, LoadRules(path));
  RuleCoverage coverage(*rules);
  std::vector<RuleTestResult> results = RunRuleTests(*rules, KernelRegistry::Default(), &coverage);
  if (!rule_name.empty()) {
    std::vector<std::string> names;
    for (const RuleTestResult& result : results) names.push_back(result.rule);
    std::erase_if(results, [&](const RuleTestResult& result) { return result.rule != rule_name; });
    if (results.empty()) {
      return Error{Code::kNothingNamed, "no rule '" + rule_name + "' with tests" + DidYouMean(rule_name, names),
                   "--rule", ""};
    }
    coverage.Keep(rule_name);
  }
  const bool all = verbose || !rule_name.empty() || least > 0;
  RULERUN_RETURN_IF_ERROR(
      Print(json ? ToJson(*rules, results, coverage) : Report(*rules, results, verbose) + CoverageText(coverage, all)));
  for (const RuleTestResult& result : results) {
    if (!result.ok) return 1;
  }
  return coverage.Sum().percent() < least || !coverage.IdleExcuses().empty() ? 1 : 0;
}

}  // namespace rulerun::cli
