// Evaluates the conditions of a rule over a binding.
#ifndef RULERUN_ENGINE_MATCH_CONDITIONS_H_
#define RULERUN_ENGINE_MATCH_CONDITIONS_H_

#include <optional>

#include "engine/match/binding.h"
#include "engine/match/verdict.h"

namespace rulerun {

// The first condition that does not hold, in file order, or std::nullopt when all do. Dimension variables that a
// `shape` condition names for the first time are bound in `binding`.
std::optional<Refusal> FirstRefusal(Binding& binding, const Conditions& conditions);

// Whether all hold.
Truth Evaluate(Binding& binding, const Conditions& conditions);

// Whether two quantizers (DQ or Q) have the same parameters: three inputs each, scale and zero point scalar, constant
// and equal (inventory-qdq.md 2, pairSupported).
bool SameQuantization(const Graph& graph, const Node& a, const Node& b);

// Rank 0, or rank 1 with the one dimension 1; unknown where the shape is.
Truth IsScalar(const std::optional<Shape>& shape);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_MATCH_CONDITIONS_H_
