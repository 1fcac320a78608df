// A model's graph as a drawing.
#ifndef RULERUN_ENGINE_REPORT_DRAW_GRAPH_DRAWING_H_
#define RULERUN_ENGINE_REPORT_DRAW_GRAPH_DRAWING_H_

#include <string>

#include "engine/graph/graph.h"
#include "engine/report/draw/drawing.h"
#include "engine/report/fates.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {

// Boxes for nodes, inputs and outputs, subgraphs inside the box of the node that runs them. Constants become lines of
// the box that reads them, and so does a Q or DQ that reads nothing but constants. Coloured by element types alone.
Drawing DrawGraph(const Graph& graph, const RuleSet& rules);

// Colours by what the rules did, and adds it to the details. `drawing` was made of the rewritten graph, or (Original)
// of the graph before the pipeline ran.
void ColourRewritten(const Fates& fates, Drawing& drawing);
void ColourOriginal(const Fates& fates, Drawing& drawing);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_DRAW_GRAPH_DRAWING_H_
