#include "engine/passes/duplicate_casts.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/passes/tools.h"

namespace rulerun {
namespace {

enum class Kind { kUnknown, kBool, kSigned, kUnsigned, kFloat };

// Of the types ONNX Runtime looks at; the others are unknown to it.
Kind KindOf(DataType type) {
  switch (type) {
    case DataType::kBool:
      return Kind::kBool;
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kInt64:
      return Kind::kSigned;
    case DataType::kUint8:
    case DataType::kUint16:
    case DataType::kUint32:
    case DataType::kUint64:
      return Kind::kUnsigned;
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kFloat:
    case DataType::kDouble:
      return Kind::kFloat;
    default:
      return Kind::kUnknown;
  }
}

int BitsOf(DataType type) { return type == DataType::kBool ? 1 : BitWidth(type); }

class CastRemover {
 public:
  CastRemover(Graph& graph, const OpNames& casts, const std::string& harmless, PassResult& result)
      : graph_(graph), casts_(casts), harmless_(harmless), result_(result) {}

  void Run() {
    for (NodeIndex index = 0; index < graph_.node_limit(); ++index) {
      const Node* node = graph_.node(index);
      if (node != nullptr && IsCast(*node)) Visit(*node);
      node = graph_.node(index);
      if (node == nullptr) continue;
      for (Graph* subgraph : graph_.Subgraphs(*node)) CastRemover(*subgraph, casts_, harmless_, result_).Run();
    }
  }

 private:
  struct Followers {
    std::vector<NodeIndex> undo;  // casts back to the first one's input type
    std::vector<NodeIndex> others;
  };

  bool IsCast(const Node& node) const {
    return casts_.contains(node.Op()) && node.input(0) != kNoValue && node.output(0) != kNoValue;
  }

  DataType From(const Node& cast) const { return graph_.TypeOf(cast.input(0)).element; }
  DataType To(const Node& cast) const { return graph_.TypeOf(cast.output(0)).element; }
  bool IsOutput(const Node& cast) const { return graph_.value(cast.output(0)).graph_output; }

  // Whether values may come out of the cast changed for good.
  bool Loses(DataType from, DataType to, const Node& cast) const {
    const Kind source = KindOf(from);
    const Kind target = KindOf(to);
    if (source == Kind::kUnknown || target == Kind::kUnknown) return true;
    if ((source == Kind::kSigned || source == Kind::kFloat) && target == Kind::kUnsigned) return true;
    if (source == Kind::kFloat && target != Kind::kFloat) return true;
    const int bits = BitsOf(from);
    const int new_bits = BitsOf(to);
    const bool integer = source == Kind::kSigned || source == Kind::kUnsigned;
    if (source == Kind::kUnsigned && target == Kind::kSigned) return new_bits <= bits;
    if (integer && target == Kind::kFloat) return new_bits <= bits;
    if (from != to && bits == new_bits && source == Kind::kFloat) return true;  // float16 and bfloat16
    return bits > new_bits && !StartsWith(cast.name, harmless_);
  }

  // std::nullopt: some chain of the two would lose twice, and differently than one cast alone.
  std::optional<Followers> FollowersOf(const Node& cast, bool loses) const {
    Followers followers;
    for (const Use& use : graph_.value(cast.output(0)).uses) {
      const Node& next = *graph_.node(use.node);
      if (!IsCast(next)) continue;
      if (loses && Loses(To(next), From(next), next)) return std::nullopt;
      const bool undoes = !IsOutput(next) && To(next) == From(cast) && From(next) == To(cast);
      (undoes ? followers.undo : followers.others).push_back(next.index);
    }
    return followers;
  }

  void Visit(const Node& cast) {
    const bool loses = Loses(From(cast), To(cast), cast);
    const std::optional<Followers> followers = FollowersOf(cast, loses);
    if (!followers) return;
    const size_t readers = graph_.value(cast.output(0)).uses.size();
    for (const NodeIndex index : followers->undo) Bypass(*graph_.node(index), cast.input(0));
    if (readers == 0 || followers->undo.size() + followers->others.size() < readers || IsOutput(cast)) return;
    if (MayOverride(cast, loses, followers->others)) Bypass(cast, cast.input(0));
  }

  bool MayOverride(const Node& cast, bool loses, const std::vector<NodeIndex>& kept) const {
    return std::all_of(kept.begin(), kept.end(), [&](NodeIndex index) {
      const Node& next = *graph_.node(index);
      const bool elsewhere = !cast.provider.empty() && !next.provider.empty() && next.provider != cast.provider;
      return !elsewhere && !(loses && KindOf(To(next)) == Kind::kBool);
    });
  }

  void Bypass(const Node& cast, ValueId source) {
    PassEvent event;
    event.what = "removed '" + NameOf(cast) + "': another cast follows or comes before";
    event.sources = cast.origins;
    event.removed = {NameOf(cast)};
    graph_.ReplaceUses(cast.output(0), source);
    graph_.RemoveNode(cast.index);
    result_.modified = true;
    result_.events.push_back(std::move(event));
  }

  Graph& graph_;
  const OpNames& casts_;
  const std::string& harmless_;
  PassResult& result_;
};

}  // namespace

void RemoveDuplicateCasts(Graph& graph, const OpNames& casts, const std::string& harmless, PassResult& result) {
  CastRemover(graph, casts, harmless, result).Run();
}

}  // namespace rulerun
