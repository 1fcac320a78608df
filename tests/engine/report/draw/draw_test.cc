// What is drawn of a graph, and how it is written down.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/graph/load.h"
#include "engine/pipeline/pipeline.h"
#include "engine/report/draw/dot.h"
#include "engine/report/draw/draw.h"
#include "engine/report/draw/escape.h"
#include "engine/report/draw/focus.h"
#include "engine/report/draw/html.h"
#include "engine/report/draw/measure.h"
#include "tests/engine/report/report_test_util.h"

namespace rulerun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Drawn {
  Drawing before;
  Drawing after;
};

Drawn DrawText(const std::string& text) {
  auto model = ParseModelText(text, {{"", 21}}, Rules().schemas);
  EXPECT_TRUE(model.ok()) << ToString(model.error());
  MarkOrigins(*model->graph);
  const auto original = ListNodes(*model->graph, Rules());
  Drawn drawn{DrawGraph(*model->graph, Rules()), {}};
  const auto target = MakeTarget(Rules(), "x86-64-avx2", Level::kExtended);
  Trace trace;
  const Status status = RunPipeline(*model, Rules(), *target, KernelRegistry::Default(), &trace);
  EXPECT_TRUE(status.ok()) << ToString(status.error());
  drawn.after = DrawGraph(*model->graph, Rules());
  const Fates fates = FindFates(original, *model->graph, trace, Rules(), *target);
  ColourOriginal(fates, drawn.before);
  ColourRewritten(fates, drawn.after);
  return drawn;
}

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// tests/data/draw/NAME.txt is drawn as NAME.before.dot and, rewritten up to level extended, NAME.after.dot.
// RULERUN_UPDATE_DATA=1 writes these anew, for a look at the difference.
TEST(Draw, GraphsAsExpected) {
  const std::filesystem::path folder = std::string(RULERUN_SOURCE_DIR) + "/tests/data/draw";
  int graphs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") continue;
    ++graphs;
    const Drawn drawn = DrawText(ReadAll(entry.path()));
    const std::pair<std::string, std::string> pictures[] = {{".before.dot", ToDot(drawn.before)},
                                                            {".after.dot", ToDot(drawn.after)}};
    for (const auto& [end, dot] : pictures) {
      const std::filesystem::path path = folder / (entry.path().stem().string() + end);
      if (std::getenv("RULERUN_UPDATE_DATA") != nullptr) std::ofstream(path, std::ios::binary) << dot;
      EXPECT_EQ(dot, ReadAll(path)) << path;
    }
  }
  EXPECT_GE(graphs, 4);
}

constexpr char kChain[] = R"(g (float[4] x) => (float[4] y) <float[4] k = {1, 2, 3, 4}> {
  [first] a = Relu(x)
  [second] b = Add(a, k)
  [third] c = Neg(b)
  [fourth] d = Sigmoid(c)
  [fifth] y = Mul(d, a)
})";

std::vector<std::string> Titles(const Drawing& drawing) {
  std::vector<std::string> titles;
  for (const DrawnNode& node : drawing.nodes) titles.push_back((node.marked ? "*" : "") + node.title);
  return titles;
}

TEST(Draw, FocusShowsWhatLiesAroundANode) {
  const Drawing drawing = DrawText(kChain).before;
  const auto one = FocusOn(drawing, "third", 1);
  ASSERT_TRUE(one.ok());
  EXPECT_THAT(Titles(*one), ElementsAre("Add", "*Neg", "Sigmoid", "Relu", "Mul"));
  EXPECT_EQ(one->nodes[3].tone, Tone::kElsewhere);  // hints at what lies beyond
  const auto none = FocusOn(drawing, "third", 0);
  ASSERT_TRUE(none.ok());
  EXPECT_THAT(Titles(*none), ElementsAre("*Neg", "Add", "Sigmoid"));
}

TEST(Draw, FocusFindsValuesConstantsAndOperators) {
  const Drawing drawing = DrawText(kChain).before;
  for (const auto& [focus, title] : std::vector<std::pair<std::string, std::string>>{
           {"c", "*Neg"}, {"k", "*Add"}, {"Sigmoid", "*Sigmoid"}, {"x", "*x"}}) {
    const auto part = FocusOn(drawing, focus, 0);
    ASSERT_TRUE(part.ok()) << ToString(part.error());
    EXPECT_THAT(Titles(*part), ::testing::Contains(title)) << focus;
  }
}

TEST(Draw, FocusOnANodeThatIsGoneShowsWhatStandsForIt) {
  const Drawn drawn = DrawText(ReadAll(std::string(RULERUN_SOURCE_DIR) + "/tests/data/draw/int8.txt"));
  const auto part = FocusOn(drawn.after, "q1", 0);
  ASSERT_TRUE(part.ok()) << ToString(part.error());
  EXPECT_EQ(part->nodes.front().title, "QLinearSigmoid");
}

TEST(Draw, FocusInASubgraph) {
  const Drawing drawing = DrawText(ReadAll(std::string(RULERUN_SOURCE_DIR) + "/tests/data/draw/subgraphs.txt")).before;
  const auto part = FocusOn(drawing, "twice", 1);
  ASSERT_TRUE(part.ok()) << ToString(part.error());
  EXPECT_EQ(part->title, "g / choose / else_branch");
  EXPECT_THAT(Titles(*part), ::testing::Contains("*Add"));
}

