// The one table of predicates: what a condition may ask. Schema, reference page, checker and explain's sentences come
// from it; engine/match implements each under its name.
#ifndef RULERUN_ENGINE_RULESET_PREDICATES_H_
#define RULERUN_ENGINE_RULESET_PREDICATES_H_

#include <span>
#include <string_view>

namespace rulerun {

// The shape of a predicate's argument in YAML.
enum class ArgKind {
  kValues,          // [W, b]
  kValueToSet,      // {x: q8}, {x: [int8, uint8]}
  kValueToNumber,   // {x: 0}
  kValueToValue,    // {m: t}
  kValueToShape,    // {a: [1, C, _...]}
  kValueToScalar,   // {x: 128}, {mode: nearest}: any scalar
  kValueToMap,      // {w: {axis: 0, sizes: [16, 32]}}
  kValueToRange,    // {w: [-64, 64]}
  kPair,            // [x, y]: values compared; two or more
  kPairOfNumbers,   // [x, 0.5]: a value and a number or value
  kMapOfNumbers,    // {R: 7, S: 7}: dimension or value -> number (at_most and its kin take this or a pair)
  kLabels,          // [clip]
  kLabelToSet,      // {clip: [6]}, {target: Conv}
  kLabelToNumber,   // {wdq: 0}
  kLabelToList,     // {mean: [-1]}
  kLabelAttr,       // {wdq.block_size: 0}
  kClose,           // {of: [x, y], atol: 1.0e-6, rtol: 1.0e-2}
  kName,            // int8_allowed, or {loop: 1}
  kRange,           // {min: 20}, {below: 17}
  kConditionLists,  // any: [..]
  kConditions,      // not: {..} or [..]
  kIfThen,          // if: {..}, then: [..]
};

// What a change to the model touches that makes a condition hold.
enum class Repair {
  kNumbers,  // the numbers of a constant: nothing else that a rule asks for
  kModel,    // the model: types, shapes, operators, readers. Other conditions may see it, too
  kTarget,   // not the model: an option, the platform, the level
};

struct PredicateInfo {
  std::string_view name;
  ArgKind args;
  // Said when it fails, names resolved: "{args} must be constant initializers".
  std::string_view phrase;
  std::string_view doc;
  Repair repair;
  // What to do so that it holds: "set {args} to {wanted}", or {actual}; {0} and {1} are single arguments. "" where an
  // inner condition says it.
  std::string_view advice;
};

std::span<const PredicateInfo> Predicates();
const PredicateInfo* FindPredicate(std::string_view name);

// The same for the tensor functions of `compute` that are no ONNX operators.
struct TensorFunctionInfo {
  std::string_view name;
  std::string_view signature;
  std::string_view doc;
};
std::span<const TensorFunctionInfo> TensorFunctions();
const TensorFunctionInfo* FindTensorFunction(std::string_view name);

// Checks that the matcher makes without being asked; tests and reports quote their names.
struct BuiltinInfo {
  std::string_view name;
  std::string_view phrase;
  std::string_view advice;  // what to do so that it holds
};
std::span<const BuiltinInfo> BuiltinChecks();
const BuiltinInfo* FindBuiltinCheck(std::string_view name);
// The check that takes the place of an error in a rule set with `invalid-replacement: refuse`.
inline constexpr std::string_view kInvalidReplacement = "invalid-replacement";

}  // namespace rulerun

#endif  // RULERUN_ENGINE_RULESET_PREDICATES_H_
