#include "engine/passes/pass.h"

#include <utility>

#include "engine/passes/layout/channels_last.h"
#include "engine/passes/layout/nchwc.h"
#include "engine/passes/layout/transpose_optimizer.h"
#include "engine/passes/passes.h"

namespace rulerun {
namespace {

// The one list of passes.
constexpr std::pair<std::string_view, Pass> kPasses[] = {
    {"inline-local-functions", &InlineLocalFunctions},
    {"unique-dq", &UniqueDq},
    {"constant-sharing", &ConstantSharing},
    {"common-subexpressions", &CommonSubexpressions},
    {"constant-folding", &ConstantFolding},
    {"reshape-fusion", &ReshapeFusion},
    {"gather-slice-to-split", &GatherSliceToSplit},
    {"partition", &Partition},
    {"require-kernels", &RequireKernels},
    {"qdq-propagation", &QdqPropagation},
    {"insert-casts", &InsertCasts},
    {"fuse-fp16-initializers", &FuseFp16Initializers},
    {"weights-s8-to-u8", &WeightsS8ToU8},
    {"dq-weights-s8-to-u8", &DqWeightsS8ToU8},
    {"transpose-optimizer", &RunTransposeOptimizer},
    {"channels-last", &RunChannelsLast},
    {"nchwc", &RunNchwc},
};

}  // namespace

Pass FindPass(std::string_view name) {
  for (const auto& [candidate, pass] : kPasses) {
    if (candidate == name) return pass;
  }
  return nullptr;
}

const std::vector<std::string>& PassNames() {
  static const auto& names = *new std::vector<std::string>([] {
    std::vector<std::string> all;
    for (const auto& entry : kPasses) all.emplace_back(entry.first);
    return all;
  }());
  return names;
}

}  // namespace rulerun
