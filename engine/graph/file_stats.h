// What a model file holds, before reading it changes anything: Constant nodes and functions are still there.
#ifndef RULERUN_ENGINE_GRAPH_FILE_STATS_H_
#define RULERUN_ENGINE_GRAPH_FILE_STATS_H_

#include <map>
#include <string>

#include "engine/base/result.h"

namespace rulerun {

// Operator, with its domain in front -> how many nodes of the main graph and its subgraphs.
Result<std::map<std::string, int>> CountOperators(const std::string& path);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_FILE_STATS_H_
