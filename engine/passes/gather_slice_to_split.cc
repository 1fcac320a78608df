// Gathers and Slices that together take a value apart along one axis are one Split (inventory-fp32.md 4.6).
#include <algorithm>

#include "engine/graph/resolve.h"
#include "engine/passes/passes.h"
#include "engine/passes/table.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

struct Words {
  OpVersions gather;
  OpVersions slice;
  OpNames not_behind;  // results of these are left alone
  std::string split;
  std::string squeeze;
  std::string split_name;
  std::string sizes_name;
  std::string part_name;
  std::string axes_name;
};

// One consumer: what it takes, from `begin` to before `end`.
struct Part {
  NodeIndex node = kNoNode;
  int64_t axis = 0;
  int64_t begin = 0;
  int64_t end = 0;
  bool drops_axis = false;
};

class Splitter {
 public:
  Splitter(const PassScope& scope, Words words) : scope_(scope), words_(std::move(words)) {}

  Status Run(Graph& graph) {
    std::vector<ValueId> values;
    for (ValueId id = 0; id < static_cast<ValueId>(graph.value_count()); ++id) {
      const Value& value = graph.value(id);
      if ((value.graph_input || value.initializer) && value.uses.size() > 1) values.push_back(id);
    }
    for (const NodeIndex index : TopologicalOrder(graph)) {
      const Node& node = *graph.node(index);
      for (Graph* subgraph : graph.Subgraphs(node)) RULERUN_RETURN_IF_ERROR(Run(*subgraph));
      if (words_.not_behind.contains(node.Op()) || node.outputs.size() != 1 || node.outputs[0] == kNoValue) continue;
      if (graph.OutputEdgeCount(node) > 1) values.push_back(node.outputs[0]);
    }
    graph_ = &graph;
    for (const ValueId id : values) RULERUN_RETURN_IF_ERROR(Split(id));
    return {};
  }

  PassResult TakeResult() { return std::move(result_); }

