#include "engine/graph/load.h"

#include <exception>
#include <new>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/graph/functions.h"
#include "engine/graph/graph_builder.h"
#include "engine/graph/graph_copier.h"
#include "engine/graph/model_file.h"
#include "engine/graph/model_text.h"
#include "engine/graph/resolve.h"

namespace rulerun {
namespace {

// The newest IR version that ONNX Runtime 1.30 reads.
constexpr int64_t kNewestIr = 13;

Status CheckIrVersion(const onnx::ModelProto& proto, const std::string& file) {
  if (!proto.has_ir_version()) {
    return Error{Code::kBadIrVersion, "the model does not say its IR version", file,
                 "Set ir_version, for example to 10."};
  }
  if (proto.ir_version() >= 1 && proto.ir_version() <= kNewestIr) return {};
  return Error{Code::kBadIrVersion,
               "IR version " + std::to_string(proto.ir_version()) + " is not supported; the newest is " +
                   std::to_string(kNewestIr),
               file, "Save the model with an older onnx package, or set ir_version lower."};
}

// The rest of loading, the same for files and text.
Result<Model> Finish(ModelFile file, const std::string& path, const ExternalSchemas& schemas,
                     const LoadOptions& options, ExternalData* external) {
  Model model;
  model.path = path;
  model.stamp = file.stamp;
  model.header = std::move(file.header);
  RULERUN_RETURN_IF_ERROR(CheckIrVersion(file.proto, path));
  const bool functions = file.proto.functions_size() > 0;
  if (functions && options.inline_functions) RULERUN_RETURN_IF_ERROR(InlineFunctions(file, path));
  RULERUN_ASSIGN(OpsetMap opsets, ReadOpsets(file.proto, schemas, path));
  GraphBuilder builder(path, std::move(opsets), file.proto.ir_version(), external);
  RULERUN_ASSIGN(model.graph, builder.Build(*file.proto.mutable_graph(), std::move(file.initializers)));
  model.constants_moved = builder.constants_moved();
  model.external_data = external != nullptr && external->used();
  if (functions && !options.inline_functions) {
    onnx::ModelProto kept;
    kept.mutable_functions()->Swap(file.proto.mutable_functions());
    model.header += kept.SerializeAsString();
  } else {
    const Status resolved = Resolve(*model.graph, schemas);
    if (!resolved.ok()) {
      Error error = resolved.error();
      if (!path.empty()) error.place = error.place.empty() ? path : path + ", " + error.place;
      return error;
    }
  }
  GraphCopier::ClearModified(*model.graph);
  if (functions && options.inline_functions) model.graph->MarkModified();
  return model;
}

// The model as text, in a file: what a person writes, and what `rulerun check` shows as a witness.
Result<Model> LoadText(const std::string& path, const ExternalSchemas& schemas) {
  RULERUN_ASSIGN(const std::string text, ReadTextFile(path));
  auto model = ParseModelText(text, {}, schemas, path);
  if (model.ok()) model->path = path;
  return model;
}

}  // namespace

// What protobuf, onnx and the standard library throw ends here.
Result<Model> LoadModel(const std::string& path, const ExternalSchemas& schemas, const LoadOptions& options) {
  try {
    if (IsTextFile(path)) return LoadText(path, schemas);
    ExternalData external(path);
    RULERUN_ASSIGN(ModelFile file, ReadModelFile(path, &external));
    return Finish(std::move(file), path, schemas, options, &external);
  } catch (const std::bad_alloc&) {
    return Error{Code::kNoMemory, "not enough memory for the model", path, "Use a machine with more memory."};
  } catch (const std::exception& error) {
    return Error{Code::kBadGraph, error.what(), path, "Check the model with onnx.checker."};
  }
}

Result<Model> FinishText(onnx::ModelProto proto, const ExternalSchemas& schemas, const std::string& path) {
  ModelFile file;
  onnx::GraphProto graph;
  graph.Swap(proto.mutable_graph());
  proto.clear_graph();
  google::protobuf::RepeatedPtrField<onnx::FunctionProto> functions;
  functions.Swap(proto.mutable_functions());
  file.header = proto.SerializeAsString();
  proto.mutable_functions()->Swap(&functions);
  proto.mutable_graph()->Swap(&graph);
  file.proto.Swap(&proto);
  ExternalData external(path);
  return Finish(std::move(file), path, schemas, {}, path.empty() ? nullptr : &external);
}

}  // namespace rulerun
