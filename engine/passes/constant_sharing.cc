#include <map>
#include <unordered_map>

#include "engine/passes/passes.h"
#include "engine/passes/table.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

class Sharer {
 public:
  Sharer(Graph& graph, std::set<DataType> types, int64_t most) : graph_(graph), types_(std::move(types)), most_(most) {}

  PassResult Run() {
    for (const ValueId id : Candidates()) Share(id);
    return std::move(result_);
  }

 private:
  // In the order of ONNX Runtime's own table of initializers, a hash map of this very type: the first of equal
  // constants is the one that stays, so that names agree as long as no initializer was removed before.
  std::vector<ValueId> Candidates() const {
    std::unordered_map<std::string, ValueId> by_name;
    for (ValueId id = 0; id < static_cast<ValueId>(graph_.value_count()); ++id) {
      if (graph_.value(id).initializer) by_name.emplace(graph_.value(id).name, id);
    }
    std::vector<ValueId> candidates;
    for (const auto& [name, id] : by_name) {
      if (Sharable(id)) candidates.push_back(id);
    }
    return candidates;
  }

  bool Sharable(ValueId id) const {
    const Tensor* tensor = graph_.LocalConstant(id);
    const Value& value = graph_.value(id);
    if (tensor == nullptr || value.graph_output || value.uses.empty() || graph_.UsedBySubgraph(id)) return false;
    return types_.contains(tensor->type()) && tensor->count() >= 1 && tensor->count() <= most_;
  }

  void Share(ValueId id) {
    const Tensor& tensor = *graph_.LocalConstant(id);
    std::vector<ValueId>& alike = kept_[{tensor.type(), tensor.dims()}];
    for (const ValueId kept : alike) {
      if (!SameContent(*graph_.LocalConstant(kept), tensor)) continue;
      Replace(id, kept);
      return;
    }
    alike.push_back(id);
  }

  void Replace(ValueId id, ValueId kept) {
    PassEvent event;
    event.what = "'" + graph_.value(id).name + "' equals '" + graph_.value(kept).name + "'";
    event.removed = {graph_.value(id).name};
    for (const Use& use : graph_.value(id).uses) AddOrigins(graph_.node(use.node)->origins, event.sources);
    graph_.ReplaceUses(id, kept);
    graph_.value(id).initializer.reset();
    result_.modified = true;
    result_.events.push_back(std::move(event));
  }

  Graph& graph_;
  const std::set<DataType> types_;
  const int64_t most_;
  std::map<std::pair<DataType, Dims>, std::vector<ValueId>> kept_;
  PassResult result_;
};

}  // namespace

// Not in subgraphs, as ONNX Runtime.
Result<PassResult> ConstantSharing(const PassScope& scope) {
  RULERUN_ASSIGN(const Table table, Table::Read(scope, "constant-sharing"));
  RULERUN_ASSIGN(std::set<DataType> types, table.Types("types"));
  RULERUN_ASSIGN(const int64_t most, table.Int("max_elements"));
  return Sharer(*scope.graph, std::move(types), most).Run();
}

}  // namespace rulerun
