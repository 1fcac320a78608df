// A float16 constant that a cast widens becomes a float constant.
#include "engine/passes/passes.h"
#include "engine/passes/table.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

struct FuseTable {
  OpNames casts;
  std::string strip;  // not part of the new name
  std::string name;
};

// A cast and the one read of its result.
struct Candidate {
  NodeIndex cast = kNoNode;
  Use use;
};

class Widener {
 public:
  Widener(Graph& graph, const FuseTable& table) : graph_(graph), table_(table) {}

  // All casts are found before the first is taken out, and go in the order of their indices.
  PassResult Run() {
    std::vector<Candidate> candidates;
    for (NodeIndex index = 0; index < graph_.node_limit(); ++index) {
      const Node* node = graph_.node(index);
      if (node != nullptr && IsWideningConstant(*node)) {
        candidates.push_back({index, graph_.value(node->output(0)).uses.front()});
      }
    }
    for (const Candidate& candidate : candidates) Widen(candidate);
    return std::move(result_);
  }

 private:
  bool IsWideningConstant(const Node& node) const {
    if (!table_.casts.contains(node.Op()) || node.input(0) == kNoValue || node.output(0) == kNoValue) return false;
    if (graph_.OutputEdgeCount(node) != 1 || graph_.ProducesGraphOutput(node)) return false;
    const Tensor* constant = graph_.Constant(node.input(0));
    return constant != nullptr && constant->type() == DataType::kFloat16 &&
           graph_.TypeOf(node.output(0)).element == DataType::kFloat;
  }

  void Widen(const Candidate& candidate) {
    const Node& cast = *graph_.node(candidate.cast);
    const std::string value = graph_.value(cast.output(0)).name;
    if (graph_.UsedBySubgraph(cast.output(0))) return Decline(cast);
    PassEvent event;
    event.what = "widened the constant '" + graph_.value(cast.input(0)).name + "'";
    event.sources = cast.origins;
    event.removed = {NameOf(cast)};
    std::string base = value;
    const size_t at = base.find(table_.strip);
    if (at != std::string::npos) base.erase(at, table_.strip.size());
    const std::string name = graph_.UniqueValueName(Fill(table_.name, {{"value", base}}));
    const ValueId wide = graph_.AddInitializer(name, ToFloat(*graph_.Constant(cast.input(0))));
    graph_.SetInput(candidate.use.node, candidate.use.slot, wide);
    graph_.RemoveNode(candidate.cast);
    event.created = {name};
    result_.modified = true;
    result_.events.push_back(std::move(event));
  }

  void Decline(const Node& cast) {
    PassEvent event;
    event.what = "kept '" + NameOf(cast) + "', which a subgraph reads";
    event.changed = false;
    event.sources = cast.origins;
    result_.events.push_back(std::move(event));
  }

  static Tensor ToFloat(const Tensor& half) {
    Tensor wide(DataType::kFloat, half.dims());
    auto* out = wide.mutable_data<float>();
    for (const uint16_t bits : half.values<uint16_t>()) *out++ = HalfToFloat(bits);
    return wide;
  }

  Graph& graph_;
  const FuseTable& table_;
  PassResult result_;
};

}  // namespace

// Not in subgraphs, as ONNX Runtime.
Result<PassResult> FuseFp16Initializers(const PassScope& scope) {
  RULERUN_ASSIGN(const Table section, Table::Read(scope, "fuse-fp16-initializers"));
  FuseTable table;
  RULERUN_ASSIGN(table.casts, section.Ops("cast"));
  RULERUN_ASSIGN(table.strip, section.Text("strip"));
  RULERUN_ASSIGN(table.name, section.Text("name"));
  return Widener(*scope.graph, table).Run();
}

}  // namespace rulerun
