// Reads ONNX models.
#ifndef RULERUN_ENGINE_GRAPH_LOAD_H_
#define RULERUN_ENGINE_GRAPH_LOAD_H_

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/graph/model.h"
#include "engine/graph/schema.h"

namespace rulerun {

struct LoadOptions {
  // Model-local functions, with ONNX's inliner. Without it a model that has some is not resolved: its calls have no
  // schema.
  bool inline_functions = true;
};

// Reads the model in `path` with its external data: IR version up to 13, ai.onnx opset 7 to 26. Constant nodes become
// initializers; the graph is resolved. Errors name the file, the place in it and what to do. A file called .onnxtxt
// is read as text.
Result<Model> LoadModel(const std::string& path, const ExternalSchemas& schemas, const LoadOptions& options = {});

// Parses one graph or model in ONNX text ("g (float[4] x) => (float[4] y) { y = Relu(x) }"), as onnx.parser reads it:
// tests in rule files. `opsets` is used for a bare graph. An operator may be written with its domain in front.
// `path`: the file that the text comes from, for errors and external data.
Result<Model> ParseModelText(std::string_view text, const OpsetMap& opsets, const ExternalSchemas& schemas,
                             const std::string& path = "");

// A copy that shares tensor data.
Model CloneModel(const Model& model);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_LOAD_H_
