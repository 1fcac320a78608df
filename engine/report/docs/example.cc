#include "engine/report/docs/example.h"

#include <algorithm>
#include <set>

#include "engine/base/codes.h"
#include "engine/graph/load.h"
#include "engine/graph/resolve.h"
#include "engine/pipeline/pipeline.h"
#include "engine/pipeline/walk.h"
#include "engine/report/draw/draw.h"
#include "engine/report/test_target.h"

namespace rulerun {
namespace {

// Names for nodes that have none, so that what a rule did can be told by name.
void NameNodes(Graph& graph, int& count) {
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    Node* node = graph.node(index);
    if (node == nullptr) continue;
    if (node->name.empty()) node->name = "#" + std::to_string(++count);
    for (Graph* subgraph : graph.Subgraphs(*node)) NameNodes(*subgraph, count);
  }
}

bool IsGiven(const std::string& name) { return !name.empty() && name[0] == '#'; }

// Marks boxes by name; given names are not shown.
void Finish(const std::set<std::string>& marked, Drawing& drawing) {
  for (DrawnNode& node : drawing.nodes) {
    node.marked = !node.op.empty() && marked.count(node.name) > 0;
    const size_t given = node.subtitle.find(" · #");
    if (given != std::string::npos) node.subtitle.resize(given);
    if (IsGiven(node.subtitle)) node.subtitle.clear();
    for (Drawing& body : node.bodies) Finish(marked, body);
  }
}

std::set<std::string> OriginsOf(const Trace& trace) {
  std::set<std::string> names;
  for (const TraceEntry& entry : trace) {
    if (entry.verdict != TraceEntry::Verdict::kFired) continue;
    names.insert(entry.node);
    names.insert(entry.sources.begin(), entry.sources.end());
    names.insert(entry.removed.begin(), entry.removed.end());
  }
  return names;
}

std::set<std::string> MadeBy(const Trace& trace) {
  std::set<std::string> names;
  for (const TraceEntry& entry : trace) names.insert(entry.created.begin(), entry.created.end());
  return names;
}

}  // namespace

const RuleTest* FiringTest(const Rule& rule) {
  const auto found = std::find_if(rule.tests.begin(), rule.tests.end(),
                                  [](const RuleTest& test) { return test.kind == RuleTest::Kind::kBecomes; });
  return found == rule.tests.end() ? nullptr : &*found;
}

Result<std::string> DrawTest(const RuleSet& rules, const RuleFile& file, const Rule& rule, const RuleTest& test,
                             const KernelRegistry& kernels) {
  RULERUN_ASSIGN(TestTarget given, ReadTestTarget(rules, test.facts));
  given.Use();
  RULERUN_ASSIGN(Model model, ParseModelText(test.graph, given.opsets, rules.schemas));
  Graph& graph = *model.graph;
  Claim(graph, given.provider);
  int unnamed = 0;
  NameNodes(graph, unnamed);
  MarkOrigins(graph);
  Drawing before = DrawGraph(graph, rules);
  Trace trace;
  Walk walk = WalkFor(given, graph, rules, file, kernels, trace);
  walk.rules = {&rule};
  RULERUN_ASSIGN(const bool changed, WalkGraph(walk, graph));
  if (!changed) {
    return Error{Code::kTestFails, "the rule does not fire in its own test", test.where.ToString(),
                 "'rulerun test' tells why."};
  }
  RULERUN_RETURN_IF_ERROR(Resolve(graph, rules.schemas));
  graph.DropUnused();
  Drawing after = DrawGraph(graph, rules);
  Finish(OriginsOf(trace), before);
  Finish(MadeBy(trace), after);
  before.title = "before";
  after.title = "after";
  SvgOptions options;
  options.tooltips = false;
  options.legend = false;
  return SideBySide({before, after}, options);
}

}  // namespace rulerun
