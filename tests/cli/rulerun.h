// Runs the program as a user does.
#ifndef RULERUN_TESTS_CLI_RULERUN_H_
#define RULERUN_TESTS_CLI_RULERUN_H_

#include <filesystem>
#include <string>
#include <vector>

namespace rulerun::cli {

struct Ran {
  int exit_code = -1;  // 128 + signal where a signal ended it
  std::string out;
  std::string err;
};

// `out`: a file to write standard output to instead of catching it.
Ran Rulerun(const std::vector<std::string>& arguments, const std::string& out = "");
// Any program, by its path, which is the first of `words`.
Ran RunProgram(std::vector<std::string> words, const std::string& out = "");

// tests/data/models/NAME
std::string SampleModel(const std::string& name);
std::string SourceFile(const std::string& path);

// A folder of its own for a test, gone at its end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string File(const std::string& name) const { return (path_ / name).string(); }
  std::string Write(const std::string& name, const std::string& bytes) const;  // the value is the path
  std::vector<std::string> Names() const;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string ReadFile(const std::string& path);

}  // namespace rulerun::cli

#endif  // RULERUN_TESTS_CLI_RULERUN_H_
