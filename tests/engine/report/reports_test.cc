// Fates, reasons and constants, on small graphs and the shipped rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/graph/file_stats.h"
#include "engine/graph/load.h"
#include "engine/report/constants.h"
#include "engine/report/coverage.h"
#include "engine/report/explain.h"
#include "engine/report/rule_list.h"
#include "tests/engine/report/report_test_util.h"

namespace rulerun {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

struct Covered {
  Coverage coverage;
  Trace trace;

  const NodeFate& Of(const std::string& name) const {
    for (const NodeFate& fate : coverage.fates.nodes) {
      if (fate.node.name == name) return fate;
    }
    ADD_FAILURE() << "no node " << name;
    return coverage.fates.nodes.front();
  }
};

std::unique_ptr<Covered> Cover(const std::string& text, Level level = Level::kExtended) {
  auto model = ParseModelText(text, {{"", 21}}, Rules().schemas);
  EXPECT_TRUE(model.ok()) << ToString(model.error());
  const auto target = MakeTarget(Rules(), "x86-64-avx2", level);
  auto covered = std::make_unique<Covered>();
  auto coverage = MeasureCoverage(*model, Rules(), *target, KernelRegistry::Default(), &covered->trace);
  EXPECT_TRUE(coverage.ok()) << ToString(coverage.error());
  covered->coverage = std::move(coverage).value();
  return covered;
}

constexpr char kUnits[] = R"(g (float[1,2,4,4] x) => (float[1,2,4,4] y)
  <float s = {0.1}, uint8 z = {3}> {
  q = QuantizeLinear(x, s, z)
  a = DequantizeLinear(q, s, z)
  [sig] b = Sigmoid(a)
  bq = QuantizeLinear(b, s, z)
  c = DequantizeLinear(bq, s, z)
  [move] d = Transpose<perm = [0, 1, 3, 2]>(c)
  dq = QuantizeLinear(d, s, z)
  e = DequantizeLinear(dq, s, z)
  [stay] f = Elu(e)
  fq = QuantizeLinear(f, s, z)
  y = DequantizeLinear(fq, s, z)
})";

TEST(Fates, OneOfEach) {
  const auto covered = Cover(kUnits);
  EXPECT_EQ(covered->Of("sig").fate, Fate::kInt8);
  EXPECT_THAT(covered->Of("sig").into, HasSubstr("QLinear"));
  EXPECT_THAT(covered->Of("sig").place, HasSubstr("qdq.yaml:"));
  EXPECT_EQ(covered->Of("move").fate, Fate::kMoved);
  EXPECT_EQ(covered->Of("stay").fate, Fate::kFloat);
  EXPECT_EQ(covered->Of("stay").reason.kind, Reason::Kind::kUnsupported);
  EXPECT_THAT(covered->Of("stay").reason.message, HasSubstr("Elu"));
  EXPECT_EQ(covered->coverage.nodes.int8, 2);
  EXPECT_EQ(covered->coverage.nodes.in_float, 1);
}

TEST(Fates, BelowTheLevelOfTheRulesTheyStayFloat) {
  const auto covered = Cover(kUnits, Level::kBasic);
  EXPECT_EQ(covered->Of("sig").fate, Fate::kFloat);
  EXPECT_EQ(covered->Of("sig").reason.kind, Reason::Kind::kLevel);
}

TEST(Fates, ARefusalNamesTheCheckThatCameFurthest) {
  const auto covered = Cover(R"(g (float[4] x) => (float[4] y) <float s = {0.1}, uint8 z = {3}, uint16 w = {0}> {
    q = QuantizeLinear(x, s, z)
    a = DequantizeLinear(q, s, z)
    [sig] b = Sigmoid(a)
    bq = QuantizeLinear(b, s, w)
    y = DequantizeLinear(bq, s, w)
  })");
  const Reason& reason = covered->Of("sig").reason;
  EXPECT_EQ(reason.kind, Reason::Kind::kRefused);
  EXPECT_EQ(reason.rule, "1DQ");
  EXPECT_EQ(reason.check, "types");
}

TEST(Fates, FloatModelsAreNotQuantized) {
  const auto covered = Cover("g (float[4] x) => (float[4] y) { [sig] y = Sigmoid(x) }");
  EXPECT_EQ(covered->Of("sig").reason.kind, Reason::Kind::kNotQuantized);
  EXPECT_DOUBLE_EQ(covered->coverage.nodes.Value(), 0.0);
}

TEST(Explain, FollowsFromEitherName) {
  const auto covered = Cover(kUnits);
  const Fates& fates = covered->coverage.fates;
  const Explained explained = Explain(fates, covered->trace, Rules(), nullptr, "sig");
  ASSERT_EQ(explained.nodes.size(), 1U);
  std::vector<std::string> said;
  for (const ExplainStep& step : explained.nodes.front().fired) said.push_back(Describe(*step.entry));
  EXPECT_THAT(said, Contains(HasSubstr("fired")));
  EXPECT_TRUE(Explain(fates, covered->trace, Rules(), nullptr, "no such node").nodes.empty());
}

TEST(Constants, ByRole) {
  auto model = ParseModelText(R"(g (float[1,1,4,4] x) => (float[1,1,4,4] y)
    <int8[1,1,1,1] w = {2}, float[1] ws = {0.5}, float[1] b = {1}, float s = {0.1}, uint8 z = {3}, float[4] k = {1, 2, 3, 4}> {
    q = QuantizeLinear(x, s, z)
    a = DequantizeLinear(q, s, z)
    wf = DequantizeLinear<axis = 0>(w, ws)
    t = Conv(a, wf, b)
    y = Pow(t, k)
  })",
                              {{"", 21}}, Rules().schemas);
  ASSERT_TRUE(model.ok()) << ToString(model.error());
  const auto groups = GroupConstants(*model->graph, Rules(), {{"Conv.W", "weight"}});
  std::vector<std::string> roles;
  for (const ConstantGroup& group : groups) roles.push_back(group.role + " " + std::to_string(group.count));
  EXPECT_EQ(roles, (std::vector<std::string>{"weight 1", "scale of weight 1", "B of Conv 1", "Y of Pow 1",
                                             "scale and zero point of activations 2"}));
}

TEST(FileStats, CountsTheFileAsItIs) {
  const auto counts = CountOperators(std::string(RULERUN_SOURCE_DIR) + "/tests/data/models/convnet-qdq.onnx");
  ASSERT_TRUE(counts.ok());
  EXPECT_EQ(counts->at("Conv"), 2);
  EXPECT_EQ(counts->at("DequantizeLinear"), 13);
  EXPECT_FALSE(CountOperators(std::string(RULERUN_SOURCE_DIR) + "/README.md").ok());
}

TEST(RuleList, ListsRulesAndPassesWithLevels) {
  const auto list = ListRules(Rules());
  const auto conv = std::find_if(list.begin(), list.end(), [](const ListedRule& rule) { return rule.name == "Conv"; });
  ASSERT_NE(conv, list.end());
  EXPECT_EQ(conv->group, "replace");
  EXPECT_EQ(conv->level, "extended");
  EXPECT_GT(conv->tests, 0U);
}

}  // namespace
}  // namespace rulerun
