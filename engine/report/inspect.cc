#include "engine/report/inspect.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/graph/file_stats.h"
#include "engine/graph/load.h"
#include "engine/pipeline/pipeline.h"
#include "engine/report/canonical.h"

namespace rulerun {
namespace {

using Counts = std::map<std::string, int>;

void Count(const Graph& graph, Counts& counts) {
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    const Node* node = graph.node(index);
    if (node == nullptr) continue;
    ++counts[node->Op()];
    for (const Graph* subgraph : graph.Subgraphs(*node)) Count(*subgraph, counts);
  }
}

std::vector<OpCounts> Merge(const Counts& original, const std::array<Counts, kLevels.size()>& levels) {
  std::map<std::string, OpCounts> rows;
  for (const auto& [op, count] : original) rows[op].original = count;
  for (size_t i = 0; i < levels.size(); ++i) {
    for (const auto& [op, count] : levels[i]) rows[op].at[i] = count;
  }
  std::vector<OpCounts> sorted;
  for (auto& [op, row] : rows) {
    row.op = op;
    sorted.push_back(row);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const OpCounts& a, const OpCounts& b) { return a.original > b.original; });
  return sorted;
}

BoundaryValue Describe(const Value& value, bool is_input) {
  BoundaryValue described;
  described.name = value.name;
  described.is_input = is_input;
  described.type = value.type.other.empty() ? std::string(Name(value.type.element)) : "no tensor";
  described.shape = value.type.shape ? ToString(*value.type.shape) : "of unknown rank";
  described.dynamic = value.type.other.empty() && !Static(value.type.shape);
  return described;
}

std::vector<BoundaryValue> BoundaryOf(const Graph& graph) {
  std::vector<BoundaryValue> boundary;
  for (const ValueId id : graph.inputs()) {
    if (!graph.value(id).initializer) boundary.push_back(Describe(graph.value(id), true));
  }
  for (const ValueId id : graph.outputs()) boundary.push_back(Describe(graph.value(id), false));
  return boundary;
}

// Runs every level; a level at which ONNX Runtime refuses the model has no counts but the reason.
Status RunLevels(const Model& model, const RuleSet& rules, const Target& target, const KernelRegistry& kernels,
                 Inspection& inspection, std::array<Counts, kLevels.size()>& counts) {
  std::array<uint64_t, kLevels.size()> digests{};
  for (size_t i = 0; i < kLevels.size(); ++i) {
    Model copy = CloneModel(model);
    Target at = target;
    at.level = kLevels[i];
    Status status = RunPipeline(copy, rules, at, kernels, nullptr);
    if (!status.ok()) {
      if (status.error().kind != ErrorKind::kRefused) return status;
      inspection.refused[i] = ToString(status.error());
      continue;
    }
    Count(*copy.graph, counts[i]);
    digests[i] = Canonicalize(*copy.graph, rules.schemas).Digest();
  }
  inspection.layout_is_extended = digests[3] == digests[2];
  inspection.all_is_layout = digests[4] == digests[3];
  return {};
}

using nlohmann::ordered_json;

ordered_json AsJson(const OpCounts& row) {
  ordered_json json = {{"op", row.op}, {"original", row.original}};
  for (size_t i = 0; i < kLevels.size(); ++i) json[std::string(Name(kLevels[i]))] = row.at[i];
  return json;
}

ordered_json AsJson(const Inspection& inspection) {
  ordered_json json = {{"model", inspection.model},
                       {"rules", inspection.rules},
                       {"ep", inspection.provider},
                       {"platform", inspection.platform},
                       {"layout_is_extended", inspection.layout_is_extended},
                       {"all_is_layout", inspection.all_is_layout}};
  for (const char* list : {"ops", "constants", "inputs", "outputs"}) json[list] = ordered_json::array();
  for (const OpCounts& row : inspection.ops) json["ops"].push_back(AsJson(row));
  for (const ConstantGroup& group : inspection.constants) {
    json["constants"].push_back(
        {{"role", group.role}, {"types", group.types}, {"count", group.count}, {"shapes", group.shapes}});
  }
  for (const BoundaryValue& value : inspection.boundary) {
    json[value.is_input ? "inputs" : "outputs"].push_back(
        {{"name", value.name}, {"type", value.type}, {"shape", value.shape}, {"dynamic", value.dynamic}});
  }
  json["refused"] = ordered_json::object();
  for (size_t i = 0; i < kLevels.size(); ++i) {
    if (!inspection.refused[i].empty()) json["refused"][std::string(Name(kLevels[i]))] = inspection.refused[i];
  }
  json["bytes"] = {{"total", inspection.sizes.total},
                   {"initializers", inspection.sizes.initializers},
                   {"nodes", inspection.sizes.nodes},
                   {"node_metadata", inspection.sizes.metadata}};
  return json;
}

}  // namespace

Result<Inspection> Inspect(const std::string& path, const RuleSet& rules, const Target& target,
                           const KernelRegistry& kernels, const RoleWords& words) {
  Inspection inspection;
  inspection.model = path;
  inspection.rules = rules.version.empty() ? rules.id : rules.id + " " + rules.version;
  inspection.provider = target.provider;
  inspection.platform = target.platform == nullptr ? "" : target.platform->name;
  RULERUN_ASSIGN(const Model model, LoadModel(path, rules.schemas));
  RULERUN_ASSIGN(inspection.sizes, MeasureModel(path));
  RULERUN_ASSIGN(const Counts original, CountOperators(path));
  inspection.constants = GroupConstants(*model.graph, rules, words);
  inspection.boundary = BoundaryOf(*model.graph);
  std::array<Counts, kLevels.size()> counts;
  RULERUN_RETURN_IF_ERROR(RunLevels(model, rules, target, kernels, inspection, counts));
  inspection.ops = Merge(original, counts);
  return inspection;
}

std::string ToJson(const std::vector<Inspection>& inspections) {
  ordered_json json = {{"models", ordered_json::array()}};
  for (const Inspection& inspection : inspections) json["models"].push_back(AsJson(inspection));
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rulerun
