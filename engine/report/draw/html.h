// Drawings as one HTML file that needs nothing else.
#ifndef RULERUN_ENGINE_REPORT_DRAW_HTML_H_
#define RULERUN_ENGINE_REPORT_DRAW_HTML_H_

#include <string>
#include <vector>

#include "engine/report/draw/drawing.h"
#include "engine/report/draw/layout.h"

namespace rulerun {

// One of the graphs that the page shows.
struct View {
  std::string label;  // "before", "after"
  Drawing drawing;
  Layout layout;
};

// To move, zoom, search, and click for details; works from file:// and loads nothing. Names of the model are shown as
// text and cannot be anything else. `first`: the view that shows when the page opens.
std::string ToHtml(const std::string& title, const std::vector<View>& views, size_t first = 0);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DRAW_HTML_H_
