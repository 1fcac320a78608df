#include "engine/report/test_target.h"

#include <charconv>
#include <optional>
#include <string_view>

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

}  // namespace

Result<TestTarget> ReadTestTarget(const RuleSet& rules, const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string platform = rules.platforms.empty() ? "" : rules.platforms.begin()->first;
  Level level = Level::kAll;
  TestTarget given;
  given.opsets = {{"", kOpset}, {"com.microsoft", 1}, {"ai.onnx.ml", kMlOpset}};
  for (const auto& [name, value] : facts) {
    if (name == "platform") platform = value;
    if (name == "level") level = ParseLevel(value).value_or(level);
    if (name == "opset") given.opsets[""] = static_cast<int>(NumberOf(value).value_or(kOpset));
    if (name == "ep") given.provider = value;
  }
  RULERUN_ASSIGN(given.target, MakeTarget(rules, platform, level, given.provider));
  given.platform = *given.target.platform;
  for (const auto& [name, value] : facts) {
    const auto number = NumberOf(value);
    if (name == "platform" || name == "level" || name == "opset" || name == "ep" || !number) continue;
    given.platform.facts[name] = *number;
    if (rules.options.count(name) > 0) given.target.options[name] = *number;
  }
  return given;
}

Walk WalkFor(const TestTarget& given, Graph& graph, const RuleSet& rules, const RuleFile& file,
             const KernelRegistry& kernels, Trace& trace) {
  Walk walk;
  walk.scope.graph = &graph;
  walk.scope.rules = &rules;
  walk.scope.file = &file;
  walk.scope.target = &given.target;
  walk.scope.kernels = &kernels;
  walk.visit_all = file.visit_all;
  walk.trace = &trace;
  return walk;
}

void Claim(Graph& graph, const std::string& provider) {
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    Node* node = graph.node(index);
    if (node == nullptr) continue;
    node->provider = provider;
    for (Graph* subgraph : graph.Subgraphs(*node)) Claim(*subgraph, provider);
  }
}

}  // namespace rulerun
