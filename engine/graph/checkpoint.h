// A graph as it was, to go back to.
#ifndef RULERUN_ENGINE_GRAPH_CHECKPOINT_H_
#define RULERUN_ENGINE_GRAPH_CHECKPOINT_H_

#include <memory>

#include "engine/graph/graph.h"

namespace rulerun {

// Copies nodes and values, sharing the data of tensors; not cheap enough to be taken where nothing is likely to fail.
class Checkpoint {
 public:
  // `graph` must outlive the checkpoint, and stay where it is.
  explicit Checkpoint(Graph& graph);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  // Undoes all that was done to the graph and its subgraphs since.
  void Restore();

 private:
  Graph& graph_;
  std::unique_ptr<Graph> saved_;
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_CHECKPOINT_H_