 private:
  Status Split(ValueId id) {
    const auto& shape = graph_->TypeOf(id).shape;
    if (!shape) return {};
    std::vector<Part> parts;
    for (const Use& use : graph_->value(id).uses) {
      const Node& node = *graph_->node(use.node);
      if (use.slot != 0) continue;
      const bool gather = node.op_type == Type(words_.gather) && node.domain.empty();
      const bool slice = node.op_type == Type(words_.slice) && node.domain.empty();
      if (!gather && !slice) continue;
      const auto part = gather ? ReadGather(node, *shape) : ReadSlice(node, *shape);
      if (!part || !Serves(scope_, node.provider)) return {};
      parts.push_back(*part);
    }
    if (parts.size() < 2) return {};
    const Part named = parts.back();  // ONNX Runtime takes the consumer that was made last
    std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.begin < b.begin; });
    return Covers(parts, (*shape)[static_cast<size_t>(parts.front().axis)]) ? Replace(id, parts, named) : Status();
  }

  static std::string Type(const OpVersions& ops) { return ops.empty() ? "" : ops.begin()->first; }

  // Every element exactly once.
  static bool Covers(const std::vector<Part>& parts, const Dim& dim) {
    int64_t at = 0;
    for (const Part& part : parts) {
      if (part.axis != parts.front().axis || part.begin != at) return false;
      at = part.end;
    }
    return dim.known() && at == dim.size;
  }

  // A constant int64 of one element, no more than one dimension.
  std::optional<int64_t> Number(ValueId id) const {
    const Tensor* constant = graph_->Constant(id);
    if (constant == nullptr || constant->type() != DataType::kInt64 || constant->count() != 1) return std::nullopt;
    return constant->rank() > 1 ? std::nullopt : std::optional<int64_t>(ElementAsInt(*constant, 0));
  }

  static std::optional<int64_t> Axis(int64_t axis, const Shape& shape) {
    const auto rank = static_cast<int64_t>(shape.size());
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank || !shape[static_cast<size_t>(axis)].known()) return std::nullopt;
    return axis;
  }

  std::optional<Part> ReadGather(const Node& node, const Shape& shape) const {
    const auto axis = Axis(IntOr(node.attributes, "axis", 0), shape);
    auto index = Number(node.input(1));
    if (!Contains(words_.gather, node) || !axis || !index) return std::nullopt;
    const int64_t size = shape[static_cast<size_t>(*axis)].size;
    if (*index < 0) *index += size;
    if (*index < 0 || *index >= size) return std::nullopt;
    return Part{node.index, *axis, *index, *index + 1, graph_->Constant(node.input(1))->rank() == 0};
  }

  std::optional<Part> ReadSlice(const Node& node, const Shape& shape) const {
    const auto written = Number(node.input(3));
    auto begin = Number(node.input(1));
    auto end = Number(node.input(2));
    if (!Contains(words_.slice, node) || !written || !begin || !end) return std::nullopt;
    const auto axis = Axis(*written, shape);
    if (!axis || (node.input(4) != kNoValue && Number(node.input(4)) != 1)) return std::nullopt;
    const int64_t size = shape[static_cast<size_t>(*axis)].size;
    for (auto* bound : {&*begin, &*end}) *bound = std::clamp<int64_t>(*bound < 0 ? *bound + size : *bound, 0, size);
    if (*begin >= *end) return std::nullopt;
    return Part{node.index, *axis, *begin, *end, false};
  }

  Status Replace(ValueId id, const std::vector<Part>& parts, const Part& named) {
    const std::string name = graph_->node(named.node)->name;
    PassEvent event;
    event.what = "'" + graph_->value(id).name + "' is split once";
    Node split;
    split.op_type = words_.split;
    split.name = graph_->UniqueNodeName(Fill(words_.split_name, {{"node", name}}));
    split.provider = graph_->node(named.node)->provider;
    split.attributes["axis"] = parts.front().axis;
    std::vector<int64_t> sizes;
    std::vector<Node> squeezes;
    for (const Part& part : parts) {
      const Node& old = *graph_->node(part.node);
      AddOrigins(old.origins, event.sources);
      event.removed.push_back(NameOf(old));
      sizes.push_back(part.end - part.begin);
      ValueId output = old.output(0);
      graph_->RemoveNode(part.node);
      if (part.drops_axis) {
        const ValueId piece = graph_->AddValue(graph_->UniqueValueName(words_.part_name));
        Node squeeze;
        squeeze.op_type = words_.squeeze;
        squeeze.name = graph_->UniqueNodeName(words_.squeeze);
        squeeze.provider = split.provider;
        squeeze.inputs = {piece, AxesOf(part.axis)};
        squeeze.outputs = {output};
        squeezes.push_back(std::move(squeeze));
        output = piece;
      }
      split.outputs.push_back(output);
    }
    axes_ = kNoValue;
    split.inputs = {id,
                    graph_->AddInitializer(graph_->UniqueValueName(words_.sizes_name), Tensor::Vector<int64_t>(sizes))};
    RULERUN_RETURN_IF_ERROR(Add(std::move(split), event));
    for (Node& squeeze : squeezes) RULERUN_RETURN_IF_ERROR(Add(std::move(squeeze), event));
    result_.modified = true;
    result_.events.push_back(std::move(event));
    return {};
  }

  // The axes of the Squeezes of one Split.
  ValueId AxesOf(int64_t axis) {
    if (axes_ == kNoValue) {
      axes_ = graph_->AddInitializer(graph_->UniqueValueName(words_.axes_name), Tensor::Vector<int64_t>({axis}));
    }
    return axes_;
  }

  Status Add(Node node, PassEvent& event) {
    node.origins = event.sources;
    event.created.push_back(node.name);
    const NodeIndex index = graph_->AddNode(std::move(node)).index;
    return ResolveNode(*graph_, index, scope_.rules->schemas);
  }

  const PassScope& scope_;
  const Words words_;
  Graph* graph_ = nullptr;
  ValueId axes_ = kNoValue;
  PassResult result_;
};

}  // namespace

Result<PassResult> GatherSliceToSplit(const PassScope& scope) {
  RULERUN_ASSIGN(const Table table, Table::Read(scope, "gather-slice-to-split"));
  RULERUN_ASSIGN(const Table names, table.Sub("names"));
  Words words;
  RULERUN_ASSIGN(words.gather, table.Versions("gather"));
  RULERUN_ASSIGN(words.slice, table.Versions("slice"));
  RULERUN_ASSIGN(words.not_behind, table.Ops("not_behind"));
  RULERUN_ASSIGN(words.split, table.Text("split"));
  RULERUN_ASSIGN(words.squeeze, table.Text("squeeze"));
  RULERUN_ASSIGN(words.split_name, names.Text("split"));
  RULERUN_ASSIGN(words.sizes_name, names.Text("sizes"));
  RULERUN_ASSIGN(words.part_name, names.Text("part"));
  RULERUN_ASSIGN(words.axes_name, names.Text("axes"));
  Splitter splitter(scope, std::move(words));
  RULERUN_RETURN_IF_ERROR(splitter.Run(*scope.graph));
  RefreshOuterReads(*scope.graph);
  return splitter.TakeResult();
}

}  // namespace rulerun
