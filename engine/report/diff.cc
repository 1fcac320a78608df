#include "engine/report/diff.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/pipeline/pipeline.h"
#include "engine/report/canonical.h"
#include "engine/report/reasons.h"
#include "engine/report/rule_list.h"

namespace rulerun {
namespace {

using Forms = std::map<std::string, std::vector<std::string>>;  // by origin

std::string NameOf(const TraceEntry& entry) { return entry.rule.empty() ? entry.stage : entry.rule; }

std::string AnchorOf(const TraceEntry& entry) { return entry.sources.empty() ? entry.node : entry.sources.front(); }

std::string FormOf(const Graph& graph, const Node& node, const ExternalSchemas& schemas) {
  std::vector<std::string> operands;
  for (const ValueId id : node.inputs) {
    if (id == kNoValue) {
      operands.emplace_back("-");
      continue;
    }
    const std::string constant = graph.Constant(id) == nullptr ? "" : " constant";
    operands.push_back(std::string(Name(graph.TypeOf(id).element)) + constant);
  }
  while (!operands.empty() && operands.back() == "-") operands.pop_back();
  std::vector<std::string> attributes;
  for (const auto& [name, attribute] : node.attributes) {
    const bool subgraph = std::holds_alternative<GraphRef>(attribute);  // its nodes are compared themselves
    if (subgraph || IsSchemaDefault(graph, schemas, node, name, attribute)) continue;
    attributes.push_back(name + "=" + ToString(attribute));
  }
  std::string text = node.Op() + "(" + Join(operands, ", ") + ")";
  return attributes.empty() ? text : text + " <" + Join(attributes, ", ") + ">";
}

void CollectForms(const Graph& graph, const ExternalSchemas& schemas, Forms& forms) {
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    const Node* node = graph.node(index);
    if (node == nullptr) continue;
    if (!node->origins.empty()) forms[node->origins.front()].push_back(FormOf(graph, *node, schemas));
    for (const Graph* subgraph : graph.Subgraphs(*node)) CollectForms(*subgraph, schemas, forms);
  }
}

Forms FormsOf(const Rewriting& side) {
  Forms forms;
  CollectForms(*side.model.graph, side.rules->schemas, forms);
  for (auto& [origin, list] : forms) std::sort(list.begin(), list.end());
  return forms;
}

// Why the rule or pass said nothing at all on this side.
void ExplainSilence(const Rewriting& side, DiffCause& cause) {
  const std::vector<ListedRule> all = ListRules(*side.rules);
  const auto is_it = [&](const ListedRule& rule) { return rule.name == cause.rule; };
  const auto in_reach = [&](const ListedRule& rule) {
    const auto level = ParseLevel(rule.level);
    return is_it(rule) && level && *level <= side.target.level;
  };
  const auto known = std::find_if(all.begin(), all.end(), is_it);
  if (known == all.end()) {
    cause.kind = DiffCause::Kind::kAbsent;
    cause.message = "rule set '" + side.rules->id + "' has none of this name";
  } else if (side.target.disabled.count(cause.rule) > 0) {
    cause.kind = DiffCause::Kind::kDisabled;
    cause.message = "it is disabled";
  } else if (!known->level.empty() && std::none_of(all.begin(), all.end(), in_reach)) {
    cause.kind = DiffCause::Kind::kLevel;
    cause.message = "it begins at level " + known->level;
  } else {
    cause.kind = DiffCause::Kind::kNoMatch;
    cause.message = "it was not tried, or found nothing that fits";
  }
}

class Comparer {
 public:
  Comparer(const Rewriting& left, const Rewriting& right)
      : sides_{{&left, &right}}, index_{{TraceIndex(left.trace), TraceIndex(right.trace)}} {}

  Diff Run() {
    Diff diff;
    diff.model = sides_[Side::kLeft]->model.path;
    for (const Side side : kSides) diff.sides[side] = Describe(*sides_[side]);
    const Rewriting& left = *sides_[Side::kLeft];
    const Rewriting& right = *sides_[Side::kRight];
    if (left.refused || right.refused) {
      diff.same = left.refused && right.refused && ToString(*left.refused) == ToString(*right.refused);
      diff.node_count = std::max(left.fates.nodes.size(), right.fates.nodes.size());
      return diff;
    }
    diff.node_count = left.fates.nodes.size();
    diff.rules = DiffRules();
    const CanonicalGraph left_graph = Canonicalize(*left.model.graph, left.rules->schemas);
    const CanonicalGraph right_graph = Canonicalize(*right.model.graph, right.rules->schemas);
    diff.same = left_graph.Digest() == right_graph.Digest();
    if (diff.same) return diff;
    diff.nodes = DiffNodes();
    diff.inserted = DiffInserted();
    if (!diff.nodes.empty() || !diff.inserted.empty()) return diff;
    diff.structure = Unshared(left_graph, right_graph);
    return diff;
  }

