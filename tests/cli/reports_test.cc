// What the reporting commands print for the sample models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/rulerun.h"

namespace rulerun::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Reports, CoverageTableTellsWhatStaysFloatAndWhy) {
  const Ran ran = Rulerun({"--rules", SourceFile("rules/ort130.yaml"), "--level", "extended", "--platform",
                           "x86-64-avx2", SampleModel("convnet-qdq.onnx")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, ContainsRegex("Conv +replace +2 +2 +QLinearConv\n"));
  EXPECT_THAT(ran.out, ContainsRegex("MaxPool +drop-qdq +1 +1 +the operator itself, on int8\n"));
  EXPECT_THAT(ran.out, ContainsRegex("ReduceMean +unsupported +1 +1 +float: "));
  EXPECT_THAT(ran.out, HasSubstr("5 of 6 operators run on int8 (83.3 %)"));
  EXPECT_THAT(ran.out, HasSubstr("DequantizeLinear 13 -> 2, QuantizeLinear 7 -> 2"));
}

TEST(Reports, RefusalsNameRuleConditionAndPlace) {
  const Ran ran = Rulerun({"coverage", "--level", "extended", "--platform", "arm64", SampleModel("refusals-qdq.onnx")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out,
              ContainsRegex("conv_wrong_bias \\(Conv\\) stays float: rule 'Conv', [a-z]+: .*qdq.yaml:[0-9]+:[0-9]+"));
  EXPECT_THAT(ran.out, ContainsRegex("add_mixed_types \\(Add\\) stays float: rule '2DQ', types: "));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("known faults"), HasSubstr("softmax_negative_scale"), HasSubstr("C72")));
}

TEST(Reports, ARefusalOfManyNodesIsToldOnce) {
  const TemporaryFolder folder;
  std::string nodes = "af = DequantizeLinear(a, s, z)  b0 = DequantizeLinear(b, s, i)\n";
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    nodes += "[add" + n + "] t" + n + " = Add(af, b" + n + ")  q" + n + " = QuantizeLinear(t" + n + ", s, i)  b" +
             std::to_string(i + 1) + " = DequantizeLinear(q" + n + ", s, i)\n";
  }
  const std::string model = folder.Write("mixed.onnxtxt",
                                         "<ir_version: 8, opset_import: [\"\": 17]>\n"
                                         "g (uint8[4] a, int8[4] b) => (float[4] b6)\n"
                                         "<float s = {0.1}, uint8 z = {3}, int8 i = {0}> {\n" +
                                             nodes + "}\n");
  const Ran ran = Rulerun({"coverage", "--platform", "arm64", model});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(
      ran.out,
      ContainsRegex("add0 \\(Add\\) stays float: rule '2DQ', types: .*\n    likewise add1, add2, add3 and 2 more\n"));
  EXPECT_THAT(ran.out, Not(HasSubstr("add4 (Add)")));
  EXPECT_THAT(Rulerun({"coverage", "--platform", "arm64", "--nodes", model}).out, HasSubstr("add4 (Add) stays float"));
}

TEST(Reports, BelowExtendedCoverageNamesTheLevel) {
  const Ran ran = Rulerun({"coverage", "--level", "basic", SampleModel("convnet-qdq.onnx")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("its int8 rules begin at level extended"));
}

TEST(Reports, ExplainFollowsANodeThroughTheRules) {
  const Ran ran = Rulerun({"explain", "--level", "extended", SampleModel("convnet-qdq.onnx"), "--node", "conv1"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("conv1 (Conv) int8: QLinearConv"), HasSubstr("rule 'Conv' (replace) fired")));
}

TEST(Reports, DiffNamesTheRuleThatFiredOnOneSideOnly) {
  const std::string model = SampleModel("convnet-qdq.onnx");
  const Ran ran = Rulerun({"diff", "--level", "extended", "--platform", "arm64", "--right", "disable=Conv", model});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, ContainsRegex("conv1 \\(Conv\\)\n +left +int8: QLinearConv, by 'Conv'\n +right +stays float"));
  EXPECT_THAT(ran.out, HasSubstr("'Conv' fired left; right, it is disabled"));
  EXPECT_THAT(ran.out, ContainsRegex("\nConv +2 +0 +only left: "));
  EXPECT_THAT(ran.out, ContainsRegex("\nnodes +left +right *\n"));
  EXPECT_THAT(ran.out, ContainsRegex("\n +2 +int8 +stays float\n"));

  EXPECT_EQ(Rulerun({"diff", "--left", "level=basic", "--right", "level=all", "--exit-code", model}).exit_code, 1);
  const Ran same = Rulerun({"diff", "--left", "level=basic", "--right", "level=1", "--exit-code", model});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("Both sides ask for the same, and get the same graph."));
}

