#include "tests/cli/rulerun.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

extern char** environ;

namespace rulerun::cli {

namespace fs = std::filesystem;

Ran Rulerun(const std::vector<std::string>& arguments, const std::string& out) {
  std::vector<std::string> words = {RULERUN_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return RunProgram(std::move(words), out);
}

Ran RunProgram(std::vector<std::string> words, const std::string& out) {
  const TemporaryFolder folder;
  const std::string out_file = out.empty() ? folder.File("out") : out;
  const std::string err_file = folder.File("err");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_file.c_str(), kFlags, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_file.c_str(), kFlags, 0600);
  pid_t child = 0;
  Ran ran;
  if (posix_spawn(&child, words.front().c_str(), &actions, nullptr, argv.data(), environ) == 0) {
    int status = 0;
    waitpid(child, &status, 0);
    ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  posix_spawn_file_actions_destroy(&actions);
  if (out.empty()) ran.out = ReadFile(out_file);
  ran.err = ReadFile(err_file);
  return ran;
}

std::string SampleModel(const std::string& name) { return SourceFile("tests/data/models/" + name); }
std::string SourceFile(const std::string& path) { return (fs::path(RULERUN_SOURCE_DIR) / path).string(); }

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "rulerun-test-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

std::string TemporaryFolder::Write(const std::string& name, const std::string& bytes) const {
  std::ofstream(path_ / name, std::ios::binary) << bytes;
  return File(name);
}

std::vector<std::string> TemporaryFolder::Names() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace rulerun::cli
