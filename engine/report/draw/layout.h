// Where the boxes and edges of a drawing lie.
#ifndef RULERUN_ENGINE_REPORT_DRAW_LAYOUT_H_
#define RULERUN_ENGINE_REPORT_DRAW_LAYOUT_H_

#include <cstddef>
#include <vector>

#include "engine/base/result.h"
#include "engine/report/draw/drawing.h"
#include "engine/report/draw/layout/arrange.h"

namespace rulerun {

struct Box {
  double x = 0;  // of its upper left corner; y grows downwards
  double y = 0;
  double width = 0;
  double height = 0;
};

// Of one graph; a subgraph's is placed inside the box of the node that runs it. Coordinates are the whole picture's.
struct Layout {
  Box frame;
  std::vector<Box> nodes;                   // as Drawing::nodes
  std::vector<std::vector<Layout>> bodies;  // as DrawnNode::bodies
  std::vector<std::vector<Point>> routes;   // as Drawing::edges: cubic Bézier curves, 1 + 3n points, downwards
  std::vector<std::vector<Point>> labels;   // as Drawing::nodes: below each output, by slot, for the type it carries
};

// By our own layout: the same everywhere.
Layout LayOut(const Drawing& drawing);

// By Graphviz's `dot`; an error where it is not installed, fails, or takes longer than 20 s for one graph.
Result<Layout> LayOutWithGraphviz(const Drawing& drawing);

// An edge that would pass more than `most_layers` layers is cut: its reader gets a box that names what it reads. So a
// mask that every layer of a network reads does not run alongside all of it, and the size of a layout stays linear.
inline constexpr int kMostLayers = 60;
void CutFarEdges(Drawing& drawing, int most_layers = kMostLayers);

// A drawing much taller than wide continues in further columns, as a newspaper does: it is folded where few edges are
// cut, and a cut edge leads to a box that says where it goes on, and from one that says where it comes from. Columns
// stand side by side. Does nothing where there is little to fold.
void FoldIntoColumns(Drawing& drawing);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DRAW_LAYOUT_H_
