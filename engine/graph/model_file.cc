#include "engine/graph/model_file.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "engine/graph/proto.h"
#include "engine/graph/save.h"

namespace rulerun {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::FileInputStream;
using google::protobuf::io::StringOutputStream;

// Protobuf's wire types and the numbers of the fields that are looked at one by one (onnx-ml.proto).
enum Wire : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
constexpr uint32_t kModelGraph = 7;
constexpr uint32_t kModelFunctions = 25;
constexpr uint32_t kGraphNode = 1;
constexpr uint32_t kGraphInitializer = 5;
constexpr uint32_t kTensorFloats = 4;
constexpr uint32_t kTensorRaw = 9;
constexpr uint32_t kTensorDoubles = 10;

uint32_t FieldOf(uint32_t tag) { return tag >> 3; }
uint32_t WireOf(uint32_t tag) { return tag & 7; }

// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

FileStamp ToStamp(const struct stat& info) {
  return {info.st_size, static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec,
          static_cast<uint64_t>(info.st_ino)};
}

// Reads a message whose length comes first. `Fill` gets the stream, limited to the message.
template <typename Fill>
bool ReadNested(CodedInputStream& in, const Fill& fill) {
  uint32_t length = 0;
  if (!in.ReadVarint32(&length) || length > static_cast<uint32_t>(std::numeric_limits<int>::max())) return false;
  if (static_cast<int>(length) > in.BytesUntilTotalBytesLimit()) return false;
  const int outer = in.BytesUntilLimit();
  if (outer >= 0 && static_cast<int>(length) > outer) return false;
  const auto limit = in.PushLimit(static_cast<int>(length));
  if (!fill() || in.BytesUntilLimit() != 0) return false;
  in.PopLimit(limit);
  return true;
}

// Appends the field `tag` starts to `out` as it stands.
bool CopyField(CodedInputStream& in, uint32_t tag, std::string* out) {
  StringOutputStream stream(out);
  CodedOutputStream coded(&stream);
  coded.WriteTag(tag);
  switch (WireOf(tag)) {
    case kVarint: {
      uint64_t value = 0;
      if (!in.ReadVarint64(&value)) return false;
      coded.WriteVarint64(value);
      return true;
    }
    case kFixed64: {
      uint64_t value = 0;
      if (!in.ReadLittleEndian64(&value)) return false;
      coded.WriteLittleEndian64(value);
      return true;
    }
    case kFixed32: {
      uint32_t value = 0;
      if (!in.ReadLittleEndian32(&value)) return false;
      coded.WriteLittleEndian32(value);
      return true;
    }
    case kBytes: {
      uint32_t length = 0;
      if (!in.ReadVarint32(&length) || length > static_cast<uint32_t>(in.BytesUntilTotalBytesLimit())) return false;
      std::string bytes;
      if (!in.ReadString(&bytes, static_cast<int>(length))) return false;
      coded.WriteVarint32(length);
      coded.WriteString(bytes);
      return true;
    }
    default:
      return false;
  }
}

class Reader {
 public:
  Reader(CodedInputStream& in, ExternalData& external, const std::string& path)
      : in_(in), external_(external), path_(path) {}

  Result<ModelFile> Read() {
    std::string functions;
    const bool read = ReadModel(&functions);
    if (error_) return *error_;
    if (!read) return Garbage();
    if (!has_graph_) {
      return Error{ErrorKind::kModel, "the file holds no ONNX graph", path_, "Give an ONNX model (.onnx)."};
    }
    onnx::ModelProto rest;
    if (!rest.ParseFromString(file_.header + functions)) return Garbage();
    rest.mutable_graph()->Swap(&graph_);
    file_.proto.Swap(&rest);
    return std::move(file_);
  }

 private:
  Error Garbage() const {
    return {ErrorKind::kModel, "not an ONNX model, or cut short", path_, "Check the file, or export the model again."};
  }

  bool ReadModel(std::string* functions) {
    while (const uint32_t tag = in_.ReadTag()) {
      if (FieldOf(tag) == kModelGraph) {
        if (WireOf(tag) != kBytes) return false;
        has_graph_ = true;
        if (!ReadNested(in_, [this] { return ReadGraph(); })) return false;
      } else if (!CopyField(in_, tag, FieldOf(tag) == kModelFunctions ? functions : &file_.header)) {
        return false;
      }
    }
    return in_.ConsumedEntireMessage();
  }

  bool ReadGraph() {
    std::string rest;
    while (const uint32_t tag = in_.ReadTag()) {
      const uint32_t field = FieldOf(tag);
      if ((field == kGraphNode || field == kGraphInitializer) && WireOf(tag) != kBytes) return false;
      if (field == kGraphNode) {
        if (!ReadNested(in_, [this] { return graph_.add_node()->MergeFromCodedStream(&in_); })) return false;
      } else if (field == kGraphInitializer) {
        if (!ReadNested(in_, [this] { return ReadInitializer(); })) return false;
      } else if (!CopyField(in_, tag, &rest)) {
        return false;
      }
    }
    return graph_.MergeFromString(rest);
  }

