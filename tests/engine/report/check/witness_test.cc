// Graphs that `check` shows can be pasted into a file, and show what is said of them.
#include "engine/report/check/witness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "engine/graph/load.h"
#include "engine/report/check/analyses.h"
#include "tests/engine/report/report_test_util.h"

namespace rulerun {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Result<Model> Load(const std::string& text, const RuleSet& rules) {
  return ParseModelText(text, {}, rules.schemas, "witness.onnxtxt");
}

size_t NodesOf(const std::string& text, const RuleSet& rules) {
  const auto model = Load(text, rules);
  return model.ok() ? model->graph->node_count() : 0;
}

TEST(Witness, EveryOneThatIsShownLoads) {
  size_t shown = 0;
  for (const auto& entry : fs::directory_iterator(std::string(RULERUN_SOURCE_DIR) + "/tests/data/errors")) {
    const fs::path manifest = entry.path() / "t.yaml";
    if (!fs::exists(manifest)) continue;
    const auto rules = ReadRuleSet(manifest.string());
    if (!rules.ok()) continue;
    for (const Finding& finding : FindAll(**rules, KernelRegistry::Default())) {
      if (finding.witness.empty()) continue;
      ++shown;
      const auto model = Load(finding.witness, **rules);
      EXPECT_TRUE(model.ok()) << manifest << "\n" << finding.witness << "\n" << ToString(model.error());
    }
  }
  EXPECT_GE(shown, 5U);
}

// Of all rules that ship: it loads as a file, and the rule fires on it.
TEST(Witness, LoadsAndFiresForEveryShippedRule) {
  const WitnessRunner runner(Rules(), KernelRegistry::Default());
  size_t count = 0;
  for (const auto& [path, file] : Rules().files) {
    for (const auto& rule : file.rules) {
      const std::vector<Witness> witnesses = FindWitnesses(Rules(), file, *rule, runner);
      for (const Witness& witness : witnesses) {
        const std::string text = WitnessText(witness);
        const auto model = Load(text, Rules());
        EXPECT_TRUE(model.ok()) << rule->name << "\n" << text << "\n" << ToString(model.error());
        EXPECT_FALSE(runner.FiresAt(witness, file, *rule).empty()) << rule->name;
        ++count;
      }
      if (witnesses.empty() || !witnesses.front().generated) continue;
      // The first is the one that is shown: not larger than a test that the rule carries, in nodes.
      const size_t least = NodesOf(WitnessText(witnesses.front()), Rules());
      for (const Witness& witness : witnesses) {
        EXPECT_LE(least, NodesOf(WitnessText(witness), Rules())) << rule->name;
      }
    }
  }
  EXPECT_GT(count, 200U);
}

TEST(Witness, TextSaysWhatItIsRewrittenFor) {
  EXPECT_EQ(WitnessText({"g () => () {}", {}, true}), "g () => () {}");
  EXPECT_EQ(WitnessText({"g () => () {}", {{"opset", "13"}, {"platform", "arm64"}, {"loop", "0"}}, false}),
            "# given platform: arm64, loop: 0\n<ir_version: 10, opset_import: [\"\" : 13]>\ng () => () {}");
  const auto model =
      Load(WitnessText({"g (float[2] x) => (float[2] y) { y = Relu(x) }", {{"opset", "13"}, {"ep", "cpu"}}, false}),
           Rules());
  ASSERT_TRUE(model.ok()) << ToString(model.error());
  EXPECT_EQ(model->graph->Opset(""), 13);
}

TEST(Check, AShadowedRuleIsNotReportedAsOverlappingToo) {
  const auto rules =
      ReadRuleSet(std::string(RULERUN_SOURCE_DIR) + "/tests/data/errors/R0406-computed_condition_in_front/t.yaml");
  ASSERT_TRUE(rules.ok()) << ToString(rules.error());
  const std::vector<Finding> findings = FindAll(**rules, KernelRegistry::Default());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, Code::kShadowed);
  EXPECT_THAT(findings[0].message, HasSubstr("on the one graph known for the rule 'Narrow', 'Wide' fires before it"));
}

}  // namespace
}  // namespace rulerun