 private:
  static DiffSide Describe(const Rewriting& side) {
    DiffSide described;
    const RuleSet& rules = *side.rules;
    described.rules = rules.version.empty() ? rules.id : rules.id + " " + rules.version;
    described.level = Name(side.target.level);
    described.provider = side.target.provider;
    described.platform = side.target.platform == nullptr ? "" : side.target.platform->name;
    const auto usual = MakeTarget(rules, described.platform, side.target.level);
    for (const auto& [name, value] : side.target.options) {
      if (usual.ok() && usual->options.at(name) == value) continue;
      described.options.push_back(name + "=" + std::to_string(value));
    }
    described.disabled.assign(side.target.disabled.begin(), side.target.disabled.end());
    described.refused = side.refused;
    return described;
  }

  static std::vector<std::string> Unshared(const CanonicalGraph& left, const CanonicalGraph& right) {
    constexpr size_t kMost = 8;
    std::vector<std::string> lines;
    for (const Side side : kSides) {
      const bool is_left = side == Side::kLeft;
      // What the one has too much is what the other lacks; asked both ways, so that each line names its side.
      for (const std::string& line : is_left ? Differences(right, left, kMost) : Differences(left, right, kMost)) {
        constexpr std::string_view kSign = "too much: ";
        if (StartsWith(line, kSign))
          lines.push_back("only " + std::string(Name(side)) + ": " + line.substr(kSign.size()));
      }
    }
    return lines.empty() ? Differences(left, right, kMost) : lines;
  }

