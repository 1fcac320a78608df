#include <algorithm>
#include <optional>

#include "engine/base/codes.h"
#include "engine/passes/passes.h"
#include "engine/passes/table.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

constexpr int kToUnsigned = 128;
constexpr char kOneZeroPoint[] = "one-zero-point";  // of `faults`: one is made, and there are several scales

struct WeightSlots {
  int weight = 0;
  int zero_point = 0;
  std::optional<int> scale;  // where the table says which
};

struct Row {
  OpVersions ops;
  std::vector<WeightSlots> weights;
  bool all_zero_points = false;  // none may be omitted
};

struct WeightsTable {
  int64_t bound = 0;
  std::vector<Row> rows;
  std::string converted_name, zero_point_name;
  bool share = false;  // nodes may share a constant; otherwise that is an error
  PassFaults faults;
};

class Converter {
 public:
  Converter(const PassScope& scope, const WeightsTable& table) : scope_(scope), table_(table) {}

  Status Run(Graph& graph) {
    for (const NodeIndex index : TopologicalOrder(graph)) {
      const Node& node = *graph.node(index);
      for (Graph* subgraph : graph.Subgraphs(node)) RULERUN_RETURN_IF_ERROR(Run(*subgraph));
      if (!Serves(scope_, node.provider)) continue;
      const auto row = std::find_if(table_.rows.begin(), table_.rows.end(),
                                    [&](const Row& candidate) { return Contains(candidate.ops, node); });
      if (row == table_.rows.end() || !Applies(graph, node, *row)) continue;
      RULERUN_RETURN_IF_ERROR(Convert(graph, index, *row));
    }
    return {};
  }

  PassResult TakeResult() { return std::move(result_); }

 private:
  static ValueId InputAt(const Node& node, int slot) { return node.input(static_cast<size_t>(slot)); }

  // A constant of this very graph, as in ONNX Runtime.
  static const Tensor* SignedConstant(const Graph& graph, ValueId id) {
    const Tensor* tensor = graph.LocalConstant(id);
    return tensor != nullptr && tensor->type() == DataType::kInt8 ? tensor : nullptr;
  }

  bool Applies(const Graph& graph, const Node& node, const Row& row) const {
    bool overflows = false;
    for (const WeightSlots& slots : row.weights) {
      const Tensor* weight = SignedConstant(graph, InputAt(node, slots.weight));
      if (weight == nullptr) return false;
      const ValueId zero_point = InputAt(node, slots.zero_point);
      if (zero_point == kNoValue && row.all_zero_points) return false;
      if (zero_point != kNoValue && SignedConstant(graph, zero_point) == nullptr) return false;
      overflows = overflows || Overflows(*weight);
    }
    return overflows;
  }

  bool Overflows(const Tensor& weight) const {
    const auto values = weight.values<int8_t>();
    return std::any_of(values.begin(), values.end(),
                       [this](int8_t value) { return value < -table_.bound || value > table_.bound; });
  }

  Status Convert(Graph& graph, NodeIndex index, const Row& row) {
    const Node& node = *graph.node(index);
    PassEvent event;
    event.what = "made the weights of '" + NameOf(node) + "' unsigned";
    event.sources = node.origins;
    for (const WeightSlots& slots : row.weights) {
      const ValueId old = InputAt(node, slots.weight);
      const ValueId old_zero_point = InputAt(node, slots.zero_point);
      RULERUN_ASSIGN(const ValueId weight, Unsigned(graph, node, old));
      RULERUN_ASSIGN(const ValueId shifted, ShiftedZeroPoint(graph, node, old_zero_point));
      event.created.push_back(graph.value(weight).name);
      event.created.push_back(graph.value(shifted).name);
      event.made_from.emplace_back(graph.value(weight).name, graph.value(old).name);
      if (old_zero_point != kNoValue) {
        event.made_from.emplace_back(graph.value(shifted).name, graph.value(old_zero_point).name);
      } else if (slots.scale && !IsScalar(graph, InputAt(node, *slots.scale))) {
        event.faults = FaultsAt(table_.faults, kOneZeroPoint, node);
      }
      graph.SetInput(index, slots.weight, weight);
      graph.SetInput(index, slots.zero_point, shifted);
    }
    result_.modified = true;
    result_.events.push_back(std::move(event));
    return {};
  }

