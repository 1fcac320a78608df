#include "engine/graph/proto.h"

#include <new>

#include "engine/base/codes.h"
#include "engine/graph/external_data.h"

namespace rulerun {

std::string_view NormalDomain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }

std::shared_ptr<std::byte> AlignedBytes(size_t size) {
  constexpr std::align_val_t kLine{64};
  // One spare byte, so that an empty tensor still has an address.
  auto* bytes = static_cast<std::byte*>(::operator new(size + 1, kLine));
  return {bytes, [](std::byte* used) { ::operator delete(used, kLine); }};
}

// --- types

Shape ToShape(const onnx::TensorShapeProto& proto) {
  Shape shape;
  shape.reserve(static_cast<size_t>(proto.dim_size()));
  for (const auto& dim : proto.dim()) {
    Dim converted;
    // Exporters write -1 and "" for "unknown", as ONNX Runtime knows too.
    if (dim.has_dim_value() && dim.dim_value() >= 0) converted.size = dim.dim_value();
    if (dim.has_dim_param()) converted.symbol = dim.dim_param();
    shape.push_back(std::move(converted));
  }
  return shape;
}

ValueType ToValueType(const onnx::TypeProto& proto) {
  ValueType type;
  if (proto.value_case() == onnx::TypeProto::kTensorType) {
    const int32_t element = proto.tensor_type().elem_type();
    const bool known = element > 0 && element <= static_cast<int32_t>(DataTypeNames().size());
    type.element = known ? static_cast<DataType>(element) : DataType::kUndefined;
    if (proto.tensor_type().has_shape()) type.shape = ToShape(proto.tensor_type().shape());
  } else if (proto.value_case() != onnx::TypeProto::VALUE_NOT_SET) {
    type.other = proto.SerializeAsString();
  }
  return type;
}

void ToProto(const Shape& shape, onnx::TensorShapeProto* proto) {
  for (const Dim& dim : shape) {
    auto* added = proto->add_dim();
    if (dim.known()) {
      added->set_dim_value(dim.size);
    } else if (!dim.symbol.empty()) {
      added->set_dim_param(dim.symbol);
    }
  }
}

void ToProto(const ValueType& type, onnx::TypeProto* proto) {
  if (!type.other.empty()) {
    proto->ParseFromString(type.other);
    return;
  }
  if (type.element == DataType::kUndefined && !type.shape) return;
  proto->mutable_tensor_type()->set_elem_type(static_cast<int32_t>(type.element));
  if (type.shape) ToProto(*type.shape, proto->mutable_tensor_type()->mutable_shape());
}

// --- attributes

onnx::AttributeProto::AttributeType KindOf(const onnx::AttributeProto& proto) {
  if (proto.type() != onnx::AttributeProto::UNDEFINED) return proto.type();
  if (proto.has_f()) return onnx::AttributeProto::FLOAT;
  if (proto.has_i()) return onnx::AttributeProto::INT;
  if (proto.has_s()) return onnx::AttributeProto::STRING;
  if (proto.has_t()) return onnx::AttributeProto::TENSOR;
  if (proto.has_g()) return onnx::AttributeProto::GRAPH;
  if (proto.floats_size() > 0) return onnx::AttributeProto::FLOATS;
  if (proto.ints_size() > 0) return onnx::AttributeProto::INTS;
  if (proto.strings_size() > 0) return onnx::AttributeProto::STRINGS;
  if (proto.graphs_size() > 0) return onnx::AttributeProto::GRAPHS;
  return onnx::AttributeProto::UNDEFINED;
}

onnx::AttributeProto::AttributeType KindOf(const Attribute& attribute) {
  struct Kind {
    using Type = onnx::AttributeProto::AttributeType;
    Type operator()(int64_t) const { return onnx::AttributeProto::INT; }
    Type operator()(float) const { return onnx::AttributeProto::FLOAT; }
    Type operator()(const std::string&) const { return onnx::AttributeProto::STRING; }
    Type operator()(const std::vector<int64_t>&) const { return onnx::AttributeProto::INTS; }
    Type operator()(const std::vector<float>&) const { return onnx::AttributeProto::FLOATS; }
    Type operator()(const std::vector<std::string>&) const { return onnx::AttributeProto::STRINGS; }
    Type operator()(const Tensor&) const { return onnx::AttributeProto::TENSOR; }
    Type operator()(const GraphRef&) const { return onnx::AttributeProto::GRAPH; }
    Type operator()(const std::vector<GraphRef>&) const { return onnx::AttributeProto::GRAPHS; }
    Type operator()(const OpaqueAttribute& opaque) const {
      onnx::AttributeProto proto;
      return proto.ParseFromString(opaque.bytes) ? proto.type() : onnx::AttributeProto::UNDEFINED;
    }
  };
  return std::visit(Kind{}, attribute);
}

Result<Attribute> ToAttribute(onnx::AttributeProto& proto, ExternalData* external) {
  switch (KindOf(proto)) {
    case onnx::AttributeProto::INT:
      return Attribute(proto.i());
    case onnx::AttributeProto::FLOAT:
      return Attribute(proto.f());
    case onnx::AttributeProto::STRING:
      return Attribute(proto.s());
    case onnx::AttributeProto::INTS:
      return Attribute(std::vector<int64_t>(proto.ints().begin(), proto.ints().end()));
    case onnx::AttributeProto::FLOATS:
      return Attribute(std::vector<float>(proto.floats().begin(), proto.floats().end()));
    case onnx::AttributeProto::STRINGS:
      return Attribute(std::vector<std::string>(proto.strings().begin(), proto.strings().end()));
    case onnx::AttributeProto::TENSOR: {
      RULERUN_ASSIGN(Tensor tensor, ToTensor(*proto.mutable_t(), external));
      return Attribute(std::move(tensor));
    }
    case onnx::AttributeProto::GRAPH:
    case onnx::AttributeProto::GRAPHS:
      return Error{Code::kBadGraph, "a graph is not allowed here", "", ""};
    default:
      return Attribute(OpaqueAttribute{proto.SerializeAsString()});
  }
}

namespace {

struct AttributeFiller {
  onnx::AttributeProto* proto;

  void operator()(int64_t value) const { proto->set_i(value); }
  void operator()(float value) const { proto->set_f(value); }
  void operator()(const std::string& value) const { proto->set_s(value); }
  void operator()(const std::vector<int64_t>& values) const {
    proto->mutable_ints()->Add(values.begin(), values.end());
  }
  void operator()(const std::vector<float>& values) const {
    proto->mutable_floats()->Add(values.begin(), values.end());
  }
  void operator()(const std::vector<std::string>& values) const {
    for (const std::string& value : values) proto->add_strings(value);
  }
  void operator()(const Tensor& tensor) const { ToProto(tensor, proto->mutable_t()); }
  void operator()(const GraphRef&) const {}
  void operator()(const std::vector<GraphRef>&) const {}
  void operator()(const OpaqueAttribute& opaque) const { proto->ParseFromString(opaque.bytes); }
};

}  // namespace

void ToProto(std::string_view name, const Attribute& attribute, onnx::AttributeProto* proto) {
  std::visit(AttributeFiller{proto}, attribute);
  proto->set_name(std::string(name));
  if (!std::holds_alternative<OpaqueAttribute>(attribute)) proto->set_type(KindOf(attribute));
}

}  // namespace rulerun