TEST(Draw, FocusOnNothingNamesTheNearest) {
  const Drawing drawing = DrawText(kChain).before;
  const auto misspelt = FocusOn(drawing, "fort", 1);
  ASSERT_FALSE(misspelt.ok());
  EXPECT_EQ(misspelt.error().kind(), ErrorKind::kUsage);
  const auto near = FocusOn(drawing, "secnd", 1);
  ASSERT_FALSE(near.ok());
  EXPECT_THAT(near.error().message, HasSubstr("did you mean 'second'?"));
  EXPECT_THAT(near.error().remedy, HasSubstr("Operators here: Add, Mul, Neg, Relu, Sigmoid"));
  const auto part = FocusOn(drawing, "ir", 1);
  ASSERT_FALSE(part.ok());
  EXPECT_THAT(part.error().remedy, HasSubstr("first, third"));
}

// A name that tries to be markup, in all the places where a model has names.
constexpr char kHostile[] = "</text></script><script>alert(1)</script>&\"'\\ -->]]>\x01\xff\n{{data}}";

Drawing Hostile() {
  Drawing drawing;
  drawing.title = kHostile;
  for (int i = 0; i < 2; ++i) {
    DrawnNode node;
    node.op = node.name = node.title = node.subtitle = kHostile;
    node.lines = {kHostile};
    node.names = node.origins = {kHostile};
    node.details = {{kHostile, kHostile}};
    node.bodies.resize(1);
    node.bodies[0].title = kHostile;
    drawing.nodes.push_back(node);
  }
  drawing.edges.push_back({0, 1, 0, 0, Carries::kInt8, kHostile, kHostile});
  return drawing;
}

TEST(Draw, HostileNamesStayText) {
  const Drawing drawing = Hostile();
  const std::string svg = PictureOf(drawing);
  const std::string html = ToHtml(kHostile, {{kHostile, drawing, LayOut(drawing)}});
  for (const std::string& text : {svg, html}) {
    EXPECT_THAT(text, Not(HasSubstr("<script>alert")));
    EXPECT_THAT(text, Not(HasSubstr("</text></script>")));
    EXPECT_THAT(text, Not(HasSubstr("\x01")));
    EXPECT_THAT(text, Not(HasSubstr("\xff")));
  }
  // One element of data, and one of script.
  size_t scripts = 0;
  for (size_t at = html.find("</script"); at != std::string::npos; at = html.find("</script", at + 1)) ++scripts;
  EXPECT_EQ(scripts, 2U);
  const size_t begin = html.find("id=\"data\">") + 10;
  const auto data = nlohmann::json::parse(html.substr(begin, html.find("</script", begin) - begin), nullptr, false);
  ASSERT_FALSE(data.is_discarded());
  EXPECT_THAT(data["views"][0]["nodes"][0]["name"].get<std::string>(), HasSubstr("</script><script>alert(1)"));
}

TEST(Draw, DotStringsEndWhereTheyShould) {
  EXPECT_EQ(DotString("a\"b\\"), R"("a\"b\\")");
  EXPECT_EQ(DotString("a\nb"), R"("a\nb")");
  EXPECT_EQ(DotString("\\n"), R"("\\n")");
  EXPECT_EQ(DotString(std::string("a\0b", 3)),
            "\"a\xEF\xBF\xBD"
            "b\"");
}

TEST(Draw, TextThatIsNoUtf8IsReplaced) {
  EXPECT_EQ(XmlText("\xC3\xA4"), "\xC3\xA4");
  for (const char* broken : {"\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\x80"}) {
    EXPECT_THAT(XmlText(broken), HasSubstr("\xEF\xBF\xBD")) << broken;
  }
}

TEST(Draw, LongNamesKeepTheirEnds) {
  EXPECT_EQ(Elide("short", 10), "short");
  EXPECT_EQ(Elide("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(Elide("abcdefghijk", 10), "abcde…hijk");
  EXPECT_EQ(Elide("äöüäöüäöüäö", 5), "äö…äö");
}

TEST(Draw, EveryBoxOfAPageHasItsId) {
  const Drawing drawing = DrawText(ReadAll(std::string(RULERUN_SOURCE_DIR) + "/tests/data/draw/subgraphs.txt")).before;
  SvgOptions options;
  options.id = "n";
  const std::string svg = ToSvg(drawing, LayOut(drawing), options);
  for (size_t i = 0; i < CountNodes(drawing); ++i) {
    EXPECT_THAT(svg, HasSubstr(" id=\"n" + std::to_string(i) + "\"")) << i;
  }
}

bool Inside(const Box& inner, const Box& outer) {
  return inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.width <= outer.x + outer.width &&
         inner.y + inner.height <= outer.y + outer.height;
}

TEST(Draw, SubgraphsLieInsideTheBoxOfTheirNode) {
  const Drawing drawing = DrawText(ReadAll(std::string(RULERUN_SOURCE_DIR) + "/tests/data/draw/subgraphs.txt")).before;
  const Layout layout = LayOut(drawing);
  size_t bodies = 0;
  for (size_t i = 0; i < drawing.nodes.size(); ++i) {
    for (const Layout& body : layout.bodies[i]) {
      ++bodies;
      EXPECT_TRUE(Inside(body.frame, layout.nodes[i]));
      for (const Box& box : body.nodes) EXPECT_TRUE(Inside(box, body.frame));
    }
  }
  EXPECT_EQ(bodies, 2U);
}

}  // namespace
}  // namespace rulerun
