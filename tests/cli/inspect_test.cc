// rulerun inspect: the tables, on the sample models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/rulerun.h"

namespace rulerun::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

json Inspected(const std::string& model, const std::string& platform) {
  const Ran ran = Rulerun({"inspect", "--json", "--platform", platform, SampleModel(model)});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  return json::parse(ran.out).at("models").at(0);
}

json Find(const json& list, const std::string& key, const std::string& value) {
  for (const json& item : list) {
    if (item.value(key, "") == value) return item;
  }
  ADD_FAILURE() << "no " << key << " " << value;
  return {};
}

TEST(Inspect, SaysWhatEachOperatorBecomesAtEachLevel) {
  const json model = Inspected("convnet-qdq.onnx", "arm64");
  const json conv = Find(model.at("outcomes"), "op", "Conv");
  EXPECT_EQ(conv.at("group"), "replace");
  EXPECT_EQ(conv.at("count"), 2);
  EXPECT_EQ(conv.at("disabled"), json({{"itself, float", 2}}));
  EXPECT_EQ(conv.at("basic"), json({{"itself, float", 2}}));
  EXPECT_EQ(conv.at("extended"), json({{"QLinearConv", 2}}));
  EXPECT_EQ(conv.at("layout"), json({{"com.microsoft.QLinearConv", 2}}));
  EXPECT_EQ(Find(model.at("outcomes"), "op", "MaxPool").at("extended"), json({{"itself, moved as int8", 1}}));
  EXPECT_EQ(Find(model.at("outcomes"), "op", "ReduceMean").at("all"), json({{"itself, float", 1}}));
}

// Every node is counted once at each level.
TEST(Inspect, OutcomesAddUp) {
  for (const char* name : {"convnet-qdq.onnx", "convnet-fp32.onnx", "refusals-qdq.onnx"}) {
    const json model = Inspected(name, "x86-64-avx2");
    for (const json& outcome : model.at("outcomes")) {
      for (const char* level : {"disabled", "basic", "extended", "layout", "all"}) {
        int sum = 0;
        for (const auto& [words, count] : outcome.at(level).items()) sum += count.get<int>();
        EXPECT_EQ(sum, outcome.at("count").get<int>()) << name << " " << outcome.at("op") << " " << level;
      }
    }
  }
}

TEST(Inspect, NamesTheNodesThatTheLayoutChanges) {
  const json model = Inspected("convnet-qdq.onnx", "arm64");
  const json conv = Find(model.at("layout_changes"), "node", "conv1");
  EXPECT_EQ(conv.at("extended"), "QLinearConv");
  EXPECT_EQ(conv.at("layout"), "com.microsoft.QLinearConv");
  EXPECT_EQ(conv.at("rule"), "channels-last");
  EXPECT_EQ(Find(model.at("layout_changes"), "op", "Transpose").at("inserted"), 2);
  EXPECT_TRUE(Inspected("convnet-fp32.onnx", "arm64").at("layout_changes").empty() ||
              !Inspected("convnet-fp32.onnx", "arm64").at("layout_is_extended").get<bool>());
}

TEST(Inspect, SeveralModelsAreComparedBySize) {
  const Ran two = Rulerun({"inspect", SampleModel("convnet-fp32.onnx"), SampleModel("convnet-qdq.onnx")});
  ASSERT_EQ(two.exit_code, 0) << two.err;
  EXPECT_THAT(two.out, HasSubstr("metadata of nodes"));
  EXPECT_THAT(two.out, HasSubstr("100 %"));
  EXPECT_THAT(two.out, HasSubstr("\nbytes "));
  const Ran one = Rulerun({"inspect", SampleModel("convnet-fp32.onnx")});
  EXPECT_THAT(one.out, Not(HasSubstr("\nbytes ")));
}

}  // namespace
}  // namespace rulerun::cli
