// What the order of stages decides; what single rules do is tested by the rules themselves.
#include "engine/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "engine/graph/load.h"
#include "kernels/register.h"

namespace rulerun {
namespace {

// How often each operator occurs in the graph that ort130 makes of the text.
std::map<std::string, int> Rewritten(const std::string& text, Level level) {
  const auto rules = ReadRuleSet(RULERUN_SOURCE_DIR "/rules/ort130.yaml", {RULERUN_SOURCE_DIR "/rules"});
  if (!rules.ok()) return {{ToString(rules.error()), 1}};
  auto model = ParseModelText(text, {{"", 21}}, (*rules)->schemas);
  if (!model.ok()) return {{ToString(model.error()), 1}};
  const auto target = MakeTarget(**rules, "x86-64-avx2", level);
  if (!target.ok()) return {{ToString(target.error()), 1}};
  KernelRegistry kernels;
  RegisterAllKernels(kernels);
  const Status status = RunPipeline(*model, **rules, *target, kernels, nullptr);
  if (!status.ok()) return {{ToString(status.error()), 1}};
  std::map<std::string, int> ops;
  for (const NodeIndex index : TopologicalOrder(*model->graph)) ++ops[model->graph->node(index)->Op()];
  return ops;
}

using Ops = std::map<std::string, int>;

// The first Reshape gets its constant shape in the first round and is left out of the chain there; the quantization
// that then comes in between keeps it out.
TEST(Pipeline, AReshapeWhoseShapeBecameConstantJoinsNoChainInThatRound) {
  EXPECT_EQ(Rewritten(R"(
    g (uint8[N, 8] x) => (uint8[2, 8] y)
    <float s = {0.1}, uint8 z = {0}, int64 i = {0}, int64[1] a = {0}, int64[1] e = {8}, int64[1] m = {-1}, int64[2] t = {2, 8}>
    {
      d = DequantizeLinear(x, s, z)
      h = Shape(d)
      n = Gather(h, i)
      u = Unsqueeze(n, a)
      c = Concat <axis = 0> (u, e)
      first = Reshape(d, c)
      second = Reshape(first, m)
      third = Reshape(second, t)
      y = QuantizeLinear(third, s, z)
    })",
                      Level::kBasic),
            (Ops{{"DequantizeLinear", 2}, {"QuantizeLinear", 2}, {"Reshape", 2}}));
}

// The scale of the bias begins with the shape of the weight's scale. Inference gives it another rank where the scale of
// the input has one; then its size is unknown, and constant folding leaves it and what reads it.
TEST(Pipeline, ABiasScaleOfAnotherRankIsNotFolded) {
  const std::string text = R"(
    g (uint8[1, 1, 4, 4] x) => (uint8[1, 1, 4, 4] y)
    <float s = {0.5}, uint8 z = {0}, int8[1, 1, 1, 1] w = {2}, float ws = {0.25}, int8 wz = {0}, float[1] b = {1.0}>
    {
      xf = DequantizeLinear(x, s, z)
      wf = DequantizeLinear(w, ws, wz)
      t = Conv(xf, wf, b)
      y = QuantizeLinear(t, s, z)
    })";
  EXPECT_EQ(Rewritten(text, Level::kBasic), (Ops{{"Conv", 1}, {"DequantizeLinear", 3}, {"QuantizeLinear", 1}}));
  std::string ranked = text;
  ranked.replace(ranked.find("float s"), 7, "float[1] s");
  ranked.replace(ranked.find("uint8 z"), 7, "uint8[1] z");
  EXPECT_EQ(Rewritten(ranked, Level::kBasic), (Ops{{"Cast", 1},
                                                   {"Conv", 1},
                                                   {"DequantizeLinear", 3},
                                                   {"Div", 1},
                                                   {"Mul", 1},
                                                   {"QuantizeLinear", 1},
                                                   {"Round", 1}}));
}

}  // namespace
}  // namespace rulerun
