// Predicates that compare constants: values of the graph, computed lines, captures, dimensions, options.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/base/text.h"
#include "engine/match/predicates_impl.h"

namespace rulerun::predicates {
namespace {

// A constant by name, or a number written in the rule.
Computed NumberNamed(const Call& call, const std::string& name) {
  if (!name.empty() && (std::isdigit(static_cast<unsigned char>(name[0])) != 0 || name[0] == '-' || name[0] == '.')) {
    return Computed::Known(Tensor::Scalar<double>(std::atof(name.c_str())));
  }
  return call.binding.ConstantOf(name);
}

bool SameBytes(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && a.bytes() == b.bytes() &&
         (a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
}

bool SameNumber(const Tensor& a, const Tensor& b) {
  return IsInteger(a.type()) && IsInteger(b.type()) && a.count() == 1 && b.count() == 1 &&
         ElementAsInt(a, 0) == ElementAsInt(b, 0);
}

// "0.5", "[1, 2, 3, ...]"
std::string Show(const Tensor& tensor) {
  std::vector<std::string> parts;
  constexpr int64_t kMost = 4;
  const int64_t shown = std::min(tensor.count(), kMost);
  for (int64_t i = 0; i < shown; ++i) {
    parts.push_back(IsInteger(tensor.type()) ? std::to_string(ElementAsInt(tensor, i))
                                             : FormatFloat(static_cast<float>(ElementAsDouble(tensor, i))));
  }
  if (tensor.count() > shown) parts.emplace_back("...");
  return parts.size() == 1 ? parts[0] : "[" + Join(parts, ", ") + "]";
}

Truth SameValue(Call& call) {
  std::vector<Computed> all;
  for (const std::string& name : call.condition.values) {
    all.push_back(call.binding.ConstantOf(name));
    if (all.back().state == Computed::State::kAbsent) return Truth::kTrue;
    if (all.back().state == Computed::State::kUnknown) return Truth::kUnknown;
  }
  for (size_t i = 1; i < all.size(); ++i) {
    if (SameBytes(all[0].tensor, all[i].tensor) || SameNumber(all[0].tensor, all[i].tensor)) continue;
    call.actual = Show(all[0].tensor) + " and " + Show(all[i].tensor);
    return Truth::kFalse;
  }
  return Truth::kTrue;
}

Truth Same(Call& call) {
  std::optional<ValueId> first;
  for (const std::string& name : call.condition.values) {
    const auto operands = call.binding.Operands(name);
    if (!operands || operands->empty()) return Truth::kUnknown;
    const ValueId id = operands->front().present() ? operands->front().value : kNoValue;
    if (!first) first = id;
    if (id != *first) return Truth::kFalse;
  }
  return Truth::kTrue;
}

Truth AllEqual(Call& call) {
  Truth all = Truth::kTrue;
  for (const auto& [name, wanted] : call.condition.pairs) {
    const Computed value = call.binding.ConstantOf(name);
    if (value.state == Computed::State::kAbsent) continue;
    if (value.state == Computed::State::kUnknown) return Truth::kUnknown;
    const double number = wanted.AsDouble().value_or(0);
    bool equal = value.tensor.count() > 0;
    for (int64_t i = 0; equal && i < value.tensor.count(); ++i) equal = ElementAsDouble(value.tensor, i) == number;
    if (!equal) {
      call.actual = "it is " + Show(value.tensor);
      call.wanted = wanted.scalar;
    }
    all = And(all, ToTruth(equal));
  }
  return all;
}

// A captured attribute, or a dimension, equals a value.
Truth Equals(Call& call) {
  for (const auto& [name, wanted] : call.condition.pairs) {
    call.wanted = wanted.scalar;
    const auto capture = call.binding.captures.find(name);
    if (capture != call.binding.captures.end()) {
      call.actual = name + " is " + (capture->second ? ToString(*capture->second) : "not given");
      if (!capture->second) return Truth::kFalse;
      if (const auto* text = std::get_if<std::string>(&*capture->second)) {
        if (*text != wanted.scalar) return Truth::kFalse;
      } else if (const auto* integer = std::get_if<int64_t>(&*capture->second)) {
        if (static_cast<double>(*integer) != wanted.AsDouble()) return Truth::kFalse;
      } else if (const auto* number = std::get_if<float>(&*capture->second)) {
        if (*number != static_cast<float>(wanted.AsDouble().value_or(std::nan("")))) return Truth::kFalse;
      } else {
        return Truth::kFalse;
      }
      continue;
    }
    const auto dim = call.binding.dims.find(name);
    if (dim == call.binding.dims.end()) return Truth::kFalse;
    if (!dim->second.known()) return Truth::kUnknown;
    call.actual = name + " is " + std::to_string(dim->second.size);
    if (dim->second.size != wanted.AsInt()) return Truth::kFalse;
  }
  return Truth::kTrue;
}

// Broadcast as in numpy for the cases that occur: equal counts, or one side with one element.
Truth Close(Call& call) {
  const Computed a = NumberNamed(call, call.condition.values[0]);
  const Computed b = NumberNamed(call, call.condition.values[1]);
  if (a.state == Computed::State::kAbsent || b.state == Computed::State::kAbsent) return Truth::kTrue;
  if (a.state == Computed::State::kUnknown || b.state == Computed::State::kUnknown) return Truth::kUnknown;
  double atol = 0;
  double rtol = 0;
  for (const auto& [key, number] : call.condition.pairs) {
    if (key == "atol") atol = number.AsDouble().value_or(0);
    if (key == "rtol") rtol = number.AsDouble().value_or(0);
  }
  const int64_t na = a.tensor.count();
  const int64_t nb = b.tensor.count();
  call.wanted = Show(b.tensor);
  if (na == 0 || nb == 0 || (na != nb && na != 1 && nb != 1)) {
    call.actual = std::to_string(na) + " elements against " + std::to_string(nb);
    return Truth::kFalse;
  }
  for (int64_t i = 0; i < std::max(na, nb); ++i) {
    const auto x = static_cast<float>(ElementAsDouble(a.tensor, na == 1 ? 0 : i));
    const auto y = static_cast<float>(ElementAsDouble(b.tensor, nb == 1 ? 0 : i));
    const float limit = static_cast<float>(atol) + static_cast<float>(rtol) * std::fabs(y);
    if (std::isfinite(x) && std::isfinite(y) && std::fabs(x - y) <= limit) continue;
    call.actual = "element " + std::to_string(i) + " is " + FormatFloat(x) + " against " + FormatFloat(y);
    if (y != 0) call.actual += ", " + FormatFloat(x / y) + " times that";
    return Truth::kFalse;
  }
  return Truth::kTrue;
}

using Compare = bool (*)(double, double);

Truth CompareConstants(Call& call, const Computed& a, const Computed& b, Compare compare) {
  if (b.state == Computed::State::kKnown) call.wanted = Show(b.tensor);
  if (a.state == Computed::State::kAbsent || b.state == Computed::State::kAbsent) return Truth::kTrue;
  if (a.state == Computed::State::kUnknown || b.state == Computed::State::kUnknown) return Truth::kUnknown;
  const int64_t na = a.tensor.count();
  const int64_t nb = b.tensor.count();
  if (na == 0 || nb == 0 || (na != nb && na != 1 && nb != 1)) return Truth::kFalse;
  for (int64_t i = 0; i < std::max(na, nb); ++i) {
    // A number of the rule is compared in the precision of the tensor it is compared with.
    double x = ElementAsDouble(a.tensor, na == 1 ? 0 : i);
    double y = ElementAsDouble(b.tensor, nb == 1 ? 0 : i);
    if (b.tensor.type() == DataType::kFloat) x = static_cast<double>(static_cast<float>(x));
    if (a.tensor.type() == DataType::kFloat) y = static_cast<double>(static_cast<float>(y));
    if (compare(x, y)) continue;
    call.actual = FormatFloat(static_cast<float>(x)) + " against " + FormatFloat(static_cast<float>(y));
    return Truth::kFalse;
  }
  return Truth::kTrue;
}

Function Comparison(Compare compare) {
  return [compare](Call& call) {
    if (call.condition.items.size() == 2) {
      const std::string& left = call.condition.items[0].scalar;
      const std::string& right = call.condition.items[1].scalar;
      return CompareConstants(call, NumberNamed(call, left), NumberNamed(call, right), compare);
    }
    Truth all = Truth::kTrue;
    for (const auto& [name, limit] : call.condition.pairs) {
      all = And(all, CompareConstants(call, NumberNamed(call, name), NumberNamed(call, limit.scalar), compare));
    }
    return all;
  };
}

// Every element of every named constant satisfies `holds`.
Function EveryElement(bool (*holds)(const Tensor&, int64_t), std::string (*wanted)(const Tensor&)) {
  return [holds, wanted](Call& call) {
    for (const std::string& name : call.condition.values) {
      const Computed value = call.binding.ConstantOf(name);
      if (value.state == Computed::State::kAbsent) continue;
      if (value.state == Computed::State::kUnknown) return Truth::kUnknown;
      for (int64_t i = 0; i < value.tensor.count(); ++i) {
        if (holds(value.tensor, i)) continue;
        call.actual = Describe(call.binding, name) + " is " + Show(value.tensor);
        call.wanted = wanted(value.tensor);
        return Truth::kFalse;
      }
    }
    return Truth::kTrue;
  };
}

bool IsPositive(const Tensor& tensor, int64_t i) { return ElementAsDouble(tensor, i) > 0; }

bool IsPowerOfTwo(const Tensor& tensor, int64_t i) {
  int exponent = 0;
  return std::frexp(ElementAsDouble(tensor, i), &exponent) == 0.5;
}

bool IsTypeMin(const Tensor& tensor, int64_t i) {
  const auto range = RangeOf(tensor.type());
  return range && ElementAsInt(tensor, i) == range->min;
}

std::string Positive(const Tensor& /*tensor*/) { return "above 0"; }
std::string PowerOfTwo(const Tensor& /*tensor*/) { return "a power of two"; }
std::string TypeMin(const Tensor& tensor) {
  const auto range = RangeOf(tensor.type());
  return range ? std::to_string(range->min) : "the smallest value of an integer type";
}

// outside: {w: [-64, 64]}: some element lies beyond the bounds.
Truth Outside(Call& call) {
  for (const auto& [name, bounds] : call.condition.pairs) {
    const Computed value = call.binding.ConstantOf(name);
    if (value.state == Computed::State::kAbsent) continue;
    if (value.state == Computed::State::kUnknown || bounds.items.size() != 2) return Truth::kUnknown;
    const double low = bounds.items[0].AsDouble().value_or(0);
    const double high = bounds.items[1].AsDouble().value_or(0);
    call.wanted = FormatFloat(static_cast<float>(low)) + " to " + FormatFloat(static_cast<float>(high));
    bool outside = false;
    for (const double number : ToDoubles(value.tensor)) outside = outside || number < low || number > high;
    if (!outside) return Truth::kFalse;
  }
  return Truth::kTrue;
}

}  // namespace

void AddNumberPredicates(Table& table) {
  table["same_value"] = SameValue;
  table["same"] = Same;
  table["all_equal"] = AllEqual;
  table["equals"] = Equals;
  table["close"] = Close;
  table["less"] = Comparison([](double x, double y) { return x < y; });
  table["more"] = Comparison([](double x, double y) { return x > y; });
  table["at_least"] = Comparison([](double x, double y) { return x >= y; });
  table["at_most"] = Comparison([](double x, double y) { return x <= y; });
  table["positive"] = EveryElement(IsPositive, Positive);
  table["power_of_two"] = EveryElement(IsPowerOfTwo, PowerOfTwo);
  table["type_min"] = EveryElement(IsTypeMin, TypeMin);
  table["outside"] = Outside;
}

}  // namespace rulerun::predicates
