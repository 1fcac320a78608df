// How large the results of a node will be. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_PASSES_RESULT_SIZE_H_
#define RULERUN_ENGINE_PASSES_RESULT_SIZE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "engine/passes/table.h"

namespace rulerun {

class ResultSize {
 public:
  // The map `sizes` of the table: operator -> how its results' size follows from its input.
  static Result<ResultSize> Read(const Table& table);

  // Bytes of all results together; std::nullopt where they are not known beforehand, INT64_MAX beyond all bounds.
  std::optional<int64_t> Of(const Graph& graph, const Node& node) const;

 private:
  enum class Way { kAsInput, kAtMostInput, kInputIsShape };
  std::map<std::string, Way, std::less<>> ways_;
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_RESULT_SIZE_H_
