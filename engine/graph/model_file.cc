#include "engine/graph/model_file.h"

#include <optional>

#include "engine/base/codes.h"
#include "engine/graph/proto.h"
#include "engine/graph/rope.h"
#include "engine/graph/wire.h"

namespace rulerun {
namespace {

// Fields that are looked at one by one (onnx-ml.proto).
constexpr uint32_t kModelGraph = 7;
constexpr uint32_t kModelFunctions = 25;
constexpr uint32_t kGraphNode = 1;
constexpr uint32_t kGraphInitializer = 5;
constexpr uint32_t kTensorFloats = 4;
constexpr uint32_t kTensorRaw = 9;
constexpr uint32_t kTensorDoubles = 10;

class Reader {
 public:
  Reader(CodedInputStream& in, ExternalData* external, const std::string& path)
      : in_(in), external_(external), path_(path) {}

  Result<ModelFile> Read() {
    std::string functions;
    const bool read = ReadModel(&functions);
    if (error_) return *error_;
    if (!read) return Garbage();
    if (!has_graph_) {
      return Error{Code::kNotOnnx, "the file holds no ONNX graph", path_, "Give an ONNX model (.onnx)."};
    }
    onnx::ModelProto rest;
    if (!rest.ParseFromString(file_.header + functions)) return Garbage();
    rest.mutable_graph()->Swap(&graph_);
    file_.proto.Swap(&rest);
    return std::move(file_);
  }

 private:
  Error Garbage() const {
    return {Code::kNotOnnx, "not an ONNX model, or cut short", path_, "Check the file, or export the model again."};
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
        if (!ReadNested(in_, [this] { return ReadMessage(in_, graph_.add_node()); })) return false;
      } else if (field == kGraphInitializer) {
        if (!ReadNested(in_, [this] { return ReadInitializer(); })) return false;
      } else if (!CopyField(in_, tag, &rest)) {
        return false;
      }
    }
    return graph_.MergeFromString(rest);
  }

  bool ReadInitializer() {
    if (external_ == nullptr) return in_.Skip(in_.BytesUntilLimit());
    std::string rest;
    TensorPayload payload;
    bool packed = false;
    while (const uint32_t tag = in_.ReadTag()) {
      const uint32_t field = FieldOf(tag);
      // Packed floats and doubles look on the wire as they do in memory; a few writers cut them into several pieces.
      const bool floats = field == kTensorFloats || field == kTensorDoubles;
      const bool plain = field == kTensorRaw || (floats && !packed);
      packed = packed || floats;
      if (plain && WireOf(tag) == kBytes) {
        if (!ReadPayload(&payload)) return false;
        continue;
      }
      if (floats && payload.data != nullptr) {
        // The first piece joins the others.
        Rope piece;
        piece.AddField(field, {reinterpret_cast<const char*>(payload.data.get()), payload.size});
        for (const auto& text : piece.pieces()) rest += std::get<std::string>(text);
        payload = {};
      }
      if (!CopyField(in_, tag, &rest)) return false;
    }
    onnx::TensorProto proto;
    if (!proto.ParseFromString(rest)) return false;
    auto tensor = ToTensor(proto, external_, payload);
    if (!tensor.ok()) {
      error_ = tensor.error();
      error_->place = path_ + ", initializer '" + proto.name() + "'";
      return false;
    }
    file_.initializers.push_back({proto.name(), std::move(tensor).value()});
    return true;
  }

  bool ReadPayload(TensorPayload* payload) {
    uint32_t length = 0;
    if (!in_.ReadVarint32(&length) || length > static_cast<uint32_t>(in_.BytesUntilLimit())) return false;
    if (length == 0 && payload->data != nullptr) return true;
    std::shared_ptr<std::byte> bytes = AlignedBytes(length);
    if (!in_.ReadRaw(bytes.get(), static_cast<int>(length))) return false;
    *payload = {std::move(bytes), length};
    return true;
  }

  CodedInputStream& in_;
  ExternalData* external_;
  const std::string& path_;
  ModelFile file_;
  onnx::GraphProto graph_;
  bool has_graph_ = false;
  std::optional<Error> error_;
};

}  // namespace

Result<ModelFile> ReadModelFile(const std::string& path, ExternalData* external) {
  RULERUN_ASSIGN(const std::unique_ptr<ModelStream> stream, ModelStream::Open(path));
  RULERUN_ASSIGN(ModelFile result, Reader(stream->in(), external, path).Read());
  result.stamp = stream->stamp();
  return result;
}

}  // namespace rulerun
