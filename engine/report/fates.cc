#include "engine/report/fates.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace rulerun {
namespace {

struct FinalNode {
  const Graph* graph = nullptr;
  const Node* node = nullptr;
};

constexpr int kQuantizedBits = 16;  // the widest quantized numbers

bool IsByte(DataType type) { return type == DataType::kInt8 || type == DataType::kUint8; }
bool IsQuantized(DataType type) { return IsInteger(type) && BitWidth(type) <= kQuantizedBits; }
// Quantized numbers, or the sums of their products.
bool IsByteResult(DataType type) { return IsByte(type) || type == DataType::kInt32; }

bool HasOutput(const Graph& graph, const Node& node, const std::function<bool(DataType)>& holds) {
  return std::any_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId id) { return id != kNoValue && holds(graph.TypeOf(id).element); });
}

// Of what it reads while it runs; constants are parameters.
bool HasDataInput(const Graph& graph, const Node& node, const std::function<bool(DataType)>& holds) {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return id != kNoValue && graph.Constant(id) == nullptr && holds(graph.TypeOf(id).element);
  });
}

bool HasInput(const Graph& graph, const Node& node, const std::function<bool(DataType)>& holds) {
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId id) { return id != kNoValue && holds(graph.TypeOf(id).element); });
}

bool IsFloating(const Graph& graph, const Node& node) {
  return HasOutput(graph, node, IsFloat) || HasDataInput(graph, node, IsFloat);
}

bool TouchesBytes(const FinalNode& at) {
  return HasInput(*at.graph, *at.node, IsByte) || HasOutput(*at.graph, *at.node, IsByte);
}

template <typename Visit>
void ForEachNode(const Graph& graph, const Visit& visit) {
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    const Node* node = graph.node(index);
    if (node == nullptr) continue;
    visit(graph, *node);
    for (const Graph* subgraph : graph.Subgraphs(*node)) ForEachNode(*subgraph, visit);
  }
}

// Several nodes may carry the same origin: an operator with Transposes around it, copies of a DQ. The one that is the
// original's own heir has its operator or at least its name.
int Kinship(const OriginalNode& original, const Node& node) {
  int score = 0;
  if (node.Op() == original.op) score += 8;
  if (node.name == original.name) score += 4;
  if (node.op_type.find(original.op) != std::string::npos) score += 2;
  if (!node.origins.empty() && node.origins.front() == original.name) score += 1;
  return score;
}

class NodeLister {
 public:
  NodeLister(const RuleSet& rules, const MacTable& macs) : rules_(rules), macs_(macs) {}

  std::vector<OriginalNode> Run(const Graph& graph) {
    Add(graph, "");
    return std::move(nodes_);
  }

 private:
  void Add(const Graph& graph, const std::string& inside) {
    for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
      const Node* node = graph.node(index);
      if (node == nullptr) continue;
      const std::string name = OriginOf(*node);
      nodes_.push_back({name,
                        node->Op(),
                        IsFloating(graph, *node),
                        IsQuantizer(rules_, node->Op()),
                        inside,
                        MacsOf(graph, *node, rules_.schemas, macs_),
                        {}});
      if (!nodes_.back().quantizer) AddQuantizers(graph, *node, nodes_.back().quantizers);
      std::string below = inside;
      if (!inside.empty()) below += '/';
      below += name;
      for (const Graph* subgraph : graph.Subgraphs(*node)) Add(*subgraph, below);
    }
  }

  // Up from its inputs and down from its outputs, as far as there are only Qs and DQs.
  void AddQuantizers(const Graph& graph, const Node& node, std::vector<std::string>& names) const {
    for (const ValueId input : node.inputs) {
      const Node* producer = input == kNoValue ? nullptr : graph.Producer(input);
      for (; producer != nullptr && IsQuantizer(rules_, producer->Op());
           producer = graph.Producer(producer->input(0))) {
        names.push_back(OriginOf(*producer));
        if (producer->input(0) == kNoValue) break;
      }
    }
    std::vector<const Node*> open = {&node};
    while (!open.empty()) {
      const Node& from = *open.back();
      open.pop_back();
      for (const ValueId output : from.outputs) {
        if (output == kNoValue) continue;
        for (const Use& use : graph.value(output).uses) {
          const Node* reader = graph.node(use.node);
          if (reader == nullptr || !IsQuantizer(rules_, reader->Op()) || use.slot != 0) continue;
          names.push_back(OriginOf(*reader));
          open.push_back(reader);
        }
      }
    }
  }

  const RuleSet& rules_;
  const MacTable& macs_;
  std::vector<OriginalNode> nodes_;
};

