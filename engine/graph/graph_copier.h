// What only loading and cloning may do to a graph. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_GRAPH_GRAPH_COPIER_H_
#define RULERUN_ENGINE_GRAPH_GRAPH_COPIER_H_

#include <memory>

#include "engine/graph/graph.h"

namespace rulerun {

class GraphCopier {
 public:
  // A copy that shares tensor data; subgraphs are copied too.
  static std::unique_ptr<Graph> Copy(const Graph& graph, Graph* parent);
  // Gives `to`, which keeps its place in an enclosing graph, the contents of `from`.
  static void CopyContents(const Graph& from, Graph& to);
  // Building a graph is no change of it.
  static void ClearModified(Graph& graph);
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_GRAPH_COPIER_H_
