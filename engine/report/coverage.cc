#include "engine/report/coverage.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "engine/pipeline/pipeline.h"
#include "engine/report/user_names.h"

namespace rulerun {
namespace {

void Count(const NodeFate& fate, OpCoverage& row) {
  ++row.count;
  switch (fate.fate) {
    case Fate::kInt8:
      ++row.int8;
      ++row.into[fate.into];
      break;
    case Fate::kMoved:
    case Fate::kDqDropped:
      ++row.moved;
      ++row.into[fate.into];
      break;
    case Fate::kFloat:
      ++row.in_float;
      if (fate.into != fate.node.op) ++row.float_into[fate.into];
      ++row.reasons[fate.reason.Short()];
      break;
    case Fate::kFused:
      ++row.in_float;
      ++row.reasons["part of " + fate.into + ", " + fate.reason.Short()];
      break;
    case Fate::kRemoved:
      ++row.gone;
      ++row.removers[fate.rule];
      break;
    case Fate::kConversion:
    case Fate::kOther:
      ++row.other;
      break;
  }
}

// What the measured fate is called as a group; "" where it says nothing about groups.
std::string MeasuredGroup(const NodeFate& fate) {
  switch (fate.fate) {
    case Fate::kInt8:
      return std::string(Name(Group::kReplace));
    case Fate::kMoved:
      return std::string(Name(Group::kDropQdq));
    case Fate::kDqDropped:
      return std::string(Name(Group::kDropDq));
    case Fate::kFloat:
      return fate.reason.kind == Reason::Kind::kRefused ? "float" : "";
    case Fate::kFused:
    case Fate::kRemoved:
    case Fate::kConversion:
    case Fate::kOther:
      break;
  }
  return "";
}

void CountMismatches(const std::vector<NodeFate>& fates, std::map<std::string, OpCoverage>& rows) {
  for (const NodeFate& fate : fates) {
    if (fate.node.quantizer || !fate.node.floating) continue;
    OpCoverage& row = rows.at(fate.node.op);
    const std::string measured = MeasuredGroup(fate);
    if (measured.empty() || row.group.find(measured) != std::string::npos) continue;
    ++row.mismatches[measured == "float" ? measured : std::string(Words(fate.fate))];
  }
}

void CountShares(const std::vector<NodeFate>& fates, Coverage& coverage) {
  for (const NodeFate& fate : fates) {
    if (fate.node.quantizer) continue;
    const bool on_int8 = fate.fate == Fate::kInt8 || fate.fate == Fate::kMoved || fate.fate == Fate::kDqDropped;
    if (!on_int8 && fate.fate != Fate::kFloat && fate.fate != Fate::kFused) continue;
    ++(on_int8 ? coverage.nodes.int8 : coverage.nodes.in_float);
    if (!fate.node.macs) ++coverage.macs.unknown;
    (on_int8 ? coverage.macs.int8 : coverage.macs.in_float) += fate.node.macs.value_or(0);
  }
}

void CountOps(const RuleSet& rules, Coverage& coverage) {
  std::map<std::string, OpCoverage> rows;
  for (const NodeFate& fate : coverage.fates.nodes) {
    if (fate.node.quantizer) continue;
    OpCoverage& row = rows[fate.node.op];
    if (row.count == 0) row.op = fate.node.op;
    Count(fate, row);
  }
  for (auto& [op, row] : rows) row.group = RulesFor(rules, op).Group();
  CountMismatches(coverage.fates.nodes, rows);
  for (auto& [op, row] : rows) coverage.ops.push_back(std::move(row));
  std::stable_sort(coverage.ops.begin(), coverage.ops.end(),
                   [](const OpCoverage& a, const OpCoverage& b) { return a.count > b.count; });
}

void CountQuantizers(const Graph& graph, const RuleSet& rules, std::map<std::string, ConversionCount>& counts) {
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    const Node* node = graph.node(index);
    if (node == nullptr) continue;
    if (IsQuantizer(rules, node->Op())) ++counts[node->Op()].after;
    for (const Graph* subgraph : graph.Subgraphs(*node)) CountQuantizers(*subgraph, rules, counts);
  }
}

void CountConversions(const Graph& graph, const RuleSet& rules, Coverage& coverage) {
  std::map<std::string, ConversionCount> counts;
  for (const NodeFate& fate : coverage.fates.nodes) {
    if (fate.node.quantizer) ++counts[fate.node.op].before;
  }
  CountQuantizers(graph, rules, counts);
  for (auto& [op, count] : counts) {
    count.op = op;
    coverage.conversions.push_back(count);
  }
  for (const InsertedNode& node : coverage.fates.inserted) {
    if (!IsQuantizer(rules, node.op)) ++coverage.inserted[node.op];
  }
}

}  // namespace

bool IsByDesign(const FaultHit& hit) { return hit.effect == "rounding"; }

std::vector<FaultHit> FaultsOf(const TraceEntry& entry) {
  std::vector<FaultHit> hits;
  for (const Fault& fault : entry.faults) {
    hits.push_back({entry.sources.empty() ? entry.node : entry.sources.front(),
                    entry.op,
                    entry.rule.empty() ? entry.stage : entry.rule,
                    fault.id,
                    fault.effect,
                    fault.note,
                    fault.where.ToString(),
                    fault.link,
                    {}});
  }
  return hits;
}

std::vector<FaultHit> FaultsIn(const Trace& trace, const std::vector<OriginalNode>& original) {
  std::map<std::string, std::string> ops;
  std::map<std::string, std::vector<std::string>> beside;
  for (const OriginalNode& node : original) {
    ops.emplace(node.name, node.op);
    for (const std::string& quantizer : node.quantizers) beside[quantizer].push_back(node.name + " (" + node.op + ")");
  }
  std::vector<FaultHit> hits;
  std::set<std::tuple<std::string, std::string, std::string>> told;
  for (const TraceEntry& entry : trace) {
    for (FaultHit& hit : FaultsOf(entry)) {
      if (hit.op.empty()) hit.op = ops[hit.node];
      if (const auto found = beside.find(hit.node); found != beside.end()) hit.beside = found->second;
      if (told.emplace(hit.node, hit.rule, hit.id).second) hits.push_back(std::move(hit));
    }
  }
  return hits;
}

Result<Coverage> MeasureCoverage(Model& model, const RuleSet& rules, const Target& target,
                                 const KernelRegistry& kernels, Trace* trace, const MacTable* macs) {
  Trace own;
  Trace& said = trace != nullptr ? *trace : own;
  MarkOrigins(*model.graph);
  const std::vector<OriginalNode> original = ListNodes(*model.graph, rules, macs);
  const Status done = RunPipeline(model, rules, target, kernels, &said);
  NameAsInTheModel(said);
  if (!done.ok()) return done.error();
  Coverage coverage;
  coverage.model = model.path;
  coverage.rules = rules.version.empty() ? rules.id : rules.id + " " + rules.version;
  coverage.level = Name(target.level);
  coverage.provider = target.provider;
  coverage.platform = target.platform == nullptr ? "" : target.platform->name;
  coverage.fates = FindFates(original, *model.graph, said, rules, target);
  CountOps(rules, coverage);
  CountShares(coverage.fates.nodes, coverage);
  CountConversions(*model.graph, rules, coverage);
  coverage.boundary = BoundaryOf(*model.graph, rules);
  coverage.rule_use = UseOfRules(said, rules);
  for (FaultHit& hit : FaultsIn(said, original)) {
    (IsByDesign(hit) ? coverage.by_design : coverage.faults).push_back(std::move(hit));
  }
  return coverage;
}

}  // namespace rulerun
