#include "engine/graph/file_stats.h"

#include <onnx/onnx_pb.h>

#include "engine/base/codes.h"
#include "engine/graph/wire.h"

namespace rulerun {
namespace {

constexpr uint32_t kModelGraph = 7;
constexpr uint32_t kGraphNode = 1;

using Counts = std::map<std::string, int>;

void Count(const onnx::NodeProto& node, Counts& counts) {
  const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
  ++counts[standard ? node.op_type() : node.domain() + "." + node.op_type()];
  const auto count_graph = [&](const onnx::GraphProto& graph) {
    for (const onnx::NodeProto& inner : graph.node()) Count(inner, counts);
  };
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) count_graph(attribute.g());
    for (const onnx::GraphProto& graph : attribute.graphs()) count_graph(graph);
  }
}

bool Skip(CodedInputStream& in, uint32_t tag) {
  switch (WireOf(tag)) {
    case kBytes: {
      uint32_t length = 0;
      return in.ReadVarint32(&length) && ReadLimited(in, length, [&] { return in.Skip(static_cast<int>(length)); });
    }
    default: {
      std::string unused;
      return CopyField(in, tag, &unused);
    }
  }
}

bool CountGraph(CodedInputStream& in, Counts& counts) {
  while (const uint32_t tag = in.ReadTag()) {
    if (FieldOf(tag) != kGraphNode || WireOf(tag) != kBytes) {
      if (!Skip(in, tag)) return false;
      continue;
    }
    onnx::NodeProto node;
    if (!ReadNested(in, [&] { return ReadMessage(in, &node); })) return false;
    Count(node, counts);
  }
  return true;
}

bool CountModel(CodedInputStream& in, Counts& counts) {
  while (const uint32_t tag = in.ReadTag()) {
    const bool graph = FieldOf(tag) == kModelGraph && WireOf(tag) == kBytes;
    if (!(graph ? ReadNested(in, [&] { return CountGraph(in, counts); }) : Skip(in, tag))) return false;
  }
  return in.ConsumedEntireMessage();
}

}  // namespace

Result<std::map<std::string, int>> CountOperators(const std::string& path) {
  RULERUN_ASSIGN(const std::unique_ptr<ModelStream> stream, ModelStream::Open(path));
  Counts counts;
  if (CountModel(stream->in(), counts)) return counts;
  return Error{Code::kNotOnnx, "not an ONNX model, or cut short", path, "Check the file, or export it again."};
}

}  // namespace rulerun
