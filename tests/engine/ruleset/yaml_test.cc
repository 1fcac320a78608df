#include "engine/ruleset/yaml.h"

#include <gtest/gtest.h>

namespace rulerun {
namespace {

Yaml Parse(std::string_view text) {
  auto yaml = ParseYaml(text, "f.yaml");
  EXPECT_TRUE(yaml.ok()) << ToString(yaml.error());
  return yaml.ok() ? std::move(yaml).value() : Yaml{};
}

std::string ErrorOf(std::string_view text) {
  const auto yaml = ParseYaml(text, "f.yaml");
  EXPECT_FALSE(yaml.ok());
  return yaml.ok() ? "" : ToString(yaml.error());
}

TEST(Yaml, KnowsPlaces) {
  const Yaml yaml = Parse("a: 1\nb:\n  - {c: x, d: [1, \"2\"]}\n");
  EXPECT_EQ(yaml.where.ToString(), "f.yaml:1:1");
  EXPECT_EQ(yaml.key_places[1].ToString(), "f.yaml:2:1");
  const Yaml& item = yaml.Get("b")->items[0];
  EXPECT_EQ(item.where.ToString(), "f.yaml:3:5");
  EXPECT_EQ(item.Get("c")->where.ToString(), "f.yaml:3:9");
  EXPECT_EQ(item.Get("d")->items[1].where.ToString(), "f.yaml:3:19");
  EXPECT_EQ(item.Get("d")->items[1].TextStart().ToString(), "f.yaml:3:20");
}

TEST(Yaml, KnowsWhereBlocksBegin) {
  const Yaml yaml = Parse("a:\n  b: |\n\n      first\n        second\n  c: &anchor |  # comment\n    text\n");
  const Yaml& b = *yaml.Get("a")->Get("b");
  EXPECT_EQ(b.scalar, "\nfirst\n  second\n");
  EXPECT_EQ(b.block_indent, 6);
  EXPECT_EQ(b.TextStart().ToString(), "f.yaml:3:7");  // the blank line belongs to it
  const Yaml& c = *yaml.Get("a")->Get("c");
  EXPECT_EQ(c.TextStart().ToString(), "f.yaml:7:5");
}

TEST(Yaml, TellsKindsApart) {
  const Yaml yaml = Parse("i: -3\nf: 1.0e-6\nb: true\nq: \"1\"\nn:\nt: text\nl: [1, a]\n");
  EXPECT_EQ(yaml.Get("i")->AsInt(), -3);
  EXPECT_EQ(yaml.Get("i")->AsDouble(), -3.0);
  EXPECT_EQ(yaml.Get("f")->AsInt(), std::nullopt);
  EXPECT_EQ(yaml.Get("f")->AsDouble(), 1.0e-6);
  EXPECT_EQ(yaml.Get("b")->AsBool(), true);
  EXPECT_EQ(yaml.Get("q")->AsInt(), std::nullopt);
  EXPECT_EQ(yaml.Get("n")->kind, Yaml::Kind::kNull);
  EXPECT_EQ(yaml.Get("t")->AsDouble(), std::nullopt);
  EXPECT_EQ(yaml.Get("l")->AsNames(), (std::vector<std::string>{"1", "a"}));
  EXPECT_EQ(yaml.Get("t")->AsNames(), std::vector<std::string>{"text"});
  EXPECT_EQ(yaml.Get("nothing"), nullptr);
}

TEST(Yaml, AliasesAndMerges) {
  const Yaml yaml = Parse("a: &a {x: 1, y: 2}\nb: *a\nc: {<<: *a, y: 3}\nd: {<<: [*a, {z: 4}]}\n");
  EXPECT_EQ(yaml.Get("b")->Get("x")->AsInt(), 1);
  EXPECT_EQ(yaml.Get("c")->Get("x")->AsInt(), 1);
  EXPECT_EQ(yaml.Get("c")->Get("y")->AsInt(), 3);
  EXPECT_EQ(yaml.Get("d")->Get("z")->AsInt(), 4);
  EXPECT_EQ(yaml.Get("b")->where.line, 1);
}

TEST(Yaml, KeepsTheCommentOfAMapThatOpensALine) {
  const Yaml yaml = Parse("- a: \"# no\"  # why\n  b: 1\n- {c: 1}   ## because\n- [{d: 1}]  # not his\n");
  EXPECT_EQ(yaml.items[0].comment, "why");
  EXPECT_EQ(yaml.items[1].comment, "because");
  EXPECT_EQ(yaml.items[2].items[0].comment, "");
}

TEST(Yaml, RefusesWhatIsNotARuleFile) {
  EXPECT_EQ(ErrorOf(""), "f.yaml:1:1: the file is empty");
  EXPECT_EQ(ErrorOf("a: 1\na: 2\n"), "f.yaml:2:1: the key 'a' stands here twice");
  EXPECT_EQ(ErrorOf("{[a]: 1}"), "f.yaml:1:2: a key must be a plain word");
  EXPECT_NE(ErrorOf("a: 1\n---\nb: 2\n").find("second one"), std::string::npos);
  EXPECT_NE(ErrorOf("a: [1, 2").find("f.yaml:"), std::string::npos);
  EXPECT_NE(ErrorOf("a: *b\n").find("f.yaml:1:"), std::string::npos);
  EXPECT_NE(ErrorOf("a: {<<: 1}\n").find("'<<' takes a map"), std::string::npos);
  EXPECT_NE(ErrorOf("a: &a [*a]\n").find("f.yaml:1:"), std::string::npos);
  EXPECT_NE(ErrorOf("a: [b?, c]\n").find("must stand in quotes"), std::string::npos);
}

TEST(Yaml, HostileInputEndsInAnError) {
  EXPECT_NE(ErrorOf(std::string(100000, '[')).find("f.yaml:"), std::string::npos);
  EXPECT_NE(ErrorOf(std::string(100000, '{')).find("f.yaml:"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += std::string(static_cast<size_t>(i), ' ') + "a:\n";
  EXPECT_NE(ErrorOf(deep).find("f.yaml:"), std::string::npos);
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += before + (k < 9 ? ", " : "]\n");
  }
  EXPECT_NE(ErrorOf(bomb).find("too large"), std::string::npos);
  EXPECT_NE(ErrorOf(std::string(17 << 20, 'a')).find("16 MiB"), std::string::npos);
  EXPECT_NE(ToString(ReadYaml("/nowhere/at/all.yaml").error()).find("cannot be read"), std::string::npos);
}

}  // namespace
}  // namespace rulerun
