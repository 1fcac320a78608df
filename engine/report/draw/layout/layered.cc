// The layered layout: layers, order, coordinates, then the ways of the links.
#include "engine/report/draw/layout/layered.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace rulerun {
namespace {

constexpr double kLayerGap = 48;
constexpr double kSlantedGap = 0.07;  // more gap for links that go far sideways
constexpr double kMostGap = 110;
constexpr double kLabelRoom = 15;  // links leave a box straight, past the label below it
constexpr double kPortGap = 14;
constexpr double kPortInset = 12;  // from the corners of a box

size_t At(int index) { return static_cast<size_t>(index); }

struct Band {
  double top = 0;
  double bottom = 0;
};

std::vector<Band> StackLayers(const LayeredGraph& graph, const std::vector<Size>& boxes, const std::vector<double>& x) {
  std::vector<Band> bands(graph.layers.size());
  double y = 0;
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    double height = 0;
    double sideways = 0;
    for (const int vertex : graph.layers[i]) {
      if (!graph.IsPoint(vertex)) height = std::max(height, boxes[At(vertex)].height);
      for (const int below : graph.down[At(vertex)]) {
        sideways = std::max(sideways, std::abs(x[At(vertex)] - x[At(below)]));
      }
    }
    bands[i] = {y, y + height};
    y += height + std::min(kMostGap, kLayerGap + kSlantedGap * sideways);
  }
  return bands;
}

// Where links arrive at a box: below where they come from, as far as the box goes, in their order and apart.
void SpreadArrivals(double left, double right, std::vector<double>& wanted) {
  const double count = static_cast<double>(wanted.size());
  const double gap = wanted.size() < 2 ? 0 : std::min(kPortGap, (right - left) / (count - 1));
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double least = i == 0 ? left : wanted[i - 1] + gap;
    wanted[i] = std::max(std::clamp(wanted[i], left, right), least);
  }
  for (size_t i = wanted.size(); i-- > 0;) {
    const double most = i + 1 == wanted.size() ? right : wanted[i + 1] - gap;
    wanted[i] = std::min(wanted[i], most);
  }
}

class Router {
 public:
  Router(const LayeredGraph& graph, const std::vector<Size>& boxes, const std::vector<Link>& links,
         const std::vector<double>& x, const std::vector<Band>& bands)
      : graph_(graph), boxes_(boxes), links_(links), x_(x), bands_(bands), arrival_(links.size(), 0) {
    for (const Link& link : links_) {
      slots_[link.from] = std::max(slots_[link.from], link.from_slot + 1);
    }
    FindArrivals();
  }

  Point Centre(size_t box) const {
    const Band& band = bands_[At(graph_.layer_of[box])];
    return {x_[box], (band.top + band.bottom) / 2};
  }

  std::vector<Point> Route(size_t index) const {
    const std::vector<int>& chain = graph_.chains[index];
    if (chain.empty()) return {};
    const Link& link = links_[index];
    const double departure = PortX(x_[link.from], boxes_[link.from].width, link.from_slot, slots_.at(link.from));
    const double end = arrival_[index];
    const double bottom = Centre(link.from).y + boxes_[link.from].height / 2;
    std::vector<Point> way = {{departure, bottom}};
    Straight(departure, std::max(bottom + kLabelRoom, bands_[At(graph_.layer_of[link.from])].bottom), way);
    for (size_t i = 1; i + 1 < chain.size(); ++i) {
      const Band& band = bands_[At(graph_.layer_of[At(chain[i])])];
      Curve({x_[At(chain[i])], band.top}, way);
      Straight(x_[At(chain[i])], band.bottom, way);
    }
    Curve({end, bands_[At(graph_.layer_of[link.to])].top}, way);
    Straight(end, Centre(link.to).y - boxes_[link.to].height / 2, way);
    return way;
  }

 private:
  void FindArrivals() {
    struct Arrival {
      double from = 0;
      size_t link = 0;
    };
    std::vector<std::vector<Arrival>> arrivals(boxes_.size());
    for (size_t i = 0; i < links_.size(); ++i) {
      const auto& chain = graph_.chains[i];
      if (chain.empty()) continue;
      const int last = chain[chain.size() - 2];
      const double from = graph_.IsPoint(last)
                              ? x_[At(last)]
                              : PortX(x_[At(last)], boxes_[At(last)].width, links_[i].from_slot, slots_.at(At(last)));
      arrivals[links_[i].to].push_back({from, i});
    }
    for (size_t box = 0; box < boxes_.size(); ++box) {
      std::stable_sort(arrivals[box].begin(), arrivals[box].end(),
                       [](const Arrival& a, const Arrival& b) { return a.from < b.from; });
      std::vector<double> wanted;
      for (const Arrival& arrival : arrivals[box]) wanted.push_back(arrival.from);
      const double half = std::max(boxes_[box].width / 2 - kPortInset, 0.0);
      SpreadArrivals(x_[box] - half, x_[box] + half, wanted);
      for (size_t i = 0; i < wanted.size(); ++i) arrival_[arrivals[box][i].link] = wanted[i];
    }
  }

  static void Straight(double x, double y, std::vector<Point>& way) {
    const Point from = way.back();
    if (y - from.y < 0.01) return;
    way.insert(way.end(), {{x, from.y + (y - from.y) / 3}, {x, from.y + 2 * (y - from.y) / 3}, {x, y}});
  }

  // Upright at both ends.
  static void Curve(Point to, std::vector<Point>& way) {
    const Point from = way.back();
    if (std::abs(from.x - to.x) < 0.01) {
      Straight(to.x, to.y, way);
      return;
    }
    const double middle = (from.y + to.y) / 2;
    way.insert(way.end(), {{from.x, middle}, {to.x, middle}, to});
  }

  const LayeredGraph& graph_;
  const std::vector<Size>& boxes_;
  const std::vector<Link>& links_;
  const std::vector<double>& x_;
  const std::vector<Band>& bands_;
  std::map<size_t, int> slots_;
  std::vector<double> arrival_;
};

}  // namespace

double PortX(double centre, double width, int slot, int slots) {
  return centre + width * ((slot + 0.5) / std::max(slots, 1) - 0.5);
}

Arrangement ArrangeLayered(const std::vector<Size>& boxes, const std::vector<Link>& links) {
  LayeredGraph graph = BuildLayers(boxes, links);
  OrderLayers(graph);
  const std::vector<double> x = AssignX(graph);
  const std::vector<Band> bands = StackLayers(graph, boxes, x);
  const Router router(graph, boxes, links, x, bands);
  Arrangement arrangement;
  for (size_t i = 0; i < boxes.size(); ++i) {
    arrangement.centres.push_back(router.Centre(i));
    arrangement.size.width = std::max(arrangement.size.width, x[i] + boxes[i].width / 2);
  }
  for (const double point : x) arrangement.size.width = std::max(arrangement.size.width, point);
  arrangement.size.height = bands.empty() ? 0 : bands.back().bottom;
  for (size_t i = 0; i < links.size(); ++i) arrangement.routes.push_back(router.Route(i));
  return arrangement;
}

}  // namespace rulerun
