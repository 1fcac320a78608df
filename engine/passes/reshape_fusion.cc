// A shape that is put together from sizes of the very tensor it reshapes (inventory-fp32.md 2.7, part A).
#include <algorithm>

#include "engine/passes/passes.h"
#include "engine/passes/table.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

struct Words {
  OpVersions reshape;
  OpVersions concat;
  OpVersions unsqueeze;
  OpVersions gather;
  OpVersions shape;
  OpVersions keep_batch;  // their result has the first size of what they read
};

class Fuser {
 public:
  Fuser(const PassScope& scope, Words words) : scope_(scope), words_(std::move(words)) {}

  void Run(Graph& graph) {
    graph_ = &graph;
    for (const NodeIndex index : TopologicalOrder(graph)) {
      const Node* node = graph.node(index);
      if (node == nullptr) continue;
      for (Graph* subgraph : graph.Subgraphs(*node)) {
        Run(*subgraph);
        graph_ = &graph;
      }
      if (Contains(words_.reshape, *node) && Serves(scope_, node->provider)) Fuse(*node);
    }
  }

  PassResult TakeResult() { return std::move(result_); }

 private:
  void Fuse(const Node& reshape) {
    if (IntOr(reshape.attributes, "allowzero", 0) == 1) return;
    const Node* concat = graph_->Producer(reshape.input(1));
    if (concat == nullptr || !Contains(words_.concat, *concat) || !Lone(*graph_, *concat, 1)) return;
    std::vector<int64_t> sizes;
    for (const ValueId part : concat->inputs) {
      if (!Append(reshape.input(0), part, sizes)) return;
    }
    if (std::count(sizes.begin(), sizes.end(), -1) > 1) return;
    MakeConstant(*concat, reshape, sizes);
  }

  // The sizes that one part of the shape stands for: 0 where it is that of the data, -1 for one that is not known.
  bool Append(ValueId data, ValueId part, std::vector<int64_t>& sizes) const {
    if (const Tensor* constant = graph_->Constant(part)) {
      if (constant->type() != DataType::kInt64 && constant->type() != DataType::kInt32) return false;
      for (const int64_t size : ToInts(*constant)) sizes.push_back(size);
      return true;
    }
    if (IsSizeOf(data, part, static_cast<int64_t>(sizes.size()))) {
      sizes.push_back(0);
      return true;
    }
    const auto dims = Static(graph_->TypeOf(part).shape);
    if (!dims || ElementCount(*dims) != 1) return false;
    sizes.push_back(-1);
    return true;
  }

  // part = Unsqueeze<[0]>(Gather(Shape(source), axis)), the source having the data's size there.
  bool IsSizeOf(ValueId data, ValueId part, int64_t axis) const {
    const Node* unsqueeze = graph_->Producer(part);
    if (unsqueeze == nullptr || !Contains(words_.unsqueeze, *unsqueeze) || !AddsFront(*unsqueeze)) return false;
    const Node* gather = graph_->Producer(unsqueeze->input(0));
    if (gather == nullptr || !Contains(words_.gather, *gather)) return false;
    const Tensor* index = graph_->Constant(gather->input(1));
    if (index == nullptr || index->count() != 1 || ElementAsInt(*index, 0) != axis) return false;
    const Node* shape = graph_->Producer(gather->input(0));
    if (shape == nullptr || !Contains(words_.shape, *shape)) return false;
    if (IntOr(shape->attributes, "start", 0) != 0 || shape->attributes.count("end") > 0) return false;
    return SameSize(data, shape->input(0), axis);
  }

  bool AddsFront(const Node& unsqueeze) const {
    std::vector<int64_t> axes = IntsOr(unsqueeze.attributes, "axes", {});
    if (const Tensor* constant = graph_->Constant(unsqueeze.input(1))) axes = ToInts(*constant);
    return axes == std::vector<int64_t>{0};
  }

  bool SameSize(ValueId data, ValueId source, int64_t axis) const {
    if (data == source) return true;
    const Node* producer = graph_->Producer(data);
    if (axis == 0 && producer != nullptr && Contains(words_.keep_batch, *producer) && producer->input(0) == source) {
      return true;
    }
    const auto& a = graph_->TypeOf(data).shape;
    const auto& b = graph_->TypeOf(source).shape;
    const auto place = static_cast<size_t>(axis);
    return a && b && place < a->size() && place < b->size() && (*a)[place].Equals((*b)[place]);
  }

  void MakeConstant(const Node& concat, const Node& reshape, const std::vector<int64_t>& sizes) {
    PassEvent event;
    event.what = "the shape of '" + CallOf(reshape) + "' is constant";
    event.sources = reshape.origins;
    AddOrigins(concat.origins, event.sources);
    event.removed = {CallOf(concat)};
    const ValueId shape = concat.output(0);
    std::vector<NodeIndex> parents;
    for (const ValueId part : concat.inputs) {
      if (const Node* parent = graph_->Producer(part)) parents.push_back(parent->index);
    }
    graph_->RemoveNode(concat.index);
    graph_->value(shape).initializer = Tensor::Vector<int64_t>(sizes);
    graph_->value(shape).type = {DataType::kInt64, Shape{{static_cast<int64_t>(sizes.size()), ""}}, ""};
    graph_->MarkModified();
    for (const NodeIndex parent : parents) {
      const Node* node = graph_->node(parent);
      if (node != nullptr && graph_->OutputEdgeCount(*node) == 0) PruneUp(*graph_, parent, event.removed);
    }
    result_.modified = true;
    result_.events.push_back(std::move(event));
  }

  const PassScope& scope_;
  const Words words_;
  Graph* graph_ = nullptr;
  PassResult result_;
};

}  // namespace

Result<PassResult> ReshapeFusion(const PassScope& scope) {
  RULERUN_ASSIGN(const Table table, Table::Read(scope, "reshape-fusion"));
  Words words;
  RULERUN_ASSIGN(words.reshape, table.Versions("reshape"));
  RULERUN_ASSIGN(words.concat, table.Versions("concat"));
  RULERUN_ASSIGN(words.unsqueeze, table.Versions("unsqueeze"));
  RULERUN_ASSIGN(words.gather, table.Versions("gather"));
  RULERUN_ASSIGN(words.shape, table.Versions("shape"));
  RULERUN_ASSIGN(words.keep_batch, table.Versions("keep_batch"));
  Fuser fuser(scope, std::move(words));
  fuser.Run(*scope.graph);
  RefreshOuterReads(*scope.graph);
  return fuser.TakeResult();
}

}  // namespace rulerun
