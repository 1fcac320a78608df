// Drawings as SVG.
#ifndef RULERUN_ENGINE_REPORT_DRAW_SVG_H_
#define RULERUN_ENGINE_REPORT_DRAW_SVG_H_

#include <string>
#include <vector>

#include "engine/report/draw/drawing.h"
#include "engine/report/draw/layout.h"

namespace rulerun {

// Around the graph. Without a legend, everything lies that far to the right and below of what the layout says.
inline constexpr double kSvgMargin = 20;

struct SvgOptions {
  bool legend = true;
  bool style = true;     // the style sheet inside; a page with pictures in its text has PageStyle() once instead
  bool tooltips = true;  // a box's details where the pointer rests on it
  std::string id;        // if not "": boxes have the ids <id>0, <id>1, ... in the order of their texts in the picture
};

// A whole picture: <svg> ... </svg>, for a file or for the middle of a page. Everything of the model is escaped.
std::string ToSvg(const Drawing& drawing, const Layout& layout, const SvgOptions& options = {});

// Several in one picture, from left to right with an arrow between, each under its title; without a legend or ids.
std::string SideBySide(const std::vector<Drawing>& drawings, const SvgOptions& options = {});

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DRAW_SVG_H_
