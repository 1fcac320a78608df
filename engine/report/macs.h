// How many multiply-adds an operator takes, by formulas that are data (rules/words/macs.yaml).
#ifndef RULERUN_ENGINE_REPORT_MACS_H_
#define RULERUN_ENGINE_REPORT_MACS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/base/result.h"
#include "engine/graph/graph.h"
#include "engine/graph/schema.h"

namespace rulerun {

// "Y * W[1:]": products and sums of the element counts, or of single dimensions, of a node's inputs and outputs, which
// go by their names in the operator's schema.
//   Y        its elements        W[0], A[-1]   a dimension, counted from the end where negative
//   W[1:]    the product of the dimensions from there on        A[transA ? 0 : -1]   which one an attribute decides
class MacFormula {
 public:
  static Result<MacFormula> Parse(const std::string& text, const std::string& place);

  struct Term;  // of the parsed text
  const Term& root() const { return *root_; }

 private:
  explicit MacFormula(std::shared_ptr<const Term> root) : root_(std::move(root)) {}
  std::shared_ptr<const Term> root_;
};

using MacTable = std::map<std::string, MacFormula>;  // by operator
Result<MacTable> ReadMacTable(const std::string& path);

// Multiply-adds of a node; 0 for an operator that the table does not list, std::nullopt where a shape is not known.
std::optional<int64_t> MacsOf(const Graph& graph, const Node& node, const ExternalSchemas& schemas,
                              const MacTable& table);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_REPORT_MACS_H_
