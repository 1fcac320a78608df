// rulerun docs: folders of pages, and whether they are current.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/rulerun.h"

namespace rulerun::cli {
namespace {

using ::testing::HasSubstr;

TEST(Docs, WritesAFolderForEveryRuleSetAndWhatItExtends) {
  const TemporaryFolder folder;
  const Ran ran = Rulerun({"docs", "npu-example", "--output", folder.File("pages")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* name : {"README.md", "npu-example/README.md", "ort130-safe/README.md", "ort130/README.md",
                           "ort130/Conv.md", "ort130/Conv.svg", "npu-example/npu.Conv.md"}) {
    EXPECT_NE(ReadFile(folder.File(std::string("pages/") + name)), "") << name;
  }
}

TEST(Docs, ChecksThatPagesAreCurrent) {
  const TemporaryFolder folder;
  const std::string pages = folder.File("pages");
  EXPECT_EQ(Rulerun({"docs", "ort130", "-o", pages, "--check"}).exit_code, 1);
  ASSERT_EQ(Rulerun({"docs", "ort130", "-o", pages}).exit_code, 0);
  EXPECT_EQ(Rulerun({"docs", "ort130", "-o", pages, "--check"}).exit_code, 0);
  std::ofstream(pages + "/ort130/Conv.md") << "changed";
  std::ofstream(pages + "/ort130/left-over.md") << "of a rule that is gone";
  std::filesystem::remove(pages + "/ort130/Conv.svg");
  const Ran ran = Rulerun({"docs", "ort130", "-o", pages, "--check"});
  EXPECT_EQ(ran.exit_code, 1);
  for (const char* name : {"ort130/Conv.md", "ort130/left-over.md", "ort130/Conv.svg"}) {
    EXPECT_THAT(ran.out, HasSubstr(std::string("pages/") + name));
  }
}

TEST(Docs, CommittedPagesAreCurrent) {
  const Ran ran = Rulerun({"docs", "ort130", "ort130-safe", "npu-example", "-o", SourceFile("docs/rules"), "--check"});
  EXPECT_EQ(ran.exit_code, 0) << "run scripts/docs and commit docs/rules\n" << ran.out << ran.err;
}

TEST(Docs, WrongUse) {
  const TemporaryFolder folder;
  EXPECT_EQ(Rulerun({"docs", "ort130"}).exit_code, 2);
  EXPECT_EQ(Rulerun({"docs", "ort131", "-o", folder.File("pages")}).exit_code, 2);
  EXPECT_EQ(Rulerun({"docs", "ort130", "-o", folder.Write("file", "in the way")}).exit_code, 3);
}

}  // namespace
}  // namespace rulerun::cli
