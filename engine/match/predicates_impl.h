// Internal to engine/match: the implementations of the predicates, by family.
#ifndef RULERUN_ENGINE_MATCH_PREDICATES_IMPL_H_
#define RULERUN_ENGINE_MATCH_PREDICATES_IMPL_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/match/binding.h"
#include "engine/match/conditions.h"
#include "engine/match/verdict.h"

namespace rulerun::predicates {

// What an implementation gets: the binding (shape conditions may bind dimensions in it), the condition, and room to say
// what is ("'x' has rank 3") and what would hold ("4"), used when it does not hold.
struct Call {
  Binding& binding;
  const Condition& condition;
  std::string actual;
  std::string wanted;
};
using Function = std::function<Truth(Call&)>;
using Table = std::map<std::string, Function, std::less<>>;

void AddValuePredicates(Table& table);   // constants, shapes, types
void AddNumberPredicates(Table& table);  // comparisons of constants
void AddNodePredicates(Table& table);    // nodes, attributes, quantizers, target
const Table& All();

// `ask` of every present operand of every name; absent ones drop out, the first that is not true decides.
using AskOperand = std::function<Truth(const Operand&, const std::string& name)>;
Truth OverOperands(Call& call, const std::vector<std::string>& names, const AskOperand& ask);
// The same for the keys of map-shaped arguments, with their values.
using AskPair = std::function<Truth(const Operand&, const std::string& name, const Yaml& wanted)>;
Truth OverPairs(Call& call, const AskPair& ask);

// And, or over three values.
Truth And(Truth a, Truth b);
Truth Or(Truth a, Truth b);

std::string NameOf(const Call& call, const Operand& operand);
// A list, scalar or small map of a condition as it is read aloud: "int8 or uint8".
std::string Choice(const Yaml& wanted);
const std::optional<Shape>& ShapeOf(const Call& call, const Operand& operand);

}  // namespace rulerun::predicates

#endif  // RULERUN_ENGINE_MATCH_PREDICATES_IMPL_H_
