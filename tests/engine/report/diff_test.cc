// Two rewritings of one small model against each other, by the shipped rules.
#include "engine/report/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/codes.h"
#include "engine/graph/load.h"
#include "tests/engine/report/report_test_util.h"

namespace rulerun {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Target TargetOf(const std::string& platform, Level level = Level::kExtended) {
  return *MakeTarget(Rules(), platform, level);
}

Rewriting RewriteText(const std::string& text, const Target& target) {
  auto model = ParseModelText(text, {{"", 21}}, Rules().schemas);
  EXPECT_TRUE(model.ok()) << ToString(model.error());
  auto rewriting = RewriteModel(std::move(model).value(), Rules(), target, KernelRegistry::Default());
  EXPECT_TRUE(rewriting.ok()) << ToString(rewriting.error());
  return std::move(rewriting).value();
}

Diff DiffText(const std::string& text, const Target& left, const Target& right) {
  return Compare(RewriteText(text, left), RewriteText(text, right));
}

const NodeDiff* Find(const Diff& diff, const std::string& name) {
  const auto found =
      std::find_if(diff.nodes.begin(), diff.nodes.end(), [&](const NodeDiff& node) { return node.node.name == name; });
  return found == diff.nodes.end() ? nullptr : &*found;
}

const RuleDiff* FindRule(const Diff& diff, const std::string& name) {
  const auto found =
      std::find_if(diff.rules.begin(), diff.rules.end(), [&](const RuleDiff& rule) { return rule.rule == name; });
  return found == diff.rules.end() ? nullptr : &*found;
}

// The int8 Q has two readers: on x86-64 it cannot become uint8, and int8 activations are not allowed there.
constexpr char kSharedQ[] = R"(g (float[1,1,4,4] x) => (float[1,1,4,4] y, float[1,1,4,4] r)
  <float s = {0.1}, int8 z = {3}, int8[1,1,1,1] w = {2}, float ws = {0.5}, int8 wz = {0}> {
  q = QuantizeLinear(x, s, z)
  a = DequantizeLinear(q, s, z)
  wf = DequantizeLinear(w, ws, wz)
  [conv] b = Conv(a, wf)
  bq = QuantizeLinear(b, s, z)
  y = DequantizeLinear(bq, s, z)
  c = DequantizeLinear(q, s, z)
  [elu] r = Elu(c)
})";

constexpr char kSigmoid[] = R"(g (float[4] x) => (float[4] y) <float s = {0.1}, uint8 z = {3}> {
  q = QuantizeLinear(x, s, z)
  a = DequantizeLinear(q, s, z)
  [sig] b = Sigmoid(a)
  bq = QuantizeLinear(b, s, z)
  y = DequantizeLinear(bq, s, z)
})";

TEST(Diff, ASharedInt8QuantizerStaysFloatOnX86) {
  const Diff diff = DiffText(kSharedQ, TargetOf("x86-64-avx2"), TargetOf("arm64"));
  EXPECT_FALSE(diff.same);
  EXPECT_EQ(diff.sides[Side::kLeft].platform, "x86-64-avx2");
  const NodeDiff* conv = Find(diff, "conv");
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->fates[Side::kLeft].fate, Fate::kFloat);
  EXPECT_EQ(conv->fates[Side::kRight].fate, Fate::kInt8);
  ASSERT_TRUE(conv->cause);
  EXPECT_EQ(conv->cause->rule, "Conv");
  EXPECT_EQ(conv->cause->fired, Side::kRight);
  EXPECT_EQ(conv->cause->kind, DiffCause::Kind::kRefused);
  EXPECT_EQ(conv->cause->check, "types");
  EXPECT_THAT(conv->cause->refusal_place, HasSubstr("qdq.yaml:"));
  EXPECT_EQ(Find(diff, "elu"), nullptr);

  const RuleDiff* rule = FindRule(diff, "Conv");
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->fired[Side::kLeft], 0);
  EXPECT_EQ(rule->fired[Side::kRight], 1);
  EXPECT_THAT(rule->only[Side::kRight], ElementsAre("conv"));
}

TEST(Diff, OneTargetIsTheSameTwice) {
  const Diff diff = DiffText(kSharedQ, TargetOf("arm64"), TargetOf("arm64"));
  EXPECT_TRUE(diff.same);
  EXPECT_THAT(diff.nodes, IsEmpty());
  EXPECT_THAT(diff.rules, IsEmpty());
  EXPECT_THAT(diff.inserted, IsEmpty());
}

