// ONNX text in files. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_GRAPH_MODEL_TEXT_H_
#define RULERUN_ENGINE_GRAPH_MODEL_TEXT_H_

#include <onnx/onnx_pb.h>

#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/graph/load.h"

namespace rulerun {

// Whether a file of this name holds text.
bool IsTextFile(std::string_view path);

// The text of a file.
Result<std::string> ReadTextFile(const std::string& path);

// As ParseModelText, without looking at what is said: errors are "path:line:column".
Result<onnx::ModelProto> ParseModelProto(std::string_view text, const OpsetMap& opsets, const std::string& path);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_MODEL_TEXT_H_
