// The x of every vertex: four extreme alignments, and the mean of the middle two.
#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "engine/report/draw/layout/layered.h"

namespace rulerun {
namespace {

constexpr double kBoxGap = 26;
constexpr double kPointGap = 16;

size_t At(int index) { return static_cast<size_t>(index); }

using Conflicts = std::set<std::pair<int, int>>;  // links, upper vertex first

bool IsInner(const LayeredGraph& graph, int upper, int lower) { return graph.IsPoint(upper) && graph.IsPoint(lower); }

// Links that cross one that runs on between two points: those stay straight, these give way.
Conflicts FindConflicts(const LayeredGraph& graph) {
  Conflicts conflicts;
  for (size_t i = 1; i < graph.layers.size(); ++i) {
    const auto& layer = graph.layers[i];
    int left = 0;
    size_t scanned = 0;
    for (size_t at = 0; at < layer.size(); ++at) {
      int inner = -1;
      for (const int upper : graph.up[At(layer[at])]) {
        if (IsInner(graph, upper, layer[at])) inner = upper;
      }
      if (inner < 0 && at + 1 < layer.size()) continue;
      const int right = inner < 0 ? static_cast<int>(graph.layers[i - 1].size()) : graph.position[At(inner)];
      for (; scanned <= at; ++scanned) {
        for (const int upper : graph.up[At(layer[scanned])]) {
          const int position = graph.position[At(upper)];
          const bool crosses = position < left || position > right;
          if (crosses && !IsInner(graph, upper, layer[scanned])) conflicts.emplace(upper, layer[scanned]);
        }
      }
      left = right;
    }
  }
  return conflicts;
}

// One of the four: vertices aligned with neighbours above or below, blocks packed to the left. To pack to the right the
// whole graph is looked at in a mirror.
class Alignment {
 public:
  Alignment(const LayeredGraph& graph, const Conflicts& conflicts, bool downwards, bool mirrored)
      : graph_(graph), conflicts_(conflicts), downwards_(downwards), mirrored_(mirrored), layers_(graph.layers) {
    const size_t vertices = graph.layer_of.size();
    root_.resize(vertices);
    for (size_t i = 0; i < vertices; ++i) root_[i] = static_cast<int>(i);
    next_ = root_;
    if (mirrored_) {
      for (auto& layer : layers_) std::reverse(layer.begin(), layer.end());
    }
  }

  std::vector<double> Run() {
    Align();
    std::vector<double> x = Pack();
    if (mirrored_) {
      for (double& value : x) value = -value;
    }
    return x;
  }

 private:
  int Position(int vertex) const {
    const int position = graph_.position[At(vertex)];
    if (!mirrored_) return position;
    return static_cast<int>(layers_[At(graph_.layer_of[At(vertex)])].size()) - 1 - position;
  }

  bool Conflicting(int vertex, int neighbour) const {
    return conflicts_.count(downwards_ ? std::pair(neighbour, vertex) : std::pair(vertex, neighbour)) > 0;
  }

  void Align() {
    for (size_t i = 0; i < layers_.size(); ++i) {
      AlignLayer(layers_[downwards_ ? i : layers_.size() - 1 - i]);
    }
  }

  void AlignLayer(const std::vector<int>& layer) {
    int last = -1;
    for (const int vertex : layer) {
      std::vector<int> neighbours = downwards_ ? graph_.up[At(vertex)] : graph_.down[At(vertex)];
      if (neighbours.empty()) continue;
      std::sort(neighbours.begin(), neighbours.end(), [&](int a, int b) { return Position(a) < Position(b); });
      const size_t low = (neighbours.size() - 1) / 2;
      const size_t high = neighbours.size() / 2;
      for (size_t m = low; m <= high; ++m) {
        const int median = neighbours[m];
        if (next_[At(vertex)] != vertex || Position(median) <= last || Conflicting(vertex, median)) continue;
        next_[At(median)] = vertex;
        root_[At(vertex)] = root_[At(median)];
        next_[At(vertex)] = root_[At(vertex)];
        last = Position(median);
      }
    }
  }

  double Separation(int left, int right) const {
    const double widths = (graph_.widths[At(left)] + graph_.widths[At(right)]) / 2;
    return widths + (graph_.IsPoint(left) || graph_.IsPoint(right) ? kPointGap : kBoxGap);
  }

