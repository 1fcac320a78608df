// Tensors from and to onnx.TensorProto: every form the data may take in a file becomes little-endian raw bytes.
#include <cstring>
#include <limits>

#include "engine/base/codes.h"
#include "engine/graph/external_data.h"
#include "engine/graph/proto.h"

namespace rulerun {
namespace {

// A dense tensor made from a sparse one may not be larger: a few bytes in a file must not claim all memory.
constexpr size_t kDenseLimit = size_t{1} << 31;

Error Bad(std::string message, std::string remedy = "The file is damaged or was written by a broken tool.") {
  return {Code::kBadTensor, std::move(message), "", std::move(remedy)};
}

std::string DimsText(const Dims& dims) { return ToString(ToShape(dims)); }

struct Header {
  DataType type = DataType::kUndefined;
  Dims dims;
  int64_t count = 0;
  size_t bytes = 0;
};

Result<Header> ReadHeader(const onnx::TensorProto& proto) {
  Header header;
  const auto& names = DataTypeNames();
  if (proto.data_type() <= 0 || proto.data_type() > static_cast<int>(names.size())) {
    return Bad("element type " + std::to_string(proto.data_type()) + " is unknown",
               "Use one of ONNX's element types 1 to " + std::to_string(names.size()) + ".");
  }
  header.type = static_cast<DataType>(proto.data_type());
  header.dims.assign(proto.dims().begin(), proto.dims().end());
  for (const int64_t dim : header.dims) {
    if (dim < 0) return Bad("dimension " + std::to_string(dim) + " is negative");
  }
  const auto count = ElementCount(header.dims);
  // Strings count as one byte each here; no tensor of 2^60 elements is real.
  const int64_t bits = std::max(8, BitWidth(header.type));
  if (!count || *count > std::numeric_limits<int64_t>::max() / bits) {
    return Bad("a tensor of so many elements cannot exist: " + DimsText(header.dims));
  }
  header.count = *count;
  header.bytes = ByteSize(header.type, header.count);
  return header;
}

Error WrongSize(const Header& header, size_t found, std::string_view unit) {
  return Bad("has " + std::to_string(found) + " " + std::string(unit) + " of data, but " +
             std::string(Name(header.type)) + DimsText(header.dims) + " takes " +
             std::to_string(unit == "bytes" ? header.bytes : static_cast<size_t>(header.count)));
}

// Shares the bytes of `owner`'s string where they are aligned for the type, as they practically always are.
std::shared_ptr<const std::byte> TakeString(std::string&& bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  const auto* data = reinterpret_cast<const std::byte*>(owner->data());
  if (reinterpret_cast<uintptr_t>(data) % 16 == 0 || owner->size() < 16) {
    if (reinterpret_cast<uintptr_t>(data) % alignof(double) == 0) return {std::move(owner), data};
  }
  std::shared_ptr<std::byte> copy = AlignedBytes(owner->size());
  std::memcpy(copy.get(), owner->data(), owner->size());
  return copy;
}

// Stores `values` one after the other as T.
template <typename T, typename Values>
Result<Tensor> Store(const Header& header, const Values& values, int64_t per_element = 1) {
  if (values.size() != header.count * per_element) {
    return WrongSize(header, static_cast<size_t>(values.size() / per_element), "elements");
  }
  std::shared_ptr<std::byte> data = AlignedBytes(header.bytes);
  auto* out = reinterpret_cast<T*>(data.get());
  for (int64_t i = 0; i < values.size(); ++i) out[i] = static_cast<T>(values[static_cast<int>(i)]);
  return Tensor(header.type, header.dims, std::move(data));
}

// 2- and 4-bit elements: every int32 holds one packed byte.
Result<Tensor> StorePacked(const Header& header, const onnx::TensorProto& proto) {
  if (static_cast<size_t>(proto.int32_data_size()) != header.bytes) {
    return WrongSize(header, static_cast<size_t>(proto.int32_data_size()), "bytes");
  }
  std::shared_ptr<std::byte> data = AlignedBytes(header.bytes);
  for (int i = 0; i < proto.int32_data_size(); ++i) data.get()[i] = static_cast<std::byte>(proto.int32_data(i));
  return Tensor(header.type, header.dims, std::move(data));
}

Result<Tensor> FromTypedFields(const Header& header, const onnx::TensorProto& proto) {
  switch (header.type) {
    case DataType::kFloat:
      return Store<float>(header, proto.float_data());
    case DataType::kComplex64:
      return Store<float>(header, proto.float_data(), 2);
    case DataType::kDouble:
      return Store<double>(header, proto.double_data());
    case DataType::kComplex128:
      return Store<double>(header, proto.double_data(), 2);
    case DataType::kInt64:
      return Store<int64_t>(header, proto.int64_data());
    case DataType::kUint64:
      return Store<uint64_t>(header, proto.uint64_data());
    case DataType::kUint32:
      return Store<uint32_t>(header, proto.uint64_data());
    default:
      break;
  }
  switch (BitWidth(header.type)) {
    case 32:
      return Store<int32_t>(header, proto.int32_data());
    case 16:
      return Store<uint16_t>(header, proto.int32_data());
    case 8:
      return Store<uint8_t>(header, proto.int32_data());
    default:
      return StorePacked(header, proto);
  }
}

Result<Tensor> FromStrings(const Header& header, onnx::TensorProto& proto) {
  if (proto.string_data_size() != header.count) {
    return WrongSize(header, static_cast<size_t>(proto.string_data_size()), "elements");
  }
  std::vector<std::string> strings;
  strings.reserve(static_cast<size_t>(header.count));
  for (std::string& text : *proto.mutable_string_data()) strings.push_back(std::move(text));
  return Tensor(header.dims, std::move(strings));
}

Result<Tensor> FromFile(const Header& header, const onnx::TensorProto& proto, ExternalData* external) {
  if (external == nullptr) return Bad("data in another file is not possible here", "Store the data in the model.");
  if (header.type == DataType::kString) return Bad("strings cannot lie in another file", "Store them in the model.");
  DataLocation location;
  for (const auto& entry : proto.external_data()) {
    RULERUN_RETURN_IF_ERROR(location.Set(entry.key(), entry.value()));
  }
  RULERUN_ASSIGN(auto data, external->Read(location, header.bytes));
  return Tensor(header.type, header.dims, std::move(data));
}

Result<Tensor> Densify(const Header& header, const Tensor& values, const std::vector<int64_t>& positions) {
  Tensor dense(header.type, header.dims);
  for (size_t i = 0; i < positions.size(); ++i) {
    const int64_t at = positions[i];
    if (at < 0 || at >= header.count) return Bad("sparse index " + std::to_string(at) + " is outside the tensor");
    const auto from = static_cast<int64_t>(i);
    const int bits = BitWidth(header.type);
    if (header.type == DataType::kString) {
      dense.mutable_strings()[static_cast<size_t>(at)] = values.strings()[i];
    } else if (bits < 8) {
      SetInt(dense, at, ElementAsInt(values, from));
    } else {
      const auto size = static_cast<size_t>(bits / 8);
      std::memcpy(dense.mutable_raw() + static_cast<size_t>(at) * size, values.raw() + i * size, size);
    }
  }
  return dense;
}

// Flat positions from indices of shape [n] or [n, rank].
Result<std::vector<int64_t>> Positions(const Header& header, const Tensor& indices, int64_t count) {
  const bool flat = indices.rank() == 1;
  const auto rank = static_cast<int64_t>(header.dims.size());
  const bool fits = indices.type() == DataType::kInt64 &&
                    (flat ? indices.dims()[0] == count
                          : indices.rank() == 2 && indices.dims()[0] == count && indices.dims()[1] == rank);
  if (!fits) return Bad("sparse indices must be int64[n] or int64[n, rank], one for each value");
  std::vector<int64_t> positions = ToInts(indices);
  if (flat) return positions;
  std::vector<int64_t> result;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (int64_t axis = 0; axis < rank; ++axis) {
      const int64_t index = positions[static_cast<size_t>(i * rank + axis)];
      const int64_t size = header.dims[static_cast<size_t>(axis)];
      if (index < 0 || index >= size) return Bad("sparse index " + std::to_string(index) + " is outside the tensor");
      at = at * size + index;
    }
    result.push_back(at);
  }
  return result;
}

}  // namespace

