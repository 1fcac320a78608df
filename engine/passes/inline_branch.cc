#include "engine/passes/inline_branch.h"

#include <map>
#include <set>

#include "engine/base/codes.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

Error CannotInline(const std::string& why) { return {Code::kKernelLimit, why, "", ""}; }

// Old name -> new name of values that move from a branch into the graph around it.
using Renames = std::map<std::string, std::string, std::less<>>;

// Makes the subgraphs of a node that moved read the new names.
void RenameOuterReads(Graph& graph, const Renames& renames) {
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    if (graph.node(index) == nullptr) continue;
    for (Graph* subgraph : graph.Subgraphs(*graph.node(index))) RenameOuterReads(*subgraph, renames);
  }
  // All at once: a new name may be another's old one.
  std::vector<std::pair<Use, std::string>> changes;
  for (ValueId id = 0; id < static_cast<ValueId>(graph.value_count()); ++id) {
    const auto renamed = renames.find(graph.value(id).name);
    if (renamed == renames.end() || !graph.FromOuterScope(id)) continue;
    for (const Use& use : graph.value(id).uses) changes.emplace_back(use, renamed->second);
  }
  for (const auto& [use, name] : changes) {
    const bool is_explicit = static_cast<size_t>(use.slot) < graph.node(use.node)->inputs.size();
    if (is_explicit) graph.SetInput(use.node, use.slot, graph.FindOrAddValue(name));
  }
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    if (graph.node(index) != nullptr) graph.RefreshImplicit(index);
  }
}

class BranchInliner {
 public:
  BranchInliner(Graph& graph, Graph& branch, std::string prefix)
      : graph_(graph), branch_(branch), prefix_(std::move(prefix)), moved_(branch.value_count(), kNoValue) {}

  // What the branch gives as output `i` becomes value `results[i]`.
  void BindResults(const std::vector<ValueId>& results) {
    for (size_t i = 0; i < branch_.outputs().size() && i < results.size(); ++i) {
      if (results[i] != kNoValue) Bind(branch_.outputs()[i], results[i]);
    }
  }

  void MoveInitializers() {
    for (ValueId id = 0; id < static_cast<ValueId>(branch_.value_count()); ++id) {
      const Value& value = branch_.value(id);
      if (!value.initializer) continue;
      if (At(id) == kNoValue) Bind(id, graph_.AddValue(graph_.UniqueValueName(prefix_ + "_" + value.name), value.type));
      graph_.AddInitializer(graph_.value(At(id)).name, *value.initializer);
    }
  }

  std::vector<std::string> MoveNodes(const std::vector<std::string>& origins) {
    std::vector<std::string> names;
    for (const NodeIndex index : TopologicalOrder(branch_)) {
      Node node = *branch_.node(index);
      for (ValueId& input : node.inputs) input = Moved(input);
      for (ValueId& output : node.outputs) output = Moved(output);
      while (!node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();
      while (!node.outputs.empty() && node.outputs.back() == kNoValue) node.outputs.pop_back();
      for (Graph* subgraph : branch_.Subgraphs(node)) RenameOuterReads(*subgraph, renames_);
      node.name = graph_.UniqueNodeName(prefix_ + "_" + node.op_type);
      std::vector<std::string> all = origins;
      AddOrigins(node.origins, all);
      node.origins = std::move(all);
      names.push_back(node.name);
      graph_.AddNode(std::move(node));
    }
    return names;
  }

 private:
  ValueId At(ValueId id) const { return moved_[static_cast<size_t>(id)]; }

  void Bind(ValueId id, ValueId to) {
    moved_[static_cast<size_t>(id)] = to;
    renames_[branch_.value(id).name] = graph_.value(to).name;
  }

  // The value of the graph for a value of the branch; values from outside keep their names.
  ValueId Moved(ValueId id) {
    if (id == kNoValue) return kNoValue;
    if (At(id) != kNoValue) return At(id);
    const Value& value = branch_.value(id);
    if (branch_.FromOuterScope(id)) {
      moved_[static_cast<size_t>(id)] = graph_.FindOrAddValue(value.name);
    } else {
      Bind(id, graph_.AddValue(graph_.UniqueValueName(prefix_ + "_" + value.name), value.type));
    }
    return At(id);
  }

  Graph& graph_;
  Graph& branch_;
  const std::string prefix_;
  std::vector<ValueId> moved_;  // by value of the branch
  Renames renames_;
};

Status CheckResults(const Graph& branch) {
  std::set<ValueId> seen;
  for (const ValueId output : branch.outputs()) {
    const std::string name = "its output '" + branch.value(output).name + "'";
    if (!seen.insert(output).second) return CannotInline(name + " is given twice");
    if (branch.FromOuterScope(output)) return CannotInline(name + " comes from outside");
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> InlineBranch(Graph& graph, NodeIndex index, std::string_view branch_name) {
  const Node& node = *graph.node(index);
  const auto found = node.attributes.find(branch_name);
  const auto* held = found == node.attributes.end() ? nullptr : std::get_if<GraphRef>(&found->second);
  if (held == nullptr) return CannotInline("it has no branch '" + std::string(branch_name) + "'");
  const GraphRef branch = *held;  // outlives the node
  RULERUN_RETURN_IF_ERROR(CheckResults(*branch));
  const std::vector<ValueId> results = node.outputs;
  const std::vector<std::string> origins = node.origins;
  BranchInliner inliner(graph, *branch, graph.UniqueNodeName("_if_" + std::string(branch_name)));
  graph.RemoveNode(index);
  inliner.BindResults(results);
  inliner.MoveInitializers();
  return inliner.MoveNodes(origins);
}

}  // namespace rulerun
