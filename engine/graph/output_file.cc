#include "engine/graph/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "engine/base/codes.h"

namespace rulerun {
namespace {

Error Failure(const std::string& path, const char* what, int code) {
  const char* remedy = code == ENOSPC   ? "Free some space, or write to another disk."
                       : code == EACCES ? "Choose a folder that you may write to."
                       : code == ENOENT ? "Make the folder first."
                                        : "";
  return {Code::kCannotWrite, std::string("cannot ") + what + ": " + std::strerror(code), path, remedy};
}

}  // namespace

Result<OutputFile> OutputFile::Create(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return Failure(path, "write the file", EISDIR);
    if (!S_ISREG(info.st_mode)) {
      const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (descriptor < 0) return Failure(path, "write the file", errno);
      return OutputFile(path, "", descriptor);
    }
  }
  // Another process may be writing the same file: take the first name that is free.
  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::string temporary = path + ".tmp" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return OutputFile(path, std::move(temporary), descriptor);
    if (errno != EEXIST) return Failure(path, "write the file", errno);
  }
  return Failure(path, "write the file", EEXIST);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::move(other.temporary_)), descriptor_(other.descriptor_) {
  other.descriptor_ = -1;
  other.temporary_.clear();
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Error OutputFile::Failed(const char* what) const { return Failure(path_, what, errno); }

Status OutputFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    // Linux writes at most 2 GB at once.
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), size_t{1} << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed("write the file");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status OutputFile::Fill(size_t zeros) {
  constexpr std::array<char, 4096> kZeros{};
  for (; zeros > 0; zeros -= std::min(zeros, kZeros.size())) {
    RULERUN_RETURN_IF_ERROR(Write({kZeros.data(), std::min(zeros, kZeros.size())}));
  }
  return {};
}

Status OutputFile::CopyFrom(int descriptor) {
  std::vector<char> buffer(size_t{1} << 18);
  while (true) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed("read the original model");
    if (got == 0) return {};
    RULERUN_RETURN_IF_ERROR(Write({buffer.data(), static_cast<size_t>(got)}));
  }
}

Status OutputFile::Commit() {
  if (temporary_.empty()) return {};
  // Some disks report that they are full only now.
  if (::fsync(descriptor_) != 0 && errno != EINVAL) return Failed("write the file");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return Failed("put the file in place");
  temporary_.clear();
  return {};
}

}  // namespace rulerun