Result<Tensor> ToTensor(onnx::TensorProto& proto, ExternalData* external, const TensorPayload& payload) {
  RULERUN_ASSIGN(const Header header, ReadHeader(proto));
  if (proto.has_segment())
    return Bad("tensors split into segments are not supported", "Store the tensor in one piece.");
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) return FromFile(header, proto, external);
  if (header.type == DataType::kString) {
    if (proto.has_raw_data() || payload.data != nullptr) return Bad("strings cannot be raw data");
    return FromStrings(header, proto);
  }
  if (payload.data != nullptr) {
    if (payload.size != header.bytes) return WrongSize(header, payload.size, "bytes");
    return Tensor(header.type, header.dims, payload.data);
  }
  if (proto.has_raw_data()) {
    if (proto.raw_data().size() != header.bytes) return WrongSize(header, proto.raw_data().size(), "bytes");
    return Tensor(header.type, header.dims, TakeString(std::move(*proto.mutable_raw_data())));
  }
  return FromTypedFields(header, proto);
}

Result<Tensor> ToTensor(onnx::SparseTensorProto& proto, ExternalData* external) {
  onnx::TensorProto shape;
  shape.set_data_type(proto.values().data_type());
  *shape.mutable_dims() = proto.dims();
  RULERUN_ASSIGN(const Header header, ReadHeader(shape));
  if (header.bytes > kDenseLimit || header.count > static_cast<int64_t>(kDenseLimit)) {
    return Bad("sparse tensor " + DimsText(header.dims) + " is too large to be made dense", "Store it as dense data.");
  }
  RULERUN_ASSIGN(const Tensor values, ToTensor(*proto.mutable_values(), external));
  RULERUN_ASSIGN(const Tensor indices, ToTensor(*proto.mutable_indices(), external));
  if (values.rank() != 1) return Bad("sparse values must have rank 1");
  RULERUN_ASSIGN(const std::vector<int64_t> positions, Positions(header, indices, values.count()));
  return Densify(header, values, positions);
}

void ToProtoWithoutData(const Tensor& tensor, onnx::TensorProto* proto) {
  proto->set_data_type(static_cast<int32_t>(tensor.type()));
  proto->mutable_dims()->Add(tensor.dims().begin(), tensor.dims().end());
  if (tensor.type() == DataType::kString) {
    for (const std::string& text : tensor.strings()) proto->add_string_data(text);
  }
}

void ToProto(const Tensor& tensor, onnx::TensorProto* proto) {
  ToProtoWithoutData(tensor, proto);
  if (tensor.type() != DataType::kString) {
    proto->set_raw_data(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes());
  }
}

}  // namespace rulerun
