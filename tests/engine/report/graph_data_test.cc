// Graphs as data for the coverage page.
#include "engine/report/graph_data.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace rulerun {
namespace {

TEST(GraphData, HasBoxesEdgesAndTheirNames) {
  Drawing drawing;
  drawing.nodes.resize(2);
  drawing.nodes[0].title = "Relu";
  drawing.nodes[0].name = "</script>";
  drawing.nodes[0].tone = Tone::kRefused;
  drawing.nodes[0].origins = {"a", "b"};
  drawing.nodes[1].title = "Loop";
  drawing.nodes[1].bodies.resize(1);
  drawing.nodes[1].bodies[0].nodes.resize(3);
  drawing.nodes[1].bodies[0].nodes[1].title = "Add";
  drawing.nodes[1].bodies[0].edges = {{1, 2, 0, 0, Carries::kInt8, "u", ""}};
  drawing.edges = {{0, 1, 0, 0, Carries::kFloat, "t", "float[2]"}};
  const auto data = nlohmann::json::parse(GraphData(drawing));
  const auto& relu = data.at("boxes").at(0);
  EXPECT_EQ(relu.at(0), "Relu");
  EXPECT_EQ(relu.at(2), "</script>");
  EXPECT_EQ(data.at("tones").at(relu.at(3).get<size_t>()).at(0), "refused");
  EXPECT_EQ(relu.at(4), (nlohmann::json{"a", "b"}));
  EXPECT_EQ(data.at("boxes").at(1).at(1), "3 boxes inside");
  ASSERT_EQ(data.at("edges").size(), 6U);
  EXPECT_EQ(data.at("carries").at(data.at("edges").at(2).get<size_t>()), "float");
  ASSERT_EQ(data.at("boxes").size(), 5U);  // those of the subgraph come behind
  EXPECT_EQ(data.at("boxes").at(data.at("edges").at(3).get<size_t>()).at(0), "Add");
  EXPECT_EQ(data.at("edges").at(4), 4);
}

}  // namespace
}  // namespace rulerun
