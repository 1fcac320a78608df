// rulerun draw: what is written where, and what is said where nothing can be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/rulerun.h"

namespace rulerun::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

struct Case {
  std::vector<std::string> arguments;
  std::string file;
  std::string begins;
  std::string holds;
};

TEST(Draw, WritesWhatTheNameOrTheFormatSays) {
  const std::string model = SampleModel("convnet-qdq.onnx");
  const Case cases[] = {
      {{}, "a.svg", "<svg ", ">QLinearConv<"},
      {{"--original"}, "a.svg", "<svg ", ">Conv<"},
      {{}, "a.dot", "digraph ", "QLinearConv"},
      {{}, "a.html", "<!doctype html>", ">QLinearConv<"},
      {{"--format", "dot"}, "picture", "digraph ", "QLinearConv"},
      {{"--level", "disabled"}, "a.svg", "<svg ", ">Conv<"},
      {{"--focus", "mean", "--hops", "1"}, "a.svg", "<svg ", ">ReduceMean<"},
      {{"--focus", "relu1"}, "a.html", "<!doctype html>", ">Relu<"},
  };
  for (const Case& one : cases) {
    const TemporaryFolder folder;
    std::vector<std::string> arguments = {"draw", model, "--platform", "arm64", "-o", folder.File(one.file)};
    arguments.insert(arguments.end(), one.arguments.begin(), one.arguments.end());
    const Ran ran = Rulerun(arguments);
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const std::string text = ReadFile(folder.File(one.file));
    EXPECT_THAT(text, StartsWith(one.begins));
    EXPECT_THAT(text, HasSubstr(one.holds));
    EXPECT_EQ(folder.Names(), std::vector<std::string>{one.file});
  }
}

TEST(Draw, AFocusLeavesTheRestOut) {
  const TemporaryFolder folder;
  const std::string file = folder.File("part.svg");
  const Ran ran = Rulerun(
      {"draw", SampleModel("convnet-qdq.onnx"), "--original", "--focus", "conv1", "--hops", "1", "--output", file});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ReadFile(file), HasSubstr(">conv1<"));
  EXPECT_THAT(ReadFile(file), Not(HasSubstr(">conv2<")));
}

TEST(Draw, TwiceTheSameBytes) {
  const TemporaryFolder folder;
  for (const char* name : {"1.html", "2.html"}) {
    ASSERT_EQ(Rulerun({"draw", SampleModel("convnet-qdq.onnx"), "-o", folder.File(name)}).exit_code, 0);
  }
  EXPECT_EQ(ReadFile(folder.File("1.html")), ReadFile(folder.File("2.html")));
}

TEST(Draw, AModelThatIsRefusedCanBeDrawnAsRead) {
  const TemporaryFolder folder;
  const std::string rules =
      folder.Write("never.yaml", "ruleset: never\nextends: ort130\nrules: [{override: 2DQ, cases: null, error: no}]\n");
  const std::string model = SampleModel("convnet-qdq.onnx");
  EXPECT_EQ(Rulerun({"draw", model, "--rules", rules, "-o", folder.File("a.svg")}).exit_code, 3);
  for (const char* name : {"a.svg", "a.html"}) {
    const Ran ran = Rulerun({"draw", model, "--rules", rules, "--original", "-o", folder.File(name)});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("refuses the model"));
    EXPECT_THAT(ReadFile(folder.File(name)), HasSubstr(">Conv<"));
  }
}

struct Wrong {
  std::vector<std::string> arguments;
  int exit_code;
  std::string message;
};

TEST(Draw, WhatCannotBeDrawnLeavesNoFile) {
  const std::string model = SampleModel("convnet-qdq.onnx");
  const TemporaryFolder folder;
  const std::string file = folder.File("a.svg");
  const Wrong cases[] = {
      {{model}, 2, "--output is required"},
      {{model, "-o", folder.File("a.png")}, 2, "the name does not say what to write"},
      {{model, "-o", file, "--format", "sgv"}, 2, "there is no format 'sgv', did you mean 'svg'?"},
      {{model, "-o", file, "--layout", "onw"}, 2, "there is no layout 'onw', did you mean 'own'?"},
      {{model, "-o", file, "--hops", "-1"}, 2, "--hops"},
      {{model, "-o", file, "--focus", "conv9", "--original"}, 2, "is called 'conv9', did you mean 'conv1'?"},
      {{model, "-o", file, "--focus", "Sofmax"}, 2, "Operators here: Add"},
      {{folder.File("none.onnx"), "-o", file}, 3, "none.onnx"},
      {{model, "-o", folder.File("no/folder.svg")}, 3, "Make the folder first."},
  };
  for (const Wrong& wrong : cases) {
    std::vector<std::string> arguments = {"draw", "--level", "disabled"};
    arguments.insert(arguments.end(), wrong.arguments.begin(), wrong.arguments.end());
    const Ran ran = Rulerun(arguments);
    EXPECT_EQ(ran.exit_code, wrong.exit_code) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(wrong.message));
    EXPECT_THAT(folder.Names(), IsEmpty());
  }
}

}  // namespace
}  // namespace rulerun::cli