  bool ReadInitializer() {
    std::string rest;
    TensorPayload payload;
    while (const uint32_t tag = in_.ReadTag()) {
      const uint32_t field = FieldOf(tag);
      // Packed floats and doubles look on the wire as they do in memory.
      const bool plain = field == kTensorRaw || field == kTensorFloats || field == kTensorDoubles;
      if (plain && WireOf(tag) == kBytes) {
        if (!ReadPayload(field, &payload)) return false;
      } else if (!CopyField(in_, tag, &rest)) {
        return false;
      }
    }
    onnx::TensorProto proto;
    if (!proto.ParseFromString(rest)) return false;
    if (proto.float_data_size() > 0 || proto.double_data_size() > 0) payload = {};  // unpacked: an odd writer
    auto tensor = ToTensor(proto, &external_, payload);
    if (!tensor.ok()) {
      error_ = tensor.error();
      error_->place = path_ + ", initializer '" + proto.name() + "'";
      return false;
    }
    file_.initializers.push_back({proto.name(), std::move(tensor).value()});
    return true;
  }

  bool ReadPayload(uint32_t field, TensorPayload* payload) {
    uint32_t length = 0;
    if (!in_.ReadVarint32(&length) || length > static_cast<uint32_t>(in_.BytesUntilLimit())) return false;
    if (length == 0 && field != kTensorRaw) return true;
    // The pieces of a packed field that was written in several; a second raw_data replaces the first.
    const size_t before = field == kTensorRaw ? 0 : payload->size;
    std::shared_ptr<std::byte> bytes = AlignedBytes(before + length);
    if (before > 0) std::memcpy(bytes.get(), payload->data.get(), before);
    if (!in_.ReadRaw(bytes.get() + before, static_cast<int>(length))) return false;
    *payload = {std::move(bytes), before + length};
    return true;
  }

  CodedInputStream& in_;
  ExternalData& external_;
  const std::string& path_;
  ModelFile file_;
  onnx::GraphProto graph_;
  bool has_graph_ = false;
  std::optional<Error> error_;
};

// Ends the stream with the file, in the way that counts as the end of a message.
void LimitTo(CodedInputStream& in, int64_t size) {
  in.SetTotalBytesLimit(static_cast<int>(size));
  in.PushLimit(static_cast<int>(size));
}

// Accepts a plain file below protobuf's limit of 2 GB.
Result<FileStamp> Check(const Descriptor& file, const std::string& path) {
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) {
    return Error{ErrorKind::kSystem, std::string("cannot read the model: ") + std::strerror(errno), path, ""};
  }
  if (!S_ISREG(info.st_mode)) return Error{ErrorKind::kModel, "not a plain file", path, "Give an ONNX model (.onnx)."};
  if (info.st_size == 0) return Error{ErrorKind::kModel, "the file is empty", path, "Export the model again."};
  if (info.st_size > std::numeric_limits<int>::max()) {
    return Error{ErrorKind::kModel, "the file is larger than the 2 GB that protobuf allows", path,
                 "Store the weights as external data."};
  }
  return ToStamp(info);
}

}  // namespace

FileStamp StampOf(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? ToStamp(info) : FileStamp{};
}

Result<ModelFile> ReadModelFile(const std::string& path, ExternalData& external) {
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  RULERUN_ASSIGN(const FileStamp stamp, Check(descriptor, path));
  FileInputStream file(descriptor.get());
  CodedInputStream in(&file);
  LimitTo(in, stamp.size);
  RULERUN_ASSIGN(ModelFile result, Reader(in, external, path).Read());
  result.stamp = stamp;
  return result;
}

Result<ModelSizes> MeasureModel(const std::string& path) {
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  RULERUN_ASSIGN(const FileStamp stamp, Check(descriptor, path));
  FileInputStream file(descriptor.get());
  CodedInputStream in(&file);
  LimitTo(in, stamp.size);
  ModelSizes sizes;
  sizes.total = static_cast<size_t>(stamp.size);
  const auto skip = [&](uint32_t tag) {
    std::string unused;
    return CopyField(in, tag, &unused);
  };
  const auto measure_node = [&] {
    onnx::NodeProto node;
    if (!node.MergeFromCodedStream(&in)) return false;
    sizes.nodes += node.ByteSizeLong();
    for (const auto& entry : node.metadata_props()) sizes.metadata += entry.ByteSizeLong() + 2;
    return true;
  };
  const auto measure_graph = [&] {
    while (const uint32_t tag = in.ReadTag()) {
      if (FieldOf(tag) == kGraphInitializer && WireOf(tag) == kBytes) {
        if (!ReadNested(in, [&] {
              const int length = in.BytesUntilLimit();
              sizes.initializers += static_cast<size_t>(length);
              return in.Skip(length);
            })) {
          return false;
        }
      } else if (FieldOf(tag) == kGraphNode && WireOf(tag) == kBytes) {
        if (!ReadNested(in, measure_node)) return false;
      } else if (!skip(tag)) {
        return false;
      }
    }
    return true;
  };
  bool good = true;
  while (const uint32_t tag = in.ReadTag()) {
    good = FieldOf(tag) == kModelGraph && WireOf(tag) == kBytes ? ReadNested(in, measure_graph) : skip(tag);
    if (!good) break;
  }
  if (!good || !in.ConsumedEntireMessage()) {
    return Error{ErrorKind::kModel, "not an ONNX model, or cut short", path, "Check the file, or export it again."};
  }
  return sizes;
}

}  // namespace rulerun
