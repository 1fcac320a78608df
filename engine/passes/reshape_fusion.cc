// A shape that is put together from sizes of the very tensor it reshapes (inventory-fp32.md 2.7, part A).
#include <algorithm>
#include <climits>

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
  OpVersions squeeze;
  OpVersions slice;
  OpVersions binary;  // of two numbers one
  OpVersions add;     // a linear layer: a product with a square matrix, and its bias
  OpVersions matmul;
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
    if (const Tensor* constant = graph_->LocalConstant(part)) {
      if (constant->type() != DataType::kInt64 && constant->type() != DataType::kInt32) return false;
      for (const int64_t size : ToInts(*constant)) sizes.push_back(size);
      return true;
    }
    if (IsSizeOf(data, part, static_cast<int64_t>(sizes.size()))) {
      sizes.push_back(0);
      return true;
    }
    if (!IsOneNumber(data, part)) return false;
    sizes.push_back(-1);
    return true;
  }

  // --- one number that is not known, but there is one only

  bool IsOneNumber(ValueId data, ValueId part) const {
    if (HasOneElement(part)) return true;
    const Node* unsqueeze = graph_->Producer(part);
    if (unsqueeze == nullptr || !Contains(words_.unsqueeze, *unsqueeze) || !AddsFront(*unsqueeze)) return false;
    const Node* maker = graph_->Producer(unsqueeze->input(0));
    if (maker != nullptr && Contains(words_.gather, *maker)) {
      const Node* shape = graph_->Producer(maker->input(0));
      if (shape != nullptr && IsWholeShape(*shape) && HasOneElement(maker->input(1))) return true;
    }
    if (maker == nullptr || !Contains(words_.binary, *maker)) return IsOneSize(data, unsqueeze->input(0));
    return std::all_of(maker->inputs.begin(), maker->inputs.end(),
                       [&](ValueId input) { return IsOneSize(data, input); });
  }

  bool HasOneElement(ValueId id) const {
    const auto dims = Static(graph_->TypeOf(id).shape);
    return dims && ElementCount(*dims) == 1;
  }

  // A number, or one size of the data that Slice, by attributes, and Squeeze take out of its shape.
  bool IsOneSize(ValueId data, ValueId id) const {
    if (HasOneElement(id)) return true;
    const Node* squeeze = graph_->Producer(id);
    if (squeeze == nullptr || !Contains(words_.squeeze, *squeeze)) return false;
    const Node* slice = graph_->Producer(squeeze->input(0));
    if (slice == nullptr || !Contains(words_.slice, *slice)) return false;
    const Node* shape = graph_->Producer(slice->input(0));
    if (shape == nullptr || !Contains(words_.shape, *shape) || shape->input(0) != data) return false;
    const std::vector<int64_t> starts = IntsOr(slice->attributes, "starts", {});
    const std::vector<int64_t> ends = IntsOr(slice->attributes, "ends", {});
    if (starts.size() != 1 || ends.size() != 1) return false;
    return (starts[0] == -1 && ends[0] >= INT_MAX) || ends[0] - starts[0] == 1 || starts[0] - ends[0] == 1;
  }

  bool IsWholeShape(const Node& shape) const {
    return Contains(words_.shape, shape) && IntOr(shape.attributes, "start", 0) == 0 &&
           IntOr(shape.attributes, "end", INT64_MAX) == INT64_MAX;
  }

  // --- a size of the data itself

  // part = Unsqueeze<[0]>(Gather(Shape(source), axis)), the source having the data's size there.
  bool IsSizeOf(ValueId data, ValueId part, int64_t axis) const {
    const Node* unsqueeze = graph_->Producer(part);
    if (unsqueeze == nullptr || !Contains(words_.unsqueeze, *unsqueeze) || !AddsFront(*unsqueeze)) return false;
    const Node* gather = graph_->Producer(unsqueeze->input(0));
    if (gather == nullptr || !Contains(words_.gather, *gather)) return false;
    // ONNX Runtime takes an initializer of this very graph, also one that a caller may override.
    const auto& index = graph_->value(gather->input(1)).initializer;
    if (!index || !IsScalar(*graph_, gather->input(1)) || ElementAsInt(*index, 0) != axis) return false;
    const Node* shape = graph_->Producer(gather->input(0));
    return shape != nullptr && IsWholeShape(*shape) && SameSize(data, shape->input(0), axis);
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
    if (a && b && place < a->size() && place < b->size() && (*a)[place].Equals((*b)[place])) return true;
    const Node* root = graph_->Producer(source);
    return root != nullptr && IsLinear(data, *root);
  }

  // data = root * W + bias, W a square matrix: DistilBERT's projections, where no shape is known.
  bool IsLinear(ValueId data, const Node& root) const {
    const Node* add = graph_->Producer(data);
    if (add == nullptr || !Contains(words_.add, *add)) return false;
    const Node* matmul = graph_->Producer(add->input(0));
    if (matmul == nullptr || !Contains(words_.matmul, *matmul)) return false;
    const Node* before = graph_->Producer(matmul->input(0));
    if (before != nullptr && before->index != root.index) return false;
    if (graph_->Initializer(add->input(1)) == nullptr) return false;
    const auto bias = Static(graph_->TypeOf(add->input(1)).shape);
    const auto weight = Static(graph_->TypeOf(matmul->input(1)).shape);
    return bias && weight && bias->size() == 1 && *weight == Dims{bias->front(), bias->front()};
  }

  void MakeConstant(const Node& concat, const Node& reshape, const std::vector<int64_t>& sizes) {
    PassEvent event;
    event.what = "the shape of '" + NameOf(reshape) + "' is constant";
    event.sources = reshape.origins;
    AddOrigins(concat.origins, event.sources);
    event.removed = {NameOf(concat)};
    const ValueId shape = concat.output(0);
    for (const ValueId part : concat.inputs) {
      if (const Node* parent = graph_->Producer(part)) PruneUp(*graph_, parent->index, event.removed);
    }
    graph_->RemoveNode(concat.index);
    graph_->value(shape).initializer = Tensor::Vector<int64_t>(sizes);
    graph_->value(shape).type = {DataType::kInt64, Shape{{static_cast<int64_t>(sizes.size()), ""}}, ""};
    graph_->MarkModified();
    result_.modified = true;
    result_.changed.emplace(graph_, reshape.index);
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
  RULERUN_ASSIGN(words.squeeze, table.Versions("squeeze"));
  RULERUN_ASSIGN(words.slice, table.Versions("slice"));
  RULERUN_ASSIGN(words.binary, table.Versions("binary"));
  RULERUN_ASSIGN(words.add, table.Versions("add"));
  RULERUN_ASSIGN(words.matmul, table.Versions("matmul"));
  RULERUN_ASSIGN(words.keep_batch, table.Versions("keep_batch"));
  Fuser fuser(scope, std::move(words));
  fuser.Run(*scope.graph);
  RefreshOuterReads(*scope.graph);
  return fuser.TakeResult();
}

}  // namespace rulerun
