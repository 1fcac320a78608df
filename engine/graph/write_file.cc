#include "engine/graph/write_file.h"

#include "engine/graph/output_file.h"

namespace rulerun {

Status WriteFile(const std::string& path, std::string_view bytes) {
  RULERUN_ASSIGN(OutputFile file, OutputFile::Create(path));
  RULERUN_RETURN_IF_ERROR(file.Write(bytes));
  return file.Commit();
}

}  // namespace rulerun
