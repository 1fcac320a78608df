// Between ONNX's protobuf messages and our tensors, attributes and types. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_GRAPH_PROTO_H_
#define RULERUN_ENGINE_GRAPH_PROTO_H_

#include <onnx/onnx_pb.h>

#include <memory>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/graph/attribute.h"
#include "engine/graph/graph.h"
#include "engine/graph/tensor.h"

namespace rulerun {

class ExternalData;

// "ai.onnx" and "" are the same domain.
std::string_view NormalDomain(std::string_view domain);

// --- types
ValueType ToValueType(const onnx::TypeProto& proto);
Shape ToShape(const onnx::TensorShapeProto& proto);
void ToProto(const ValueType& type, onnx::TypeProto* proto);
void ToProto(const Shape& shape, onnx::TensorShapeProto* proto);

// --- tensors
// Bytes of a tensor that were read on their own, beside the rest of its message.
struct TensorPayload {
  std::shared_ptr<const std::byte> data;  // nullptr: none
  size_t size = 0;
};

// Takes the data out of `proto` where it can. `external` reads data that lies in other files; nullptr refuses it.
// The error's place is left empty.
Result<Tensor> ToTensor(onnx::TensorProto& proto, ExternalData* external, const TensorPayload& payload = {});
// As a dense tensor of at most 2 GB.
Result<Tensor> ToTensor(onnx::SparseTensorProto& proto, ExternalData* external);
// Everything but the numbers themselves: type and shape, and strings where it holds strings.
void ToProtoWithoutData(const Tensor& tensor, onnx::TensorProto* proto);
void ToProto(const Tensor& tensor, onnx::TensorProto* proto);

// --- attributes
// Of every kind but graphs (those become an error). Tensors are taken out of `proto`.
Result<Attribute> ToAttribute(onnx::AttributeProto& proto, ExternalData* external);
// Of every kind but graphs (those get name and kind only).
void ToProto(std::string_view name, const Attribute& attribute, onnx::AttributeProto* proto);
// The kind of an attribute whose message does not say (IR version 1), or what it says.
onnx::AttributeProto::AttributeType KindOf(const onnx::AttributeProto& proto);
onnx::AttributeProto::AttributeType KindOf(const Attribute& attribute);

// `size` bytes, aligned to a cache line, not cleared.
std::shared_ptr<std::byte> AlignedBytes(size_t size);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_PROTO_H_
