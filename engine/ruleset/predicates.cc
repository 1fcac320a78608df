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
     "has a value."},
    {"local", ArgKind::kValues, "{args} must be constant in this very graph",
     "Each is a constant initializer of the graph the match is in, not of an enclosing one."},
    {"initializer", ArgKind::kValues, "{args} must be an initializer",
     "Like `constant`, but a graph input of the same name may override it."},
    {"present", ArgKind::kValues, "{args} must be there",
     "Each optional operand, capture or computed value is there. The only condition that asks for one: all others drop "
     "what is missing."},
    {"absent", ArgKind::kValues, "{args} must not be there",
     "None of the operands, captures or computed values is there."},
    {"produced", ArgKind::kValues, "{args} must be the output of a node", "Each is an output of a node of this graph."},
    {"graph_output", ArgKind::kValues, "{args} must be a graph output", "Each is an output of the graph."},
    {"internal", ArgKind::kValues, "{args} must be no graph output", "None is an output of the graph."},
    {"uses", ArgKind::kValueToNumber, "{args} must be read that often",
     "So many operand slots read the value, subgraphs included; being a graph output does not count."},
    {"users", ArgKind::kValueToNumber, "{args} must have that many readers",
     "So many nodes read the value; an outer value is counted where it is defined."},
    {"read_by", ArgKind::kLabelToSet, "{args} must be read by these operators only",
     "Every node that reads the value is one of these operators; no subgraph reads it."},
    {"feeds", ArgKind::kLabelToSet, "{args} must feed one of these operators",
     "Some node that reads the value is one of these operators."},
    {"readers", ArgKind::kLabelToSet, "{args} must be read by just these operators",
     "The operators of the nodes that read the value, one for each node; `Shape...` stands for any number of them."},
    {"made_by", ArgKind::kLabelToSet, "{args} must come from another operator",
     "A node writes the value, and it is one of these operators."},
    {"count", ArgKind::kValueToNumber, "{args} must be that many",
     "So many nodes match the `each` line that binds it."},
    // --- values: rank and shape
    {"scalar", ArgKind::kValues, "{args} must be a scalar", "Rank 0, or rank 1 with one element."},
    {"one_element", ArgKind::kValues, "{args} must have one element", "One element, at any rank."},
    {"rank", ArgKind::kValueToNumber, "{args} must have that rank", "The rank is known and equal."},
    {"min_rank", ArgKind::kValueToNumber, "{args} must have at least that rank",
     "The rank is known and at least that."},
    {"same_rank", ArgKind::kPair, "{args} must have the same rank", "Both ranks are known and equal."},
    {"same_shape", ArgKind::kPair, "{args} must have the same shape",
     "Both ranks are known and equal, and every two dimensions have the same size or the same symbol."},
    {"one_rank_less", ArgKind::kPair, "of {args}, the first must have one dimension less",
     "Both ranks are known, and the first is the second less one."},
    {"rank_at_most", ArgKind::kValueToValue, "{args} must have no higher rank than the other",
     "Both ranks are known, and the first is not higher."},
    {"shape", ArgKind::kValueToShape, "{args} must have that shape",
     "Dimension by dimension: a size, a dimension variable, `_` for any, `1...` for any number of ones, `_...` for any "
     "number of any; `[]` is a scalar of rank 0."},
    {"static", ArgKind::kValues, "{args} must have a static shape", "Every dimension has a known size."},
    {"known", ArgKind::kValues, "{args} must be known",
     "The dimension variable has a size, or the value is there. The only way to ask what is known."},
    // --- values: type and content
    {"type", ArgKind::kValueToSet, "{args} must have another type",
     "The element type is in the set: a type, a set of the file, a list of them, or `{not: ...}`."},
    {"same", ArgKind::kPair, "{args} must be the same value", "The names stand for one and the same value."},
    {"same_value", ArgKind::kPair, "{args} must be equal",
     "Constants of the same type with the same bytes, or integers of the same value."},
    {"all_equal", ArgKind::kValueToScalar, "every element of {args} must be that number", "Of a constant."},
    {"equals", ArgKind::kValueToScalar, "{args} must have that value",
     "A captured attribute, its schema default counted, or a dimension variable, equals the number or text."},
    {"close", ArgKind::kClose, "{args} must be equal within the tolerance",
     "|a - b| <= atol + rtol * |b| for every element, in float32, all finite; one of the two may have one element."},
    {"less", ArgKind::kMapOfNumbers, "{args}: the first must be less", "For every element."},
    {"more", ArgKind::kMapOfNumbers, "{args}: the first must be more", "For every element."},
    {"at_least", ArgKind::kMapOfNumbers, "{args}: the first must be at least the second", "For every element."},
    {"at_most", ArgKind::kMapOfNumbers, "{args}: the first must be at most the second", "For every element."},
    {"positive", ArgKind::kValues, "{args} must be positive", "Every element of the constant is above 0."},
    {"power_of_two", ArgKind::kValues, "{args} must be a power of two", "Every element of the constant is."},
    {"type_min", ArgKind::kValues, "{args} must be the smallest value of its type",
     "Every element of the integer constant is."},
    {"outside", ArgKind::kValueToRange, "{args} must have an element beyond the bounds",
     "Some element of the constant is below the first or above the second number."},
    // --- nodes
    {"attr", ArgKind::kLabelAttr, "{args} must have that value",
     "The attribute of the labelled node, its schema default counted, equals the value; `any` asks whether it is "
     "there, "
     "and 0 also holds where the node has no such attribute. In a unit a quantized name stands for its Q or DQ."},
    {"axis", ArgKind::kLabelToNumber, "{args} must run along that axis",
     "The axis of the Q or DQ, counted from the front; -1 is the last."},
    {"axis_or_scalar", ArgKind::kLabelToNumber, "the scales of {args} must run along that axis, or be one scale",
     "Like `axis`, and holds where the scale is a scalar."},
    {"reduces", ArgKind::kLabelToList, "{args} must reduce those axes",
     "The axes of the node, from its attribute or its constant second operand, counted from the end, are the list."},
    {"op", ArgKind::kLabelToSet, "{args} must be another operator", "The operator of the node is one of these."},
    {"since", ArgKind::kLabelToSet, "{args} must have another operator version",
     "The since-version of the node's schema is one of these. In a unit `{Op: [..]}` speaks of that operator only."},
    {"removable", ArgKind::kLabels, "{args} must be removable",
     "The node has one input that a node produces, or one input at all, at most one used output, and no graph output."},
    {"before", ArgKind::kLabels, "{args} must have been made in that order",
     "The nodes have rising indices, as where ONNX Runtime takes the first of several."},
    {"same_qparams", ArgKind::kPair, "{args} must have the same scale and zero point",
     "Of Qs and DQs: three inputs each, scale and zero point constant scalars, equal in type and value."},
    {"blocks", ArgKind::kValueToMap, "{args} must be quantized in such blocks",
     "`{axis: A, sizes: [..]}`: scales and zero points stand blockwise along the axis, with one of the block sizes."},
    {"scalar_or_per_column", ArgKind::kValueToValue, "{args} must have one scale, or one for each column",
     "Scale and zero point alike have one element, or one for each column of the matrix; the captured attribute says "
     "whether the matrix is transposed."},
    {"assigned", ArgKind::kName, "the node must be on another execution provider",
     "The provider of the anchor; `none` where none has claimed it."},
    // --- target
    {"option", ArgKind::kName, "the option {args} must be set", "Is set and not 0; `{loop: 1}` has that value."},
    {"fact", ArgKind::kName, "the platform must have {args}", "Like `option`, for a fact of the platform."},
    {"opset", ArgKind::kRange, "the model must have another opset", "`{min: 20}`, `{below: 17}`: the ai.onnx version."},
    {"level", ArgKind::kRange, "another optimization level is needed",
     "`{min: extended}`, `{below: layout}`, or a level."},
    // --- logic
    {"any", ArgKind::kConditionLists, "one of the alternatives must hold",
     "A list; one item must hold, tried in order. A dimension variable that it binds stays bound."},
    {"not", ArgKind::kConditions, "what is excluded must not hold",
     "The conditions do not all hold. What is unknown stays unknown and satisfies nothing."},
    {"if", ArgKind::kIfThen, "what follows from the `if` must hold", "`if: .., then: ..`: without the first, true."},
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
    {"single-use", "a value between matched nodes must be read by them only"},
    {"graph-output", "a value that vanishes must be no graph output"},
    {"operands", "the operands must be those written"},
    {"attributes", "the attributes must be those written"},
    {"types", "the types must be those written"},
    {"shape", "the shapes must be those written"},
    {"since", "the operator version is another one"},
    {"provider", "the node is on another execution provider"},
    {"private", "a DQ must feed this node only"},
    {"between", "an activation between the node and its Q must be redundant"},
    {"name-clash", "a name is taken in a subgraph"},
    {"cases", "one of the cases must hold"},
    {kInvalidReplacement, "what the rule builds must be valid (where the rule set says 'invalid-replacement: refuse')"},
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

}  // namespace rulerun
