// Arranges boxes so that all links lead downwards: a layered (Sugiyama) layout of our own, and Graphviz's.
#ifndef RULERUN_ENGINE_REPORT_DRAW_LAYOUT_ARRANGE_H_
#define RULERUN_ENGINE_REPORT_DRAW_LAYOUT_ARRANGE_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace rulerun {

struct Point {
  double x = 0;
  double y = 0;
};

struct Size {
  double width = 0;
  double height = 0;
};

struct Link {
  size_t from = 0;
  size_t to = 0;
  int from_slot = 0;  // links from the same slot leave at the same point
};

struct Arrangement {
  Size size;
  std::vector<Point> centres;              // of the boxes
  std::vector<std::vector<Point>> routes;  // of the links: cubic Bézier curves, 1 + 3n points
};

// Layer of every box, from 0: a link leads from a lower number to a higher one. A link that closes a circle counts for
// nothing. Boxes that only feed others lie right above the first that reads them.
std::vector<int> FindLayers(size_t boxes, const std::vector<Link>& links);

// In time and space linear in boxes and in the layers that links pass, but for sorting.
Arrangement ArrangeLayered(const std::vector<Size>& boxes, const std::vector<Link>& links);

// By Graphviz's `dot`, which must be in PATH; std::nullopt where it is not, fails, or takes longer than `limit`.
// Nothing of a model is handed to it but sizes.
std::optional<Arrangement> ArrangeWithGraphviz(const std::vector<Size>& boxes, const std::vector<Link>& links,
                                               std::chrono::milliseconds limit);

// X at which the links leave a box of this width and centre, by slot of `slots`.
double PortX(double centre, double width, int slot, int slots);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DRAW_LAYOUT_ARRANGE_H_
