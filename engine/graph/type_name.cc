#include "engine/graph/type_name.h"

#include "engine/graph/proto.h"

namespace rulerun {
namespace {

std::string ElementName(int32_t element) {
  const bool known = element > 0 && element <= static_cast<int32_t>(DataTypeNames().size());
  return known ? std::string(Name(static_cast<DataType>(element))) : "";
}

std::string NameOf(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType:
      return ElementName(type.tensor_type().elem_type());
    case onnx::TypeProto::kSparseTensorType:
      return "sparse(" + ElementName(type.sparse_tensor_type().elem_type()) + ")";
    case onnx::TypeProto::kSequenceType:
      return "seq(" + NameOf(type.sequence_type().elem_type()) + ")";
    case onnx::TypeProto::kOptionalType:
      return "optional(" + NameOf(type.optional_type().elem_type()) + ")";
    case onnx::TypeProto::kMapType:
      return "map(" + ElementName(type.map_type().key_type()) + "," + NameOf(type.map_type().value_type()) + ")";
    default:
      return "";
  }
}

}  // namespace

std::string TypeName(const ValueType& type) {
  if (type.other.empty()) return ElementName(static_cast<int32_t>(type.element));
  onnx::TypeProto proto;
  ToProto(type, &proto);
  return NameOf(proto);
}

}  // namespace rulerun
