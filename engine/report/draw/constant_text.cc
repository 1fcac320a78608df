#include "engine/report/draw/constant_text.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "engine/base/text.h"

namespace rulerun {
namespace {

constexpr int64_t kShownValues = 6;
constexpr int kDigits = 4;

bool IsNumber(const Tensor& tensor) { return tensor.type() != DataType::kString && BitWidth(tensor.type()) <= 64; }

std::string Element(const Tensor& tensor, int64_t index) {
  if (IsInteger(tensor.type()) || tensor.type() == DataType::kBool) return std::to_string(ElementAsInt(tensor, index));
  char text[32];
  std::snprintf(text, sizeof(text), "%.*g", kDigits, ElementAsDouble(tensor, index));
  return text;
}

std::string SizesOf(const Tensor& tensor) {
  if (tensor.rank() == 0) return "scalar";
  std::vector<std::string> sizes;
  for (const int64_t dim : tensor.dims()) sizes.push_back(std::to_string(dim));
  return Join(sizes, "×");
}

}  // namespace

std::string ShortText(const Tensor& tensor) {
  const bool few = tensor.count() <= kShownValues && tensor.rank() <= 1 && IsNumber(tensor);
  if (!few) return std::string(Name(tensor.type())) + " " + SizesOf(tensor);
  std::vector<std::string> values;
  for (int64_t i = 0; i < tensor.count(); ++i) values.push_back(Element(tensor, i));
  return tensor.rank() == 0 ? values.front() : "[" + Join(values, ", ") + "]";
}

std::string RangeText(const Tensor& tensor) {
  if (tensor.count() == 0 || !IsNumber(tensor)) return ShortText(tensor);
  int64_t low = 0;
  int64_t high = 0;
  for (int64_t i = 1; i < tensor.count(); ++i) {
    if (ElementAsDouble(tensor, i) < ElementAsDouble(tensor, low)) low = i;
    if (ElementAsDouble(tensor, i) > ElementAsDouble(tensor, high)) high = i;
  }
  std::string text = Element(tensor, low);
  if (tensor.count() == 1) return text;
  const std::string most = Element(tensor, high);
  if (most != text) text += " … " + most;
  return text + " (" + std::to_string(tensor.count()) + " values)";
}

}  // namespace rulerun
