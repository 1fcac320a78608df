// Every code that rulerun reports has a fixture that makes it appear: a folder CODE-name below tests/data/errors with
// a command and what it must say, or a rule file below tests/data/ruleset/fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "engine/base/codes.h"
#include "engine/base/text.h"
#include "tests/cli/rulerun.h"
#include "tests/support/sanitized.h"

namespace rulerun::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::vector<fs::path> Fixtures() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(SourceFile("tests/data/errors"))) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string CodeOf(const fs::path& fixture) { return Split(fixture.filename().string(), '-').front(); }

class ErrorFixture : public testing::TestWithParam<fs::path> {};

// The command runs in a copy of the folder. `expected` holds "exit N" and lines that must be among what is printed.
TEST_P(ErrorFixture, SaysWhatIsExpected) {
  if (kSanitized && ReadFile((GetParam() / "command").string()).find("ulimit -v") != std::string::npos) {
    GTEST_SKIP() << "limits memory, which the sanitizers do not bear";
  }
  const TemporaryFolder folder;
  const fs::path copy = folder.File("fixture");
  fs::copy(GetParam(), copy);
  const std::string script = "cd '" + copy.string() + "' && export MODELS='" + SourceFile("tests/data/models") +
                             "' RULES='" + SourceFile("rules") + "' PATH='" +
                             fs::path(RULERUN_BINARY).parent_path().string() + "':\"$PATH\" && . ./command";
  const Ran ran = RunProgram({"/bin/bash", "-c", script});
  const std::string said = ran.out + ran.err;
  std::vector<std::string> expected = Split(ReadFile((copy / "expected").string()), '\n');
  ASSERT_THAT(expected, testing::SizeIs(testing::Ge(2U)));
  EXPECT_EQ("exit " + std::to_string(ran.exit_code), expected.front()) << said;
  EXPECT_THAT(said, HasSubstr(CodeOf(GetParam())));
  for (size_t i = 1; i < expected.size(); ++i) EXPECT_THAT(said, HasSubstr(expected[i]));
}

std::string NameOf(const testing::TestParamInfo<fs::path>& info) {
  std::string name = info.param.filename().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ErrorFixture, testing::ValuesIn(Fixtures()), NameOf);

TEST(Codes, EachHasAFixture) {
  std::set<std::string> covered;
  for (const fs::path& fixture : Fixtures()) covered.insert(CodeOf(fixture));
  for (const auto& entry : fs::directory_iterator(SourceFile("tests/data/ruleset/fail"))) {
    const std::string text = ReadFile(entry.path().string());  // "# error[CODE]: ..."
    covered.insert(text.substr(8, text.find(']') - 8));
  }
  for (const CodeInfo& info : Codes()) {
    if (info.code == Code::kUnexpected) continue;  // whatever makes it appear gets a code of its own
    EXPECT_EQ(covered.count(std::string(info.name)), 1U) << "no fixture for " << info.name << ": " << info.meaning;
  }
}

}  // namespace
}  // namespace rulerun::cli
