// Which layer each box lies in, and the points at which links pass the layers between.
#include <algorithm>
#include <map>
#include <utility>

#include "engine/report/draw/layout/layered.h"

namespace rulerun {
namespace {

struct Neighbours {
  std::vector<std::vector<size_t>> in;
  std::vector<std::vector<size_t>> out;
};

Neighbours FindNeighbours(size_t boxes, const std::vector<Link>& links) {
  Neighbours neighbours{std::vector<std::vector<size_t>>(boxes), std::vector<std::vector<size_t>>(boxes)};
  for (const Link& link : links) {
    neighbours.out[link.from].push_back(link.to);
    neighbours.in[link.to].push_back(link.from);
  }
  return neighbours;
}

// Boxes so that links lead forwards; what lies in or behind a circle comes last, in the order given.
std::vector<size_t> SortTopologically(const Neighbours& neighbours) {
  const size_t boxes = neighbours.in.size();
  std::vector<size_t> waiting(boxes);
  std::vector<size_t> order;
  for (size_t box = 0; box < boxes; ++box) {
    waiting[box] = neighbours.in[box].size();
    if (waiting[box] == 0) order.push_back(box);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const size_t next : neighbours.out[order[i]]) {
      if (--waiting[next] == 0) order.push_back(next);
    }
  }
  if (order.size() == boxes) return order;
  for (size_t box = 0; box < boxes; ++box) {
    if (waiting[box] > 0) order.push_back(box);
  }
  return order;
}

// Boxes that nothing else reads than one chain or tree down to its first reader: it can move as a whole.
std::vector<char> FindMovable(const Neighbours& neighbours, const std::vector<size_t>& order) {
  std::vector<char> movable(order.size(), 0);
  for (const size_t box : order) {
    const auto& sources = neighbours.in[box];
    movable[box] = std::all_of(sources.begin(), sources.end(), [&](size_t source) {
      return movable[source] != 0 && neighbours.out[source].size() == 1;
    });
  }
  return movable;
}

// A box that has more readers than sources shortens links where it moves down to them; so does a whole tree of boxes.
void MoveDown(const Neighbours& neighbours, const std::vector<size_t>& order, std::vector<int>& layers) {
  const std::vector<char> movable = FindMovable(neighbours, order);
  for (auto box = order.rbegin(); box != order.rend(); ++box) {
    const auto& readers = neighbours.out[*box];
    const bool shorter = readers.size() > neighbours.in[*box].size();
    if (readers.empty() || (!shorter && movable[*box] == 0)) continue;
    int lowest = layers[*box];
    bool first = true;
    for (const size_t reader : readers) {
      if (layers[reader] <= layers[*box]) continue;  // of a circle
      lowest = first ? layers[reader] - 1 : std::min(lowest, layers[reader] - 1);
      first = false;
    }
    layers[*box] = std::max(layers[*box], lowest);
  }
}

}  // namespace

std::vector<int> FindLayers(size_t boxes, const std::vector<Link>& links) {
  const Neighbours neighbours = FindNeighbours(boxes, links);
  const std::vector<size_t> order = SortTopologically(neighbours);
  std::vector<size_t> rank(boxes);
  for (size_t i = 0; i < boxes; ++i) rank[order[i]] = i;
  std::vector<int> layers(boxes, 0);
  for (const size_t box : order) {
    for (const size_t reader : neighbours.out[box]) {
      if (rank[reader] > rank[box]) layers[reader] = std::max(layers[reader], layers[box] + 1);
    }
  }
  MoveDown(neighbours, order, layers);
  return layers;
}

LayeredGraph BuildLayers(const std::vector<Size>& boxes, const std::vector<Link>& links) {
  LayeredGraph graph;
  graph.boxes = boxes.size();
  graph.layer_of = FindLayers(boxes.size(), links);
  for (const Size& box : boxes) graph.widths.push_back(box.width);
  graph.up.resize(boxes.size());
  graph.down.resize(boxes.size());
  const auto connect = [&](int above, int below) {
    graph.down[static_cast<size_t>(above)].push_back(below);
    graph.up[static_cast<size_t>(below)].push_back(above);
  };
  // Links that leave at the same point share their way down as long as they can.
  std::map<std::pair<size_t, int>, std::vector<int>> ways;
  for (const Link& link : links) {
    auto& chain = graph.chains.emplace_back();
    const int first = graph.layer_of[link.from];
    const int last = graph.layer_of[link.to];
    if (first >= last) continue;
    std::vector<int>& way = ways[{link.from, link.from_slot}];
    if (way.empty()) way.push_back(static_cast<int>(link.from));
    for (int layer = first + static_cast<int>(way.size()); layer < last; ++layer) {
      const int point = static_cast<int>(graph.widths.size());
      graph.widths.push_back(0);
      graph.layer_of.push_back(layer);
      graph.up.emplace_back();
      graph.down.emplace_back();
      connect(way.back(), point);
      way.push_back(point);
    }
    chain.assign(way.begin(), way.begin() + (last - first));
    connect(chain.back(), static_cast<int>(link.to));
    chain.push_back(static_cast<int>(link.to));
  }
  return graph;
}

}  // namespace rulerun
