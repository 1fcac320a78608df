// Help, and what is said about a wrong command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/commands.h"
#include "tests/cli/rulerun.h"

namespace rulerun::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Usage, HelpNamesEveryCommand) {
  for (const char* flag : {"--help", "-h", "help"}) {
    const Ran ran = Rulerun({flag});
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.err, "");
    for (const Command& command : Commands()) EXPECT_THAT(ran.out, HasSubstr("\n  " + std::string(command.name)));
  }
}

TEST(Usage, EveryCommandHasHelpWithAnExample) {
  for (const Command& command : Commands()) {
    const Ran ran = Rulerun({std::string(command.name), "--help"});
    EXPECT_EQ(ran.exit_code, 0) << command.name;
    EXPECT_THAT(ran.out, HasSubstr("Example:\n  rulerun " + std::string(command.name)));
  }
}

TEST(Usage, Version) {
  const Ran ran = Rulerun({"--version"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out, StartsWith("rulerun "));
}

struct Wrong {
  std::vector<std::string> arguments;
  std::string message;
};

TEST(Usage, WrongCommandLinesAreNamedWithTheNearestSpelling) {
  const std::string model = SampleModel("convnet-qdq.onnx");
  const Wrong cases[] = {
      {{}, "no model and no command"},
      {{"optimise", model}, "no command or file 'optimise', did you mean 'optimize'?"},
      {{"--rules", "ort130", "optimize", model}, "the command 'optimize' must come first"},
      {{"optimize", "--levl", "basic", "-o", "x.onnx", model}, "no flag '--levl', did you mean '--level'?"},
      {{"optimize", "--level", "extendd", "-o", "x.onnx", model}, "no level 'extendd', did you mean 'extended'?"},
      {{"optimize", "--platform", "arm65", "-o", "x.onnx", model}, "no platform 'arm65', did you mean 'arm64'?"},
      {{"optimize", "--ep", "gpu", "-o", "x.onnx", model}, "execution provider 'gpu'"},
      {{"optimize", "--option", "lop=1", "-o", "x.onnx", model}, "no option 'lop', did you mean 'loop'?"},
      {{"optimize", "--disable", "Cnv", "-o", "x.onnx", model}, "no rule or pass 'Cnv', did you mean 'Conv'?"},
      {{"optimize", model}, "--output is required"},
      {{"optimize", "-o", "x.onnx"}, "MODEL is required"},
      {{"optimize", "-o", "x.onnx", model, "more"}, "one argument too many: 'more'"},
      {{"--rules", "ort131", model}, "no rule set of this name, did you mean 'ort130'?"},
      {{"--rules", "missing.yaml", model}, "missing.yaml: no such file"},
      {{"run", model, "--dim", "btch=2"}, "no input has a dimension 'btch', did you mean 'batch'?"},
      {{"run", model, "--dim", "batch=two"}, "'two' is no size for dimension 'batch'"},
      {{"run", model, "--dim", "batch"}, "'batch' is not NAME=VALUE"},
      {{"run", model, "--input", "imge=x.npy"}, "no input 'imge', did you mean 'image'?"},
      {{"run", model, "--simd", "avx22"}, "'avx22' is not available"},
      {{"run", model, "--threads", "many"}, "--threads"},
      {{"explain", model, "--node", "conv3"}, "no node 'conv3', did you mean 'conv1'?"},
      {{"diff", model}, "--left or --right is required"},
      {{"diff", model, "--left", "levl=basic"}, "--left: there is no key 'levl', did you mean 'level'?"},
      {{"diff", model, "--left", "int8_alowed=1"}, "no key 'int8_alowed', did you mean 'int8_allowed'?"},
      {{"diff", model, "--right", "platform=arm65"},
       "--right: rule set 'ort130' has no platform 'arm65', did you mean"},
      {{"diff", model, "--right", "arm64"}, "'arm64' is not KEY=VALUE"},
      {{"ops", "QLinearConf"}, "no kernel for 'QLinearConf', did you mean 'QLinearConv'?"},
  };
  for (const Wrong& wrong : cases) {
    const Ran ran = Rulerun(wrong.arguments);
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, StartsWith("rulerun: error[U"));
    EXPECT_THAT(ran.err, HasSubstr(wrong.message));
  }
}

}  // namespace
}  // namespace rulerun::cli
