// Which operators a platform has kernels for, as ONNX Runtime looks them up. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_PASSES_KERNEL_TABLE_H_
#define RULERUN_ENGINE_PASSES_KERNEL_TABLE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/graph.h"
#include "engine/passes/pass.h"

namespace rulerun {

class KernelTable {
 public:
  // Types by the name of a type constraint or formal parameter of a schema.
  using Types = std::map<std::string, std::string, std::less<>>;

  // The CSV file that the target's platform names as `kernels`. Without one there is a kernel for everything.
  static Result<KernelTable> Read(const PassScope& scope);
  static Result<KernelTable> Parse(std::string_view text, const std::string& path);

  bool Has(const Graph& graph, const Node& node, const ExternalSchemas& schemas) const;
  // A kernel with all of these constraints, each allowing its type.
  bool HasFor(const Node& node, const Types& types) const;

 private:
  struct Row {
    int since = 0;
    std::optional<int> until;  // open: for the version `since` only, since nobody knows later ones
    std::string types;         // "T=float|double;T1=int64", looked into only where a node asks
  };
  static Result<Row> ParseRow(std::vector<std::string> fields);
  static bool Covers(const Row& row, int version);
  bool Fits(const Row& row, const Graph& graph, const Node& node, const OpSchema* schema) const;

  bool everything_ = false;
  std::map<std::string, std::vector<Row>, std::less<>> rows_;  // by operator with its domain in front
};

// Of the schema of a node; nullptr where nobody knows the operator.
const OpSchema* SchemaOf(const Graph& graph, const Node& node, const ExternalSchemas& schemas);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_PASSES_KERNEL_TABLE_H_
