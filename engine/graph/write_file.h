// Writes a file of text that appears whole or not at all.
#ifndef RULERUN_ENGINE_GRAPH_WRITE_FILE_H_
#define RULERUN_ENGINE_GRAPH_WRITE_FILE_H_

#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace rulerun {

Status WriteFile(const std::string& path, std::string_view bytes);

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_WRITE_FILE_H_
