// Pictures of graphs: what to draw (drawing.h), a part of it (focus.h), where (layout.h), and how (svg.h, dot.h,
// html.h).
//
// A report that shows a picture writes
//     Drawing before = DrawGraph(*model.graph, rules);        // before the pipeline runs
//     ... RunPipeline, FindFates ...
//     Drawing after = DrawGraph(*model.graph, rules);
//     ColourOriginal(fates, before);
//     ColourRewritten(fates, after);
//     page += PictureOf(std::move(after), {.style = false});   // and PageStyle() once in the page's <style>
#ifndef RULERUN_ENGINE_REPORT_DRAW_DRAW_H_
#define RULERUN_ENGINE_REPORT_DRAW_DRAW_H_

#include <string>

#include "engine/report/draw/graph_drawing.h"
#include "engine/report/draw/layout.h"
#include "engine/report/draw/style.h"
#include "engine/report/draw/svg.h"

namespace rulerun {

// Cuts far edges, folds a tall drawing, lays out with the project's own layout, writes SVG.
inline std::string PictureOf(Drawing drawing, const SvgOptions& options = {}) {
  CutFarEdges(drawing);
  FoldIntoColumns(drawing);
  return ToSvg(drawing, LayOut(drawing), options);
}

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DRAW_DRAW_H_
