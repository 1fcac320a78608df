// The rule sets that come with the project.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "engine/graph/load.h"
#include "engine/ruleset/ruleset.h"

namespace rulerun {
namespace {

std::shared_ptr<const RuleSet> Load(const std::string& id) {
  auto rules = ReadRuleSet(std::string(RULERUN_SOURCE_DIR) + "/rules/" + id + ".yaml");
  EXPECT_TRUE(rules.ok()) << ToString(rules.error());
  return rules.ok() ? std::move(rules).value() : nullptr;
}

class Shipped : public testing::TestWithParam<std::string> {};

TEST_P(Shipped, Loads) {
  const auto rules = Load(GetParam());
  ASSERT_NE(rules, nullptr);
  EXPECT_EQ(rules->id, GetParam());
  EXPECT_FALSE(rules->pipeline.empty());
  EXPECT_FALSE(rules->vocabulary.copy.empty());
}

TEST_P(Shipped, GraphsOfTestsAreOnnx) {
  const auto rules = Load(GetParam());
  ASSERT_NE(rules, nullptr);
  for (const auto& [key, file] : rules->files) {
    for (const auto& rule : file.rules) {
      for (const RuleTest& test : rule->tests) {
        OpsetMap opsets{{"", 25}, {"com.microsoft", 1}, {"ai.onnx.ml", 4}};
        for (const auto& [name, value] : test.facts) {
          if (name == "opset") opsets[""] = std::stoi(value);
        }
        for (const std::string& text : {test.graph, test.into}) {
          if (text.empty()) continue;
          const auto model = ParseModelText(text, opsets, rules->schemas);
          EXPECT_TRUE(model.ok()) << test.where.ToString() << "\n" << text << "\n" << ToString(model.error());
        }
      }
    }
  }
}

std::string NameOf(const testing::TestParamInfo<std::string>& param) {
  std::string name = param.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Ruleset, Shipped, testing::Values("ort130", "ort130-safe", "npu-example"), NameOf);

// Every rule shows what it takes, what it nearly takes, and what it has nothing to do with.
TEST(Ort130, EveryRuleHasAMatchANearMissAndANoMatch) {
  const auto rules = Load("ort130");
  ASSERT_NE(rules, nullptr);
  for (const auto& [key, file] : rules->files) {
    for (const auto& rule : file.rules) {
      const auto has = [&rule = rule](RuleTest::Kind kind) {
        return std::any_of(rule->tests.begin(), rule->tests.end(),
                           [&](const RuleTest& test) { return test.kind == kind; });
      };
      const bool fails = rule->rewrite.kind == Rewrite::Kind::kError;
      EXPECT_TRUE(has(fails ? RuleTest::Kind::kError : RuleTest::Kind::kBecomes)) << rule->name;
      EXPECT_TRUE(has(RuleTest::Kind::kRefused)) << rule->name;
      EXPECT_TRUE(has(RuleTest::Kind::kNoMatch)) << rule->name;
    }
  }
}

TEST(Ort130, HasWhatItsManifestSays) {
  const auto rules = Load("ort130");
  ASSERT_NE(rules, nullptr);
  EXPECT_EQ(rules->platforms.at("arm64").facts.at("int8_allowed"), 1);
  EXPECT_TRUE(std::filesystem::exists(rules->platforms.at("arm64").texts.at("kernels")));
  EXPECT_FALSE(rules->options.at("int8_allowed").value.has_value());
  EXPECT_EQ(rules->options.at("nbits_accuracy_level").max, 4);
  EXPECT_EQ(rules->vocabulary.op_sets.at("DQ").size(), 2U);
  EXPECT_TRUE(rules->vocabulary.commutative.contains("Add"));
  EXPECT_EQ(rules->vocabulary.since.at("Conv"), (std::vector<int>{1, 11, 22}));
  EXPECT_NE(rules->schemas.Find("com.microsoft", "QLinearAdd"), nullptr);
  EXPECT_NE(rules->schemas.Find("", "SimplifiedLayerNormalization"), nullptr);
  const RuleFile& units = rules->files.at("ort130/qdq.yaml");
  EXPECT_FALSE(units.visit_all);
  EXPECT_TRUE(units.units.redundant_is_error);
  EXPECT_EQ(units.units.zero_point.size(), 2U);
  EXPECT_FALSE(units.unsupported.empty());
  EXPECT_TRUE(units.sets.at("q8").Has(DataType::kInt8));
  EXPECT_FALSE(units.sets.at("q8").Has(DataType::kInt16));
  const Rule* conv = rules->FindRule("Conv");
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->group, Group::kReplace);
  EXPECT_TRUE(conv->types_are_rows);
  EXPECT_EQ(conv->types.size(), 2U);
  EXPECT_EQ(conv->types[0].needs, "int8_allowed");
  EXPECT_EQ(conv->conditions[0].groups.size(), 2U);
  EXPECT_EQ(rules->FindRule("MatMul-float-out")->private_dq, false);
  EXPECT_EQ(rules->FindRule("no such rule"), nullptr);
}

TEST(Ort130, ExternalSchemasSayShapesAndTypes) {
  const auto rules = Load("ort130");
  ASSERT_NE(rules, nullptr);
  const OpSchema* concat = rules->schemas.Find("com.microsoft", "QLinearConcat");
  ASSERT_NE(concat, nullptr);
  EXPECT_EQ(concat->like_inputs, (std::vector<int>{2, 5}));
  EXPECT_EQ(concat->like_step, 3);
  const OpSchema* pool = rules->schemas.Find("com.microsoft", "QLinearAveragePool");
  ASSERT_NE(pool, nullptr);
  ASSERT_EQ(pool->like_if.size(), 1U);
  EXPECT_EQ(pool->like_if[0].first, "channels_last");
  const OpSchema* attention = rules->schemas.Find("com.microsoft", "Attention");
  ASSERT_NE(attention, nullptr);
  EXPECT_EQ(attention->inputs[2].shape->front().front().number, 3);
  EXPECT_EQ(attention->outputs[0].shape->back().front().name, "qkv_hidden_sizes");
  EXPECT_EQ(attention->outputs[0].shape->back().back().name, "H");
  const OpSchema* gemm = rules->schemas.Find("com.microsoft", "QGemm");
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(gemm->output_type_of, 8);
  EXPECT_EQ(gemm->output_otherwise, DataType::kFloat);
  EXPECT_EQ(gemm->min_inputs, 6);
  EXPECT_TRUE(gemm->inputs[6].optional);
  EXPECT_EQ(std::get<float>(*gemm->attributes.at("alpha").default_value), 1.0f);
}

TEST(Ort130Safe, ClosesFaults) {
  const auto faithful = Load("ort130");
  const auto safe = Load("ort130-safe");
  ASSERT_NE(safe, nullptr);
  EXPECT_EQ(safe->extends, std::vector<std::string>{"ort130"});
  EXPECT_TRUE(safe->refuse_invalid_replacement);
  EXPECT_EQ(safe->FindRule("WeightBiasQuantization.weight"), nullptr);
  EXPECT_NE(safe->FindRule("WeightBiasQuantization.bias"), nullptr);
  const Rule* before = faithful->FindRule("MatMul-float-out");
  const Rule* after = safe->FindRule("MatMul-float-out");
  EXPECT_EQ(before->faults.size(), 2U);
  ASSERT_EQ(after->faults.size(), 1U);
  EXPECT_EQ(after->faults.front().effect, "saturates");
  EXPECT_EQ(after->closed, std::vector<std::string>{"C69"});
  EXPECT_EQ(after->conditions.size(), before->conditions.size() + 1);
  EXPECT_EQ(after->tests.size(), before->tests.size() + 1);
  // No fault of any rule is left open that a rule could close: how CPUs add, and how int8 rounds, is not among them.
  for (const auto& [key, file] : safe->files) {
    for (const auto& rule : file.rules) {
      for (const Fault& fault : rule->faults) {
        if (fault.effect != "saturates" && fault.effect != "rounding") ADD_FAILURE() << rule->name << ": " << fault.id;
      }
    }
  }
}

TEST(NpuExample, StartsFromNothingAndAddsItsConditions) {
  const auto npu = Load("npu-example");
  ASSERT_NE(npu, nullptr);
  EXPECT_EQ(npu->extends, (std::vector<std::string>{"ort130-safe", "ort130"}));
  EXPECT_EQ(npu->FindRule("1DQ"), nullptr);
  const Rule* add = npu->FindRule("npu.Add");
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(add->providers, std::vector<std::string>{"npu"});
  ASSERT_EQ(add->types.size(), 1U);
  ASSERT_EQ(add->conditions.size(), 4U);
  EXPECT_EQ(add->conditions[0].values, (std::vector<std::string>{"a", "b", "y"}));
  EXPECT_EQ(add->conditions[1].values, (std::vector<std::string>{"a.scale", "b.scale", "y.scale"}));
  EXPECT_EQ(add->conditions[3].pairs.size(), 3U);
  EXPECT_EQ(npu->platforms.size(), 4U);
}

}  // namespace
}  // namespace rulerun
