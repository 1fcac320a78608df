#include "engine/graph/external_data.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "engine/base/codes.h"
#include "engine/graph/proto.h"

namespace rulerun {
namespace {

namespace fs = std::filesystem;

constexpr char kKeepTogether[] = "Keep the data files in the model's folder, as they were exported.";

Error Bad(std::string message, std::string remedy) {
  return {Code::kExternalData, std::move(message), "", std::move(remedy)};
}

Result<uint64_t> ToNumber(const std::string& key, const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Bad("external data " + key + " '" + text + "' is no number of bytes", "Export the model again.");
  }
  return number;
}

// Whether `inner` lies in `folder`, links resolved.
bool Inside(const fs::path& folder, const fs::path& inner) {
  const auto [left, right] = std::mismatch(folder.begin(), folder.end(), inner.begin(), inner.end());
  return left == folder.end() || (std::next(left) == folder.end() && left->empty());
}

// The file `location` means, or why it may not be read: a model must not read files of its own choice.
Result<fs::path> Locate(const std::string& model_path, const std::string& location) {
  const fs::path relative(location);
  const std::string what = "external data '" + location + "' ";
  if (location.empty() || location.find('\0') != std::string::npos)
    return Bad("external data without a location", kKeepTogether);
  if (relative.is_absolute()) return Bad(what + "has an absolute path", "Make it relative to the model's folder.");
  if (std::find(relative.begin(), relative.end(), "..") != relative.end()) {
    return Bad(what + "leaves the model's folder", kKeepTogether);
  }
  std::error_code failed;
  const fs::path folder = fs::path(model_path).parent_path();
  const fs::path file = folder / relative;
  const fs::path real = fs::canonical(file, failed);
  if (failed) return Bad(what + "does not exist", kKeepTogether);
  const fs::path near_link = fs::canonical(folder.empty() ? fs::path(".") : folder, failed);
  if (!failed && Inside(near_link, real)) return real;
  // A model that is itself a link keeps its data beside the file it stands for.
  const fs::path near_file = fs::canonical(model_path, failed).parent_path();
  if (!failed && Inside(near_file, real)) return real;
  return Bad(what + "is a link out of the model's folder", kKeepTogether);
}

}  // namespace

Status DataLocation::Set(const std::string& key, const std::string& value) {
  if (key == "location") {
    location = value;
  } else if (key == "offset") {
    RULERUN_ASSIGN(offset, ToNumber(key, value));
  } else if (key == "length") {
    RULERUN_ASSIGN(length, ToNumber(key, value));
  }
  return {};
}

Result<ExternalData::File> ExternalData::Open(const std::string& location) {
  const auto known = files_.find(location);
  if (known != files_.end()) return known->second;
  RULERUN_ASSIGN(const fs::path path, Locate(model_path_, location));
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return Error{Code::kCannotRead, "cannot open external data '" + location + "': " + std::strerror(errno), "", ""};
  }
  struct stat info {};
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(descriptor);
    return Bad("external data '" + location + "' is no plain file", kKeepTogether);
  }
  File file;
  file.size = static_cast<size_t>(info.st_size);
  if (file.size == 0) {
    file.data = AlignedBytes(0);
  } else {
    void* mapped = ::mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapped == MAP_FAILED) {
      ::close(descriptor);
      return Error{Code::kCannotRead, "cannot map external data '" + location + "': " + std::strerror(errno), "", ""};
    }
    file.data =
        std::shared_ptr<const std::byte>(static_cast<const std::byte*>(mapped),
                                         [size = file.size, mapped](const std::byte*) { ::munmap(mapped, size); });
  }
  ::close(descriptor);
  files_.emplace(location, file);
  return file;
}

Result<std::shared_ptr<const std::byte>> ExternalData::Read(const DataLocation& location, size_t bytes) {
  if (location.length && *location.length != bytes) {
    return Bad("external data length " + std::to_string(*location.length) + " is not the " + std::to_string(bytes) +
                   " bytes of the tensor",
               "Export the model again.");
  }
  RULERUN_ASSIGN(const File file, Open(location.location));
  if (location.offset > file.size || bytes > file.size - location.offset) {
    return Bad("external data '" + location.location + "' ends before byte " + std::to_string(location.offset) + " + " +
                   std::to_string(bytes),
               "The data file is shorter than the model says: copy it again.");
  }
  const std::byte* at = file.data.get() + location.offset;
  if (location.offset % alignof(double) == 0) return std::shared_ptr<const std::byte>(file.data, at);
  std::shared_ptr<std::byte> copy = AlignedBytes(bytes);
  std::memcpy(copy.get(), at, bytes);
  return std::shared_ptr<const std::byte>(std::move(copy));
}

}  // namespace rulerun
