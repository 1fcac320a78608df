#include "engine/graph/wire.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "engine/base/codes.h"
#include "engine/graph/model_text.h"

namespace rulerun {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;

bool CopyBytes(CodedInputStream& in, uint32_t length, CodedOutputStream* out) {
  if (length > static_cast<uint32_t>(in.BytesUntilTotalBytesLimit())) return false;
  std::string bytes;
  if (!in.ReadString(&bytes, static_cast<int>(length))) return false;
  out->WriteVarint32(length);
  out->WriteString(bytes);
  return true;
}

class LargeMessageReader {
 public:
  explicit LargeMessageReader(CodedInputStream& in) : in_(in) {}

  bool Read(Message* message, int depth) {
    if (depth > kDeepest) return false;
    if (in_.BytesUntilLimit() < static_cast<int>(kLarge)) return message->MergeFromCodedStream(&in_);
    const auto* type = message->GetDescriptor();
    std::string small;
    while (const uint32_t tag = in_.ReadTag()) {
      const auto* field = type->FindFieldByNumber(static_cast<int>(FieldOf(tag)));
      if (WireOf(tag) != kBytes || field == nullptr) {
        if (!CopyField(in_, tag, &small)) return false;
        continue;
      }
      uint32_t length = 0;
      if (!in_.ReadVarint32(&length)) return false;
      if (length >= kLarge && CanReadAlone(*field)) {
        // What came before it must be in the message first, or repeated fields change their order.
        if (!message->MergeFromString(small) || !ReadField(message, *field, length, depth)) return false;
        small.clear();
      } else {
        StringOutputStream stream(&small);
        CodedOutputStream coded(&stream);
        coded.WriteTag(tag);
        if (!CopyBytes(in_, length, &coded)) return false;
      }
    }
    return message->MergeFromString(small);
  }

 private:
  static constexpr uint32_t kLarge = 1 << 20;
  static constexpr int kDeepest = 100;  // protobuf's own limit

  static bool CanReadAlone(const FieldDescriptor& field) {
    return field.type() == FieldDescriptor::TYPE_MESSAGE || field.type() == FieldDescriptor::TYPE_BYTES;
  }

  bool ReadField(Message* message, const FieldDescriptor& field, uint32_t length, int depth) {
    const auto* reflection = message->GetReflection();
    if (field.type() == FieldDescriptor::TYPE_MESSAGE) {
      auto* inner =
          field.is_repeated() ? reflection->AddMessage(message, &field) : reflection->MutableMessage(message, &field);
      return ReadLimited(in_, length, [&] { return Read(inner, depth + 1); });
    }
    if (length > static_cast<uint32_t>(in_.BytesUntilLimit())) return false;
    std::string bytes(length, '\0');
    if (!in_.ReadRaw(bytes.data(), static_cast<int>(length))) return false;
    if (field.is_repeated()) {
      reflection->AddString(message, &field, std::move(bytes));
    } else {
      reflection->SetString(message, &field, std::move(bytes));
    }
    return true;
  }

  CodedInputStream& in_;
};

FileStamp ToStamp(const struct stat& info) {
  return {info.st_size, static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec,
          static_cast<uint64_t>(info.st_ino)};
}

}  // namespace

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
      return in.ReadVarint32(&length) && CopyBytes(in, length, &coded);
    }
    default:
      return false;
  }
}

bool ReadMessage(CodedInputStream& in, Message* message) { return LargeMessageReader(in).Read(message, 0); }

FileStamp StampOf(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? ToStamp(info) : FileStamp{};
}

ModelStream::~ModelStream() {
  in_.reset();
  source_.reset();
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::unique_ptr<ModelStream>> ModelStream::Open(const std::string& path) {
  if (IsTextFile(path)) return OpenText(path);
  std::unique_ptr<ModelStream> stream(new ModelStream);
  struct stat info {};
  stream->descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (stream->descriptor_ < 0 || ::fstat(stream->descriptor_, &info) != 0) {
    return Error{Code::kCannotRead, std::string("cannot read the model: ") + std::strerror(errno), path,
                 "Check the path and the permissions."};
  }
  if (!S_ISREG(info.st_mode)) return Error{Code::kNotOnnx, "not a plain file", path, "Give an ONNX model (.onnx)."};
  if (info.st_size == 0) return Error{Code::kNotOnnx, "the file is empty", path, "Export the model again."};
  if (info.st_size >= std::numeric_limits<int>::max()) {
    return Error{Code::kModelTooLarge, "the file is larger than the 2 GB that protobuf allows", path,
                 "Store the weights as external data."};
  }
  stream->stamp_ = ToStamp(info);
  stream->source_ = std::make_unique<google::protobuf::io::FileInputStream>(stream->descriptor_);
  stream->Limit(static_cast<int>(info.st_size));
  return stream;
}

Result<std::unique_ptr<ModelStream>> ModelStream::OpenText(const std::string& path) {
  RULERUN_ASSIGN(const std::string text, ReadTextFile(path));
  RULERUN_ASSIGN(const onnx::ModelProto model, ParseModelProto(text, {}, path));
  std::unique_ptr<ModelStream> stream(new ModelStream);
  stream->bytes_ = model.SerializeAsString();
  const auto size = static_cast<int>(stream->bytes_.size());
  stream->source_ = std::make_unique<google::protobuf::io::ArrayInputStream>(stream->bytes_.data(), size);
  stream->Limit(size);
  return stream;
}

// Both limits: only the second one makes the end of the file count as the end of a message.
void ModelStream::Limit(int bytes) {
  in_ = std::make_unique<CodedInputStream>(source_.get());
  in_->SetTotalBytesLimit(bytes);
  in_->PushLimit(bytes);
}

}  // namespace rulerun
