// partition, inline-local-functions, require-kernels, and the kernel table behind them.
#include "engine/passes/kernel_table.h"
#include "pass_test_util.h"

namespace rulerun {
namespace {

class Partition : public testing::TestWithParam<PassCase> {};
TEST_P(Partition, Run) { Check("partition", GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Cases, Partition,
    testing::Values(
        PassCase{
            "FunctionWithoutKernel", "g (float[2] x) => (float[2] y) { [h] t = HardSwish(x) [r] y = Relu(t) }",
            "[] _inlfunc_HardSwish_HS_X = HardSigmoid<alpha=0.16666667>(x)\n[] t = Mul(x, _inlfunc_HardSwish_HS_X)\n"
            "[r] y = Relu(t)"},
        PassCase{"FunctionWithKernel", "g (float[2] x) => (float[2] y) { [c] y = Clip(x) }", ""},
        PassCase{"FunctionOfFunctions", "g (int64[2] x, float[2] z) => (float[2] y) { [c] y = CastLike(x, z) }",
                 "[] y = Cast<to=1>(x)"},
        PassCase{"NoFunctionEither", "g (float16[2] x) => (float16[2] y) { [a] y = Add(x, x) }", ""},
        PassCase{"InSubgraph",
                 "g (float[2] x, bool c) => (float[2] z) { [i] z = If(c) <then_branch = t () => (float[2] u)"
                 " { [h] u = HardSwish(x) }, else_branch = e () => (float[2] v) { [n] v = Neg(x) }> }",
                 "[i] z = If<else_branch={[n] v = Neg(x)}, then_branch={[] _inlfunc_HardSwish_HS_X = "
                 "HardSigmoid<alpha=0.16666667>(x)\n"
                 "[] u = Mul(x, _inlfunc_HardSwish_HS_X)}>(c)"}),
    NameOfCase);

TEST(PartitionProviders, ClaimsWhatHasAKernel) {
  Model model =
      ParseGraph("g (float16[2] x, float[2] z) => (float16[2] y, float[2] w) { [a] y = Add(x, x) [b] w = Add(z, z) }");
  const auto result = RunPass("partition", model);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(model.graph->node(0)->provider, "");
  EXPECT_EQ(model.graph->node(1)->provider, "cpu");
  ASSERT_EQ(result->events.size(), 1U);
  EXPECT_FALSE(result->events[0].changed);
  EXPECT_EQ(result->events[0].what, "no kernel for Add(float16, float16) on this platform");
  EXPECT_EQ(result->events[0].sources, std::vector<std::string>{"a"});
}

TEST(PartitionProviders, DependOnThePlatform) {
  const std::string text = "g (float16[2] x) => (float16[2] y) { [a] y = Add(x, x) }";
  Model model = ParseGraph(text);
  ASSERT_TRUE(RunPass("partition", model, {.platform = "arm64"}).ok());
  EXPECT_EQ(model.graph->node(0)->provider, "cpu");
}

TEST(PartitionProviders, NewNodesStandForTheOldOne) {
  Model model = ParseGraph("g (float[2] x) => (float[2] y) { [h] y = HardSwish(x) }");
  const auto result = RunPass("partition", model);
  ASSERT_TRUE(result.ok());
  for (const NodeIndex index : TopologicalOrder(*model.graph)) {
    EXPECT_EQ(model.graph->node(index)->origins, std::vector<std::string>{"h"});
    EXPECT_EQ(model.graph->node(index)->provider, "cpu");
  }
}

TEST(InlineLocalFunctions, LeavesAModelWithoutFunctionsAlone) {
  Check("inline-local-functions", {"", "g (float[2] x) => (float[2] y) { [h] y = HardSwish(x) }", ""});
}

TEST(InlineLocalFunctions, OpensOnnxFunctionsToo) {
  const std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17, \"l\" : 1]>\n"
      "g (float[2] x) => (float[2] y) { y = l.F(x) }\n"
      "<domain: \"l\", opset_import: [\"\" : 17]> F (a) => (b) { b = HardSwish(a) }";
  Model model = ParseGraph(text);
  ASSERT_TRUE(RunPass("inline-local-functions", model).ok());
  EXPECT_EQ(model.graph->node_count(), 2U);
}

TEST(RequireKernels, RefusesWhatNobodyCanRun) {
  Model model = ParseGraph("g (double[2] x) => (double[2] y) { [s] y = Selu(x) }");
  const auto result = RunPass("require-kernels", model);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind(), ErrorKind::kRefused);
  EXPECT_EQ(result.error().place, "node 's'");
  EXPECT_EQ(result.error().message, "ONNX Runtime has no kernel for Selu(double), version 6, on x86-64-avx2");
}

TEST(RequireKernels, LetsTheRestPass) {
  Check("require-kernels", {"", "g (float[2] x) => (float[2] y) { y = Selu(x) }", ""});
}

// Rows as in the tables of rules/ort130/kernels.
constexpr char kRows[] =
    "domain,op,since,until,types\n"
    "ai.onnx,Relu,6,12,T=float\nai.onnx,Relu,14,,T=float|double\n"
    "com.microsoft,Any,1,,\nai.onnx,Gather,13,,T=float;Tind=int64\n"
    "ai.onnx.ml,ZipMap,1,,\"T=seq(map(int64,float|seq(map(string,float\"\n";

bool HasKernel(const std::string& text, int opset) {
  const auto table = KernelTable::Parse(kRows, "k.csv");
  EXPECT_TRUE(table.ok());
  const Model model = ParseGraph(text, {.opset = opset});
  return table->Has(*model.graph, *model.graph->node(0), ExternalSchemas());
}

TEST(KernelTable, VersionsAndTypes) {
  const auto relu = [](const std::string& type) {
    return "g (" + type + "[2] x) => (" + type + "[2] y) { y = Relu(x) }";
  };
  EXPECT_TRUE(HasKernel(relu("float"), 12));
  EXPECT_FALSE(HasKernel(relu("double"), 12));
  EXPECT_FALSE(HasKernel(relu("float"), 13));  // since-version 13 lies between the rows
  EXPECT_TRUE(HasKernel(relu("double"), 17));
  const std::string gather = "g (float[2] x, int32[1] i) => (float[1] y) { y = Gather(x, i) }";
  EXPECT_FALSE(HasKernel(gather, 13));
}

TEST(KernelTable, OpenEndedRowsAreForTheirOwnVersion) {
  EXPECT_FALSE(HasKernel("g (float[2] x) => (float[2] y) { y = Abs(x) }", 17));
}

TEST(KernelTable, BadLinesHaveAPlace) {
  for (const std::string line : {"ai.onnx,Relu,6", "ai.onnx,Relu,x,,", "ai.onnx,Relu,6,y,", "ai.onnx,Relu,6,,float"}) {
    const auto table = KernelTable::Parse("heading\n" + line + "\n", "k.csv");
    ASSERT_FALSE(table.ok()) << line;
    EXPECT_EQ(table.error().place, "k.csv:2") << line;
  }
}

}  // namespace
}  // namespace rulerun
