// Why a node was not fused, case by case: tests/data/explain/cases.yaml.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/text.h"
#include "engine/graph/load.h"
#include "engine/report/coverage.h"
#include "engine/report/explain.h"
#include "engine/report/refusal.h"
#include "engine/ruleset/yaml.h"
#include "tests/engine/report/report_test_util.h"

namespace rulerun {
namespace {

using ::testing::HasSubstr;

const std::string kRoot = RULERUN_SOURCE_DIR;

std::string TextOf(const Yaml& yaml, const std::string& key, const std::string& otherwise = "") {
  const Yaml* value = yaml.Get(key);
  return value == nullptr ? otherwise : value->scalar;
}

std::vector<std::string> TextsOf(const Yaml& yaml, const std::string& key) {
  const Yaml* value = yaml.Get(key);
  return value == nullptr ? std::vector<std::string>{} : value->AsNames().value_or(std::vector<std::string>{});
}

// A case, and all that was said about its node.
class Asked {
 public:
  explicit Asked(const Yaml& yaml) : yaml_(yaml) {
    const int opset = std::stoi(TextOf(yaml, "opset", "21"));
    auto model = ParseModelText(TextOf(yaml, "model"), {{"", opset}}, Rules().schemas);
    EXPECT_TRUE(model.ok()) << ToString(model.error());
    if (!model.ok()) return;
    auto target =
        MakeTarget(Rules(), TextOf(yaml, "platform", "x86-64-avx2"), *ParseLevel(TextOf(yaml, "level", "extended")));
    EXPECT_TRUE(target.ok());
    target_ = *target;
    for (const std::string& option : TextsOf(yaml, "options")) EXPECT_TRUE(SetOption(Rules(), target_, option).ok());
    original_ = CloneModel(*model);
    auto coverage = MeasureCoverage(*model, Rules(), target_, KernelRegistry::Default(), &trace_);
    if (!coverage.ok()) {
      error_ = coverage.error();
      auto refused =
          AskWhereItLoads(original_, *error_, trace_, Rules(), target_, KernelRegistry::Default(), nullptr, 1);
      EXPECT_TRUE(refused.ok()) << ToString(refused.error());
      if (!refused.ok()) return;
      refused_ = std::move(refused).value();
      coverage_ = refused_->coverage;
    } else {
      coverage_ = std::move(coverage).value();
    }
    explained_ = Explain(coverage_.fates, trace_, Rules(), nullptr, TextOf(yaml, "node"));
  }

  std::string error() const { return error_ ? error_->message : ""; }
  const std::optional<RefusedModel>& refused() const { return refused_; }
  // All that went wrong, whether ONNX Runtime refuses the model for it or not.
  std::vector<FaultHit> Faults() const {
    std::vector<FaultHit> hits = coverage_.faults;
    hits.insert(hits.end(), coverage_.by_design.begin(), coverage_.by_design.end());
    if (refused_) hits.insert(hits.end(), refused_->refusal.faults.begin(), refused_->refusal.faults.end());
    return hits;
  }
  const Explained& explained() const { return explained_; }

  // What the rule or pass that the case names said.
  const ExplainStep* Step(const std::string& rule) const {
    for (const Explanation& explanation : explained_.nodes) {
      for (const auto* steps : {&explanation.refused, &explanation.fired}) {
        for (const ExplainStep& step : *steps) {
          if (step.entry->rule == rule || step.entry->stage == rule) return &step;
        }
      }
    }
    return nullptr;
  }

  Result<WhatIf> What(const TraceEntry& entry) const {
    return AskWhatIf(original_, Rules(), target_, KernelRegistry::Default(), entry);
  }

 private:
  const Yaml& yaml_;
  Target target_;
  Model original_;
  Trace trace_;
  Coverage coverage_;
  Explained explained_;
  std::optional<Error> error_;
  std::optional<RefusedModel> refused_;
};

void CheckStep(const Yaml& one, const Asked& asked) {
  const std::string rule = TextOf(one, "rule");
  const ExplainStep* step = asked.Step(rule);
  ASSERT_NE(step, nullptr) << "nothing was said by '" << rule << "'";
  for (const std::string& part : TextsOf(one, "says")) EXPECT_THAT(Describe(*step->entry), HasSubstr(part));
  for (const std::string& part : TextsOf(one, "change")) EXPECT_THAT(step->advice, HasSubstr(part));
  const std::string then = TextOf(one, "then");
  if (then.empty()) return;
  const auto what_if = asked.What(*step->entry);
  ASSERT_TRUE(what_if.ok()) << ToString(what_if.error());
  EXPECT_EQ(Name(what_if->kind), then);
  const std::string next = TextOf(one, "next");
  if (next.empty()) return;
  ASSERT_GT(what_if->conditions.size(), 1U);
  EXPECT_EQ(what_if->conditions[1].check, next);
}

// `fault: {id, at, link}`: told once, where it is, and with the case's link.
void CheckFault(const Yaml& fault, const Asked& asked) {
  const std::string id = TextOf(fault, "id");
  for (const FaultHit& hit : asked.Faults()) {
    if (hit.id != id) continue;
    EXPECT_EQ(hit.node, TextOf(fault, "at"));
    EXPECT_THAT(hit.link, HasSubstr(TextOf(fault, "link", "no link")));
    return;
  }
  ADD_FAILURE() << "no warning of " << id;
}

// `refused: {by, at}`: which rule or pass stops the model, and at which node.
void CheckRefusal(const Yaml& wanted, const Asked& asked) {
  ASSERT_TRUE(asked.refused());
  EXPECT_EQ(asked.refused()->refusal.by, TextOf(wanted, "by"));
  EXPECT_EQ(asked.refused()->refusal.node, TextOf(wanted, "at"));
  EXPECT_EQ(asked.refused()->coverage.level, TextOf(wanted, "loads"));
}

void CheckCase(const Yaml& one) {
  const Asked asked(one);
  if (one.Get("error") != nullptr) {
    EXPECT_THAT(asked.error(), HasSubstr(TextOf(one, "error")));
  } else {
    ASSERT_EQ(asked.error(), "");
  }
  if (const Yaml* wanted = one.Get("refused")) CheckRefusal(*wanted, asked);
  if (const Yaml* fault = one.Get("fault")) CheckFault(*fault, asked);
  if (one.Get("node") == nullptr) return;
  ASSERT_FALSE(asked.explained().nodes.empty()) << "no node '" << TextOf(one, "node") << "'";
  const NodeFate& fate = *asked.explained().nodes.front().fate;
  EXPECT_EQ(Name(fate.fate), TextOf(one, "fate", "float"));
  const std::string reason = TextOf(one, "reason");
  EXPECT_THAT(fate.reason.Text(), HasSubstr(reason));
  if (one.Get("rule") != nullptr) CheckStep(one, asked);
  const std::string beside = TextOf(one, "beside");
  if (beside.empty()) return;
  ASSERT_FALSE(asked.explained().nodes.front().faults_beside.empty());
  EXPECT_EQ(asked.explained().nodes.front().faults_beside.front().id, beside);
}

TEST(ExplainCases, NameTheTrueCause) {
  const auto cases = ReadYaml(kRoot + "/tests/data/explain/cases.yaml");
  ASSERT_TRUE(cases.ok()) << ToString(cases.error());
  ASSERT_FALSE(cases->items.empty());
  for (const Yaml& one : cases->items) {
    SCOPED_TRACE(TextOf(one, "case") + ", " + one.where.ToString());
    CheckCase(one);
  }
}

}  // namespace
}  // namespace rulerun
