// Model-local functions. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_GRAPH_FUNCTIONS_H_
#define RULERUN_ENGINE_GRAPH_FUNCTIONS_H_

#include <string>

#include "engine/base/result.h"
#include "engine/graph/model_file.h"
#include "engine/graph/schema.h"

namespace rulerun {

// Replaces every call of a model-local function by its body, and forgets the functions. May throw what onnx throws.
Status InlineFunctions(ModelFile& file, const std::string& path);

// The rest of loading for a model that was parsed from text. May throw.
Result<Model> FinishText(onnx::ModelProto proto, const ExternalSchemas& schemas, const std::string& path);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_FUNCTIONS_H_
