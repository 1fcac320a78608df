#include <onnx/defs/parser.h>

#include <algorithm>
#include <exception>
#include <set>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "engine/graph/functions.h"
#include "engine/graph/graph_builder.h"
#include "engine/graph/load.h"
#include "engine/graph/proto.h"

namespace rulerun {
namespace {

// For graphs whose text does not say: new enough for every type, and what today's exporters write.
constexpr int64_t kIrVersion = 10;
constexpr int kOpset = 21;

Error BadText(const std::string& message) {
  return {Code::kBadModelText, message, "", "Write the graph as ONNX text: name (inputs) => (outputs) { nodes }."};
}

bool IsModel(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '<';
}

Status Parse(std::string_view text, const OpsetMap& opsets, onnx::ModelProto* model) {
  onnx::OnnxParser parser(text);
  if (IsModel(text)) {
    const auto status = parser.Parse(*model);
    if (!status.IsOK()) return BadText(status.ErrorMessage());
  } else {
    const auto status = parser.Parse(*model->mutable_graph());
    if (!status.IsOK()) return BadText(status.ErrorMessage());
    model->set_ir_version(kIrVersion);
    for (const auto& [domain, version] : opsets) {
      auto* import = model->add_opset_import();
      import->set_domain(domain);
      import->set_version(version);
    }
  }
  if (!parser.EndOfInput()) return BadText("there is more text behind the end of the graph");
  return {};
}

// Text names domains by using them.
void ImportUsedDomains(onnx::ModelProto* model) {
  std::set<std::string> used = {""};
  CollectDomains(model->graph(), &used);
  for (const auto& import : model->opset_import()) used.erase(std::string(NormalDomain(import.domain())));
  for (const std::string& domain : used) {
    if (StartsWith(domain, "ai.onnx")) continue;  // the newest version is taken for these
    auto* import = model->add_opset_import();
    import->set_domain(domain);
    import->set_version(domain.empty() ? kOpset : 1);
  }
}

}  // namespace

Result<Model> ParseModelText(std::string_view text, const OpsetMap& opsets, const ExternalSchemas& schemas,
                             const std::string& path) {
  try {
    onnx::ModelProto model;
    const Status parsed = Parse(text, opsets, &model);
    if (!parsed.ok()) {
      Error error = parsed.error();
      error.place = path;
      return error;
    }
    ImportUsedDomains(&model);
    return FinishText(std::move(model), schemas, path);
  } catch (const std::exception& error) {
    return BadText(error.what());
  }
}

}  // namespace rulerun
