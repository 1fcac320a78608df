// Tensor data that lies in files beside the model. For the .cc files of this folder only.
#ifndef RULERUN_ENGINE_GRAPH_EXTERNAL_DATA_H_
#define RULERUN_ENGINE_GRAPH_EXTERNAL_DATA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace rulerun {

// What a tensor's external_data entries say.
struct DataLocation {
  std::string location;  // relative to the model's folder
  uint64_t offset = 0;
  std::optional<uint64_t> length;

  Status Set(const std::string& key, const std::string& value);  // keys it does not know are let pass
};

// Maps the files of one model; what it returns keeps its file mapped.
class ExternalData {
 public:
  explicit ExternalData(std::string model_path) : model_path_(std::move(model_path)) {}

  // `bytes` bytes at `location`, which must be a plain file inside the model's folder.
  Result<std::shared_ptr<const std::byte>> Read(const DataLocation& location, size_t bytes);
  bool used() const { return !files_.empty(); }

 private:
  struct File {
    std::shared_ptr<const std::byte> data;
    size_t size = 0;
  };
  Result<File> Open(const std::string& location);

  std::string model_path_;
  std::map<std::string, File> files_;
};

}  // namespace rulerun

#endif  // RULERUN_ENGINE_GRAPH_EXTERNAL_DATA_H_
