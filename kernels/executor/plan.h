// What an executor works out about a graph before it runs: order, kernels, where values come from and when they die.
#ifndef RULERUN_KERNELS_EXECUTOR_PLAN_H_
#define RULERUN_KERNELS_EXECUTOR_PLAN_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/graph.h"
#include "kernels/executor/executor.h"
#include "kernels/kernel.h"

namespace rulerun {

struct Plan;

struct Step {
  const Node* node = nullptr;
  std::unique_ptr<Kernel> kernel;
  size_t output_count = 0;       // without trailing omitted ones
  std::vector<ValueId> release;  // values of this graph that nothing reads after this step
  std::vector<std::pair<std::string, std::unique_ptr<Plan>>> subgraphs;  // by attribute name
};

// Where a value is at run time: a constant, or `id` in the frame `hops` graphs further out.
struct Source {
  const Tensor* constant = nullptr;
  int hops = 0;
  ValueId id = kNoValue;
};

struct Plan {
  const Graph* graph = nullptr;
  const Plan* parent = nullptr;
  std::vector<Source> sources;  // by ValueId
  std::vector<Step> steps;
};

Result<std::unique_ptr<Plan>> MakePlan(const Graph& graph, const ExecutorOptions& options,
                                       const Plan* parent = nullptr);

// "node 'name' (Op)", for errors.
std::string PlaceOf(const Node& node);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_EXECUTOR_PLAN_H_
