#include "engine/report/rule_tests.h"

#include <nlohmann/json.hpp>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/graph/load.h"
#include "engine/graph/resolve.h"
#include "engine/pipeline/pipeline.h"
#include "engine/pipeline/walk.h"
#include "engine/report/canonical.h"
#include "engine/report/test_target.h"
#include "engine/ruleset/predicates.h"

namespace rulerun {
namespace {

class TestRun {
 public:
  TestRun(const RuleSet& rules, const RuleFile& file, const Rule& rule, const KernelRegistry& kernels,
          RuleCoverage* coverage)
      : rules_(rules), file_(file), rule_(rule), kernels_(kernels), coverage_(coverage) {
    if (coverage != nullptr) observer_ = coverage->Observer();
  }

  // What is wrong, or "".
  std::string Run(const RuleTest& test) const {
    auto given = ReadTestTarget(rules_, test.facts);
    if (!given.ok()) return ToString(given.error());
    given->Use();
    auto model = ParseModelText(test.graph, given->opsets, rules_.schemas);
    if (!model.ok()) return "the graph does not load: " + ToString(model.error());
    Graph& graph = *model->graph;
    Claim(graph, given->provider);
    MarkOrigins(graph);
    Trace trace;
    const auto changed = WalkGraph(MakeWalk(*given, graph, trace), graph);
    if (coverage_ != nullptr) coverage_->AddTest(file_, rule_, trace);
    if (test.kind == RuleTest::Kind::kError && rules_.refuse_invalid_replacement) {
      return CheckRefused(kInvalidReplacement, trace);
    }
    if (test.kind == RuleTest::Kind::kError) return changed.ok() ? "stops with an error expected; " + Told(trace) : "";
    if (!changed.ok()) return "stops with an error: " + ToString(changed.error());
    switch (test.kind) {
      case RuleTest::Kind::kBecomes:
        return *changed ? Compare(test, *given, graph) : "expected to fire; " + Told(trace);
      case RuleTest::Kind::kRefused:
        return CheckRefused(test.refused, trace);
      default:
        return trace.empty() ? "" : "no match expected; " + Told(trace);
    }
  }

 private:
  Walk MakeWalk(const TestTarget& given, Graph& graph, Trace& trace) const {
    Walk walk = WalkFor(given, graph, rules_, file_, kernels_, trace);
    if (observer_) walk.scope.conditions = &observer_;
    walk.rules = {&rule_};
    return walk;
  }

  static std::string Told(const Trace& trace) {
    if (trace.empty()) return "no match";
    const TraceEntry& entry = trace.front();
    if (entry.verdict == TraceEntry::Verdict::kFired) return "fired at '" + entry.node + "' (" + entry.op + ")";
    const std::string place = entry.refusal.where.ToString();
    return "refused by " + entry.refusal.check + (place.empty() ? "" : ", " + place) + ": " + entry.refusal.message;
  }

  static std::string CheckRefused(std::string_view check, const Trace& trace) {
    const bool as_expected = !trace.empty() && trace.front().verdict == TraceEntry::Verdict::kRefused &&
                             trace.front().refusal.check == check;
    return as_expected ? "" : "refused by " + std::string(check) + " expected; " + Told(trace);
  }

  std::string Compare(const RuleTest& test, const TestTarget& given, Graph& graph) const {
    const Status resolved = Resolve(graph, rules_.schemas);
    if (!resolved.ok()) return "the rewritten graph does not resolve: " + ToString(resolved.error());
    graph.DropUnused();
    const auto wanted = ParseModelText(test.into, given.opsets, rules_.schemas);
    if (!wanted.ok()) return "'into' does not load: " + ToString(wanted.error());
    return Join(Differences(Canonicalize(*wanted->graph, rules_.schemas), Canonicalize(graph, rules_.schemas)), "\n");
  }

