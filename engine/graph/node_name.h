// What people are told a node is called.
#ifndef RULERUN_ENGINE_GRAPH_NODE_NAME_H_
#define RULERUN_ENGINE_GRAPH_NODE_NAME_H_

#include <string>

#include "engine/graph/graph.h"

namespace rulerun {

// "conv1", or "Conv#12" for one without a name: its operator and its index in the graph.
inline std::string NameOf(const Node& node) {
  return node.name.empty() ? node.op_type + "#" + std::to_string(node.index) : node.name;
}

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_NODE_NAME_H_