  // ONNX Runtime makes the constant of a second node under the same name again, and fails.
  Result<ValueId> Unsigned(Graph& graph, const Node& node, ValueId id) const {
    const std::string name = Fill(table_.converted_name, {{"value", graph.value(id).name}});
    const auto known = graph.Find(name);
    if (known && graph.value(*known).initializer) {
      if (table_.share) return *known;
      return Error{Code::kInvalidRewrite,
                   "the unsigned form of '" + graph.value(id).name +
                       "' exists already, for another node: ONNX Runtime "
                       "fails here",
                   "node '" + NameOf(node) + "'", "Give each node its own weights and zero points."};
    }
    const Tensor& original = *graph.LocalConstant(id);
    Tensor converted(DataType::kUint8, original.dims());
    const auto from = original.values<int8_t>();
    std::transform(from.begin(), from.end(), converted.mutable_data<uint8_t>(),
                   [](int8_t value) { return static_cast<uint8_t>(value + kToUnsigned); });
    return graph.AddInitializer(name, std::move(converted));
  }

  Result<ValueId> ShiftedZeroPoint(Graph& graph, const Node& node, ValueId zero_point) const {
    if (zero_point != kNoValue) return Unsigned(graph, node, zero_point);
    return graph.AddInitializer(graph.UniqueValueName(table_.zero_point_name),
                                Tensor::Scalar<uint8_t>(static_cast<uint8_t>(kToUnsigned)));
  }

  const PassScope& scope_;
  const WeightsTable& table_;
  PassResult result_;
};

Result<Row> ReadRow(const Table& table) {
  Row row;
  RULERUN_ASSIGN(row.ops, table.Versions("ops"));
  RULERUN_ASSIGN(const std::vector<Table> weights, table.Maps("weights"));
  for (const Table& weight : weights) {
    RULERUN_ASSIGN(const int64_t slot, weight.Int("weight"));
    RULERUN_ASSIGN(const int64_t zero_point, weight.Int("zero_point"));
    row.weights.push_back({static_cast<int>(slot), static_cast<int>(zero_point), std::nullopt});
    if (weight.Find("scale") == nullptr) continue;
    RULERUN_ASSIGN(const int64_t scale, weight.Int("scale"));
    row.weights.back().scale = static_cast<int>(scale);
  }
  const Yaml* all = table.Find("all_zero_points");
  row.all_zero_points = all != nullptr && all->AsBool().value_or(false);
  return row;
}

Result<PassResult> Run(const PassScope& scope, std::string_view pass) {
  RULERUN_ASSIGN(const Table table, Table::Read(scope, pass));
  WeightsTable weights;
  RULERUN_ASSIGN(weights.bound, table.Int("bound"));
  RULERUN_ASSIGN(const Table names, table.Sub("names"));
  RULERUN_ASSIGN(weights.converted_name, names.Text("converted"));
  RULERUN_ASSIGN(weights.zero_point_name, names.Text("zero_point"));
  const Yaml* share = table.Find("share");
  weights.share = share != nullptr && share->AsBool().value_or(false);
  RULERUN_ASSIGN(const std::vector<Table> rows, table.Maps("rows"));
  for (const Table& row : rows) {
    RULERUN_ASSIGN(Row read, ReadRow(row));
    weights.rows.push_back(std::move(read));
  }
  RULERUN_ASSIGN(weights.faults, table.Faults({kOneZeroPoint}));
  Converter converter(scope, weights);
  RULERUN_RETURN_IF_ERROR(converter.Run(*scope.graph));
  RefreshOuterReads(*scope.graph);
  return converter.TakeResult();
}

}  // namespace

Result<PassResult> WeightsS8ToU8(const PassScope& scope) { return Run(scope, "weights-s8-to-u8"); }

Result<PassResult> DqWeightsS8ToU8(const PassScope& scope) { return Run(scope, "dq-weights-s8-to-u8"); }

}  // namespace rulerun