TEST(Diff, ALevelBelowTheRuleIsTheCause) {
  const Diff diff = DiffText(kSigmoid, TargetOf("arm64", Level::kBasic), TargetOf("arm64"));
  const NodeDiff* sigmoid = Find(diff, "sig");
  ASSERT_NE(sigmoid, nullptr);
  ASSERT_TRUE(sigmoid->cause);
  EXPECT_EQ(sigmoid->cause->kind, DiffCause::Kind::kLevel);
  EXPECT_THAT(sigmoid->cause->message, HasSubstr("extended"));
}

TEST(Diff, ADisabledRuleIsTheCause) {
  Target without = TargetOf("arm64");
  without.disabled.insert("1DQ");
  const Diff diff = DiffText(kSigmoid, TargetOf("arm64"), without);
  EXPECT_THAT(diff.sides[Side::kRight].disabled, ElementsAre("1DQ"));
  const NodeDiff* sigmoid = Find(diff, "sig");
  ASSERT_NE(sigmoid, nullptr);
  ASSERT_TRUE(sigmoid->cause);
  EXPECT_EQ(sigmoid->cause->fired, Side::kLeft);
  EXPECT_EQ(sigmoid->cause->kind, DiffCause::Kind::kDisabled);
}

TEST(Diff, OptionsThatAreSetAreTold) {
  Target allowed = TargetOf("x86-64-avx2");
  ASSERT_TRUE(SetOption(Rules(), allowed, "int8_allowed=1").ok());
  const Diff diff = DiffText(kSharedQ, TargetOf("x86-64-avx2"), allowed);
  EXPECT_THAT(diff.sides[Side::kLeft].options, IsEmpty());
  EXPECT_THAT(diff.sides[Side::kRight].options, ElementsAre("int8_allowed=1"));
  EXPECT_NE(Find(diff, "conv"), nullptr);
}

// The operator stays what it is and gets other numbers.
TEST(Diff, AnotherTypeOfTheSameOperatorIsADifference) {
  const Diff diff = DiffText(R"(g (float[1,1,4,4] x) => (float[1,1,2,2] y) <float s = {0.1}, int8 z = {3}> {
    q = QuantizeLinear(x, s, z)
    a = DequantizeLinear(q, s, z)
    [pool] b = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(a)
    bq = QuantizeLinear(b, s, z)
    y = DequantizeLinear(bq, s, z)
  })",
                             TargetOf("x86-64-avx2"), TargetOf("arm64"));
  const NodeDiff* pool = Find(diff, "pool");
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(pool->fates[Side::kLeft].fate, pool->fates[Side::kRight].fate);
  EXPECT_THAT(pool->forms[Side::kLeft], Contains(HasSubstr("MaxPool(uint8)")));
  EXPECT_THAT(pool->forms[Side::kRight], Contains(HasSubstr("MaxPool(int8)")));
}

// A layout pass names the operator that it begins with; the others that it changes have the pass as their cause, too.
TEST(Diff, APassIsTheCauseWhereverItCame) {
  const std::string path = std::string(RULERUN_SOURCE_DIR) + "/tests/data/models/convnet-qdq.onnx";
  Sides<Rewriting> sides;
  for (const Side side : kSides) {
    auto model = LoadModel(path, Rules().schemas);
    ASSERT_TRUE(model.ok()) << ToString(model.error());
    const Target target = TargetOf("x86-64-avx2", side == Side::kLeft ? Level::kExtended : Level::kAll);
    auto rewriting = RewriteModel(std::move(model).value(), Rules(), target, KernelRegistry::Default());
    ASSERT_TRUE(rewriting.ok()) << ToString(rewriting.error());
    sides[side] = std::move(rewriting).value();
  }
  const Diff diff = Compare(sides[Side::kLeft], sides[Side::kRight]);
  for (const char* name : {"conv1", "pool"}) {
    const NodeDiff* node = Find(diff, name);
    ASSERT_NE(node, nullptr);
    ASSERT_TRUE(node->cause) << name;
    EXPECT_EQ(node->cause->rule, "channels-last");
    EXPECT_EQ(node->cause->fired, Side::kRight);
    EXPECT_EQ(node->cause->kind, DiffCause::Kind::kLevel);
  }
}

TEST(Diff, ARefusedSideHasTheMessageAndNoNodes) {
  Rewriting refused = RewriteText(kSigmoid, TargetOf("arm64"));
  refused.refused = Error{Code::kNotInRuntime, "no kernel", "", ""};
  const Diff diff = Compare(RewriteText(kSigmoid, TargetOf("arm64")), refused);
  EXPECT_FALSE(diff.same);
  EXPECT_FALSE(diff.sides[Side::kLeft].refused);
  ASSERT_TRUE(diff.sides[Side::kRight].refused);
  EXPECT_EQ(diff.sides[Side::kRight].refused->message, "no kernel");
  EXPECT_THAT(diff.nodes, IsEmpty());
  EXPECT_TRUE(Compare(refused, refused).same);
}

}  // namespace
}  // namespace rulerun
