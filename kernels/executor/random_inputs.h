// Seeded random inputs for a model: the same on every machine.
#ifndef RULERUN_KERNELS_EXECUTOR_RANDOM_INPUTS_H_
#define RULERUN_KERNELS_EXECUTOR_RANDOM_INPUTS_H_

#include <cstdint>
#include <map>
#include <string>

#include "engine/base/result.h"
#include "engine/graph/graph.h"
#include "kernels/executor/executor.h"

namespace rulerun {

using DimBindings = std::map<std::string, int64_t, std::less<>>;

// One tensor for each graph input without an initializer: floats uniform in [-1, 1), integers 0 to 3, bools 0 or 1,
// strings empty. Symbolic dimensions take their size from `bindings`, else 1.
Result<TensorMap> RandomInputs(const Graph& graph, uint64_t seed, const DimBindings& bindings);

}  // namespace rulerun

#endif  // RULERUN_KERNELS_EXECUTOR_RANDOM_INPUTS_H_