  std::vector<NodeDiff> DiffNodes() const {
    const Sides<Forms> forms{{FormsOf(*sides_[Side::kLeft]), FormsOf(*sides_[Side::kRight])}};
    std::map<std::string, const NodeFate*> right;
    for (const NodeFate& fate : sides_[Side::kRight]->fates.nodes) right.emplace(fate.node.name, &fate);
    std::vector<NodeDiff> nodes;
    for (const NodeFate& fate : sides_[Side::kLeft]->fates.nodes) {
      const auto partner = right.find(fate.node.name);
      if (partner == right.end()) continue;
      NodeDiff node{fate.node, {{fate, *partner->second}}, {}, std::nullopt};
      for (const Side side : kSides) {
        const auto found = forms[side].find(fate.node.name);
        if (found != forms[side].end()) node.forms[side] = found->second;
      }
      const bool alike = fate.fate == partner->second->fate && fate.into == partner->second->into &&
                         node.forms[Side::kLeft] == node.forms[Side::kRight];
      if (alike) continue;
      node.cause = CauseOf(fate.node.name);
      if (!node.cause) node.cause = MakerOf(node);
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

  // Walks what fired at the node on both sides at once, up to the first that has no partner.
  std::optional<DiffCause> CauseOf(const std::string& node) const {
    const Sides<std::vector<const TraceEntry*>> fired{
        {index_[Side::kLeft].Fired(node), index_[Side::kRight].Fired(node)}};
    const size_t longest = std::max(fired[Side::kLeft].size(), fired[Side::kRight].size());
    for (size_t i = 0; i < longest; ++i) {
      for (const Side side : kSides) {
        if (i >= fired[side].size()) continue;
        const TraceEntry& entry = *fired[side][i];
        if (CountOf(fired[side], entry, i + 1) <= CountOf(fired[Other(side)], entry, fired[Other(side)].size()))
          continue;
        return Caused(side, entry, node);
      }
    }
    return std::nullopt;
  }

  // A pass may name only where it began: what made or edited the heir on one side only.
  std::optional<DiffCause> MakerOf(const NodeDiff& node) const {
    Sides<const TraceEntry*> makers{};
    for (const Side side : kSides) {
      const std::string& heir = node.fates[side].now;
      for (const TraceEntry& entry : sides_[side]->trace) {
        const auto& created = entry.created;
        const bool made = std::find(created.begin(), created.end(), heir) != created.end();
        if (made && !heir.empty() && entry.verdict == TraceEntry::Verdict::kFired) makers[side] = &entry;
      }
    }
    for (const Side side : kSides) {
      if (makers[side] == nullptr || FiredAlike(Other(side), *makers[side])) continue;
      return Caused(side, *makers[side], node.node.name);
    }
    return std::nullopt;
  }

  // Whether the same rule or pass fired at the same node on `side`.
  bool FiredAlike(Side side, const TraceEntry& like) const {
    const std::vector<const TraceEntry*>& fired = index_[side].Fired(AnchorOf(like));
    return CountOf(fired, like, fired.size()) > 0;
  }

  static std::ptrdiff_t CountOf(const std::vector<const TraceEntry*>& entries, const TraceEntry& like, size_t among) {
    const auto end = entries.begin() + static_cast<std::ptrdiff_t>(among);
    return std::count_if(entries.begin(), end, [&](const TraceEntry* entry) { return NameOf(*entry) == NameOf(like); });
  }

  DiffCause Caused(Side side, const TraceEntry& fired, const std::string& node) const {
    DiffCause cause;
    cause.fired = side;
    cause.rule = NameOf(fired);
    cause.place = fired.where.ToString();
    const TraceEntry* refusal = RefusalOf(Other(side), fired, node);
    if (refusal == nullptr) {
      ExplainSilence(*sides_[Other(side)], cause);
      return cause;
    }
    cause.kind = DiffCause::Kind::kRefused;
    cause.check = refusal->refusal.check;
    cause.message = refusal->refusal.message.empty() ? refusal->what : refusal->refusal.message;
    const bool placed = refusal->refusal.where.file != nullptr;
    cause.refusal_place = (placed ? refusal->refusal.where : refusal->where).ToString();
    return cause;
  }

  // What the same rule or pass refused on `side`, at the anchor of what fired or at the node; the nearest to firing.
  const TraceEntry* RefusalOf(Side side, const TraceEntry& fired, const std::string& node) const {
    const TraceEntry* best = nullptr;
    for (const std::string& name : {AnchorOf(fired), node}) {
      for (const TraceEntry* entry : index_[side].Anchored(name)) {
        if (entry->verdict == TraceEntry::Verdict::kFired || NameOf(*entry) != NameOf(fired)) continue;
        if (best == nullptr || Nearness(entry->refusal.check) > Nearness(best->refusal.check)) best = entry;
      }
      if (best != nullptr) return best;
    }
    return nullptr;
  }

  std::vector<RuleDiff> DiffRules() const {
    std::vector<RuleDiff> rules;
    std::map<std::string, size_t> known;
    Sides<std::map<std::string, std::vector<std::string>>> anchors;
    for (const Side side : kSides) {
      for (const TraceEntry& entry : sides_[side]->trace) {
        if (entry.verdict != TraceEntry::Verdict::kFired) continue;
        const std::string name = NameOf(entry);
        const auto [at, fresh] = known.emplace(name, rules.size());
        if (fresh) rules.push_back({name, entry.rule.empty(), {}, {}});
        ++rules[at->second].fired[side];
        anchors[side][name].push_back(AnchorOf(entry));
      }
    }
    for (RuleDiff& rule : rules) {
      for (const Side side : kSides) std::sort(anchors[side][rule.rule].begin(), anchors[side][rule.rule].end());
      for (const Side side : kSides) {
        const auto& own = anchors[side][rule.rule];
        const auto& others = anchors[Other(side)][rule.rule];
        std::set_difference(own.begin(), own.end(), others.begin(), others.end(), std::back_inserter(rule.only[side]));
      }
    }
    rules.erase(std::remove_if(rules.begin(), rules.end(),
                               [](const RuleDiff& rule) {
                                 return rule.only[Side::kLeft].empty() && rule.only[Side::kRight].empty();
                               }),
                rules.end());
    return rules;
  }

  std::vector<InsertedDiff> DiffInserted() const {
    std::map<std::pair<std::string, std::string>, InsertedDiff> counts;
    for (const Side side : kSides) {
      for (const InsertedNode& node : sides_[side]->fates.inserted) {
        InsertedDiff& row = counts[{node.op, node.rule}];
        row.op = node.op;
        row.rule = node.rule;
        ++row.count[side];
      }
    }
    std::vector<InsertedDiff> rows;
    for (const auto& [key, row] : counts) {
      if (row.count[Side::kLeft] != row.count[Side::kRight]) rows.push_back(row);
    }
    return rows;
  }

  Sides<const Rewriting*> sides_;
  Sides<TraceIndex> index_;
};

}  // namespace

std::string_view Name(Side side) { return side == Side::kLeft ? "left" : "right"; }

std::string_view Name(DiffCause::Kind kind) {
  switch (kind) {
    case DiffCause::Kind::kRefused:
      return "refused";
    case DiffCause::Kind::kAbsent:
      return "absent";
    case DiffCause::Kind::kDisabled:
      return "disabled";
    case DiffCause::Kind::kLevel:
      return "level";
    case DiffCause::Kind::kNoMatch:
      return "no-match";
  }
  return "";
}

Code CodeOf(DiffCause::Kind kind) {
  switch (kind) {
    case DiffCause::Kind::kRefused:
      return Code::kNodeRefused;
    case DiffCause::Kind::kAbsent:
      return Code::kRuleAbsent;
    case DiffCause::Kind::kDisabled:
      return Code::kRuleDisabled;
    case DiffCause::Kind::kLevel:
      return Code::kRuleAtHigherLevel;
    case DiffCause::Kind::kNoMatch:
      return Code::kRuleFitsNothing;
  }
  return Code::kUnexpected;
}

Result<Rewriting> RewriteModel(Model model, const RuleSet& rules, const Target& target, const KernelRegistry& kernels) {
  Rewriting side;
  side.model = std::move(model);
  side.rules = &rules;
  side.target = target;
  Graph& graph = *side.model.graph;
  MarkOrigins(graph);
  const std::vector<OriginalNode> original = ListNodes(graph, rules);
  const Status status = RunPipeline(side.model, rules, target, kernels, &side.trace);
  if (status.ok()) {
    side.fates = FindFates(original, *side.model.graph, side.trace, rules, target);
  } else if (status.error().kind() == ErrorKind::kRefused) {
    side.refused = status.error();
  } else {
    return status.error();
  }
  return side;
}

Diff Compare(const Rewriting& left, const Rewriting& right) { return Comparer(left, right).Run(); }

}  // namespace rulerun
