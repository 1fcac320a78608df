// A part of a drawing: what lies around a node.
#ifndef RULERUN_ENGINE_REPORT_DRAW_FOCUS_H_
#define RULERUN_ENGINE_REPORT_DRAW_FOCUS_H_

#include <string>

#include "engine/base/result.h"
#include "engine/report/draw/drawing.h"

namespace rulerun {

// The nodes that `focus` means, and those at most `hops` edges away; what lies beyond is hinted at. `focus` is the name
// of a node, of a node of the original model (what stands for it), of a value (what writes it, or holds it as a
// constant), or an operator, with or without its domain; nodes in subgraphs count. Where nothing is called so: an error
// with the nearest names.
Result<Drawing> FocusOn(const Drawing& drawing, const std::string& focus, int hops);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DRAW_FOCUS_H_
