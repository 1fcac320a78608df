#include "engine/report/rule_tests.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/base/text.h"
#include "engine/graph/load.h"
#include "engine/graph/resolve.h"
#include "engine/pipeline/pipeline.h"
#include "engine/pipeline/walk.h"
#include "engine/report/canonical.h"
#include "engine/ruleset/predicates.h"

namespace rulerun {
namespace {

constexpr int kOpset = 21;
constexpr int kMlOpset = 4;

std::optional<int64_t> NumberOf(std::string_view text) {
  if (text == "true") return 1;
  if (text == "false") return 0;
  int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

// What a test's `given` asks for.
struct Given {
  Platform platform;
  Target target;
  OpsetMap opsets;
};

Result<Given> ReadGiven(const RuleSet& rules, const RuleTest& test) {
  std::string platform = rules.platforms.empty() ? "" : rules.platforms.begin()->first;
  Level level = Level::kAll;
  Given given;
  given.opsets = {{"", kOpset}, {"com.microsoft", 1}, {"ai.onnx.ml", kMlOpset}};
  for (const auto& [name, value] : test.facts) {
    if (name == "platform") platform = value;
    if (name == "level") level = ParseLevel(value).value_or(level);
    if (name == "opset") given.opsets[""] = static_cast<int>(NumberOf(value).value_or(kOpset));
  }
  RULERUN_ASSIGN(given.target, MakeTarget(rules, platform, level));
  given.platform = *given.target.platform;
  for (const auto& [name, value] : test.facts) {
    const auto number = NumberOf(value);
    if (name == "platform" || name == "level" || name == "opset" || !number) continue;
    given.platform.facts[name] = *number;
    if (rules.options.count(name) > 0) given.target.options[name] = *number;
  }
  return given;
}

void Claim(Graph& graph, const std::string& provider) {
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    Node* node = graph.node(index);
    if (node == nullptr) continue;
    node->provider = provider;
    for (Graph* subgraph : graph.Subgraphs(*node)) Claim(*subgraph, provider);
  }
}

class TestRun {
 public:
  TestRun(const RuleSet& rules, const RuleFile& file, const Rule& rule, const KernelRegistry& kernels)
      : rules_(rules), file_(file), rule_(rule), kernels_(kernels) {}

  // What is wrong, or "".
  std::string Run(const RuleTest& test) const {
    auto given = ReadGiven(rules_, test);
    if (!given.ok()) return ToString(given.error());
    given->target.platform = &given->platform;
    auto model = ParseModelText(test.graph, given->opsets, rules_.schemas);
    if (!model.ok()) return "the graph does not load: " + ToString(model.error());
    Graph& graph = *model->graph;
    Claim(graph, given->target.provider);
    MarkOrigins(graph);
    Trace trace;
    const auto changed = WalkGraph(MakeWalk(*given, graph, trace), graph);
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
  Walk MakeWalk(const Given& given, Graph& graph, Trace& trace) const {
    Walk walk;
    walk.scope.graph = &graph;
    walk.scope.rules = &rules_;
    walk.scope.file = &file_;
    walk.scope.target = &given.target;
    walk.scope.kernels = &kernels_;
    walk.rules = {&rule_};
    walk.visit_all = file_.visit_all;
    walk.trace = &trace;
    return walk;
  }

  static std::string Told(const Trace& trace) {
    if (trace.empty()) return "no match";
    const TraceEntry& entry = trace.front();
    if (entry.verdict == TraceEntry::Verdict::kFired) return "fired at '" + entry.node + "' (" + entry.op + ")";
    return "refused by " + entry.refusal.check + ": " + entry.refusal.message;
  }

  static std::string CheckRefused(std::string_view check, const Trace& trace) {
    const bool as_expected = !trace.empty() && trace.front().verdict == TraceEntry::Verdict::kRefused &&
                             trace.front().refusal.check == check;
    return as_expected ? "" : "refused by " + std::string(check) + " expected; " + Told(trace);
  }

  std::string Compare(const RuleTest& test, const Given& given, Graph& graph) const {
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
                                         const KernelRegistry& kernels) {
  std::vector<RuleTestResult> results;
  const TestRun run(rules, file, rule, kernels);
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

std::vector<RuleTestResult> RunRuleTests(const RuleSet& rules, const KernelRegistry& kernels) {
  std::vector<RuleTestResult> results;
  for (const auto& [path, file] : rules.files) {
    for (const auto& rule : file.rules) {
      for (RuleTestResult& result : RunRuleTests(rules, file, *rule, kernels)) results.push_back(std::move(result));
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

std::string ToJson(const RuleSet& rules, const std::vector<RuleTestResult>& results) {
  using nlohmann::ordered_json;
  ordered_json json = {{"rules", rules.id}, {"version", rules.version}, {"tests", ordered_json::array()}};
  for (const RuleTestResult& result : results) {
    ordered_json item = {{"file", result.file},
                         {"rule", result.rule},
                         {"kind", result.kind},
                         {"place", result.place},
                         {"ok", result.ok}};
    if (!result.ok) item["message"] = result.message;
    json["tests"].push_back(std::move(item));
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rulerun
