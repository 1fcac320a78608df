#include "engine/passes/layout/channels_last.h"

#include <algorithm>

#include "engine/base/codes.h"
#include "engine/passes/layout/push.h"
#include "engine/passes/layout/table_reader.h"
#include "engine/passes/layout/transpose_optimizer.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

struct Row {
  std::vector<DataType> types;  // of input 0
  std::string becomes;
  std::string flag;  // "": none
  AttributeMap attributes;
  std::vector<size_t> also_inputs;
  std::string needs;
};

struct ChannelsLastTable {
  std::vector<std::pair<std::string, Row>> rows;
  std::string then;
};

Result<ChannelsLastTable> ReadTable(const Yaml* yaml) {
  TableReader reader(yaml, "channels-last");
  if (!reader.ok()) return reader.Take();
  ChannelsLastTable table;
  reader.CheckKeys(*yaml, {"pass", "then", "rows"});
  table.then = reader.Text(*yaml, "then");
  for (const Yaml* item : reader.Rows(*yaml, "rows")) {
    if (!reader.CheckKeys(*item, {"op", "type", "becomes", "flag", "attributes", "also_inputs", "needs"})) continue;
    Row row;
    row.types = reader.Types(*item, "type");
    row.becomes = reader.Text(*item, "becomes");
    row.flag = reader.TextOr(*item, "flag", "");
    row.attributes = reader.Attributes(*item, "attributes");
    for (const int64_t slot : reader.Ints(*item, "also_inputs")) row.also_inputs.push_back(static_cast<size_t>(slot));
    row.needs = reader.TextOr(*item, "needs", "");
    table.rows.emplace_back(reader.Text(*item, "op"), std::move(row));
  }
  if (!reader.ok()) return reader.Take();
  return table;
}

// The table that the rule set has for a pass.
const Yaml* FindTable(const RuleSet& rules, const std::string& pass) {
  for (const auto& [path, table] : rules.tables) {
    const Yaml* name = table.Get("pass");
    if (name != nullptr && name->scalar == pass) return &table;
  }
  return nullptr;
}

class ChannelsLast {
 public:
  ChannelsLast(const PassScope& scope, const ChannelsLastTable& table, const TransposeTable& transposes)
      : scope_(scope), table_(table), transposes_(transposes) {
    provider_ = scope.providers.empty() ? scope.target->provider : scope.providers.front();
  }

  // The value is whether this graph itself was changed.
  bool Run(Graph& graph, std::vector<PassEvent>& events) {
    for (Graph* subgraph : SubgraphsInOrder(graph)) {
      Run(*subgraph, events);
      graph.RefreshImplicit(subgraph->parent_node());
    }
    Editor edit(graph, scope_.rules->schemas, provider_);
    bool changed = false;
    for (const NodeIndex index : TopologicalOrder(graph)) {
      const Node& node = *graph.node(index);
      const Row* row = RowOf(edit, node);
      if (row == nullptr) continue;
      edit.SetSources(node.origins);
      std::string what = "made '" + NameOf(node) + "' channels-last";
      Convert(edit, index, *row);
      events.push_back(edit.TakeEvent(std::move(what)));
      changed = true;
    }
    if (changed) OptimizeTransposes(edit, transposes_, provider_, events);
    return changed;
  }

 private:
  const Row* RowOf(const Editor& edit, const Node& node) const {
    if (node.provider != provider_ || node.inputs.empty()) return nullptr;
    const auto rank = edit.RankOf(node.inputs[0]);
    if (!rank || *rank < 2) return nullptr;
    const DataType type = edit.TypeOf(node.inputs[0]);
    for (const auto& [op, row] : table_.rows) {
      if (op == node.Op() && std::find(row.types.begin(), row.types.end(), type) != row.types.end() &&
          Fits(node, row)) {
        return &row;
      }
    }
    return nullptr;
  }

  bool Fits(const Node& node, const Row& row) const {
    if (!row.flag.empty() && IntOr(node.attributes, row.flag, 0) == 1) return false;
    if (!row.needs.empty() && scope_.target->Lookup(row.needs).value_or(0) == 0) return false;
    return std::all_of(row.attributes.begin(), row.attributes.end(), [&](const auto& wanted) {
      const auto has = node.attributes.find(wanted.first);
      return has == node.attributes.end() || AttributeFits(has->second, wanted.second);
    });
  }

  // The same, or a list whose first two are the same.
  static bool AttributeFits(const Attribute& has, const Attribute& wanted) {
    const auto* list = std::get_if<std::vector<int64_t>>(&has);
    const auto* one = std::get_if<int64_t>(&wanted);
    if (list == nullptr || one == nullptr) return SameAttribute(has, wanted);
    const auto end = list->begin() + std::min<std::ptrdiff_t>(2, std::ssize(*list));
    return std::all_of(list->begin(), end, [&](int64_t value) { return value == *one; });
  }

  void Convert(Editor& edit, NodeIndex index, const Row& row) const {
    const Transposer transposer(edit, transposes_);
    if (!row.flag.empty()) edit.SetAttribute(index, row.flag, int64_t{1});
    const size_t rank = *edit.RankOf(edit.node(index).input(0));
    transposer.TransposeInput(index, 0, ChannelsFirstToLast(rank));
    for (const size_t slot : row.also_inputs) transposer.TransposeInput(index, slot, ChannelsFirstToLast(rank));
    transposer.TransposeOutput(index, 0, ChannelsLastToFirst(rank));
    if (edit.node(index).Op() != row.becomes) edit.ReplaceNode(index, row.becomes);
  }

  const PassScope& scope_;
  const ChannelsLastTable& table_;
  const TransposeTable& transposes_;
  std::string provider_;
};

}  // namespace

Result<PassResult> RunChannelsLast(const PassScope& scope) {
  RULERUN_ASSIGN(const ChannelsLastTable table, ReadTable(scope.table));
  const Yaml* then = FindTable(*scope.rules, table.then);
  if (then == nullptr) {
    return Error{Code::kBadTable, "the rule set has no table of the pass '" + table.then + "'",
                 scope.table->where.ToString(), "Name one in a stage with 'pass: " + table.then + "'."};
  }
  RULERUN_ASSIGN(const TransposeTable transposes, ReadTransposeTable(then));
  PassResult result;
  result.modified = ChannelsLast(scope, table, transposes).Run(*scope.graph, result.events);
  return result;
}

}  // namespace rulerun
