// Options of the shipped rule set that open or close stages of the pipeline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/graph/load.h"
#include "engine/pipeline/pipeline.h"

namespace rulerun {
namespace {

using ::testing::Contains;
using ::testing::Not;

// The operators that the pipeline leaves, by full name.
std::vector<std::string> Operators(const std::string& text, Level level, const std::vector<std::string>& options,
                                   int opset = 21) {
  const auto rules = ReadRuleSet(std::string(RULERUN_SOURCE_DIR) + "/rules/ort130.yaml");
  EXPECT_TRUE(rules.ok()) << ToString(rules.error());
  auto model = ParseModelText(text, {{"", opset}}, (*rules)->schemas);
  EXPECT_TRUE(model.ok()) << ToString(model.error());
  auto target = MakeTarget(**rules, "x86-64-avx2", level);
  for (const std::string& option : options) EXPECT_TRUE(SetOption(**rules, *target, option).ok()) << option;
  const Status run = RunPipeline(*model, **rules, *target, KernelRegistry::Default(), nullptr);
  EXPECT_TRUE(run.ok()) << ToString(run.error());
  std::vector<std::string> operators;
  for (const NodeIndex index : TopologicalOrder(*model->graph)) {
    operators.push_back(model->graph->node(index)->Op());
  }
  return operators;
}

constexpr char kBlocks[] = R"(g (float[1,16] a) => (float[1,1] y)
  <uint4[16,1] w = {16,50,84,118,152,186,220,254}, float[1,1] s = {0.5}> {
  d = DequantizeLinear<axis = 0, block_size = 16>(w, s)
  y = MatMul(a, d)
})";

TEST(Options, DqMatMulNBitsIsOptIn) {
  const std::string fused = "com.microsoft.MatMulNBits";
  EXPECT_THAT(Operators(kBlocks, Level::kBasic, {}), Not(Contains(fused)));
  const std::string on = "session.enable_dq_matmulnbits_fusion=1";
  EXPECT_THAT(Operators(kBlocks, Level::kBasic, {on}), Contains(fused));
  EXPECT_THAT(Operators(kBlocks, Level::kDisabled, {on}), Not(Contains(fused)));
  EXPECT_THAT(Operators(kBlocks, Level::kBasic, {on, "session.disable_quant_qdq=1"}), Not(Contains(fused)));
}

// Without a kernel, an operator's body takes its place at every level; the nodes of the body get kernels in turn.
TEST(Bodies, AreTakenWhereThereIsNoKernel) {
  constexpr char text[] = "g (float16[2,3] x, float[3] s) => (float[2,3] y) { y = LayerNormalization(x, s) }";
  EXPECT_THAT(Operators(text, Level::kDisabled, {}, 12), Contains("ReduceMean"));
  constexpr char floats[] = "g (float[2,3] x, float[3] s) => (float[2,3] y) { y = LayerNormalization(x, s) }";
  EXPECT_THAT(Operators(floats, Level::kDisabled, {}, 12), testing::ElementsAre("LayerNormalization"));
  constexpr char groups[] =
      "g (float[1,4,3] x, float[2] s, float[2] b) => (float[1,4,3] y) "
      "{ y = GroupNormalization<num_groups = 2>(x, s, b) }";
  EXPECT_THAT(Operators(groups, Level::kDisabled, {}, 18), Not(Contains("GroupNormalization")));
}

}  // namespace
}  // namespace rulerun
