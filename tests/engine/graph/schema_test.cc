#include "engine/graph/schema.h"

#include <gmock/gmock.h>

#include <thread>
#include <vector>

#include "tests/engine/graph/graph_test_util.h"

namespace rulerun {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Schema, DescribesAnOnnxOperator) {
  const OpSchema* schema = FindSchema({}, "", "Conv", 17);
  ASSERT_NE(schema, nullptr);
  EXPECT_EQ(schema->since_version, 11);
  EXPECT_EQ(schema->min_inputs, 2);
  ASSERT_EQ(schema->inputs.size(), 3U);
  EXPECT_EQ(schema->inputs[2].name, "B");
  EXPECT_TRUE(schema->inputs[2].optional);
  EXPECT_EQ(schema->inputs[0].type, "T");
  EXPECT_THAT(schema->types.at("T"), Contains(DataType::kFloat));
  const AttributeSchema& group = schema->attributes.at("group");
  EXPECT_EQ(group.kind, AttributeSchema::Kind::kInt);
  ASSERT_TRUE(group.default_value.has_value());
  EXPECT_EQ(std::get<int64_t>(*group.default_value), 1);
  EXPECT_FALSE(schema->has_function);
}

TEST(Schema, PicksTheVersion) {
  EXPECT_EQ(FindSchema({}, "ai.onnx", "Clip", 7)->since_version, 6);
  EXPECT_EQ(FindSchema({}, "", "Clip", 12)->since_version, 12);
  EXPECT_EQ(FindSchema({}, "", "Gelu", 19), nullptr);
  EXPECT_EQ(FindSchema({}, "", "Upsample", 10), nullptr);  // deprecated
  EXPECT_EQ(FindSchema({}, "", "NoSuch", 17), nullptr);
  EXPECT_NE(FindSchema({}, "ai.onnx.ml", "Scaler", 1), nullptr);
  EXPECT_TRUE(FindSchema({}, "", "HardSwish", 17)->has_function);
  EXPECT_FALSE(FindSchema({}, "", "RandomNormal", 17)->deterministic);
  EXPECT_TRUE(FindSchema({}, "", "Concat", 17)->inputs[0].variadic);
  EXPECT_THAT(SinceVersions("", "Clip"), ElementsAre(1, 6, 11, 12, 13));
  EXPECT_THAT(SinceVersions("", "NoSuch"), testing::IsEmpty());
  EXPECT_THAT(OnnxOperators(), Contains("Conv"));
  EXPECT_THAT(OnnxOperators(), Contains("ai.onnx.ml.Scaler"));
}

TEST(Schema, LookupsAreThreadSafe) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (const std::string& name : OnnxOperators()) FindSchema({}, "", name, 17);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Text, GraphsAndModels) {
  const auto graph = ParseModelText("g (float[4] x) => (float[4] y) { y = Relu(x) }", {}, {});
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph->graph->Opset(""), 21);
  const auto model =
      ParseModelText("<ir_version: 8, opset_import: [\"\" : 13]> g (float[4] x) => (y) { y = Relu(x) }", {}, {});
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->graph->Opset(""), 13);
  EXPECT_EQ(model->graph->ir_version(), 8);
}

TEST(Text, OperatorsMayNameTheirDomain) {
  OpSchema schema;
  schema.op_type = "Thing";
  schema.domain = "com.microsoft";
  schema.inputs.resize(1);
  schema.inputs[0].type = "float";
  schema.outputs = schema.inputs;
  schema.min_inputs = 1;
  schema.min_outputs = 1;
  ExternalSchemas schemas;
  schemas.Add(schema);
  const auto model =
      ParseModelText("g (float[4] x) => (float[4] y) { [n] y = com.microsoft.Thing(x) }", {{"", 17}}, schemas);
  ASSERT_TRUE(model.ok()) << ToString(model.error());
  EXPECT_EQ(NodeNamed(*model->graph, "n").Op(), "com.microsoft.Thing");
  EXPECT_EQ(model->graph->Opset("com.microsoft"), 1);
}

TEST(Text, ErrorsAreErrors) {
  for (const char* text :
       {"", "g", "g (float[4] x) => (y) { y = Relu(x }", "g (float[4] x) => (y) { y = Relu(x) } more",
        "<ir_version: 8> nonsense", "g (floaty[4] x) => (y) { y = Relu(x) }"}) {
    EXPECT_FALSE(ParseModelText(text, {}, {}).ok()) << text;
  }
}

}  // namespace
}  // namespace rulerun
