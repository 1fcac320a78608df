// Every command that takes a model takes text as well, and says of a file that it cannot use what is wrong with it,
// where, and what to do; it ends with exit code 3 and leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "engine/base/text.h"
#include "tests/cli/rulerun.h"

namespace rulerun::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct CommandLine {
  std::string name;
  std::vector<std::string> words;  // "OUT" in them is a file in a folder of its own
};

void PrintTo(const CommandLine& command, std::ostream* out) { *out << command.name; }

std::string NameOf(const testing::TestParamInfo<CommandLine>& info) { return info.param.name; }

const std::vector<CommandLine>& Commands() {
  static const std::vector<CommandLine> commands = {
      {"coverage", {"coverage", "--html", "OUT.html", "--sarif", "OUT.sarif"}},
      {"plain", {}},
      {"explain", {"explain", "--platform", "arm64"}},
      {"diff", {"diff", "--left", "level=basic"}},
      {"inspect", {"inspect"}},
      {"draw", {"draw", "--output", "OUT.svg"}},
      {"optimize", {"optimize", "--level", "basic", "--output", "OUT.onnx"}},
      {"run", {"run", "--output-dir", "OUT"}},
      {"bench", {"bench", "--runs", "1"}},
      {"verify", {"verify", "--level", "basic"}},
  };
  return commands;
}

class ModelFiles : public testing::TestWithParam<CommandLine> {
 protected:
  Ran With(const std::string& model) const {
    std::vector<std::string> words = GetParam().words;
    for (std::string& word : words) {
      if (StartsWith(word, "OUT")) word = out_.File(word);
    }
    words.push_back(model);
    return Rulerun(words);
  }

  TemporaryFolder in_;
  TemporaryFolder out_;
};

INSTANTIATE_TEST_SUITE_P(All, ModelFiles, testing::ValuesIn(Commands()), NameOf);

std::string Nested(int depth) {
  std::string text = "g (float[2] x, bool c) => (float[2] y) { ";
  for (int i = 0; i < depth; ++i) text += "y = If(c) <then_branch = t () => (float[2] y) { ";
  return text;
}

// A message that holds itself, `depth` times: ModelProto.graph, GraphProto.node, NodeProto.attribute, AttributeProto.g.
std::string NestedProto(int depth) {
  std::string bytes;
  const auto wrap = [&](char tag) {
    std::string length;
    for (size_t rest = bytes.size(); rest > 0 || length.empty(); rest >>= 7) {
      length += static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    }
    bytes = tag + length + bytes;
  };
  for (int i = 0; i < depth; ++i) {
    wrap('\x0a');  // node of a graph
    wrap('\x32');  // graph of an attribute
    wrap('\x2a');  // attribute of a node
  }
  wrap('\x0a');
  wrap('\x3a');
  return "\x08\x0a" + bytes;
}

TEST_P(ModelFiles, TextIsReadLikeTheModelItDescribes) {
  const std::string text =
      in_.Write("m.onnxtxt",
                "<ir_version: 10, opset_import: [\"\" : 21]>\n"
                "g (float[2, 4] x) => (float[2, 4] y) <float s = {0.1}, uint8 z = {128}> {\n"
                "  q = QuantizeLinear(x, s, z)\n  d = DequantizeLinear(q, s, z)\n  [sigmoid] a = Sigmoid(d)\n"
                "  p = QuantizeLinear(a, s, z)\n  y = DequantizeLinear(p, s, z)\n}\n");
  const Ran saved = Rulerun({"optimize", "--level", "disabled", "--output", in_.File("m.onnx"), text});
  ASSERT_EQ(saved.exit_code, 0) << saved.err;
  const Ran of_text = With(text);
  const Ran of_file = With(in_.File("m.onnx"));
  EXPECT_EQ(of_text.exit_code, 0) << of_text.err;
  EXPECT_EQ(of_file.exit_code, 0) << of_file.err;
  std::string wanted = of_file.out;
  for (size_t at = 0; (at = wanted.find("m.onnx", at)) != std::string::npos; at += 9)
    wanted.replace(at, 6, "m.onnxtxt");
  const bool timed = GetParam().name == "bench";
  const bool sized = GetParam().name == "inspect";  // text keeps no name of a producer
  if (!timed && !sized) {
    EXPECT_EQ(of_text.out, wanted);
  }
  if (sized) {
    EXPECT_THAT(of_text.out, ContainsRegex("\nSigmoid +1 +1 +1\n"));
    EXPECT_THAT(of_text.out, ContainsRegex("\ninitializers +[1-9]"));
  }
}

