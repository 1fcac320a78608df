// Coverage's counts, findings and outcomes, on small graphs and the shipped rules.
#include "engine/report/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/graph/load.h"
#include "engine/report/coverage_findings.h"
#include "engine/report/outcomes.h"
#include "tests/engine/report/report_test_util.h"

namespace rulerun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Model Parsed(const std::string& text) {
  auto model = ParseModelText(text, {{"", 21}}, Rules().schemas);
  EXPECT_TRUE(model.ok()) << ToString(model.error());
  return std::move(model).value();
}

Coverage Cover(const std::string& text, const std::string& platform = "x86-64-avx2") {
  Model model = Parsed(text);
  const auto target = MakeTarget(Rules(), platform, Level::kExtended);
  auto coverage = MeasureCoverage(model, Rules(), *target, KernelRegistry::Default());
  EXPECT_TRUE(coverage.ok()) << ToString(coverage.error());
  return std::move(coverage).value();
}

const RuleUse* UseOf(const Coverage& coverage, const std::string& rule) {
  for (const RuleUse& use : coverage.rule_use) {
    if (use.rule == rule) return &use;
  }
  return nullptr;
}

// A Conv that fires, one whose bias scale is wrong, one whose bias has a zero point.
constexpr char kConvs[] = R"(g (uint8[1,2,4,4] x) => (uint8[1,1,4,4] a, uint8[1,1,4,4] b, uint8[1,1,4,4] c)
  <float s = {0.5}, uint8 z = {0}, int8[1,2,1,1] w = {1,2}, float ws = {0.25}, int8 wz = {0}, int32[1] bias = {3},
   float right = {0.125}, float wrong = {0.5}, int32 bz = {0}, int32 one = {1}> {
  x1 = DequantizeLinear(x, s, z)  w1 = DequantizeLinear(w, ws, wz)  b1 = DequantizeLinear(bias, right, bz)
  [fires] t1 = Conv(x1, w1, b1)  a = QuantizeLinear(t1, s, z)
  x2 = DequantizeLinear(x, s, z)  w2 = DequantizeLinear(w, ws, wz)  b2 = DequantizeLinear(bias, wrong, bz)
  [scale] t2 = Conv(x2, w2, b2)  b = QuantizeLinear(t2, s, z)
  x3 = DequantizeLinear(x, s, z)  w3 = DequantizeLinear(w, ws, wz)  b3 = DequantizeLinear(bias, right, one)
  [zero] t3 = Conv(x3, w3, b3)  c = QuantizeLinear(t3, s, z)
})";

TEST(Coverage, ByRuleCountsNodesAndConditions) {
  const Coverage coverage = Cover(kConvs);
  const RuleUse* conv = UseOf(coverage, "Conv");
  ASSERT_NE(conv, nullptr);
  EXPECT_THAT(conv->fired_at, ElementsAre("fires"));
  EXPECT_THAT(conv->refused_at, testing::UnorderedElementsAre("scale", "zero"));
  ASSERT_EQ(conv->conditions.size(), 1U);
  EXPECT_EQ(conv->conditions[0].held, 1);
  EXPECT_EQ(conv->conditions[0].refused, 2);
  EXPECT_THAT(conv->conditions[0].text, HasSubstr("close: {of: [b.scale, implied]"));
}

TEST(Coverage, BoundaryCountsConversionsAndTheirBytes) {
  const Coverage coverage = Cover(kConvs);
  // In front of and behind the two Convs that stay float: x (32 elements) and y (16), one byte and four each.
  EXPECT_EQ(coverage.boundary.activations.count, 4);
  EXPECT_EQ(coverage.boundary.activations.bytes, 2 * (32 + 16) * 5);
  EXPECT_EQ(coverage.boundary.activations.unknown, 0);
  EXPECT_EQ(coverage.boundary.constants.count, 4);
  for (const NodeFate& fate : coverage.fates.nodes) {
    if (fate.node.name == "scale") {
      EXPECT_EQ(fate.around.count, 2);
    } else if (fate.node.name == "fires") {
      EXPECT_EQ(fate.around.count, 0);
    }
  }
}

TEST(Coverage, MismatchesAreWhatTheGroupDoesNotSay) {
  const Coverage coverage = Cover(kConvs);
  ASSERT_EQ(coverage.ops.size(), 1U);
  EXPECT_EQ(coverage.ops[0].group, "replace");
  EXPECT_EQ(coverage.ops[0].mismatches, (std::map<std::string, int>{{"float", 2}}));
  EXPECT_TRUE(Cover("g (float[4] x) => (float[4] y) { y = Sigmoid(x) }").ops[0].mismatches.empty());
}

