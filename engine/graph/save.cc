#include "engine/graph/save.h"

#include <fcntl.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <optional>

#include "engine/base/codes.h"
#include "engine/graph/graph_writer.h"
#include "engine/graph/model_file.h"
#include "engine/graph/output_file.h"
#include "engine/graph/proto.h"
#include "engine/graph/wire.h"

namespace rulerun {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kModelGraph = 7;

// Whether the graph is still as it was read, and the file is still there to be read again.
bool IsAsRead(const Model& model) {
  return !model.path.empty() && !model.graph->modified() && model.stamp.size >= 0 && StampOf(model.path) == model.stamp;
}

// Whether the file the model came from says the same as the model.
bool CanCopy(const Model& model, const std::string& path) {
  if (!IsAsRead(model) || model.constants_moved) return false;
  if (!model.external_data) return true;
  // The file names its data files relative to its own folder.
  std::error_code failed;
  const auto folder = [&failed](const std::string& file) {
    const fs::path parent = fs::path(file).parent_path();
    return fs::canonical(parent.empty() ? fs::path(".") : parent, failed);
  };
  const fs::path from = folder(model.path);
  return !failed && from == folder(path) && !failed;
}

Status Copy(const std::string& from, const std::string& to) {
  const int descriptor = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return Error{Code::kCannotRead, "cannot read the original model", from, ""};
  const auto copy = [&]() -> Status {
    RULERUN_ASSIGN(OutputFile file, OutputFile::Create(to));
    RULERUN_RETURN_IF_ERROR(file.CopyFrom(descriptor));
    return file.Commit();
  };
  Status status = copy();
  ::close(descriptor);
  return status;
}

// Imports of the model as they were read, and the domains that occur now.
Result<std::string> Header(const Model& model, const std::set<std::string>& used) {
  onnx::ModelProto header;
  if (!header.ParseFromString(model.header)) {
    return Error{Code::kNotOnnx, "the model's header is damaged", model.path, ""};
  }
  if (!header.has_ir_version()) header.set_ir_version(model.graph->ir_version());
  std::set<std::string> missing = used;
  for (const auto& import : header.opset_import()) missing.erase(std::string(NormalDomain(import.domain())));
  for (const std::string& domain : missing) {
    auto* import = header.add_opset_import();
    import->set_domain(domain);
    import->set_version(std::max(1, model.graph->Opset(domain)));
  }
  return header.SerializeAsString();
}

Status WriteRope(const Rope& rope, OutputFile* file) {
  for (const Rope::Piece& piece : rope.pieces()) {
    const auto* text = std::get_if<std::string>(&piece);
    RULERUN_RETURN_IF_ERROR(file->Write(text != nullptr ? std::string_view(*text) : std::get<std::string_view>(piece)));
  }
  return {};
}

Status WriteData(const std::vector<Stored>& stored, OutputFile* file) {
  size_t at = 0;
  for (const Stored& tensor : stored) {
    RULERUN_RETURN_IF_ERROR(file->Fill(tensor.offset - at));
    RULERUN_RETURN_IF_ERROR(file->Write(tensor.bytes));
    at = tensor.offset + tensor.bytes.size();
  }
  return {};
}

Status Write(const Model& model, const std::string& path, const SaveOptions& options) {
  std::optional<onnx::GraphProto> source;
  if (IsAsRead(model)) {
    RULERUN_ASSIGN(ModelFile read, ReadModelFile(model.path, nullptr));
    source.emplace();
    source->Swap(read.proto.mutable_graph());
  }
  const auto write = [&](GraphWriter& writer) {
    return source ? writer.WriteAsRead(*model.graph, *source) : writer.Write(*model.graph);
  };
  GraphWriter writer("");
  Rope graph = write(writer);
  RULERUN_ASSIGN(const std::string header, Header(model, writer.domains()));
  constexpr size_t kHead = 16;  // of the graph field
  const bool split = graph.size() + header.size() + kHead > options.largest_file;
  const std::string data_path = path + ".data";
  GraphWriter splitter(fs::path(data_path).filename().string());
  std::optional<OutputFile> data;
  if (split) {
    graph = write(splitter);
    RULERUN_ASSIGN(OutputFile created, OutputFile::Create(data_path));
    data.emplace(std::move(created));
    RULERUN_RETURN_IF_ERROR(WriteData(splitter.stored(), &*data));
  }
  Rope all;
  all.Add(header);
  all.AddField(kModelGraph, std::move(graph));
  RULERUN_ASSIGN(OutputFile file, OutputFile::Create(path));
  RULERUN_RETURN_IF_ERROR(WriteRope(all, &file));
  if (data) RULERUN_RETURN_IF_ERROR(data->Commit());
  Status committed = file.Commit();
  if (!committed.ok() && data) ::unlink(data_path.c_str());
  return committed;
}

}  // namespace

Status SaveModel(const Model& model, const std::string& path, const SaveOptions& options) {
  try {
    if (CanCopy(model, path)) return Copy(model.path, path);
    return Write(model, path, options);
  } catch (const std::bad_alloc&) {
    return Error{Code::kNoMemory, "not enough memory to write the model", path, ""};
  } catch (const std::exception& error) {
    return Error{Code::kUnexpected, error.what(), path, ""};
  }
}

}  // namespace rulerun