TEST_P(ModelFiles, BadOnesAreToldAndNothingIsWritten) {
  const std::string whole = ReadFile(SampleModel("convnet-qdq.onnx"));
  const std::string bad[] = {
      in_.File("missing.onnx"),
      in_.File("missing.onnxtxt"),
      in_.Write("empty.onnx", ""),
      in_.Write("empty.onnxtxt", ""),
      in_.Write("first-byte.onnx", whole.substr(0, 1)),
      in_.Write("half.onnx", whole.substr(0, whole.size() / 2)),
      in_.Write("all-but-one.onnx", whole.substr(0, whole.size() - 1)),
      in_.Write("more.onnx", whole + std::string(64, '\xff')),
      in_.Write("zeros.onnx", std::string(4096, '\0')),
      in_.Write("text.onnx", "this is no model\n"),
      in_.Write("deep.onnx", NestedProto(20000)),
      in_.Write("deep.onnxtxt", Nested(20000)),
      in_.Write("bytes.onnxtxt", whole),
  };
  for (const std::string& model : bad) {
    const Ran ran = With(model);
    EXPECT_EQ(ran.exit_code, 3) << model << ": " << ran.err;
    EXPECT_EQ(ran.out, "") << model;
    EXPECT_THAT(ran.err, ContainsRegex("^rulerun: error\\[[SM][0-9]{4}\\]: ")) << model;
    EXPECT_THAT(ran.err, HasSubstr(fs::path(model).filename().string()));
    EXPECT_THAT(ran.err, ContainsRegex("\n  [A-Z].*\\.\n$")) << "a remedy";
    EXPECT_THAT(out_.Names(), IsEmpty()) << model;
  }
}

TEST_P(ModelFiles, SyntaxErrorsOfTextHaveLineAndColumn) {
  struct Wrong {
    std::string text;
    std::string place;
  };
  const Wrong cases[] = {
      {"g (float[2] x) => (float[2] y)\n{\n  a = Relu(x\n  y = Relu(a)\n}\n", ":4:3: Expected character )"},
      {"g (float[2] x) => (float[2] y) { y = Relu(x) }\nmore\n", ":2:1: there is more text"},
      {"<ir_version: 99999999999999999999> g () => () {}", ":1:34: a number that "},
  };
  for (const Wrong& wrong : cases) {
    const Ran ran = With(in_.Write("wrong.onnxtxt", wrong.text));
    EXPECT_EQ(ran.exit_code, 3) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("error[M0109]: " + in_.File("wrong.onnxtxt") + wrong.place));
    EXPECT_THAT(out_.Names(), IsEmpty());
  }
}

// Models that can be read, and say something wrong: those of the errors' own fixtures.
TEST_P(ModelFiles, WhatIsWrongInThemIsSaidByEveryCommand) {
  for (const auto& entry : fs::directory_iterator(SourceFile("tests/data/errors"))) {
    const std::string code = Split(entry.path().filename().string(), '-').front();
    const fs::path model = entry.path() / "model.onnxtxt";
    const bool when_run = code == "M0301";  // what only running it shows
    if (code[0] != 'M' || when_run || !fs::exists(model)) continue;
    const Ran ran = With(model.string());
    EXPECT_EQ(ran.exit_code, 3) << model << ": " << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("rulerun: error[" + code + "]: " + model.string()));
    EXPECT_THAT(ran.err, ContainsRegex("\n  [A-Z].*\\.\n$")) << "a remedy";
    EXPECT_THAT(out_.Names(), IsEmpty()) << model;
  }
}

}  // namespace
}  // namespace rulerun::cli
