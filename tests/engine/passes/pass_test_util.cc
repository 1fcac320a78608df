#include "pass_test_util.h"

#include <cstdlib>

#include "engine/base/text.h"
#include "engine/graph/load.h"
#include "engine/graph/resolve.h"

namespace rulerun {
namespace {

const RuleSet& Rules() {
  static const std::shared_ptr<const RuleSet>& kRules = *[] {
    auto rules = ReadRuleSet(std::string(RULERUN_SOURCE_DIR) + "/rules/ort130.yaml");
    if (!rules.ok()) ADD_FAILURE() << ToString(rules.error());
    if (!rules.ok()) std::abort();
    return new std::shared_ptr<const RuleSet>(std::move(rules).value());
  }();
  return *kRules;
}

const Yaml* TableOf(const std::string& pass) {
  static const auto& kTables = *[] {
    auto* tables = new std::vector<Yaml>;
    for (const std::string name : {"qdq", "folding", "casts", "shapes"}) {
      auto table = ReadYaml(std::string(RULERUN_SOURCE_DIR) + "/rules/ort130/passes/" + name + ".yaml");
      EXPECT_TRUE(table.ok()) << (table.ok() ? "" : ToString(table.error()));
      if (table.ok()) tables->push_back(std::move(table).value());
    }
    return tables;
  }();
  for (const Yaml& table : kTables) {
    if (table.Get(pass) != nullptr) return &table;
  }
  return nullptr;
}

void Assign(Graph& graph, const std::string& provider) {
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    if (graph.node(index) == nullptr) continue;
    graph.node(index)->provider = provider;
    for (Graph* subgraph : graph.Subgraphs(*graph.node(index))) Assign(*subgraph, provider);
  }
}

std::string NamesOf(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<std::string> names;
  for (const ValueId id : ids) names.push_back(id == kNoValue ? "-" : graph.value(id).name);
  return Join(names, ", ");
}

std::string ShowAttributes(const Graph& graph, const Node& node) {
  const OpSchema* schema = FindSchema(Rules().schemas, node.domain, node.op_type, graph.Opset(node.domain));
  std::vector<std::string> shown;
  for (const auto& [name, value] : node.attributes) {
    const auto known = schema->attributes.find(name);
    const bool usual = known != schema->attributes.end() && known->second.default_value &&
                       SameAttribute(*known->second.default_value, value);
    if (usual) continue;
    const auto* subgraph = std::get_if<GraphRef>(&value);
    shown.push_back(name + "=" + (subgraph == nullptr ? ToString(value) : "{" + ShowNodes(**subgraph) + "}"));
  }
  return shown.empty() ? "" : "<" + Join(shown, ", ") + ">";
}

}  // namespace

void PrintTo(const PassCase& tested, std::ostream* out) { *out << tested.name; }

std::string NameOfCase(const testing::TestParamInfo<PassCase>& tested) { return tested.param.name; }

Model ParseGraph(const std::string& text, const RunOptions& run) {
  auto model = ParseModelText(text, {{"", run.opset}, {"com.microsoft", 1}}, Rules().schemas);
  if (!model.ok()) {
    ADD_FAILURE() << ToString(model.error()) << "\n" << text;
    std::abort();
  }
  if (!run.provider.empty()) Assign(*model->graph, run.provider);
  return std::move(model).value();
}

Result<PassResult> RunPass(const std::string& pass, Model& model, const RunOptions& run) {
  RULERUN_ASSIGN(Target target, MakeTarget(Rules(), run.platform, Level::kAll));
  for (const std::string& option : run.options) RULERUN_RETURN_IF_ERROR(SetOption(Rules(), target, option));
  PassScope scope;
  scope.graph = model.graph.get();
  scope.rules = &Rules();
  scope.target = &target;
  scope.kernels = &KernelRegistry::Default();
  scope.table = TableOf(pass);
  if (!run.provider.empty()) scope.providers = {run.provider};
  RULERUN_ASSIGN(PassResult result, FindPass(pass)(scope));
  if (result.modified) RULERUN_RETURN_IF_ERROR(Resolve(*model.graph, Rules().schemas));
  return result;
}

std::string ShowNodes(const Graph& graph) {
  std::vector<std::string> lines;
  for (const NodeIndex index : TopologicalOrder(graph)) {
    const Node& node = *graph.node(index);
    lines.push_back("[" + node.name + "] " + NamesOf(graph, node.outputs) + " = " + node.Op() +
                    ShowAttributes(graph, node) + "(" + NamesOf(graph, node.inputs) + ")");
  }
  return Join(lines, "\n");
}

std::string ShowInitializers(const Graph& graph) {
  std::vector<std::string> lines;
  for (ValueId id = 0; id < static_cast<ValueId>(graph.value_count()); ++id) {
    const Value& value = graph.value(id);
    if (!value.initializer) continue;
    std::vector<std::string> numbers;
    for (const double number : ToDoubles(*value.initializer)) numbers.push_back(FormatDouble(number));
    lines.push_back(value.name + " = " + std::string(Name(value.initializer->type())) + "{" + Join(numbers, ", ") +
                    "}");
  }
  return Join(lines, "\n");
}

void Check(const std::string& pass, const PassCase& tested) {
  Model model = ParseGraph(tested.before, tested.run);
  const std::string before = ShowNodes(*model.graph);
  const auto result = RunPass(pass, model, tested.run);
  ASSERT_TRUE(result.ok()) << ToString(result.error());
  EXPECT_EQ(result->modified, !tested.after.empty());
  EXPECT_EQ(ShowNodes(*model.graph), tested.after.empty() ? before : tested.after);
}

}  // namespace rulerun
