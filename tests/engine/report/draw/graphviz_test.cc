// Graphviz's `dot` as a process: what it answers is checked, and nothing it does can hang or end us.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/report/draw/layout/arrange.h"

namespace rulerun {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr char kGood[] = R"(cat > /dev/null
echo 'graph 1 2 3'
echo 'node 0 1 2.5 1 0.5 "" solid box black lightgrey'
echo 'node 1 1 0.5 1 0.5 "" solid box black lightgrey'
echo 'edge 0 1 4 1 2.25 1 1.75 1 1.25 1 0.75 solid black'
echo 'stop')";

// A folder with a program called dot, alone in front of PATH.
class FakeDot : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::getenv("PATH");
    folder_ = fs::path(testing::TempDir()) /
              ("rulerun_dot_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }

  void Install(const std::string& script) {
    const fs::path dot = folder_ / "dot";
    std::ofstream(dot) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(dot, fs::perms::owner_all);
    ::setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
  }

  static std::optional<Arrangement> Ask(milliseconds limit = milliseconds(20'000)) {
    return ArrangeWithGraphviz({{72, 36}, {72, 36}}, {{0, 1, 0}}, limit);
  }

  std::string path_;
  fs::path folder_;
};

TEST_F(FakeDot, ItsAnswerIsTurnedTheRightWayUp) {
  Install(kGood);
  const auto arrangement = Ask();
  ASSERT_TRUE(arrangement);
  EXPECT_DOUBLE_EQ(arrangement->size.width, 144);
  EXPECT_DOUBLE_EQ(arrangement->size.height, 216);
  EXPECT_DOUBLE_EQ(arrangement->centres[0].y, 36);
  EXPECT_DOUBLE_EQ(arrangement->centres[1].y, 180);
  ASSERT_EQ(arrangement->routes[0].size(), 4U);
  EXPECT_DOUBLE_EQ(arrangement->routes[0].front().y, 54);
  EXPECT_DOUBLE_EQ(arrangement->routes[0].back().y, 162);
}

TEST_F(FakeDot, GetsSizesAndNothingOfTheModel) {
  Install("cat > " + (folder_ / "seen").string() + "; echo \"$@\" > " + (folder_ / "arguments").string());
  EXPECT_FALSE(Ask());
  std::ifstream seen(folder_ / "seen");
  const std::string text((std::istreambuf_iterator<char>(seen)), std::istreambuf_iterator<char>());
  EXPECT_THAT(text, testing::HasSubstr("0 [width=1.0000 height=0.5000];"));
  EXPECT_THAT(text, testing::HasSubstr("0 -> 1"));
  std::ifstream arguments(folder_ / "arguments");
  std::string line;
  std::getline(arguments, line);
  EXPECT_EQ(line, "-Tplain");
}

TEST_F(FakeDot, NoProgramIsNoAnswer) {
  ::setenv("PATH", folder_.c_str(), 1);
  EXPECT_FALSE(Ask());
}

TEST_F(FakeDot, WrongAnswersAreNone) {
  for (const char* script : {
           "cat > /dev/null",
           "cat > /dev/null; exit 3",
           "cat > /dev/null; echo nonsense",
           "cat > /dev/null; echo 'graph 1 2 3'; echo 'node 9 1 2 1 1'",
           "cat > /dev/null; echo 'graph 1 2 3'; echo 'node 0 1 2'; echo 'node 1 1 1'; echo 'edge 0 1 400 1 2'",
           "cat > /dev/null; echo 'graph 1 2 3'; echo 'node 0 1 2'; echo 'node 1 1 1'; echo 'edge 1 0 4 1 1 1 1 1 1 1 "
           "1'",
       }) {
    Install(script);
    EXPECT_FALSE(Ask()) << script;
  }
}

TEST_F(FakeDot, OneThatHangsIsEnded) {
  Install("exec sleep 600");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(Ask(milliseconds(200)));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

// More than a pipe holds, to a program that does not read: a signal must not end us.
TEST_F(FakeDot, OneThatDoesNotListenIsNoHarm) {
  Install("exit 0");
  const std::vector<Size> boxes(20'000, {72, 36});
  EXPECT_FALSE(ArrangeWithGraphviz(boxes, {}, milliseconds(20'000)));
}

}  // namespace
}  // namespace rulerun
