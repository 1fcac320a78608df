#include "engine/ruleset/predicates.h"

#include <algorithm>
#include <array>

namespace rulerun {
namespace {

// Sorted by subject; the reference page keeps this order.
constexpr auto kPredicates = std::to_array<PredicateInfo>({
    // --- values: where they come from
    {"constant", ArgKind::kValues, "{args} must be constant",
     "Each is an initializer that no graph input overrides, of this or an enclosing graph; or a computed value that "
     "has a value.",
     Repair::kModel, "store {args} as an initializer that is no graph input"},
    {"local", ArgKind::kValues, "{args} must be constant in this very graph",
     "Each is a constant initializer of the graph the match is in, not of an enclosing one.", Repair::kModel,
     "store {args} in the graph that reads it"},
    {"initializer", ArgKind::kValues, "{args} must be an initializer",
     "Like `constant`, but a graph input of the same name may override it.", Repair::kModel,
     "store {args} as an initializer"},
    {"present", ArgKind::kValues, "{args} must be there",
     "Each optional operand, capture or computed value is there. The only condition that asks for one: all others drop "
     "what is missing.",
     Repair::kModel, "add what is missing: {actual}"},
    {"absent", ArgKind::kValues, "{args} must not be there",
     "None of the operands, captures or computed values is there.", Repair::kModel, "leave {args} out"},
    {"produced", ArgKind::kValues, "{args} must be the output of a node", "Each is an output of a node of this graph.",
     Repair::kModel, "let a node compute {args}"},
    {"graph_output", ArgKind::kValues, "{args} must be a graph output", "Each is an output of the graph.",
     Repair::kModel, "make {args} a graph output"},
    {"internal", ArgKind::kValues, "{args} must be no graph output", "None is an output of the graph.", Repair::kModel,
     "take {args} off the graph outputs"},
    {"uses", ArgKind::kValueToNumber, "{args} must be read that often",
     "So many operand slots read the value, subgraphs included; being a graph output does not count.", Repair::kModel,
     "let {args} be read {wanted} times"},
    {"users", ArgKind::kValueToNumber, "{args} must have that many readers",
     "So many nodes of this graph read the value; what subgraphs and enclosing graphs do does not count.",
     Repair::kModel, "bring the number of readers of {args} to {wanted}"},
    {"read_by", ArgKind::kLabelToSet, "{args} must be read by these operators only",
     "Every node that reads the value is one of these operators; no subgraph reads it.", Repair::kModel,
     "let only {wanted} read {args}"},
    {"feeds", ArgKind::kLabelToSet, "{args} must feed one of these operators",
     "Some node that reads the value is one of these operators.", Repair::kModel, "let one of {wanted} read {args}"},
    {"readers", ArgKind::kLabelToSet, "{args} must be read by just these operators",
     "The operators of the nodes that read the value, one for each node; `Shape...` stands for any number of them.",
     Repair::kModel, "let just {wanted} read {args}"},
    {"made_by", ArgKind::kLabelToSet, "{args} must come from another operator",
     "A node writes the value, and it is one of these operators.", Repair::kModel, "let {wanted} compute {args}"},
    {"count", ArgKind::kValueToNumber, "{args} must be that many", "So many nodes match the `each` line that binds it.",
     Repair::kModel, "have {wanted} of {args}"},
    // --- values: rank and shape
    {"scalar", ArgKind::kValues, "{args} must be a scalar", "Rank 0, or rank 1 with one element.", Repair::kModel,
     "give {args} one element, in rank 0 or 1"},
    {"one_element", ArgKind::kValues, "{args} must have one element", "One element, at any rank.", Repair::kModel,
     "give {args} one element"},
    {"rank", ArgKind::kValueToNumber, "{args} must have that rank", "The rank is known and equal.", Repair::kModel,
     "give {args} rank {wanted}"},
    {"min_rank", ArgKind::kValueToNumber, "{args} must have at least that rank", "The rank is known and at least that.",
     Repair::kModel, "give {args} rank {wanted} or more"},
    {"same_rank", ArgKind::kPair, "{args} must have the same rank", "Both ranks are known and equal.", Repair::kModel,
     "give {args} the same rank"},
    {"same_shape", ArgKind::kPair, "{args} must have the same shape",
     "Both ranks are known and equal, and every two dimensions have the same size or the same symbol.", Repair::kModel,
     "give {args} the same shape"},
    {"one_rank_less", ArgKind::kPair, "of {args}, the first must have one dimension less",
     "Both ranks are known, and the first is the second less one.", Repair::kModel,
     "give {0} one dimension less than {1}"},
    {"rank_at_most", ArgKind::kValueToValue, "{args} must have no higher rank than the other",
     "Both ranks are known, and the first is not higher.", Repair::kModel, "give {args} no higher rank than {wanted}"},
    {"shape", ArgKind::kValueToShape, "{args} must have that shape",
     "Dimension by dimension: a size, a dimension variable, `_` for any, `1...` for any number of ones, `_...` for any "
     "number of any; `[]` is a scalar of rank 0.",
     Repair::kModel, "give {args} the shape {wanted}"},
    {"static", ArgKind::kValues, "{args} must have a static shape", "Every dimension has a known size.", Repair::kModel,
     "fix every dimension of {args}"},
    {"known", ArgKind::kValues, "{args} must be known",
     "The dimension variable has a size, or the value is there. The only way to ask what is known.", Repair::kModel,
     "fix {args} in the model"},
    // --- values: type and content
    {"type", ArgKind::kValueToSet, "{args} must have another type",
     "The element type is in the set: a type, a set of the file, a list of them, or `{not: ...}`.", Repair::kModel,
     "use {wanted} for {args}"},
    {"same", ArgKind::kPair, "{args} must be the same value", "The names stand for one and the same value.",
     Repair::kModel, "use one value for {args}"},
    {"same_value", ArgKind::kPair, "{args} must be equal",
     "Constants of the same type with the same bytes, or integers of the same value.", Repair::kNumbers,
     "make {args} equal"},
    {"all_equal", ArgKind::kValueToScalar, "every element of {args} must be that number", "Of a constant.",
     Repair::kNumbers, "set every element of {args} to {wanted}"},
    {"equals", ArgKind::kValueToScalar, "{args} must have that value",
     "A captured attribute, its schema default counted, or a dimension variable, equals the number or text.",
     Repair::kModel, "set {args} to {wanted}"},
    {"close", ArgKind::kClose, "{args} must be equal within the tolerance",
     "|a - b| <= atol + rtol * |b| for every element, in float32, all finite; one of the two may have one element.",
     Repair::kNumbers, "set {0} to {1}, which is {wanted}"},
    {"less", ArgKind::kMapOfNumbers, "{args}: the first must be less", "For every element.", Repair::kNumbers,
     "make {args} less than {wanted}"},
    {"more", ArgKind::kMapOfNumbers, "{args}: the first must be more", "For every element.", Repair::kNumbers,
     "make {args} more than {wanted}"},
    {"at_least", ArgKind::kMapOfNumbers, "{args}: the first must be at least the second", "For every element.",
     Repair::kNumbers, "make {args} at least {wanted}"},
    {"at_most", ArgKind::kMapOfNumbers, "{args}: the first must be at most the second", "For every element.",
     Repair::kNumbers, "make {args} at most {wanted}"},
    {"positive", ArgKind::kValues, "{args} must be positive", "Every element of the constant is above 0.",
     Repair::kNumbers, "make {args} positive"},
    {"power_of_two", ArgKind::kValues, "{args} must be a power of two", "Every element of the constant is.",
     Repair::kNumbers, "make {args} a power of two"},
    {"type_min", ArgKind::kValues, "{args} must be the smallest value of its type",
     "Every element of the integer constant is.", Repair::kNumbers, "set {args} to {wanted}"},
    {"outside", ArgKind::kValueToRange, "{args} must have an element beyond the bounds",
     "Some element of the constant is below the first or above the second number.", Repair::kNumbers,
     "let {args} have an element outside {wanted}"},
    // --- nodes
    {"attr", ArgKind::kLabelAttr, "{args} must have that value",
     "The attribute of the labelled node, its schema default counted, equals the value; `any` asks whether it is "
     "there, "
     "and 0 also holds where the node has no such attribute. In a unit a quantized name stands for its Q or DQ.",
     Repair::kModel, "set {args} to {wanted}"},
    {"axis", ArgKind::kLabelToNumber, "{args} must run along that axis",
     "The axis of the Q or DQ, counted from the front; -1 is the last.", Repair::kModel,
     "quantize {args} along axis {wanted}"},
    {"axis_or_scalar", ArgKind::kLabelToNumber, "the scales of {args} must run along that axis, or be one scale",
     "Like `axis`, and holds where the scale is a scalar.", Repair::kModel,
     "quantize {args} along axis {wanted}, or with one scale"},
    {"reduces", ArgKind::kLabelToList, "{args} must reduce those axes",
     "The axes of the node, from its attribute or its constant second operand, counted from the end, are the list.",
     Repair::kModel, "let {args} reduce the axes {wanted}"},
    {"op", ArgKind::kLabelToSet, "{args} must be another operator", "The operator of the node is one of these.",
     Repair::kModel, "use {wanted} instead"},
    {"since", ArgKind::kLabelToSet, "{args} must have another operator version",
     "The since-version of the node's schema is one of these. In a unit `{Op: [..]}` speaks of that operator only.",
     Repair::kModel, "use an opset in which the operator has version {wanted}"},
    {"removable", ArgKind::kLabels, "{args} must be removable",
     "The node has one input that a node produces, or one input at all, at most one used output, and no graph output.",
     Repair::kModel, "let {args} have one input and one reader, and make no graph output"},
    {"before", ArgKind::kLabels, "{args} must have been made in that order",
     "The nodes have rising indices, as where ONNX Runtime takes the first of several.", Repair::kModel,
     "write {args} in that order"},
    {"same_qparams", ArgKind::kPair, "{args} must have the same scale and zero point",
     "Of Qs and DQs: three inputs each, scale and zero point constant scalars, equal in type and value.",
     Repair::kModel, "give {args} the same scale and zero point, as constant scalars"},
    {"blocks", ArgKind::kValueToMap, "{args} must be quantized in such blocks",
     "`{axis: A, sizes: [..]}`: scales and zero points stand blockwise along the axis, with one of the block sizes.",
     Repair::kModel, "quantize {args} in blocks: {wanted}"},
    {"scalar_or_per_column", ArgKind::kValueToValue, "{args} must have one scale, or one for each column",
     "Scale and zero point alike have one element, or one for each column of the matrix; the captured attribute says "
     "whether the matrix is transposed.",
     Repair::kModel, "give {args} one scale and zero point, or one for each column"},
    {"trimmed", ArgKind::kLabels, "the operands of {args} must not end in an empty one",
     "The last operand that the node writes down is there (of an operand of a unit: that its DQ writes down).",
     Repair::kModel, "leave the empty operand behind the others of {args} out"},
    {"assigned", ArgKind::kName, "the node must be on another execution provider",
     "The provider of the anchor; `none` where none has claimed it.", Repair::kTarget,
     "run with another execution provider"},
    // --- target
    {"option", ArgKind::kName, "the option {args} must be set", "Is set and not 0; `{loop: 1}` has that value.",
     Repair::kTarget, "set the option {wanted}"},
    {"fact", ArgKind::kName, "the platform must have {args}", "Like `option`, for a fact of the platform.",
     Repair::kTarget, "run on a platform that has {wanted}"},
    {"opset", ArgKind::kRange, "the model must have another opset", "`{min: 20}`, `{below: 17}`: the ai.onnx version.",
     Repair::kModel, "use opset {wanted}"},
    {"level", ArgKind::kRange, "another optimization level is needed",
     "`{min: extended}`, `{below: layout}`, or a level.", Repair::kTarget, "use level {wanted}"},
    // --- logic
    {"any", ArgKind::kConditionLists, "one of the alternatives must hold",
     "A list; one item must hold, tried in order. A dimension variable that it binds stays bound.", Repair::kModel, ""},
    {"not", ArgKind::kConditions, "must not be: {args}",
     "The conditions do not all hold. What is unknown stays unknown and satisfies nothing.", Repair::kModel,
     "see to it that this does not hold: {args}"},
    {"if", ArgKind::kIfThen, "what follows from the `if` must hold", "`if: .., then: ..`: without the first, true.",
     Repair::kModel, ""},
});

constexpr auto kTensorFunctions = std::to_array<TensorFunctionInfo>({
    {"MulAlongAxis", "y = MulAlongAxis<axis = a>(W, f)",
     "W with block i along the axis multiplied by f[i]; every product is rounded once."},
    {"TypeMin", "y = TypeMin(t)", "The smallest value of t's integer type, in t's shape."},
    {"TypeMax", "y = TypeMax(t)", "The largest value of t's integer type, in t's shape."},
    {"FillLike", "y = FillLike(t, v)", "A tensor of t's type and shape, every element v."},
    {"RoundHalfAway", "y = RoundHalfAway(x)", "The nearest whole number, halves away from zero."},
    {"Product", "y = Product(a?, b?, ...)", "Left to right in float32; what is absent does not count."},
    {"Either", "y = Either(a?, b?, ...)", "The first that is there."},
    {"ShapeOf", "y = ShapeOf<unknown = n>(x)",
     "The dimensions of a value of the graph, if all are known; with the attribute it stands for those that are not."},
    {"Initial", "y = Initial(x)",
     "The value of an initializer of the graph the match is in, also where a graph input may override it."},
    {"ScalarLike", "y = ScalarLike(x, v)", "The number v as a scalar of x's element type; x need not be constant."},
    {"Matched", "y = Matched(label)", "1 if the pattern has bound a node to the label, else 0."},
    {"ClipBounds", "min, max = ClipBounds(label)",
     "The bounds of the node: attributes, constants, or constants behind a DQ; a bound that is left out is the float "
     "limit. Absent where the operator has none."},
    {"AsymmetricInt8", "scale, zero = AsymmetricInt8(lo, hi)",
     "Scale and int8 zero point that hold [lo, hi] and 0 in 256 steps."},
    {"PackNBits", "packed, scales, zeros, bits, block = PackNBits<default_block = n>(w, scale, zero?)",
     "A quantized [K, N] matrix in the layout of an n-bit matrix product: N-major, in blocks along K."},
    {"Lookup", "y = Lookup(x, keys, values, otherwise)",
     "For each element of x the value beside the last key that equals it; numbers or texts."},
    {"PackBits", "y = PackBits<bits = n>(x)",
     "The low n bits of x's integers in bytes, along the last axis: the first of a byte in its lowest bits, zeros "
     "behind the last."},
});

constexpr auto kBuiltinChecks = std::to_array<BuiltinInfo>({
    {"single-use", "a value between matched nodes must be read by them only",
     "give the other readers a copy of their own"},
    {"graph-output", "a value that vanishes must be no graph output", "output a copy instead"},
    {"operands", "the operands must be those written", "put DQ and Q where the rule's text has them"},
    {"attributes", "the attributes must be those written", "set the attribute as the rule has it"},
    {"types", "the types must be those written", "use element types that the rule takes"},
    {"shape", "the shapes must be those written", "give it the shape that the rule takes"},
    {"since", "the operator version is another one", "use an opset with a version of the operator that the rule knows"},
    {"provider", "the node is on another execution provider", "run it on another execution provider"},
    {"private", "a DQ must feed this node only", "give each reader a DQ of its own"},
    {"between", "an activation between the node and its Q must be redundant",
     "choose scale and zero point so that the Q cuts where the activation does, or move the activation away"},
    {"name-clash", "a name is taken in a subgraph", "rename it in the subgraph"},
    {"cases", "one of the cases must hold", "make one of the cases hold"},
    {kInvalidReplacement, "what the rule builds must be valid (where the rule set says 'invalid-replacement: refuse')",
     "change what the schema of the new operator does not take"},
});

template <typename Table>
auto Find(const Table& table, std::string_view name) -> decltype(table.data()) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.name == name; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace

std::span<const PredicateInfo> Predicates() { return kPredicates; }
const PredicateInfo* FindPredicate(std::string_view name) { return Find(kPredicates, name); }
std::span<const TensorFunctionInfo> TensorFunctions() { return kTensorFunctions; }
const TensorFunctionInfo* FindTensorFunction(std::string_view name) { return Find(kTensorFunctions, name); }
std::span<const BuiltinInfo> BuiltinChecks() { return kBuiltinChecks; }
const BuiltinInfo* FindBuiltinCheck(std::string_view name) { return Find(kBuiltinChecks, name); }

}  // namespace rulerun
