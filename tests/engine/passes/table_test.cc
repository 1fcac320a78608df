#include "engine/passes/table.h"

#include <gtest/gtest.h>

namespace rulerun {
namespace {

class TableTest : public testing::Test {
 protected:
  Result<Table> Read(const std::string& text) {
    auto yaml = ParseYaml(text, "t.yaml");
    EXPECT_TRUE(yaml.ok());
    yaml_ = std::move(yaml).value();
    rules_.vocabulary.op_sets["DQ"] = {"A", "d.A"};
    scope_.rules = &rules_;
    scope_.table = &yaml_;
    return Table::Read(scope_, "p");
  }

  Yaml yaml_;
  RuleSet rules_;
  PassScope scope_;
};

TEST_F(TableTest, OpSetsStandForTheirMembers) {
  const auto table = Read("p: {ops: [DQ, B], versions: {DQ: [1, 2], B: 3}}");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(*table->Ops("ops"), (OpNames{"A", "B", "d.A"}));
  EXPECT_EQ(*table->Versions("versions"), (OpVersions{{"A", {1, 2}}, {"B", {3}}, {"d.A", {1, 2}}}));
}

TEST_F(TableTest, VersionsNarrow) {
  const OpVersions ops = {{"A", {1, 2}}, {"d.B", {}}};
  Node node;
  node.op_type = "A";
  node.since_version = 2;
  EXPECT_TRUE(Contains(ops, node));
  node.since_version = 3;
  EXPECT_FALSE(Contains(ops, node));
  node.op_type = "B";
  EXPECT_FALSE(Contains(ops, node));
  node.domain = "d";
  EXPECT_TRUE(Contains(ops, node));
}

TEST_F(TableTest, ErrorsNameThePlace) {
  const auto table = Read("p:\n  types: [floot]\n  number: x\n");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(ToString(table->Types("types").error()), "t.yaml:2:10: there is no type 'floot', did you mean 'float'?");
  EXPECT_EQ(table->Int("number").error().place, "t.yaml:3:11");
  EXPECT_EQ(table->Text("nunber").error().message, "'nunber' is missing, did you mean 'number'?");
  EXPECT_FALSE(table->Sub("number").ok());
  EXPECT_FALSE(table->Maps("number").ok());
}

TEST_F(TableTest, MissingSections) {
  EXPECT_EQ(Read("q: {}").error().message, "the table says nothing about pass 'p'");
  scope_.table = nullptr;
  EXPECT_EQ(Table::Read(scope_, "p").error().message, "pass 'p' needs a table");
}

TEST(Fill, ReplacesWords) {
  EXPECT_EQ(Fill("${a}_${b}${a}", {{"a", "x"}, {"b", "${a}"}}), "x_${a}x");
  EXPECT_EQ(Fill("plain", {{"a", "x"}}), "plain");
}

}  // namespace
}  // namespace rulerun
