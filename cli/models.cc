#include "cli/models.h"

#include <algorithm>
#include <filesystem>

#include "engine/base/codes.h"

namespace rulerun::cli {

namespace fs = std::filesystem;

Result<std::vector<std::string>> FindModels(const std::vector<std::string>& paths) {
  std::vector<std::string> models;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      models.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (auto it = fs::recursive_directory_iterator(path, error); !error && it != fs::recursive_directory_iterator();
         it.increment(error)) {
      const std::string extension = it->path().extension().string();
      if (extension == ".onnx" || extension == ".onnxtxt") found.push_back(it->path().string());
    }
    if (error) return Error{Code::kCannotRead, "cannot read the folder: " + error.message(), path, ""};
    if (found.empty()) {
      return Error{Code::kNoModels, "no .onnx or .onnxtxt file in this folder", path,
                   "Give an ONNX model, or a folder of them."};
    }
    std::sort(found.begin(), found.end());
    models.insert(models.end(), found.begin(), found.end());
  }
  return models;
}

}  // namespace rulerun::cli