class FateFinder {
 public:
  FateFinder(const Graph& graph, const Trace& trace, const RuleSet& rules, const Target& target)
      : index_(trace), trace_(trace), rules_(rules), target_(target) {
    ForEachNode(graph, [&](const Graph& where, const Node& node) {
      all_.push_back({&where, &node});
      for (const std::string& origin : node.origins) by_origin_[origin].push_back({&where, &node});
    });
  }

  Fates Run(const std::vector<OriginalNode>& original) {
    Fates fates;
    FindOwners(original);
    for (const OriginalNode& node : original) fates.nodes.push_back(FateOf(node));
    std::map<std::string, const TraceEntry*> makers;  // by name of what they made
    for (const TraceEntry& entry : trace_) {
      for (const std::string& name : entry.created) makers[name] = &entry;
    }
    for (const FinalNode& at : all_) {
      if (heirs_.count(at.node) > 0) continue;
      const auto maker = makers.find(at.node->name);
      fates.inserted.push_back(
          {NameOf(*at.node), at.node->Op(), maker == makers.end() ? "" : MakerOf(*maker->second), at.node->origins});
    }
    return fates;
  }

 private:
  static std::string MakerOf(const TraceEntry& entry) { return entry.rule.empty() ? entry.stage : entry.rule; }

  // The original that a final node goes on being: its first origin; where that is a Q or DQ which an operator took in,
  // the first operator among its origins.
  void FindOwners(const std::vector<OriginalNode>& original) {
    std::set<std::string> operators;
    for (const OriginalNode& node : original) {
      if (!node.quantizer) operators.insert(node.name);
    }
    for (const FinalNode& at : all_) {
      const Node& node = *at.node;
      const std::string front = OriginOf(node);
      const auto first = std::find_if(node.origins.begin(), node.origins.end(),
                                      [&](const std::string& origin) { return operators.count(origin) > 0; });
      const bool take = !IsQuantizer(rules_, node.Op()) && operators.count(front) == 0 && first != node.origins.end();
      owners_[&node] = take ? *first : front;
    }
  }

  bool IsOwn(const Node& node, const OriginalNode& original) const {
    return owners_.at(&node) == original.name || node.name == original.name;
  }

  NodeFate FateOf(const OriginalNode& original) {
    NodeFate fate;
    fate.node = original;
    const FinalNode heir = HeirOf(original);
    const bool is_quantizer = heir.node != nullptr && IsQuantizer(rules_, heir.node->Op());
    if (heir.node != nullptr && is_quantizer == original.quantizer) {
      Judge(heir, fate);
    } else {
      fate.fate = Fate::kRemoved;
    }
    if (fate.fate != Fate::kRemoved) {
      fate.into = heir.node->Op();
      fate.now = NameOf(*heir.node);
      heirs_.insert(heir.node);
    }
    Decide(fate);
    if (fate.fate != Fate::kFloat && fate.fate != Fate::kFused) return fate;
    fate.around = ConversionsAround(*heir.graph, *heir.node, rules_);
    fate.reason = ReasonFor(rules_, target_, index_, {original.name, fate.now}, original.op);
    return fate;
  }

  FinalNode HeirOf(const OriginalNode& original) const {
    const auto found = by_origin_.find(original.name);
    if (found == by_origin_.end()) return {};
    // Of equals the one that reads most: the operator, not what was put around it.
    const auto nearness = [&](const FinalNode& at) {
      return std::make_pair(Kinship(original, *at.node), at.node->inputs.size());
    };
    return *std::max_element(found->second.begin(), found->second.end(),
                             [&](const FinalNode& a, const FinalNode& b) { return nearness(a) < nearness(b); });
  }