  const RuleSet& rules_;
  const RuleFile& file_;
  const Rule& rule_;
  const KernelRegistry& kernels_;
  RuleCoverage* coverage_;
  ConditionObserver observer_;
};

std::string KindOf(const RuleTest& test) {
  switch (test.kind) {
    case RuleTest::Kind::kBecomes:
      return "becomes";
    case RuleTest::Kind::kRefused:
      return "refused " + test.refused;
    case RuleTest::Kind::kNoMatch:
      return "no-match";
    case RuleTest::Kind::kError:
      return "error";
  }
  return "";
}

}  // namespace

std::vector<RuleTestResult> RunRuleTests(const RuleSet& rules, const RuleFile& file, const Rule& rule,
                                         const KernelRegistry& kernels, RuleCoverage* coverage) {
  std::vector<RuleTestResult> results;
  const TestRun run(rules, file, rule, kernels, coverage);
  for (const RuleTest& test : rule.tests) {
    RuleTestResult result;
    result.file = file.path;
    result.rule = rule.name;
    result.kind = KindOf(test);
    result.place = test.where.ToString();
    result.message = run.Run(test);
    result.ok = result.message.empty();
    results.push_back(std::move(result));
  }
  return results;
}

std::vector<RuleTestResult> RunRuleTests(const RuleSet& rules, const KernelRegistry& kernels, RuleCoverage* coverage) {
  std::vector<RuleTestResult> results;
  for (const auto& [path, file] : rules.files) {
    for (const auto& rule : file.rules) {
      for (RuleTestResult& result : RunRuleTests(rules, file, *rule, kernels, coverage))
        results.push_back(std::move(result));
    }
  }
  return results;
}

std::vector<const Rule*> UntestedRules(const RuleSet& rules) {
  std::vector<const Rule*> untested;
  for (const auto& [path, file] : rules.files) {
    for (const auto& rule : file.rules) {
      if (rule->tests.empty()) untested.push_back(rule.get());
    }
  }
  return untested;
}

namespace {

nlohmann::ordered_json ToJson(const RuleCoverage& coverage) {
  using nlohmann::ordered_json;
  const CoverageSum sum = coverage.Sum();
  ordered_json missing = ordered_json::array();
  for (const CoverItem& item : coverage.items()) {
    for (const bool side : {true, false}) {
      if (!item.Missing(side)) continue;
      missing.push_back({{"code", Name(side ? Code::kNeverHolds : Code::kNeverRefuses)},
                         {"file", item.file},
                         {"rule", item.rule()},
                         {"check", item.check},
                         {"what", item.what},
                         {"never", side},
                         {"place", item.where.ToString()}});
    }
  }
  ordered_json excused = ordered_json::array();
  for (const CoverItem& item : coverage.items()) {
    if (item.excused.empty() || (item.seen_true && item.seen_false)) continue;
    excused.push_back({{"file", item.file},
                       {"rule", item.rule()},
                       {"what", item.what},
                       {"why", item.excused},
                       {"place", item.where.ToString()}});
  }
  return {{"seen", sum.seen},
          {"all", sum.all},
          {"percent", sum.percent()},
          {"missing", std::move(missing)},
          {"excused", std::move(excused)}};
}

}  // namespace

std::string ToJson(const RuleSet& rules, const std::vector<RuleTestResult>& results, const RuleCoverage& coverage) {
  using nlohmann::ordered_json;
  ordered_json json = {{"rules", rules.id}, {"version", rules.version}, {"tests", ordered_json::array()}};
  for (const RuleTestResult& result : results) {
    ordered_json item = {{"file", result.file},
                         {"rule", result.rule},
                         {"kind", result.kind},
                         {"place", result.place},
                         {"ok", result.ok}};
    if (!result.ok) item["code"] = Name(Code::kTestFails);
    if (!result.ok) item["message"] = result.message;
    json["tests"].push_back(std::move(item));
  }
  json["coverage"] = ToJson(coverage);
  json["untested"] = ordered_json::array();
  for (const Rule* rule : UntestedRules(rules)) {
    json["untested"].push_back(
        {{"code", Name(Code::kNoTests)}, {"rule", rule->name}, {"place", rule->where.ToString()}});
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rulerun
