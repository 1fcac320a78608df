// Written types and shapes against real ones.
#ifndef RULERUN_ENGINE_MATCH_SHAPES_H_
#define RULERUN_ENGINE_MATCH_SHAPES_H_

#include <string>
#include <vector>

#include "engine/match/binding.h"
#include "engine/match/verdict.h"

namespace rulerun {

// Binds dimension variables met for the first time. One item may repeat; it takes what the others leave.
Truth MatchShape(Binding& binding, const std::vector<DimPattern>& wanted, const Shape& shape);

// "C", "3", "_", "1...", "_...".
DimPattern ParseDim(std::string_view text);
std::string ToString(const std::vector<DimPattern>& wanted);

// Collects the type variables of a match and checks them against the rule's rows.
class TypeCheck {
 public:
  explicit TypeCheck(const Binding& binding) : binding_(binding) {}
  // The value written with `pattern` has this element type. False at once where a concrete type or set is not met, or
  // a variable already stands for another type.
  bool Add(const TypePattern& pattern, DataType type);
  // Whether the rows allow what the variables stand for.
  bool RowsHold() const;
  // The same if `variable` stood for `type`.
  bool RowsHoldWith(const std::string& variable, DataType type) const;
  std::string Wanted() const;  // what the rows of the rule take
  const std::map<std::string, DataType>& variables() const { return variables_; }
  const std::string& detail() const { return detail_; }

 private:
  bool RowHolds(const TypeRow& row) const;

  const Binding& binding_;
  std::map<std::string, DataType> variables_;
  std::string detail_;
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_MATCH_SHAPES_H_
