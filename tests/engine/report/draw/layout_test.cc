// Layouts keep what pictures promise: boxes do not overlap, and everything leads down.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>

#include "engine/report/draw/layout.h"
#include "engine/report/draw/layout/layered.h"

namespace rulerun {
namespace {

struct Boxes {
  std::string name;
  std::vector<Size> sizes;
  std::vector<Link> links;
};

// Every box reads some of the latest before it.
Boxes Random(unsigned seed, size_t count, size_t reach) {
  std::mt19937 random(seed);
  Boxes boxes{"random " + std::to_string(seed), {}, {}};
  for (size_t i = 0; i < count; ++i) {
    boxes.sizes.push_back({static_cast<double>(60 + random() % 200), static_cast<double>(30 + random() % 60)});
    for (size_t k = random() % 3; k-- > 0 && i > 0;) {
      const size_t back = 1 + random() % std::min(i, reach);
      boxes.links.push_back({i - back, i, static_cast<int>(random() % 2)});
    }
  }
  return boxes;
}

std::vector<Boxes> Samples() {
  std::vector<Boxes> samples = {
      {"nothing", {}, {}},
      {"one", {{80, 40}}, {}},
      {"apart", {{80, 40}, {90, 40}, {100, 20}}, {}},
      {"twice the same", {{80, 40}, {80, 40}}, {{0, 1, 0}, {0, 1, 0}}},
      {"a skip", {{80, 40}, {80, 40}, {200, 40}, {80, 40}}, {{0, 1, 0}, {1, 2, 0}, {2, 3, 0}, {0, 3, 0}}},
      {"listed backwards", {{80, 40}, {80, 40}, {80, 40}}, {{2, 1, 0}, {1, 0, 0}}},
  };
  for (unsigned seed = 0; seed < 12; ++seed) samples.push_back(Random(seed, 20 + 30 * seed, 3 + 4 * seed));
  return samples;
}

bool Overlap(const Point& a, const Size& as, const Point& b, const Size& bs) {
  constexpr double kTouching = 1e-6;
  return std::abs(a.x - b.x) + kTouching < (as.width + bs.width) / 2 &&
         std::abs(a.y - b.y) + kTouching < (as.height + bs.height) / 2;
}

TEST(Layout, BoxesDoNotOverlap) {
  for (const Boxes& boxes : Samples()) {
    const Arrangement arrangement = ArrangeLayered(boxes.sizes, boxes.links);
    ASSERT_EQ(arrangement.centres.size(), boxes.sizes.size());
    for (size_t i = 0; i < boxes.sizes.size(); ++i) {
      for (size_t k = 0; k < i; ++k) {
        EXPECT_FALSE(Overlap(arrangement.centres[i], boxes.sizes[i], arrangement.centres[k], boxes.sizes[k]))
            << boxes.name << ": " << i << " and " << k;
      }
    }
  }
}

TEST(Layout, BoxesLieWithinTheFrame) {
  for (const Boxes& boxes : Samples()) {
    const Arrangement arrangement = ArrangeLayered(boxes.sizes, boxes.links);
    for (size_t i = 0; i < boxes.sizes.size(); ++i) {
      const Point centre = arrangement.centres[i];
      EXPECT_GE(centre.x - boxes.sizes[i].width / 2, -1e-6) << boxes.name;
      EXPECT_LE(centre.x + boxes.sizes[i].width / 2, arrangement.size.width + 1e-6) << boxes.name;
      EXPECT_GE(centre.y - boxes.sizes[i].height / 2, -1e-6) << boxes.name;
      EXPECT_LE(centre.y + boxes.sizes[i].height / 2, arrangement.size.height + 1e-6) << boxes.name;
    }
  }
}

TEST(Layout, LinksLeadDownFromBoxToBox) {
  for (const Boxes& boxes : Samples()) {
    const Arrangement arrangement = ArrangeLayered(boxes.sizes, boxes.links);
    for (size_t i = 0; i < boxes.links.size(); ++i) {
      const Link& link = boxes.links[i];
      const auto& route = arrangement.routes[i];
      ASSERT_EQ(route.size() % 3, 1U) << boxes.name;
      for (size_t k = 1; k < route.size(); ++k) EXPECT_GE(route[k].y, route[k - 1].y - 1e-6) << boxes.name;
      const auto at_edge = [&](size_t box, Point end, double side) {
        EXPECT_NEAR(end.y, arrangement.centres[box].y + side * boxes.sizes[box].height / 2, 1e-6) << boxes.name;
        EXPECT_LE(std::abs(end.x - arrangement.centres[box].x), boxes.sizes[box].width / 2) << boxes.name;
      };
      at_edge(link.from, route.front(), 1);
      at_edge(link.to, route.back(), -1);
    }
  }
}

// No link passes through a box on its way: between its ends it runs straight down wherever boxes lie beside it.
TEST(Layout, LinksPassBesideBoxes) {
  for (const Boxes& boxes : Samples()) {
    const Arrangement arrangement = ArrangeLayered(boxes.sizes, boxes.links);
    for (const auto& route : arrangement.routes) {
      for (size_t k = 1; k < route.size(); ++k) {
        const Point middle = {(route[k].x + route[k - 1].x) / 2, (route[k].y + route[k - 1].y) / 2};
        const bool upright = std::abs(route[k].x - route[k - 1].x) < 1e-6;
        for (size_t box = 0; upright && box < boxes.sizes.size(); ++box) {
          EXPECT_FALSE(Overlap(middle, {0, 0}, arrangement.centres[box], boxes.sizes[box])) << boxes.name << " " << box;
        }
      }
    }
  }
}

TEST(Layout, AChainIsStraight) {
  Boxes chain{"chain", {}, {}};
  for (size_t i = 0; i < 50; ++i) {
    chain.sizes.push_back({static_cast<double>(60 + 37 * (i % 5)), 40});
    if (i > 0) chain.links.push_back({i - 1, i, 0});
  }
  const Arrangement arrangement = ArrangeLayered(chain.sizes, chain.links);
  for (const Point& centre : arrangement.centres) EXPECT_DOUBLE_EQ(centre.x, arrangement.centres.front().x);
}

TEST(Layout, TwoChainsThatWereListedCrosswiseDoNotCross) {
  // 0 → 2 and 1 → 3 next to each other, listed so that the first order crosses them.
  Boxes boxes{"", std::vector<Size>(6, {80, 40}), {{0, 3, 0}, {1, 2, 0}, {3, 4, 0}, {2, 5, 0}}};
  LayeredGraph graph = BuildLayers(boxes.sizes, boxes.links);
  OrderLayers(graph);
  EXPECT_EQ(CountCrossings(graph), 0);
}

TEST(Layout, ACircleIsDrawnWithoutTheLinkThatClosesIt) {
  const Arrangement arrangement = ArrangeLayered({{80, 40}, {80, 40}}, {{0, 1, 0}, {1, 0, 0}});
  EXPECT_EQ(arrangement.routes[0].empty() + arrangement.routes[1].empty(), 1);
}

TEST(Layout, WhatOnlyFeedsOthersLiesAboveItsReader) {
  const std::vector<int> layers = FindLayers(4, {{0, 1, 0}, {1, 2, 0}, {3, 2, 0}});
  EXPECT_THAT(layers, ::testing::ElementsAre(0, 1, 2, 1));
}

TEST(Layout, ABranchThatNothingElseReadsEndsAboveItsReader) {
  // 0 → 1 → 2 → 3, and 4 → 5 → 3.
  const std::vector<int> layers = FindLayers(6, {{0, 1, 0}, {1, 2, 0}, {2, 3, 0}, {4, 5, 0}, {5, 3, 0}});
  EXPECT_THAT(layers, ::testing::ElementsAre(0, 1, 2, 3, 1, 2));
}

DrawnNode Node(const std::string& name) {
  DrawnNode node;
  node.op = node.title = "Op";
  node.name = node.subtitle = name;
  return node;
}

// Blocks of a chain with a skip around it, one after another.
Drawing Residual(size_t blocks, size_t length) {
  Drawing drawing;
  drawing.nodes.push_back(Node("first"));
  for (size_t block = 0; block < blocks; ++block) {
    const size_t start = drawing.nodes.size() - 1;
    for (size_t i = 0; i < length; ++i) {
      const size_t last = drawing.nodes.size() - 1;
      drawing.nodes.push_back(Node("n" + std::to_string(last)));
      drawing.edges.push_back({last, last + 1, 0, 0, Carries::kFloat, "v" + std::to_string(last), "float"});
    }
    drawing.edges.push_back({start, start + length, 0, 1, Carries::kFloat, "v" + std::to_string(start), "float"});
  }
  return drawing;
}

TEST(Fold, ATallDrawingGoesOnInColumnsThatBeginBetweenBlocks) {
  const size_t length = 12;
  Drawing drawing = Residual(16, length);
  const size_t nodes = drawing.nodes.size();
  const size_t edges = drawing.edges.size();
  FoldIntoColumns(drawing);
  int columns = 0;
  for (const DrawnNode& node : drawing.nodes) columns = std::max(columns, node.column + 1);
  ASSERT_GT(columns, 2);
  // A cut costs two boxes and, for the two readers behind it, one edge: one value is cut between two columns.
  const auto cuts = static_cast<size_t>(columns - 1);
  EXPECT_EQ(drawing.nodes.size(), nodes + 2 * cuts);
  EXPECT_EQ(drawing.edges.size(), edges + cuts);
  for (const DrawnEdge& edge : drawing.edges) {
    EXPECT_EQ(drawing.nodes[edge.from].column, drawing.nodes[edge.to].column);
  }
  for (size_t i = nodes; i < drawing.nodes.size(); ++i) EXPECT_EQ(drawing.nodes[i].tone, Tone::kElsewhere);
}

TEST(Fold, ColumnsStandSideBySideAndAreOfLikeHeight) {
  Drawing drawing = Residual(16, 12);
  const Layout tall = LayOut(drawing);
  FoldIntoColumns(drawing);
  const Layout folded = LayOut(drawing);
  EXPECT_LT(folded.frame.height, tall.frame.height / 2);
  for (size_t i = 0; i < drawing.nodes.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (drawing.nodes[k].column >= drawing.nodes[i].column) continue;
      EXPECT_LT(folded.nodes[k].x + folded.nodes[k].width, folded.nodes[i].x);
    }
    EXPECT_LE(folded.nodes[i].y + folded.nodes[i].height, folded.frame.height + 1e-6);
  }
}

TEST(Fold, ALastColumnIsNoRemnant) {
  for (size_t blocks = 8; blocks < 20; ++blocks) {
    Drawing drawing = Residual(blocks, 7);
    FoldIntoColumns(drawing);
    std::map<int, size_t> boxes;
    for (const DrawnNode& node : drawing.nodes) ++boxes[node.column];
    EXPECT_GE(4 * boxes.rbegin()->second, boxes.begin()->second) << blocks;
  }
}

TEST(Fold, WhatIsLowStaysInOneColumn) {
  Drawing drawing = Residual(2, 5);
  const size_t nodes = drawing.nodes.size();
  FoldIntoColumns(drawing);
  EXPECT_EQ(drawing.nodes.size(), nodes);
  Drawing nothing;
  FoldIntoColumns(nothing);
  EXPECT_TRUE(nothing.nodes.empty());
}

TEST(Layout, FarEdgesBecomeReferences) {
  Drawing drawing;
  for (size_t i = 0; i < 10; ++i) {
    DrawnNode node;
    node.op = "Op";
    node.title = "Op";
    drawing.nodes.push_back(node);
    if (i > 0) drawing.edges.push_back({i - 1, i, 0, 0, Carries::kFloat, "v" + std::to_string(i - 1), "float"});
  }
  drawing.edges.push_back({0, 9, 0, 1, Carries::kFloat, "v0", "float"});
  Drawing uncut = drawing;
  CutFarEdges(uncut, 9);
  EXPECT_EQ(uncut.nodes.size(), 10U);
  CutFarEdges(drawing, 8);
  ASSERT_EQ(drawing.nodes.size(), 11U);
  EXPECT_EQ(drawing.nodes.back().title, "v0");
  EXPECT_EQ(drawing.nodes.back().tone, Tone::kElsewhere);
  EXPECT_EQ(drawing.edges.back().from, 10U);
}

// A picture's size and time stay in proportion: ten times the boxes may not cost a hundred times the time.
TEST(Layout, TenThousandBoxesTakeSeconds) {
  const Boxes boxes = Random(7, 10'000, 25);
  const auto start = std::chrono::steady_clock::now();
  const Arrangement arrangement = ArrangeLayered(boxes.sizes, boxes.links);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(arrangement.centres.size(), boxes.sizes.size());
  RecordProperty("seconds", std::to_string(took.count()));
  EXPECT_LT(took.count(), 60);  // under a sanitizer, on a busy machine
}

}  // namespace
}  // namespace rulerun
