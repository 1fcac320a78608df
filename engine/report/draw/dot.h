// Drawings in Graphviz's language, for those who lay out and style them themselves.
#ifndef RULERUN_ENGINE_REPORT_DRAW_DOT_H_
#define RULERUN_ENGINE_REPORT_DRAW_DOT_H_

#include <string>

#include "engine/report/draw/drawing.h"

namespace rulerun {

// A digraph; subgraphs are clusters. Everything of the model is quoted.
std::string ToDot(const Drawing& drawing);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DRAW_DOT_H_