  void Judge(const FinalNode& heir, NodeFate& fate) const {
    const Node& node = *heir.node;
    const bool own = IsOwn(node, fate.node);
    if (fate.node.quantizer) {
      fate.fate = own && node.Op() == fate.node.op ? Fate::kConversion : Fate::kRemoved;
      return;
    }
    const bool floating = IsFloating(*heir.graph, node);
    if (node.Op() == fate.node.op && own) {
      fate.fate = Unchanged(heir, floating, fate.node.floating);
    } else if (TouchesBytes(heir)) {
      fate.fate = Fate::kInt8;
    } else if (floating) {
      fate.fate = own ? Fate::kFloat : Fate::kFused;
    } else {
      fate.fate = own ? Fate::kOther : Fate::kRemoved;
    }
  }

  static Fate Unchanged(const FinalNode& heir, bool floating, bool was_floating) {
    const Graph& graph = *heir.graph;
    const Node& node = *heir.node;
    if (floating) return Fate::kFloat;
    if (was_floating) return HasOutput(graph, node, IsQuantized) ? Fate::kMoved : Fate::kDqDropped;
    // A model may bring int8 operators: they read bytes.
    return HasDataInput(graph, node, IsByte) && HasOutput(graph, node, IsByteResult) ? Fate::kInt8 : Fate::kOther;
  }

  // The last rule or pass that fired and concerns the node; a rule of the four groups is preferred. An operator that
  // such a rule moved to int8 stays moved where a layout changes its name later.
  void Decide(NodeFate& fate) const {
    if (fate.fate == Fate::kConversion) return;
    const TraceEntry* decider = nullptr;
    for (const TraceEntry* entry : index_.Fired(fate.node.name)) {
      const bool unit = entry->group != Group::kPattern;
      if (decider == nullptr || unit || decider->group == Group::kPattern) decider = entry;
    }
    if (decider == nullptr) return;
    fate.rule = MakerOf(*decider);
    fate.place = decider->where.ToString();
    if (fate.fate == Fate::kInt8 && decider->group == Group::kDropQdq) fate.fate = Fate::kMoved;
    if (fate.fate == Fate::kInt8 && decider->group == Group::kDropDq) fate.fate = Fate::kDqDropped;
  }

  TraceIndex index_;
  const Trace& trace_;
  const RuleSet& rules_;
  const Target& target_;
  std::vector<FinalNode> all_;
  std::map<std::string, std::vector<FinalNode>> by_origin_;
  std::map<const Node*, std::string> owners_;
  std::set<const Node*> heirs_;
};

struct FateName {
  std::string_view name;
  std::string_view words;
};

FateName NamesOf(Fate fate) {
  switch (fate) {
    case Fate::kInt8:
      return {"int8", "int8"};
    case Fate::kMoved:
      return {"moved", "moved as int8"};
    case Fate::kDqDropped:
      return {"dq-dropped", "reads int8"};
    case Fate::kFloat:
      return {"float", "stays float"};
    case Fate::kFused:
      return {"fused", "part of a float operator"};
    case Fate::kRemoved:
      return {"removed", "gone"};
    case Fate::kConversion:
      return {"conversion", "converts"};
    case Fate::kOther:
      return {"other", "no float numbers"};
  }
  return {"", ""};
}

}  // namespace

std::string_view Name(Fate fate) { return NamesOf(fate).name; }
std::string_view Words(Fate fate) { return NamesOf(fate).words; }

std::string OriginOf(const Node& node) { return node.origins.empty() ? NameOf(node) : node.origins.front(); }

std::string_view StatusName(const NodeFate& fate) {
  const bool stays = fate.fate == Fate::kFloat;
  if (stays && fate.reason.kind == Reason::Kind::kUnsupported) return Name(fate.reason.kind);
  if (stays && fate.reason.kind == Reason::Kind::kRefused) return Name(fate.reason.kind);
  return Name(fate.fate);
}

std::vector<OriginalNode> ListNodes(const Graph& graph, const RuleSet& rules, const MacTable* macs) {
  static const MacTable& none = *new MacTable;
  return NodeLister(rules, macs == nullptr ? none : *macs).Run(graph);
}

Fates FindFates(const std::vector<OriginalNode>& original, const Graph& graph, const Trace& trace, const RuleSet& rules,
                const Target& target) {
  return FateFinder(graph, trace, rules, target).Run(original);
}

}  // namespace rulerun
