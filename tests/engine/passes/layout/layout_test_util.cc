#include "layout_test_util.h"

#include <gtest/gtest.h>

#include "engine/base/text.h"
#include "engine/graph/load.h"
#include "engine/graph/resolve.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {
namespace {

// The schemas and the three tables of rules/ort130.
const RuleSet& Rules() {
  static const RuleSet& kRules = *[] {
    auto* rules = new RuleSet;
    const std::string folder = std::string(RULERUN_SOURCE_DIR) + "/rules/";
    const auto whole = ReadRuleSet(folder + "ort130.yaml");
    EXPECT_TRUE(whole.ok()) << (whole.ok() ? "" : ToString(whole.error()));
    if (whole.ok()) rules->schemas = whole.value()->schemas;
    for (const std::string name : {"transpose", "nhwc", "nchwc"}) {
      const auto table = ReadYaml(folder + "ort130/passes/" + name + ".yaml");
      EXPECT_TRUE(table.ok()) << (table.ok() ? "" : ToString(table.error()));
      if (table.ok()) rules->tables[name] = table.value();
    }
    return rules;
  }();
  return kRules;
}

const Yaml* TableOf(const std::string& pass) {
  for (const auto& [path, table] : Rules().tables) {
    if (table.Get("pass")->scalar == pass) return &table;
  }
  return nullptr;
}

void Assign(Graph& graph, const std::string& provider) {
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    Node* node = graph.node(index);
    if (node == nullptr) continue;
    node->provider = provider;
    for (Graph* subgraph : graph.Subgraphs(*node)) Assign(*subgraph, provider);
  }
}

std::string ShowConstant(const Tensor& tensor) {
  if (tensor.count() > 8) return std::string(Name(tensor.type())) + ToString(ToShape(tensor.dims()));
  std::vector<std::string> numbers;
  for (const double number : ToDoubles(tensor)) numbers.push_back(FormatDouble(number));
  const std::string list = Join(numbers, ", ");
  if (tensor.rank() == 0) return list;
  return (tensor.rank() == 1 ? "" : ToString(ToShape(tensor.dims()))) + "{" + list + "}";
}

std::string ShowAttributes(const Graph& graph, const Node& node) {
  const OpSchema* schema = FindSchema(Rules().schemas, node.domain, node.op_type, graph.Opset(node.domain));
  std::vector<std::string> shown;
  for (const auto& [name, value] : node.attributes) {
    const auto known = schema->attributes.find(name);
    const bool usual = known != schema->attributes.end() && known->second.default_value &&
                       SameAttribute(*known->second.default_value, value);
    if (!usual) shown.push_back(name + "=" + ToString(value));
  }
  return shown.empty() ? "" : "<" + Join(shown, ", ") + ">";
}

std::string ShowValue(const Graph& graph, ValueId id) {
  if (id == kNoValue) return "-";
  if (const Tensor* constant = graph.Constant(id)) return ShowConstant(*constant);
  const Node* node = graph.Producer(id);
  if (node == nullptr) return graph.value(id).name;
  std::vector<std::string> inputs;
  for (const ValueId input : node->inputs) inputs.push_back(ShowValue(graph, input));
  const std::string slot = graph.value(id).producer_slot > 0 ? "." + std::to_string(graph.value(id).producer_slot) : "";
  return node->op_type + slot + ShowAttributes(graph, *node) + "(" + Join(inputs, ", ") + ")";
}

}  // namespace

std::string Show(const Graph& graph) {
  std::vector<std::string> outputs;
  for (const ValueId id : graph.outputs()) outputs.push_back(graph.value(id).name + " = " + ShowValue(graph, id));
  return Join(outputs, "; ");
}

std::string Zeros(const std::string& type, const std::vector<int64_t>& dims, const std::string& name) {
  std::vector<std::string> sizes;
  for (const int64_t size : dims) sizes.push_back(std::to_string(size));
  const std::vector<std::string> zeros(static_cast<size_t>(*ElementCount(dims)), "0");
  return type + "[" + Join(sizes, ",") + "] " + name + " = {" + Join(zeros, ", ") + "}";
}

Model ParseGraph(const std::string& text, int opset) {
  auto model = ParseModelText(text, {{"", opset}, {"com.microsoft", 1}}, Rules().schemas);
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : ToString(model.error()));
  return std::move(model).value();
}

Result<PassResult> RunOn(const std::string& pass, Model& model, const PassRun& run) {
  Platform platform;
  platform.facts = {{"nchwc_block", run.block}, {"fp16_vector", run.fp16 ? 1 : 0}};
  Target target;
  target.platform = &platform;
  PassScope scope;
  scope.graph = model.graph.get();
  scope.rules = &Rules();
  scope.target = &target;
  scope.table = TableOf(pass);
  if (!run.provider.empty()) {
    scope.providers = {run.provider};
    Assign(*model.graph, run.provider);
  }
  RULERUN_ASSIGN(PassResult result, FindPass(pass)(scope));
  if (result.modified) RULERUN_RETURN_IF_ERROR(Resolve(*model.graph, Rules().schemas));
  return result;
}

std::string Run(const std::string& pass, const std::string& text, const PassRun& run) {
  Model model = ParseGraph(text, run.opset);
  const auto result = RunOn(pass, model, run);
  return result.ok() ? Show(*model.graph) : "error: " + ToString(result.error());
}

}  // namespace rulerun
