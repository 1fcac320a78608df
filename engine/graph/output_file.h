// A file that appears whole or not at all. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_GRAPH_OUTPUT_FILE_H_
#define RULERUN_ENGINE_GRAPH_OUTPUT_FILE_H_

#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace rulerun {

// Writes to a temporary file beside `path`; Commit puts it in place, and without that it is gone again.
class OutputFile {
 public:
  static Result<OutputFile> Create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) = delete;
  ~OutputFile();

  Status Write(std::string_view bytes);
  Status Fill(size_t zeros);
  // Appends everything that can be read from `descriptor`.
  Status CopyFrom(int descriptor);
  Status Commit();

 private:
  OutputFile(std::string path, std::string temporary, int descriptor)
      : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}
  Error Failed(const char* what) const;

  std::string path_;
  std::string temporary_;  // "" where the path itself is written: a pipe or a device
  int descriptor_ = -1;
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_OUTPUT_FILE_H_
