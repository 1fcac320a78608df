// The working graph of the layered layout. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_REPORT_DRAW_LAYOUT_LAYERED_H_
#define RULERUN_ENGINE_REPORT_DRAW_LAYOUT_LAYERED_H_

#include <vector>

#include "engine/report/draw/layout/arrange.h"

namespace rulerun {

// Vertices are the boxes, by their index, and behind them the points at which links pass a layer. Neighbours lie one
// layer apart.
struct LayeredGraph {
  std::vector<double> widths;  // of vertices; 0 for points
  std::vector<int> layer_of;
  std::vector<int> position;             // within the layer
  std::vector<std::vector<int>> up;      // neighbours one layer above
  std::vector<std::vector<int>> down;    // and below
  std::vector<std::vector<int>> layers;  // vertices from left to right
  std::vector<std::vector<int>> chains;  // of links: the vertices from first to last; empty for one in a circle
  size_t boxes = 0;

  bool IsPoint(int vertex) const { return static_cast<size_t>(vertex) >= boxes; }
};

LayeredGraph BuildLayers(const std::vector<Size>& boxes, const std::vector<Link>& links);

// Orders the vertices of every layer so that few links cross: barycenters up and down, a bounded number of times.
void OrderLayers(LayeredGraph& graph);
// Pairs of crossing links.
long CountCrossings(const LayeredGraph& graph);

// The x of every vertex's centre, none overlapping, long links straight (Brandes and Köpf 2002, Fast and Simple
// Horizontal Coordinate Assignment).
std::vector<double> AssignX(const LayeredGraph& graph);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DRAW_LAYOUT_LAYERED_H_
