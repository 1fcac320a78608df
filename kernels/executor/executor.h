// Runs a graph: kernels are made once, with constants bound, then run in order as often as wanted.
#ifndef RULERUN_KERNELS_EXECUTOR_EXECUTOR_H_
#define RULERUN_KERNELS_EXECUTOR_EXECUTOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "engine/base/result.h"
#include "engine/graph/graph.h"
#include "kernels/kernel.h"

namespace rulerun {

using TensorMap = std::map<std::string, Tensor, std::less<>>;

struct ExecutorOptions {
  int threads = 1;                           // 0: one per core
  const KernelRegistry* registry = nullptr;  // nullptr: the default one
  int channel_block = 0;                     // KernelRequest::channel_block
};

class Executor {
 public:
  // After each node that ran, subgraphs' nodes included (whose time is part of the outer node's time, too).
  using NodeObserver = std::function<void(const Node& node, int64_t nanoseconds)>;
  // Every value that a node of the main graph or a subgraph computed.
  using ValueObserver = std::function<void(const Value& value, const Tensor& tensor)>;

  // Fails where an operator has no kernel, or a kernel refuses its node. `graph` must be resolved and stay as it is
  // for as long as the executor lives.
  static Result<std::unique_ptr<Executor>> Prepare(const Graph& graph, const ExecutorOptions& options = {});
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Outputs by name. Inputs must have the declared element type, rank and fixed sizes; those with an initializer may
  // be left out.
  Result<TensorMap> Run(const TensorMap& inputs);

  // May change what a node computed before others read it: to see what an error there does to the outputs.
  using ValueEditor = std::function<void(const Node& node, const Value& value, Tensor& tensor)>;

  void EditValues(ValueEditor editor);
  void ObserveNodes(NodeObserver observer);
  void ObserveValues(ValueObserver observer);
  // What intermediate values took so far, at most.
  size_t buffer_bytes() const;

 private:
  struct State;
  explicit Executor(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace rulerun

#endif  // RULERUN_KERNELS_EXECUTOR_EXECUTOR_H_
