// Bad files, full disks, readers that go away, and outputs that appear whole or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/cli/rulerun.h"

namespace rulerun::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Files, OptimizeWritesTheModelAndNothingElse) {
  const TemporaryFolder folder;
  const Ran ran =
      Rulerun({"optimize", "--level", "extended", "-o", folder.File("out.onnx"), SampleModel("convnet-qdq.onnx")});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out + ran.err, "");
  EXPECT_THAT(folder.Names(), ElementsAre("out.onnx"));
}

TEST(Files, BadModelsAreNamedAndNothingIsWritten) {
  const TemporaryFolder folder;
  const std::string whole = ReadFile(SampleModel("convnet-qdq.onnx"));
  const std::string bad[] = {
      folder.File("missing.onnx"),
      folder.Write("empty.onnx", ""),
      folder.Write("cut.onnx", whole.substr(0, whole.size() / 2)),
      folder.Write("text.onnx", "this is no model\n"),
      folder.path(),
  };
  const auto before = folder.Names();
  for (const std::string& model : bad) {
    const Ran ran = Rulerun({"optimize", "-o", folder.File("out.onnx"), model});
    EXPECT_EQ(ran.exit_code, 3) << model << ": " << ran.err;
    EXPECT_THAT(ran.err, testing::MatchesRegex("rulerun: error\\[[SM]0101\\]: " + model + "(.|\n)*"));
    EXPECT_EQ(folder.Names(), before);
  }
}

TEST(Files, OutputThatCannotBeWritten) {
  const TemporaryFolder folder;
  const std::string model = SampleModel("convnet-qdq.onnx");
  Ran ran = Rulerun({"optimize", "-o", folder.File("no/such/folder.onnx"), model});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.err, HasSubstr("no/such/folder.onnx"));
  ran = Rulerun({"inspect", model}, "/dev/full");
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.err, HasSubstr("No space left on device"));
}

TEST(Files, AReaderThatGoesAwayIsNoError) {
  const std::string command = std::string(RULERUN_BINARY) + " ops | head -n 1 > /dev/null; exit ${PIPESTATUS[0]}";
  EXPECT_EQ(std::system(("bash -c '" + command + "'").c_str()), 0);  // NOLINT(cert-env33-c)
}

TEST(Files, MissingInput) {
  const TemporaryFolder folder;
  const std::string model = SampleModel("convnet-qdq.onnx");
  const Ran ran = Rulerun({"run", model, "--input", "image=" + folder.File("none.npy")});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("none.npy"));
  const Ran bad = Rulerun({"run", model, "--input", "image=" + folder.Write("bad.npy", "no numpy file")});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("bad.npy"));
}

TEST(Files, RunWritesOutputsThatCanBeReadBack) {
  const TemporaryFolder folder;
  const std::string model = SampleModel("convnet-qdq.onnx");
  const Ran ran = Rulerun({"run", model, "--dim", "batch=2", "--output-dir", folder.File("out")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ReadFile(folder.File("out/linear_dq.npy")), HasSubstr("(2, 4)"));
}

TEST(Files, RunTakesTensorsAsOnnxSavesThem) {
  const TemporaryFolder folder;
  const std::string model = SampleModel("names.onnx");
  const std::string proto("\x08\x02\x10\x01\x4a\x08\0\0\x80\x3f\0\0\0\xc0", 14);  // float[2] {1, -2}
  const Ran ran =
      Rulerun({"run", model, "--input", "x=" + folder.Write("x.pb", proto), "--output-dir", folder.File("out")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const std::string bytes = ReadFile(folder.File("out/__1.npy"));  // one '_' for a character of three bytes
  ASSERT_GE(bytes.size(), 8u);
  EXPECT_EQ(bytes.substr(bytes.size() - 8), std::string("\0\0\x80\xbf\0\0\0\x40", 8));
  const Ran bad = Rulerun({"run", model, "--input", "x=" + folder.Write("bad.pb", "no tensor")});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("bad.pb"));
}

TEST(Files, RunIsTheSameOnEveryTargetAndForEveryThreadCount) {
  const TemporaryFolder folder;
  const std::string model = SampleModel("convnet-qdq.onnx");
  std::string first;
  for (const std::string simd : {"auto", "scalar"}) {
    for (const std::string threads : {"1", "2"}) {
      const Ran ran = Rulerun({"run", model, "--simd", simd, "--threads", threads, "--output-dir", folder.File("out")});
      ASSERT_EQ(ran.exit_code, 0) << ran.err;
      const std::string bytes = ReadFile(folder.File("out/linear_dq.npy"));
      EXPECT_THAT(bytes, Not(IsEmpty()));
      if (first.empty()) first = bytes;
      EXPECT_EQ(bytes, first) << simd << ", " << threads << " threads";
    }
  }
}

TEST(Files, BadRulesHavePlaceAndSuggestion) {
  const TemporaryFolder folder;
  const std::string rules = folder.Write("mine.yaml", "ruleset: mine\nextends: ort130\nplatfroms: {}\n");
  const Ran ran = Rulerun({"check", rules});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("mine.yaml:3:1"));
  EXPECT_THAT(ran.err, HasSubstr("did you mean 'platforms'?"));
}

}  // namespace
}  // namespace rulerun::cli
