// Sizes of a model's parts, without keeping the model.
#include <onnx/onnx_pb.h>

#include "engine/base/codes.h"
#include "engine/graph/save.h"
#include "engine/graph/wire.h"

namespace rulerun {
namespace {

constexpr uint32_t kModelGraph = 7;
constexpr uint32_t kGraphNode = 1;
constexpr uint32_t kGraphInitializer = 5;

class Measurer {
 public:
  explicit Measurer(CodedInputStream& in) : in_(in) {}

  bool Model() {
    while (const uint32_t tag = in_.ReadTag()) {
      const bool graph = FieldOf(tag) == kModelGraph && WireOf(tag) == kBytes;
      if (!(graph ? ReadNested(in_, [this] { return Graph(); }) : Skip(tag))) return false;
    }
    return in_.ConsumedEntireMessage();
  }

  ModelSizes sizes;

 private:
  bool Graph() {
    while (const uint32_t tag = in_.ReadTag()) {
      const bool message = WireOf(tag) == kBytes;
      if (message && FieldOf(tag) == kGraphInitializer) {
        if (!ReadNested(in_, [this] { return Initializer(); })) return false;
      } else if (message && FieldOf(tag) == kGraphNode) {
        if (!ReadNested(in_, [this] { return Node(); })) return false;
      } else if (!Skip(tag)) {
        return false;
      }
    }
    return true;
  }

  bool Initializer() {
    const int length = in_.BytesUntilLimit();
    sizes.initializers += static_cast<size_t>(length);
    return in_.Skip(length);
  }

  bool Node() {
    onnx::NodeProto node;
    if (!ReadMessage(in_, &node)) return false;
    sizes.nodes += node.ByteSizeLong();
    // Each entry comes with its tag and its length.
    for (const auto& entry : node.metadata_props()) sizes.metadata += entry.ByteSizeLong() + 2;
    return true;
  }

  bool Skip(uint32_t tag) {
    std::string unused;
    return CopyField(in_, tag, &unused);
  }

  CodedInputStream& in_;
};

}  // namespace

Result<ModelSizes> MeasureModel(const std::string& path) {
  RULERUN_ASSIGN(const std::unique_ptr<ModelStream> stream, ModelStream::Open(path));
  Measurer measurer(stream->in());
  measurer.sizes.total = static_cast<size_t>(stream->stamp().size);
  if (measurer.Model()) return measurer.sizes;
  return Error{Code::kNotOnnx, "not an ONNX model, or cut short", path, "Check the file, or export it again."};
}

}  // namespace rulerun
