// The order of vertices within their layers.
#include <algorithm>
#include <numeric>

#include "engine/report/draw/layout/layered.h"

namespace rulerun {
namespace {

constexpr long kWork = 4'000'000;  // vertices and links visited by sweeps, about
constexpr long kLeastSweeps = 4;
constexpr long kMostSweeps = 32;
constexpr int kSwapRounds = 6;

size_t At(int index) { return static_cast<size_t>(index); }

void SetPositions(const std::vector<int>& layer, LayeredGraph& graph) {
  for (size_t i = 0; i < layer.size(); ++i) graph.position[At(layer[i])] = static_cast<int>(i);
}

// Depth first, so that what belongs together starts out side by side.
void InitialOrder(LayeredGraph& graph) {
  const int deepest = graph.layer_of.empty() ? -1 : *std::max_element(graph.layer_of.begin(), graph.layer_of.end());
  graph.layers.assign(static_cast<size_t>(deepest + 1), {});
  graph.position.assign(graph.layer_of.size(), 0);
  std::vector<char> seen(graph.layer_of.size(), 0);
  std::vector<int> roots(graph.layer_of.size());
  std::iota(roots.begin(), roots.end(), 0);
  std::stable_sort(roots.begin(), roots.end(),
                   [&](int a, int b) { return graph.layer_of[At(a)] < graph.layer_of[At(b)]; });
  for (const int root : roots) {
    std::vector<int> stack = {root};
    while (!stack.empty()) {
      const int vertex = stack.back();
      stack.pop_back();
      if (seen[At(vertex)] != 0) continue;
      seen[At(vertex)] = 1;
      graph.layers[At(graph.layer_of[At(vertex)])].push_back(vertex);
      const auto& next = graph.down[At(vertex)];
      stack.insert(stack.end(), next.rbegin(), next.rend());
    }
  }
  for (const auto& layer : graph.layers) SetPositions(layer, graph);
}

// Inversions between the positions of neighbours above, by a Fenwick tree.
long CrossingsAbove(const LayeredGraph& graph, size_t layer) {
  const size_t width = graph.layers[layer - 1].size();
  std::vector<long> tree(width + 1, 0);
  long crossings = 0;
  long links = 0;
  for (const int vertex : graph.layers[layer]) {
    const auto& above = graph.up[At(vertex)];
    for (const int neighbour : above) {
      long left = 0;
      for (size_t i = At(graph.position[At(neighbour)]) + 1; i > 0; i -= i & (~i + 1)) left += tree[i];
      crossings += links - left;
    }
    for (const int neighbour : above) {
      for (size_t i = At(graph.position[At(neighbour)]) + 1; i <= width; i += i & (~i + 1)) ++tree[i];
    }
    links += static_cast<long>(above.size());
  }
  return crossings;
}

// Sorts a layer by the mean position of its neighbours on one side; vertices without any keep their place.
void SortByBarycenter(const std::vector<std::vector<int>>& neighbours, std::vector<int>& layer, LayeredGraph& graph) {
  struct Placed {
    double barycenter = 0;
    int vertex = 0;
  };
  std::vector<Placed> movable;
  std::vector<size_t> places;
  for (size_t i = 0; i < layer.size(); ++i) {
    const auto& beside = neighbours[At(layer[i])];
    if (beside.empty()) continue;
    double sum = 0;
    for (const int neighbour : beside) sum += graph.position[At(neighbour)];
    movable.push_back({sum / static_cast<double>(beside.size()), layer[i]});
    places.push_back(i);
  }
  std::stable_sort(movable.begin(), movable.end(),
                   [](const Placed& a, const Placed& b) { return a.barycenter < b.barycenter; });
  for (size_t i = 0; i < places.size(); ++i) layer[places[i]] = movable[i].vertex;
  SetPositions(layer, graph);
}

// Crossings between the links of two vertices to one side if `left` stands left of `right`, less those if it stands
// right.
long GainOfSwap(const LayeredGraph& graph, const std::vector<std::vector<int>>& neighbours, int left, int right) {
  long gain = 0;
  for (const int a : neighbours[At(left)]) {
    for (const int b : neighbours[At(right)]) {
      const int side = graph.position[At(a)] - graph.position[At(b)];
      gain += side > 0 ? 1 : side < 0 ? -1 : 0;
    }
  }
  return gain;
}

// Swaps neighbours in a layer where that helps.
bool SwapOnce(LayeredGraph& graph) {
  constexpr size_t kMostPairs = 4096;  // of links: a hub is not worth it
  bool better = false;
  for (auto& layer : graph.layers) {
    for (size_t i = 0; i + 1 < layer.size(); ++i) {
      const int left = layer[i];
      const int right = layer[i + 1];
      const size_t pairs = graph.up[At(left)].size() * graph.up[At(right)].size() +
                           graph.down[At(left)].size() * graph.down[At(right)].size();
      if (pairs > kMostPairs) continue;
      if (GainOfSwap(graph, graph.up, left, right) + GainOfSwap(graph, graph.down, left, right) <= 0) continue;
      std::swap(layer[i], layer[i + 1]);
      std::swap(graph.position[At(left)], graph.position[At(right)]);
      better = true;
    }
  }
  return better;
}

}  // namespace

long CountCrossings(const LayeredGraph& graph) {
  long crossings = 0;
  for (size_t layer = 1; layer < graph.layers.size(); ++layer) crossings += CrossingsAbove(graph, layer);
  return crossings;
}

void OrderLayers(LayeredGraph& graph) {
  InitialOrder(graph);
  long size = static_cast<long>(graph.layer_of.size());
  for (const auto& down : graph.down) size += static_cast<long>(down.size());
  const long sweeps = std::clamp(kWork / std::max(size, 1L), kLeastSweeps, kMostSweeps);
  auto best = graph.layers;
  long fewest = CountCrossings(graph);
  for (long sweep = 0; sweep < sweeps && fewest > 0; ++sweep) {
    if (sweep % 2 == 0) {
      for (size_t i = 1; i < graph.layers.size(); ++i) SortByBarycenter(graph.up, graph.layers[i], graph);
    } else {
      for (size_t i = graph.layers.size() - 1; i-- > 0;) SortByBarycenter(graph.down, graph.layers[i], graph);
    }
    for (int round = 0; round < kSwapRounds && SwapOnce(graph); ++round) {
    }
    const long crossings = CountCrossings(graph);
    if (crossings >= fewest) continue;
    fewest = crossings;
    best = graph.layers;
  }
  graph.layers = std::move(best);
  for (const auto& layer : graph.layers) SetPositions(layer, graph);
}

}  // namespace rulerun
