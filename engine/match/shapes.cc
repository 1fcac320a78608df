#include "engine/match/shapes.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/match/predicates_impl.h"

namespace rulerun {
namespace {

Truth MatchDim(Binding& binding, const DimPattern& wanted, const Dim& dim) {
  switch (wanted.kind) {
    case DimPattern::Kind::kAny:
      return Truth::kTrue;
    case DimPattern::Kind::kSize:
      return dim.known() ? ToTruth(dim.size == wanted.size) : Truth::kUnknown;
    case DimPattern::Kind::kName:
      break;
  }
  const auto [bound, fresh] = binding.dims.emplace(wanted.name, dim);
  return fresh ? Truth::kTrue : ToTruth(bound->second.Equals(dim));
}

}  // namespace

Truth MatchShape(Binding& binding, const std::vector<DimPattern>& wanted, const Shape& shape) {
  const auto fixed = static_cast<size_t>(
      std::count_if(wanted.begin(), wanted.end(), [](const DimPattern& dim) { return !dim.repeated; }));
  if (shape.size() < fixed || (fixed == wanted.size() && shape.size() != fixed)) return Truth::kFalse;
  Truth all = Truth::kTrue;
  size_t at = 0;
  for (const DimPattern& item : wanted) {
    const size_t times = item.repeated ? shape.size() - fixed : 1;
    for (size_t i = 0; i < times; ++i) all = predicates::And(all, MatchDim(binding, item, shape[at++]));
  }
  return all;
}

DimPattern ParseDim(std::string_view text) {
  DimPattern dim;
  if (EndsWith(text, "...")) {
    dim.repeated = true;
    text.remove_suffix(3);
  }
  if (text == "_") return dim;
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos) {
    dim.kind = DimPattern::Kind::kSize;
    dim.size = std::stoll(std::string(text));
    return dim;
  }
  dim.kind = DimPattern::Kind::kName;
  dim.name = text;
  return dim;
}

std::string ToString(const std::vector<DimPattern>& wanted) {
  std::vector<std::string> parts;
  for (const DimPattern& dim : wanted) {
    std::string text = dim.kind == DimPattern::Kind::kAny    ? "_"
                       : dim.kind == DimPattern::Kind::kSize ? std::to_string(dim.size)
                                                             : dim.name;
    parts.push_back(text + (dim.repeated ? "..." : ""));
  }
  return "[" + Join(parts, ", ") + "]";
}

bool TypeCheck::Add(const TypePattern& pattern, DataType type) {
  if (pattern.name.empty()) return true;
  const auto fail = [&](const std::string& wanted) {
    detail_ = "is " + std::string(Name(type)) + ", wanted " + wanted;
    return false;
  };
  if (type == DataType::kUndefined) return fail(pattern.name);
  if (const auto concrete = ParseDataType(pattern.name)) {
    return type == *concrete || fail(pattern.name);
  }
  const auto& sets = binding_.scope().file->sets;
  if (const auto set = sets.find(pattern.name); set != sets.end()) {
    return set->second.Has(type) || fail(ToString(set->second));
  }
  const auto [bound, fresh] = variables_.emplace(pattern.name, type);
  return fresh || bound->second == type ||
         fail(std::string(Name(bound->second)) + ", the type of the values before it (" + pattern.name + ")");
}

bool TypeCheck::RowHolds(const TypeRow& row) const {
  for (const auto& [variable, set] : row.variables) {
    const auto bound = variables_.find(variable);
    if (bound != variables_.end() && !set.Has(bound->second)) return false;
  }
  return row.needs.empty() || binding_.scope().target->Lookup(row.needs).value_or(0) != 0;
}

std::string TypeCheck::Wanted() const {
  std::vector<std::string> rows;
  for (const TypeRow& row : binding_.rule().types) {
    std::vector<std::string> parts;
    for (const auto& [variable, set] : row.variables) {
      if (variables_.count(variable) > 0) parts.push_back(variable + " " + ToString(set));
    }
    if (!row.needs.empty()) parts.push_back("where " + row.needs + " is set");
    rows.push_back(Join(parts, ", "));
  }
  return Join(rows, "; else ");
}

bool TypeCheck::RowsHoldWith(const std::string& variable, DataType type) const {
  TypeCheck other(binding_);
  other.variables_ = variables_;
  other.variables_[variable] = type;
  return other.RowsHold();
}

bool TypeCheck::RowsHold() const {
  const Rule& rule = binding_.rule();
  if (variables_.empty() || rule.types.empty()) return true;
  if (!rule.types_are_rows) return RowHolds(rule.types.front());
  for (const TypeRow& row : rule.types) {
    const auto& [variable, set] = row.variables.front();
    const auto bound = variables_.find(variable);
    if (bound != variables_.end() && set.Has(bound->second)) return RowHolds(row);
  }
  return false;
}

}  // namespace rulerun
