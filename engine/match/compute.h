// Evaluates `compute` lines: ONNX nodes run by the project's own kernels, and the named tensor functions.
#ifndef RULERUN_ENGINE_MATCH_COMPUTE_H_
#define RULERUN_ENGINE_MATCH_COMPUTE_H_

#include <vector>

#include "engine/match/binding.h"

namespace rulerun {

// The results of one line, one per output of its call.
std::vector<Computed> EvaluateLine(const Binding& binding, const Statement& line);

// A number attribute as a scalar, a list of numbers as a vector, a tensor as it is; anything else is unknown.
Computed NumberOf(const Attribute& attribute);

// The named tensor functions (engine/ruleset/predicates.h, TensorFunctions): `operands` are evaluated already, a label
// operand of `call` is looked up in the binding.
std::vector<Computed> CallTensorFunction(const Binding& binding, const Call& call,
                                         const std::vector<Computed>& operands);

// `number` as a tensor of `dims` filled with it, rounded to `type`.
Tensor Filled(DataType type, const Dims& dims, double number);

// The bounds an operator with min and max clips to (inventory-qdq.md 0.5, clipMinMax): from attributes, constant
// one-element inputs, or constants behind a DQ of `dequantizers`; absent ones are the float limits. `clip` gives absent
// ones where its schema has no bounds at all.
struct Bounds {
  Computed min;
  Computed max;
};
Bounds ClipBounds(const MatchScope& scope, const Node& clip);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_MATCH_COMPUTE_H_
