#include "engine/report/draw/focus.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "engine/base/codes.h"
#include "engine/base/text.h"

namespace rulerun {
namespace {

constexpr size_t kSuggestions = 5;
constexpr size_t kHintsOneByOne = 3;  // readers of one node that lie beyond; more are counted

bool Has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string TypeOf(const std::string& op) { return op.substr(op.rfind('.') + 1); }

bool IsOperator(const std::string& op, const std::string& focus) { return op == focus || TypeOf(op) == focus; }

// The ways in which a focus may mean a node, the surest first.
using Means = std::function<bool(const DrawnNode& node, const std::string& focus)>;
const std::vector<Means>& AllMeans() {
  static const auto& means = *new std::vector<Means>{
      [](const DrawnNode& node, const std::string& focus) {
        return node.name == focus && node.tone != Tone::kElsewhere;
      },
      [](const DrawnNode& node, const std::string& focus) {
        return Has(node.names, focus) || Has(node.origins, focus);
      },
      [](const DrawnNode& node, const std::string& focus) { return !node.op.empty() && IsOperator(node.op, focus); },
      [](const DrawnNode& node, const std::string& focus) {
        return std::any_of(node.ops.begin(), node.ops.end(),
                           [&](const std::string& op) { return IsOperator(op, focus); });
      },
  };
  return means;
}

bool IsMeant(const DrawnNode& node, const std::string& focus, const Means& means) {
  if (means(node, focus)) return true;
  return std::any_of(node.bodies.begin(), node.bodies.end(), [&](const Drawing& body) {
    return std::any_of(body.nodes.begin(), body.nodes.end(),
                       [&](const DrawnNode& inner) { return IsMeant(inner, focus, means); });
  });
}

void Collect(const Drawing& drawing, std::set<std::string>& names, std::set<std::string>& ops) {
  for (const DrawnNode& node : drawing.nodes) {
    if (!node.name.empty()) names.insert(node.name);
    names.insert(node.names.begin(), node.names.end());
    names.insert(node.origins.begin(), node.origins.end());
    if (!node.op.empty()) ops.insert(node.op);
    for (const Drawing& body : node.bodies) Collect(body, names, ops);
  }
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

Error NotFound(const Drawing& drawing, const std::string& focus) {
  std::set<std::string> names;
  std::set<std::string> ops;
  Collect(drawing, names, ops);
  std::vector<std::string> candidates(names.begin(), names.end());
  candidates.insert(candidates.end(), ops.begin(), ops.end());
  for (const std::string& op : ops) candidates.push_back(TypeOf(op));
  std::vector<std::string> containing;
  for (const std::string& name : candidates) {
    if (containing.size() < kSuggestions && Lower(name).find(Lower(focus)) != std::string::npos) {
      containing.push_back(name);
    }
  }
  const std::string remedy = containing.empty() ? "Operators here: " + Join({ops.begin(), ops.end()}, ", ") + "."
                                                : "Names with that in them: " + Join(containing, ", ") + ".";
  return {Code::kNothingNamed,
          "no node, value or operator here is called '" + focus + "'" + DidYouMean(focus, candidates), "--focus",
          remedy};
}

class Cutter {
 public:
  Cutter(const Drawing& drawing, std::vector<size_t> seeds) : drawing_(drawing), seeds_(std::move(seeds)) {}

  Drawing Run(int hops) {
    Spread(hops);
    cut_.title = drawing_.title;
    for (size_t i = 0; i < drawing_.nodes.size(); ++i) {
      if (near_.count(i) == 0) continue;
      place_[i] = cut_.nodes.size();
      cut_.nodes.push_back(drawing_.nodes[i]);
    }
    for (const size_t seed : seeds_) cut_.nodes[place_[seed]].marked = true;
    CountReaders();
    for (const DrawnEdge& edge : drawing_.edges) Add(edge);
    return std::move(cut_);
  }

 private:
  void Spread(int hops) {
    std::vector<std::vector<size_t>> beside(drawing_.nodes.size());
    for (const DrawnEdge& edge : drawing_.edges) {
      beside[edge.from].push_back(edge.to);
      beside[edge.to].push_back(edge.from);
    }
    std::vector<size_t> outermost = seeds_;
    near_.insert(seeds_.begin(), seeds_.end());
    for (int hop = 0; hop < hops; ++hop) {
      std::vector<size_t> next;
      for (const size_t node : outermost) {
        for (const size_t other : beside[node]) {
          if (near_.insert(other).second) next.push_back(other);
        }
      }
      outermost = std::move(next);
    }
  }

  void CountReaders() {
    for (const DrawnEdge& edge : drawing_.edges) {
      if (near_.count(edge.from) > 0 && near_.count(edge.to) == 0) beyond_[{edge.from, edge.from_slot}].insert(edge.to);
    }
  }

  void Add(const DrawnEdge& edge) {
    const bool from_near = near_.count(edge.from) > 0;
    const bool to_near = near_.count(edge.to) > 0;
    if (!from_near && !to_near) return;
    DrawnEdge copy = edge;
    if (from_near) copy.from = place_[edge.from];
    if (to_near) copy.to = place_[edge.to];
    if (!from_near) {
      copy.from = Hint(sources_, edge.from, "");
      copy.from_slot = 0;
    }
    if (!to_near) {
      const auto& readers = beyond_[{edge.from, edge.from_slot}];
      if (readers.size() <= kHintsOneByOne) {
        copy.to = Hint(readers_, edge.to, "");
      } else if (edge.to == *readers.begin()) {
        copy.to = Hint(crowds_, edge.from, std::to_string(readers.size()) + " readers");
      } else {
        return;
      }
    }
    cut_.edges.push_back(std::move(copy));
  }

  // A box for what lies beyond, one for each that is hinted at.
  size_t Hint(std::map<size_t, size_t>& hints, size_t node, const std::string& title) {
    const auto [place, fresh] = hints.emplace(node, cut_.nodes.size());
    if (!fresh) return place->second;
    DrawnNode hint;
    hint.tone = Tone::kElsewhere;
    hint.name = title.empty() ? drawing_.nodes[node].name : "";
    hint.title = title.empty() ? drawing_.nodes[node].title : title;
    hint.subtitle = title.empty() ? drawing_.nodes[node].subtitle : "";
    cut_.nodes.push_back(std::move(hint));
    return place->second;
  }

  const Drawing& drawing_;
  std::vector<size_t> seeds_;
  Drawing cut_;
  std::set<size_t> near_;
  std::map<size_t, size_t> place_;
  std::map<size_t, size_t> sources_;  // hints above, by node
  std::map<size_t, size_t> readers_;  // and below
  std::map<size_t, size_t> crowds_;
  std::map<std::pair<size_t, int>, std::set<size_t>> beyond_;
};

// Seeds in the drawing, or in the one subgraph that holds them all.
std::optional<Drawing> Find(const Drawing& drawing, const std::string& focus, const Means& means, int hops) {
  std::vector<size_t> seeds;
  for (size_t i = 0; i < drawing.nodes.size(); ++i) {
    if (IsMeant(drawing.nodes[i], focus, means)) seeds.push_back(i);
  }
  if (seeds.empty()) return std::nullopt;
  const DrawnNode& first = drawing.nodes[seeds.front()];
  if (seeds.size() == 1 && !means(first, focus)) {
    for (const Drawing& body : first.bodies) {
      auto inner = Find(body, focus, means, hops);
      if (!inner) continue;
      const std::string owner = first.name.empty() ? first.title : first.name;
      inner->title = drawing.title + " / " + owner + " / " + inner->title;
      return inner;
    }
  }
  return Cutter(drawing, std::move(seeds)).Run(hops);
}

}  // namespace

Result<Drawing> FocusOn(const Drawing& drawing, const std::string& focus, int hops) {
  for (const Means& means : AllMeans()) {
    if (auto found = Find(drawing, focus, means, hops)) return std::move(*found);
  }
  return NotFound(drawing, focus);
}

}  // namespace rulerun
