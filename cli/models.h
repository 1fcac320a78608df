// Models named on the command line.
#ifndef RULERUN_CLI_MODELS_H_
#define RULERUN_CLI_MODELS_H_

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace rulerun::cli {

// Files as they are, and of folders every .onnx file below them, sorted. A folder without one is an error.
Result<std::vector<std::string>> FindModels(const std::vector<std::string>& paths);

}  // namespace rulerun::cli

#endif  // RULERUN_CLI_MODELS_H_
