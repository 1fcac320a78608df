#include "engine/report/inspect.h"

#include <algorithm>
#include <optional>

#include "engine/base/text.h"
#include "engine/graph/file_stats.h"
#include "engine/graph/load.h"
#include "engine/report/canonical.h"
#include "engine/report/diff.h"
#include "engine/report/rule_ops.h"

namespace rulerun {
namespace {

const std::string kItself = "itself";

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

// What became of a node: another operator, or in a word.
std::string BecameText(const NodeFate& fate) {
  const bool itself = fate.into == fate.node.op;
  switch (fate.fate) {
    case Fate::kMoved:
      return (itself ? kItself : fate.into) + ", moved as int8";
    case Fate::kDqDropped:
      return (itself ? kItself : fate.into) + ", reads int8";
    case Fate::kFloat:
      return (itself ? kItself : fate.into) + ", float";
    case Fate::kFused:
      return "in " + fate.into + ", float";
    case Fate::kRemoved:
      return "gone";
    default:
      return itself ? kItself : fate.into;
  }
}

void CountOutcomes(const Fates& fates, size_t level, std::map<std::string, Outcome>& outcomes) {
  std::map<std::string, int> counts;
  for (const NodeFate& fate : fates.nodes) {
    if (fate.node.quantizer) continue;
    ++outcomes[fate.node.op].at[level][BecameText(fate)];
    ++counts[fate.node.op];
  }
  for (const auto& [op, count] : counts) outcomes[op].count = count;
}

std::vector<Outcome> Sorted(const RuleSet& rules, const std::map<std::string, Outcome>& outcomes) {
  std::vector<Outcome> sorted;
  for (const auto& [op, outcome] : outcomes) {
    sorted.push_back(outcome);
    sorted.back().op = op;
    sorted.back().group = RulesFor(rules, op).Group();
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const Outcome& a, const Outcome& b) { return a.count > b.count; });
  return sorted;
}

// Nodes of which something else becomes, with the first rule or pass that did it; then what is inserted.
std::vector<LayoutChange> ChangesBetween(const Rewriting& extended, const Rewriting& layout) {
  const Diff diff = Compare(extended, layout);
  std::map<std::string, std::string> causes;
  for (const NodeDiff& node : diff.nodes) {
    if (node.cause) causes[node.node.name] = node.cause->rule;
  }
  std::vector<LayoutChange> changes;
  for (size_t i = 0; i < extended.fates.nodes.size(); ++i) {
    const NodeFate& fate = extended.fates.nodes[i];
    LayoutChange change;
    change.extended = BecameText(fate);
    change.layout = BecameText(layout.fates.nodes[i]);
    if (fate.node.quantizer || change.extended == change.layout) continue;
    change.node = fate.node.name;
    change.op = fate.node.op;
    change.rule = causes[fate.node.name];
    changes.push_back(std::move(change));
  }
  for (const InsertedDiff& inserted : diff.inserted) {
    LayoutChange change;
    change.op = inserted.op;
    change.inserted = inserted.count[Side::kRight] - inserted.count[Side::kLeft];
    change.rule = inserted.rule;
    if (change.inserted != 0) changes.push_back(std::move(change));
  }
  return changes;
}

// Runs every level; a level at which ONNX Runtime refuses the model has no counts but the reason.
Status RunLevels(const Model& model, const RuleSet& rules, const Target& target, const KernelRegistry& kernels,
                 Inspection& inspection, std::array<Counts, kLevels.size()>& counts) {
  std::array<uint64_t, kLevels.size()> digests{};
  std::map<std::string, Outcome> outcomes;
  std::optional<Rewriting> extended;
  for (size_t i = 0; i < kLevels.size(); ++i) {
    Target at = target;
    at.level = kLevels[i];
    RULERUN_ASSIGN(Rewriting rewriting, RewriteModel(CloneModel(model), rules, at, kernels));
    inspection.refused[i] = rewriting.refused;
    if (rewriting.refused) continue;
    Count(*rewriting.model.graph, counts[i]);
    CountOutcomes(rewriting.fates, i, outcomes);
    digests[i] = Canonicalize(*rewriting.model.graph, rules.schemas).Digest();
    if (kLevels[i] == Level::kLayout && extended && digests[i] != digests[i - 1]) {
      inspection.layout_changes = ChangesBetween(*extended, rewriting);
    }
    if (kLevels[i] == Level::kExtended) extended = std::move(rewriting);
  }
  inspection.outcomes = Sorted(rules, outcomes);
  inspection.layout_is_extended = digests[3] == digests[2];
  inspection.all_is_layout = digests[4] == digests[3];
  return {};
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

}  // namespace rulerun
