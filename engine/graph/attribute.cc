#include "engine/graph/attribute.h"

#include <bit>

#include "engine/base/text.h"

namespace rulerun {
namespace {

template <typename T>
T ValueOr(const AttributeMap& attributes, std::string_view name, T fallback) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return fallback;
  const T* value = std::get_if<T>(&found->second);
  return value == nullptr ? fallback : *value;
}

bool SameFloat(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

struct Same {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return a == b;
  }
  bool operator()(float a, float b) const { return SameFloat(a, b); }
  bool operator()(const std::vector<float>& a, const std::vector<float>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameFloat);
  }
  bool operator()(const Tensor& a, const Tensor& b) const { return SameContent(a, b); }
  bool operator()(const GraphRef&, const GraphRef&) const { return false; }
  bool operator()(const std::vector<GraphRef>&, const std::vector<GraphRef>&) const { return false; }
  bool operator()(const OpaqueAttribute&, const OpaqueAttribute&) const { return false; }
  template <typename T, typename U>
  bool operator()(const T&, const U&) const {
    return false;
  }
};

struct Text {
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(float value) const { return FormatFloat(value); }
  std::string operator()(const std::string& value) const { return "\"" + value + "\""; }
  template <typename T>
  std::string operator()(const std::vector<T>& values) const {
    std::vector<std::string> parts;
    for (const T& value : values) parts.push_back((*this)(value));
    return "[" + Join(parts, ", ") + "]";
  }
  std::string operator()(const Tensor& tensor) const { return "tensor of " + std::string(Name(tensor.type())); }
  std::string operator()(const GraphRef&) const { return "graph"; }
  std::string operator()(const OpaqueAttribute&) const { return "value"; }
};

}  // namespace

bool SameAttribute(const Attribute& a, const Attribute& b) { return std::visit(Same{}, a, b); }

int64_t IntOr(const AttributeMap& attributes, std::string_view name, int64_t fallback) {
  return ValueOr<int64_t>(attributes, name, fallback);
}
float FloatOr(const AttributeMap& attributes, std::string_view name, float fallback) {
  return ValueOr<float>(attributes, name, fallback);
}
std::string StringOr(const AttributeMap& attributes, std::string_view name, std::string_view fallback) {
  return ValueOr<std::string>(attributes, name, std::string(fallback));
}
std::vector<int64_t> IntsOr(const AttributeMap& attributes, std::string_view name, std::vector<int64_t> fallback) {
  return ValueOr<std::vector<int64_t>>(attributes, name, std::move(fallback));
}

std::string ToString(const Attribute& attribute) { return std::visit(Text{}, attribute); }

}  // namespace rulerun