TEST(Reports, InspectShowsLevelsConstantsAndSizes) {
  const Ran ran = Rulerun({"inspect", "--platform", "arm64", SampleModel("convnet-qdq.onnx")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, ContainsRegex("operator +original +disabled +basic +extended +layout +all\n"));
  EXPECT_THAT(ran.out, ContainsRegex("Conv +2 +2 +2\n"));
  EXPECT_THAT(ran.out, ContainsRegex("\nQLinearConv +2\n"));
  EXPECT_THAT(ran.out, ContainsRegex("\ncom.microsoft.QLinearConv +2 +2\n"));
  EXPECT_THAT(ran.out, ContainsRegex("Layout against extended:\noperator +extended +layout\n"));
  EXPECT_THAT(ran.out, ContainsRegex("\nweight +int8 +3 +8x3x3x3, 8x8x3x3, 4x8\n"));
  EXPECT_THAT(ran.out, ContainsRegex("\nscale and zero point of activations +float/uint8 +[0-9]+ +scalar\n"));
  EXPECT_THAT(ran.out, ContainsRegex("input +image +float +\\[batch, 3, 16, 16\\]"));
}

TEST(Reports, CoverageCountsMultiplyAddsAndConversions) {
  const Ran ran = Rulerun({"coverage", "--level", "extended", "--platform", "x86-64-avx2", "--dim", "batch=2",
                           SampleModel("convnet-qdq.onnx")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  // Conv 2*8*16*16 * 3*3*3, Conv 2*8*16*16 * 8*3*3, Gemm 2*4 * 8: all on int8.
  EXPECT_THAT(ran.out, HasSubstr("406 k of 406 k multiply-adds (100 %)"));
  // Q of the image, DQ and Q around the mean, DQ of the result: (1536 + 1024 + 16 + 8) elements, 5 bytes each.
  EXPECT_THAT(ran.out, HasSubstr("Between int8 and float: 4 conversions of activations, 12.9 kB read and written"));
  EXPECT_THAT(Rulerun({"coverage", SampleModel("convnet-qdq.onnx")}).out, HasSubstr("--dim NAME=SIZE gives a size"));
}

TEST(Reports, CoverageByRuleTellsHowConditionsCameOut) {
  const Ran ran = Rulerun(
      {"coverage", "--level", "extended", "--platform", "arm64", "--by-rule", SampleModel("refusals-qdq.onnx")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, ContainsRegex("Conv +replace +1 +[^ ]*qdq.yaml:[0-9:]+ +refused conv_wrong_bias\n"));
  EXPECT_THAT(ran.out, ContainsRegex("Conv +1 +[^ ]*qdq.yaml:[0-9:]+ +if: .*close: "));
  EXPECT_THAT(ran.out, HasSubstr("Not as the group says: Add (replace): float 1 time, Conv (replace): float 1 time"));
}

TEST(Reports, SeveralModelsAreAddedUp) {
  const Ran ran = Rulerun({"coverage", "--level", "extended", "--platform", "x86-64-avx2", "--jobs", "2",
                           SampleModel("refusals-qdq.onnx"), SampleModel("convnet-qdq.onnx")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, ContainsRegex("operators +on int8 +multiply-adds +conversions +faults +model\n"));
  EXPECT_THAT(ran.out, ContainsRegex("\nConv +replace +3 +2 +1 "));
  EXPECT_THAT(ran.out, HasSubstr("8 of 11 operators run on int8 (72.7 %)"));
}

TEST(Reports, ThresholdsDecideTheExitCode) {
  const std::string model = SampleModel("refusals-qdq.onnx");
  const auto run = [&](const std::string& flag, const std::string& value) {
    return Rulerun(
        {"coverage", "--level", "extended", "--platform", "x86-64-avx2", "--dim", "batch=1", flag, value, model});
  };
  EXPECT_EQ(run("--min-int8", "0.6").exit_code, 0);
  const Ran few = run("--min-int8", "0.9");
  EXPECT_EQ(few.exit_code, 1);
  EXPECT_THAT(few.err, HasSubstr("60 % of the operators run on int8, --min-int8 wants at least 90 %"));
  EXPECT_EQ(run("--min-macs", "0.5").exit_code, 1);  // the one Conv stays float
  const Ran unknown = Rulerun({"coverage", "--min-macs", "0.5", model});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("--min-macs cannot be checked"));
  EXPECT_EQ(run("--fail-level", "error").exit_code, 0);
  EXPECT_EQ(run("--fail-level", "warning").exit_code, 1);
  EXPECT_EQ(run("--fail-level", "none").exit_code, 0);
  EXPECT_EQ(run("--fail-level", "grave").exit_code, 2);
  EXPECT_EQ(run("--min-int8", "1.5").exit_code, 2);
}

TEST(Reports, GitHubAnnotationsAreOneLineEach) {
  const Ran ran = Rulerun({"coverage", "--level", "extended", "--platform", "arm64", "--github",
                           SampleModel("refusals-qdq.onnx"), SampleModel("hostile-names.onnx")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, ContainsRegex("\n::warning file=.*rules/ort130/qdq.yaml,line=[0-9]+,col=[0-9]+,title=N0101/"
                                     "Conv/close::.*'conv_wrong_bias' \\(Conv\\) stays float: "));
  EXPECT_THAT(ran.out, ContainsRegex("\n::notice file=[^\n]*title=N0102/Elu::"));
  EXPECT_THAT(ran.out, Not(HasSubstr("::notice file=,")));
}

TEST(Reports, ExplainTellsWhatToChangeAndWhatWouldFollow) {
  const Ran ran = Rulerun({"explain", "--level", "extended", "--platform", "arm64", "--node", "conv_wrong_bias",
                           SampleModel("refusals-qdq.onnx")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("What becomes of it:\n  every platform\n    every level  stays float"));
  EXPECT_THAT(ran.out, ContainsRegex("rule 'Conv' \\(replace\\) refused, close: .* 4 times that"));
  EXPECT_THAT(ran.out, ContainsRegex("To change: set 'conv_bias_scale' \\(b.scale\\) to implied = Mul"));
  EXPECT_THAT(ran.out, HasSubstr("Then the rule fires and makes QLinearConv."));
}

TEST(Reports, ExplainSpansLevelsAndPlatforms) {
  const Ran ran = Rulerun({"explain", "--platform", "arm64", "--node", "conv1", SampleModel("convnet-qdq.onnx")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("  every platform\n"
                                 "    disabled, basic  stays float: Conv\n"
                                 "    extended         int8: QLinearConv, by 'Conv'\n"
                                 "    layout, all      int8: com.microsoft.QLinearConv, by 'Conv'\n"));
}

TEST(Reports, ExplainFollowsNodesThatRulesMade) {
  const Ran ran = Rulerun({"explain", "--platform", "arm64", "--level", "disabled", "--node", "relu1_dq/duplicated",
                           SampleModel("convnet-qdq.onnx")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("is no node of the original model"), HasSubstr("made from 'relu1_dq' by pass")));
}

// ONNX Runtime loads this at levels disabled and basic only.
constexpr char kRefused[] = R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[4] x) => (int4[4] q) <float s = {0.1}, int4 z = {0}, float lo = {0.0}, float hi = {6.0}>
{ n = Neg(x)  [clip] t = Clip(n, lo, hi)  q = QuantizeLinear(t, s, z) })";

TEST(Reports, ExplainOfARefusedModelTellsWhereItLoads) {
  const TemporaryFolder folder;
  folder.Write("refused.onnxtxt", kRefused);
  const Ran ran =
      Rulerun({"explain", "--platform", "arm64", "--level", "all", "--node", "clip", folder.File("refused.onnxtxt")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, ContainsRegex("ONNX Runtime refuses this model at level all on arm64: ORT 1.30 fails on Clip"));
  EXPECT_THAT(ran.out,
              ContainsRegex("at 'clip' \\(Clip\\), by rule 'ClipQuantFusion'  \\[.*qdq-level2.yaml:[0-9:]+\\]"));
  EXPECT_THAT(ran.out, HasSubstr("known fault C15"));
  EXPECT_THAT(ran.out, HasSubstr("  every platform\n    disabled, basic        loads\n"));
  EXPECT_THAT(ran.out, ContainsRegex("clip \\(Clip\\) stays float\n"));
  EXPECT_THAT(ran.out,
              ContainsRegex("    disabled, basic        stays float: Clip\n"
                            "    extended, layout, all  ONNX Runtime refuses the model, by 'ClipQuantFusion': "));
}

TEST(Reports, CoverageOfARefusedModelIsOfWhereItLoads) {
  const TemporaryFolder folder;
  folder.Write("refused.onnxtxt", kRefused);
  const Ran ran = Rulerun({"coverage", "--platform", "arm64", folder.File("refused.onnxtxt")});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.err, HasSubstr("rule 'ClipQuantFusion'"));
  EXPECT_THAT(ran.out, HasSubstr("What follows is true of level basic on arm64"));
  EXPECT_THAT(ran.out, ContainsRegex("\nClip +unsupported +1 +1 +float: "));
}

TEST(Reports, FolderGoesOnAfterABadModel) {
  const TemporaryFolder folder;
  folder.Write("a-bad.onnx", "no model");
  folder.Write("b-good.onnx", ReadFile(SampleModel("convnet-qdq.onnx")));
  const Ran ran = Rulerun({"coverage", folder.path()});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_THAT(ran.err, HasSubstr("a-bad.onnx"));
  EXPECT_THAT(ran.out, HasSubstr("b-good.onnx"));
}

// A newcomer's edit works without a rebuild.
class EditedRules : public ::testing::Test {
 protected:
  EditedRules() {
    std::filesystem::copy(SourceFile("rules"), folder_.path(), std::filesystem::copy_options::recursive);
  }

  // Coverage of a sample by a copy of the shipped rules, with a rule more in group `replace`.
  Ran CoverWith(const std::string& rule) {
    constexpr char kGroup[] = "\nreplace:\n";
    std::string rules = ReadFile(SourceFile("rules/ort130/qdq.yaml"));
    rules.insert(rules.find(kGroup) + sizeof kGroup - 1, "  - {" + rule + ", " + kBecomes + "}\n");
    folder_.Write("ort130/qdq.yaml", rules);
    return Rulerun({"--rules", folder_.File("ort130.yaml"), "--level", "extended", SampleModel("refusals-qdq.onnx")});
  }

  static constexpr char kBecomes[] = "becomes: 'com.microsoft.QLinearLeakyRelu(*x, y.scale, y.zero_point)'";
  TemporaryFolder folder_;
};

TEST_F(EditedRules, ANewUnitChangesTheTable) {
  const Ran ran = CoverWith("rule: elu, unit: 'T y = Q(Elu(DQ(T x)))'");
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, ContainsRegex("Elu +replace +1 +1 +com.microsoft.QLinearLeakyRelu"));
}

TEST_F(EditedRules, MisspeltWordsAreReportedWithPlaceAndSuggestion) {
  const std::string cases[][2] = {
      {"rulle: elu, unit: 'T y = Q(Elu(DQ(T x)))'", "did you mean 'rule'?"},
      {"rule: elu, unit: 'T y = Q(Eluu(DQ(T x)))'", "did you mean 'Elu'?"},
      {"rule: elu, unit: 'T y = Q(Elu(DQ(T x)))', where: [{constnat: [x]}]", "did you mean 'constant'?"},
      {"rule: elu, unit: 'T y = Q(Elu(DQ(T x1)))'", "did you mean 'x1'?"},
  };
  for (const auto& [rule, message] : cases) {
    const Ran ran = CoverWith(rule);
    EXPECT_EQ(ran.exit_code, 2) << rule;
    EXPECT_THAT(ran.err, AllOf(ContainsRegex("qdq.yaml:[0-9]+:[0-9]+"), HasSubstr(message)));
  }
}

TEST(Reports, ADisabledRuleIsTheReason) {
  const Ran ran = Rulerun({"coverage", "--level", "extended", "--disable", "Conv", SampleModel("convnet-qdq.onnx")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("rule 'Conv' is disabled (2 times)"), Not(HasSubstr("QLinearConv"))));
}

TEST(Reports, BenchTellsThreeTimes) {
  const Ran ran = Rulerun({"bench", "--runs", "3", "--threads", "1", "--profile", SampleModel("convnet-qdq.onnx")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, ContainsRegex("min [0-9.]+ ms, median [0-9.]+ ms, p90 [0-9.]+ ms \\(3 runs\\)"));
}

}  // namespace
}  // namespace rulerun::cli