  // Blocks are the vertices of one root. As far left as their left neighbours allow, then as far right as the right
  // ones do without moving.
  std::vector<double> Pack() const {
    struct Side {
      int block = 0;
      double apart = 0;
    };
    const size_t vertices = root_.size();
    std::vector<std::vector<Side>> left(vertices);
    std::vector<std::vector<Side>> right(vertices);
    std::vector<int> waiting(vertices, 0);
    for (const auto& layer : layers_) {
      for (size_t i = 1; i < layer.size(); ++i) {
        const int a = root_[At(layer[i - 1])];
        const int b = root_[At(layer[i])];
        const double apart = Separation(layer[i - 1], layer[i]);
        left[At(b)].push_back({a, apart});
        right[At(a)].push_back({b, apart});
        ++waiting[At(b)];
      }
    }
    std::vector<int> order;
    for (size_t v = 0; v < vertices; ++v) {
      if (root_[v] == static_cast<int>(v) && waiting[v] == 0) order.push_back(static_cast<int>(v));
    }
    for (size_t i = 0; i < order.size(); ++i) {
      for (const Side& side : right[At(order[i])]) {
        if (--waiting[At(side.block)] == 0) order.push_back(side.block);
      }
    }
    std::vector<double> x(vertices, 0);
    for (const int block : order) {
      for (const Side& side : left[At(block)]) x[At(block)] = std::max(x[At(block)], x[At(side.block)] + side.apart);
    }
    for (auto block = order.rbegin(); block != order.rend(); ++block) {
      double limit = std::numeric_limits<double>::infinity();
      for (const Side& side : right[At(*block)]) limit = std::min(limit, x[At(side.block)] - side.apart);
      if (limit < std::numeric_limits<double>::infinity()) x[At(*block)] = std::max(x[At(*block)], limit);
    }
    std::vector<double> of_vertices(vertices);
    for (size_t v = 0; v < vertices; ++v) of_vertices[v] = x[At(root_[v])];
    return of_vertices;
  }

  const LayeredGraph& graph_;
  const Conflicts& conflicts_;
  bool downwards_;
  bool mirrored_;
  std::vector<std::vector<int>> layers_;
  std::vector<int> root_;
  std::vector<int> next_;  // the block as a ring, as in the paper
};

struct Extent {
  double low = 0;
  double high = 0;
};

Extent ExtentOf(const LayeredGraph& graph, const std::vector<double>& x) {
  Extent extent{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (size_t v = 0; v < x.size(); ++v) {
    extent.low = std::min(extent.low, x[v] - graph.widths[v] / 2);
    extent.high = std::max(extent.high, x[v] + graph.widths[v] / 2);
  }
  return extent;
}

}  // namespace

std::vector<double> AssignX(const LayeredGraph& graph) {
  const size_t vertices = graph.layer_of.size();
  if (vertices == 0) return {};
  const Conflicts conflicts = FindConflicts(graph);
  std::array<std::vector<double>, 4> candidates;
  std::array<Extent, 4> extents;
  size_t narrowest = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    candidates[i] = Alignment(graph, conflicts, i < 2, i % 2 == 1).Run();
    extents[i] = ExtentOf(graph, candidates[i]);
    const double width = extents[i].high - extents[i].low;
    if (width < extents[narrowest].high - extents[narrowest].low) narrowest = i;
  }
  // Those packed to the left are laid at the narrowest one's left edge, the mirrored ones at its right edge.
  for (size_t i = 0; i < candidates.size(); ++i) {
    const double shift =
        i % 2 == 0 ? extents[narrowest].low - extents[i].low : extents[narrowest].high - extents[i].high;
    for (double& value : candidates[i]) value += shift;
  }
  std::vector<double> x(vertices);
  for (size_t v = 0; v < vertices; ++v) {
    std::array<double, 4> values{};
    for (size_t i = 0; i < values.size(); ++i) values[i] = candidates[i][v];
    std::sort(values.begin(), values.end());
    x[v] = (values[1] + values[2]) / 2;
  }
  const double low = ExtentOf(graph, x).low;
  for (double& value : x) value -= low;
  return x;
}

}  // namespace rulerun
