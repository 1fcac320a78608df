// A drawing as data, for a page that draws parts of it itself.
#ifndef RULERUN_ENGINE_REPORT_GRAPH_DATA_H_
#define RULERUN_ENGINE_REPORT_GRAPH_DATA_H_

#include <string>

#include "engine/report/draw/drawing.h"

namespace rulerun {

// JSON on one line: `boxes`, each [title, subtitle, name, index of its tone, original nodes it stands for], in
// topological order but for the outputs, which come last, and then those of subgraphs; `edges`, flat: from, to, index
// of what it carries; `tones`, each [name, words]; `carries`.
std::string GraphData(const Drawing& drawing);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_GRAPH_DATA_H_
