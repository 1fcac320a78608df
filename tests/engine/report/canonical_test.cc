#include "engine/report/canonical.h"

#include <gtest/gtest.h>

#include "engine/graph/load.h"

namespace rulerun {
namespace {

CanonicalGraph Canonical(const std::string& text) {
  const ExternalSchemas schemas;
  auto model = ParseModelText(text, {{"", 21}}, schemas);
  EXPECT_TRUE(model.ok()) << text;
  return Canonicalize(*model->graph, schemas);
}

std::vector<std::string> Compare(const std::string& a, const std::string& b) {
  return Differences(Canonical(a), Canonical(b));
}

constexpr char kBase[] = "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { t = Add(x, w)  y = Relu(t) }";

TEST(Canonical, InventedNamesAndOrderDoNotCount) {
  EXPECT_TRUE(
      Compare(kBase, "h (float[2] x) => (float[2] y) <float[2] v = {1, 2}> { u = Add(x, v)  y = Relu(u) }").empty());
  EXPECT_EQ(Canonical(kBase).Digest(),
            Canonical("g (float[2] x) => (float[2] y) <float[2] v = {1, 2}> { u = Add(x, v)  y = Relu(u) }").Digest());
}

TEST(Canonical, ConstantsCountByContent) {
  const auto lines =
      Compare(kBase, "g (float[2] x) => (float[2] y) <float[2] w = {1, 3}> { t = Add(x, w)  y = Relu(t) }");
  EXPECT_FALSE(lines.empty());
}

TEST(Canonical, NamesOfInputsAndOutputsCount) {
  EXPECT_FALSE(
      Compare(kBase, "g (float[2] a) => (float[2] y) <float[2] w = {1, 2}> { t = Add(a, w)  y = Relu(t) }").empty());
  EXPECT_FALSE(
      Compare(kBase, "g (float[2] x) => (float[2] z) <float[2] w = {1, 2}> { t = Add(x, w)  z = Relu(t) }").empty());
}

TEST(Canonical, OrderOfOperandsCounts) {
  EXPECT_FALSE(
      Compare(kBase, "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { t = Add(w, x)  y = Relu(t) }").empty());
}

TEST(Canonical, WrittenDefaultsAreNoDifference) {
  EXPECT_TRUE(Compare("g (float[1,2] x) => (float[1,2] y) { y = Softmax(x) }",
                      "g (float[1,2] x) => (float[1,2] y) { y = Softmax<axis = -1>(x) }")
                  .empty());
  EXPECT_FALSE(Compare("g (float[1,2] x) => (float[1,2] y) { y = Softmax(x) }",
                       "g (float[1,2] x) => (float[1,2] y) { y = Softmax<axis = 0>(x) }")
                   .empty());
}

TEST(Canonical, DifferencesNameBothSides) {
  const auto lines =
      Compare("g (float[2] x) => (float[2] y) { y = Relu(x) }", "g (float[2] x) => (float[2] y) { y = Abs(x) }");
  EXPECT_EQ(lines, (std::vector<std::string>{"missing: Relu(%x)", "too much: Abs(%x)"}));
}

}  // namespace
}  // namespace rulerun