TEST(Coverage, WhatMergesIsNotInserted) {
  const Coverage coverage = Cover(R"(g (float[2,2] x) => (float[2,2] y) <float[2,2] w = {1,2,3,4}, float[2] b = {1,2}>
      { [matmul] m = MatMul(x, w)  [add] y = Add(m, b) })");
  EXPECT_TRUE(coverage.inserted.empty());
  EXPECT_EQ(coverage.fates.nodes[0].now, coverage.fates.nodes[1].now);
}

TEST(Findings, HaveALevelAnIdAndAPlace) {
  const std::vector<Finding> findings = FindingsOf(
      AddUp({Cover(kConvs)}, {{"bad.onnx", Error{Code::kNotOnnx, "no model", "bad.onnx", ""}, std::nullopt}}));
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].severity, Severity::kError);
  EXPECT_EQ(Id(findings[0]), "M0101");
  EXPECT_EQ(findings[1].severity, Severity::kWarning);
  EXPECT_EQ(Id(findings[1]), "N0101/Conv/close");
  EXPECT_EQ(Id(findings[2]), "N0101/Conv/all_equal");
  EXPECT_THAT(PlaceText(findings[1].where), HasSubstr("qdq.yaml:"));
  EXPECT_GT(findings[1].where.column, 0);
}

TEST(Findings, PlacesAreRelativeToTheFolder) {
  const Location inside = ParsePlace("/work/rules/a:b.yaml:12:3");
  EXPECT_EQ(RelativePath(*inside.file, "/work"), "rules/a:b.yaml");
  EXPECT_EQ(inside.line, 12);
  EXPECT_EQ(inside.column, 3);
  EXPECT_EQ(RelativePath("/workshop/a.yaml", "/work"), "/workshop/a.yaml");
  for (const char* place : {"/work/a:b.yaml:12:3", "a.yaml:7", "model.onnx", ""}) {
    EXPECT_EQ(PlaceText(ParsePlace(place)), place);
  }
}

TEST(Findings, TextOfTheModelCannotEndAnAnnotation) {
  Finding finding;
  finding.code = Code::kNodeRefused;
  finding.kind = "a,b:c";
  finding.message = "50 %\n::error::taken";
  finding.model = "m,1.onnx";
  EXPECT_EQ(ToGitHub({finding}, ""),
            "::warning file=m%2C1.onnx,title=N0101/a%2Cb%3Ac::m,1.onnx: 50 %25%0A::error::taken\n");
}

TEST(Outcomes, MergeEqualPlatformsAndLevels) {
  // int8 activations with an option that x86 lacks by default: arm64 keeps them, x86 turns them to uint8 first.
  const Model model =
      Parsed(R"(g (float[1,2,4,4] x) => (float[1,2,4,4] y) <float s = {0.1}, int8 z = {3}, uint8 u = {3}> {
    q = QuantizeLinear(x, s, z)  a = DequantizeLinear(q, s, z)  [sigmoid] b = Sigmoid(a)
    p = QuantizeLinear(b, s, u)  y = DequantizeLinear(p, s, u) })");
  const auto target = MakeTarget(Rules(), "arm64", Level::kAll);
  const auto outcomes = FindOutcomes(model, Rules(), *target, KernelRegistry::Default(), 2);
  ASSERT_TRUE(outcomes.ok()) << ToString(outcomes.error());
  const std::vector<PlatformRuns>& sigmoid = (*outcomes)[2];
  ASSERT_EQ(sigmoid.size(), 2U);
  EXPECT_THAT(sigmoid[0].platforms, ElementsAre("arm64"));
  EXPECT_EQ(sigmoid[0].levels.size(), 1U);
  EXPECT_THAT(sigmoid[1].platforms, ElementsAre("x86-64-avx2", "x86-64-avx512"));
  ASSERT_EQ(sigmoid[1].levels.size(), 2U);
  EXPECT_THAT(sigmoid[1].levels[0].levels, ElementsAre(Level::kDisabled, Level::kBasic));
  EXPECT_EQ(sigmoid[1].levels[1].outcome.fate, Fate::kInt8);
}

TEST(Outcomes, ARefusedModelIsAnOutcome) {
  const Model model = Parsed(R"(g (double[4] x) => (double[4] y) <double lo = {0.0}, double hi = {6.0}>
      { t = Relu(x)  y = Clip(t, lo, hi) })");
  const auto target = MakeTarget(Rules(), "arm64", Level::kAll);
  const auto outcomes = FindOutcomes(model, Rules(), *target, KernelRegistry::Default(), 1);
  ASSERT_TRUE(outcomes.ok()) << ToString(outcomes.error());
  ASSERT_EQ((*outcomes)[0].size(), 1U);
  ASSERT_EQ((*outcomes)[0][0].levels.size(), 2U);
  EXPECT_EQ((*outcomes)[0][0].levels[0].outcome.refused, "");
  EXPECT_THAT((*outcomes)[0][0].levels[1].outcome.refused, HasSubstr("double"));
}

}  // namespace
}  // namespace rulerun
