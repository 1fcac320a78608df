#include "engine/graph/resolve.h"

#include <gmock/gmock.h>

#include "engine/graph/load.h"
#include "tests/engine/graph/graph_test_util.h"

namespace rulerun {
namespace {

using testing::HasSubstr;

Model Parse(const std::string& text, const ExternalSchemas& schemas = {}, int opset = 17) {
  auto model = ParseModelText(text, {{"", opset}}, schemas);
  EXPECT_TRUE(model.ok()) << ToString(model.error());
  return model.ok() ? std::move(model).value() : NoModel();
}

std::string Failure(const std::string& text, int opset = 17) {
  const auto model = ParseModelText(text, {{"", opset}}, {});
  return model.ok() ? "loaded" : ToString(model.error());
}

TEST(Resolve, InfersTypesAndSymbolicShapes) {
  const Model model = Parse(R"(g (float[N,3,8,8] x, float[4,3,3,3] w) => (y) {
      c = Conv<pads = [1,1,1,1]>(x, w)  p = GlobalAveragePool(c)  f = Flatten(p)  y = Cast<to = 10>(f) })");
  EXPECT_EQ(TypeText(*model.graph, "c"), "float[N, 4, 8, 8]");
  EXPECT_EQ(TypeText(*model.graph, "p"), "float[N, 4, 1, 1]");
  EXPECT_EQ(TypeText(*model.graph, "y"), "float16[N, 4]");
}

TEST(Resolve, ConstantsAreInputs) {
  const Model model = Parse(R"(g (float[2,6] x) => (y) <int64[3] s = {2, -1, 3}> { y = Reshape(x, s) })");
  EXPECT_EQ(TypeText(*model.graph, "y"), "float[2, 2, 3]");
}

TEST(Resolve, ShapesFlowThroughShapeArithmetic) {
  const std::string body = R"( => (y) <int64 zero = {0}, int64[1] ax = {0}, int64[1] rest = {12}> {
      s = Shape(x)  i = Gather<axis = 0>(s, zero)  u = Unsqueeze(i, ax)  c = Concat<axis = 0>(u, rest)  y = Reshape(x, c) })";
  EXPECT_EQ(TypeText(*Parse("g (float[2,3,4] x)" + body).graph, "y"), "float[2, 12]");
  // ONNX Runtime does not carry symbols through it, and neither do we.
  EXPECT_EQ(TypeText(*Parse("g (float[N,3,4] x)" + body).graph, "y"), "float[?, ?]");
}

TEST(Resolve, AddsSchemaDefaults) {
  const Model model = Parse("g (float[2] x) => (y) { [l] y = LeakyRelu(x) }");
  const Node& node = NodeNamed(*model.graph, "l");
  EXPECT_FLOAT_EQ(FloatOr(node.attributes, "alpha", 0), 0.01F);
  EXPECT_THAT(node.defaulted, testing::ElementsAre("alpha"));
  EXPECT_EQ(node.since_version, 16);
}

TEST(Resolve, DropsUnusedInitializers) {
  const Model model =
      Parse("g (float[2] x) => (y) <float[2] used = {1.0, 2.0}, float[2] lost = {1.0, 2.0}> { y = Add(x, used) }");
  EXPECT_TRUE(ValueOf(*model.graph, "used").initializer.has_value());
  EXPECT_FALSE(ValueOf(*model.graph, "lost").initializer.has_value());
}

TEST(Resolve, KnownShapesStayAndContradictionsBecomeUnknown) {
  EXPECT_EQ(TypeText(*Parse("g (float[N,3] x) => (float[5,3] y) { y = Relu(x) }").graph, "y"), "float[5, 3]");
  EXPECT_EQ(TypeText(*Parse("g (float[5,3] x) => (float[N,3] y) { y = Relu(x) }").graph, "y"), "float[5, 3]");
  EXPECT_EQ(TypeText(*Parse("g (float[5,3] x) => (float[4,3] y) { y = Relu(x) }").graph, "y"), "float[?, 3]");
  EXPECT_EQ(TypeText(*Parse("g (float[5,3] x) => (float[15] y) { y = Relu(x) }").graph, "y"), "float");
}

TEST(Resolve, RefusesWhatBreaksTheSchema) {
  EXPECT_THAT(Failure("g (float[2] x, int64[2] i) => (y) { [a] y = Add(x, i) }"),
              testing::AllOf(HasSubstr("node 'a'"), HasSubstr("float and int64")));
  EXPECT_THAT(Failure("g (string[2] x) => (y) { y = Relu(x) }"), HasSubstr("cannot take input 'x' of type string"));
  EXPECT_THAT(Failure("g (float[2] x) => (int32[2] y) { y = Relu(x) }"), HasSubstr("declared int32"));
  EXPECT_THAT(Failure("g (float[2] x) => (y) { y = Add(x) }"), HasSubstr("1 inputs, but takes 2"));
  EXPECT_THAT(Failure("g (float[2] x) => (y) { y = Relu(x, x) }"), HasSubstr("2 inputs, but takes 1"));
  EXPECT_THAT(Failure("g (float[2] x) => (y) { y, z = Relu(x) }"), HasSubstr("outputs"));
  EXPECT_THAT(Failure("g (float[2] x) => (y) { y = Add(x, ) }"), testing::Not(HasSubstr("loaded")));
  EXPECT_THAT(Failure("g (float[2] x) => (y) { y = LeakyRelu<alpa = 0.5>(x) }"), HasSubstr("did you mean 'alpha'"));
  EXPECT_THAT(Failure("g (float[2] x) => (y) { y = LeakyRelu<alpha = 1>(x) }"), HasSubstr("wrong kind"));
  EXPECT_THAT(Failure("g (float[2] x) => (y) { y = Cast(x) }"), HasSubstr("lacks its attribute 'to'"));
  EXPECT_THAT(Failure("g (float[2] x, float[3] z) => (y) { y = Add(x, z) }"), HasSubstr("Incompatible dimensions"));
}

TEST(Resolve, SubgraphsGetTypesFromOutside) {
  const Model model = Parse(R"(g (int64 n, bool go, float[2,3] x) => (y, z) {
      y, z = Loop(n, go, x) <body = b (int64 i, bool c, v) => (bool k, w, o) {
        k = Identity(c)  w = Neg(v)  o = Exp(v) }> })");
  EXPECT_EQ(TypeText(*model.graph, "y"), "float");  // a loop-carried value may change its shape
  EXPECT_EQ(TypeText(*model.graph, "z"), "float");
  const Model branch = Parse(R"(g (bool c, float[2,3] x) => (y) {
      y = If(c) <then_branch = a () => (p) { p = Neg(x) }, else_branch = b () => (q) { q = Exp(x) }> })");
  EXPECT_EQ(TypeText(*branch.graph, "y"), "float[2, 3]");
}

TEST(Resolve, ErrorsInSubgraphsNameBothNodes) {
  const std::string error = Failure(R"(g (bool c, float[2] x) => (y) {
      [outer] y = If(c) <then_branch = a () => (p) { [inner] p = Relu(x, x) }, else_branch = b () => (q) { q = Exp(x) }> })");
  EXPECT_THAT(error, HasSubstr("node 'outer', node 'inner'"));
}

// --- operators that ONNX does not define

FormalParameter Formal(const std::string& name, const std::string& type) {
  FormalParameter formal;
  formal.name = name;
  formal.type = type;
  return formal;
}

ExternalSchemas QAdd() {
  OpSchema schema;
  schema.op_type = "QAdd";
  schema.domain = "com.microsoft";
  schema.inputs = {Formal("a", "T"), Formal("s", "float"), Formal("b", "T")};
  schema.outputs = {Formal("c", "T"), Formal("n", "int32")};
  schema.outputs[1].optional = true;
  schema.min_inputs = 3;
  schema.min_outputs = 1;
  schema.types["T"] = {DataType::kUint8, DataType::kInt8};
  AttributeSchema mode;
  mode.kind = AttributeSchema::Kind::kInt;
  mode.default_value = Attribute(int64_t{3});
  schema.attributes["mode"] = mode;
  schema.like = "Add";
  schema.like_inputs = {0, 2};
  ExternalSchemas schemas;
  schemas.Add(schema);
  return schemas;
}

TEST(Resolve, ExternalSchemasGiveTypesAndShapes) {
  const Model model = Parse(
      "g (int8[N,1] a, int8[1,4] b) => (c, n) <float s = {1.0}> { [q] c, n = com.microsoft.QAdd(a, s, b) }", QAdd());
  EXPECT_EQ(TypeText(*model.graph, "c"), "int8[N, 4]");
  EXPECT_EQ(TypeText(*model.graph, "n"), "int32");
  EXPECT_EQ(IntOr(NodeNamed(*model.graph, "q").attributes, "mode", 0), 3);
  const auto mixed = ParseModelText(
      "g (int8[4] a, uint8[4] b) => (c) <float s = {1.0}> { c = com.microsoft.QAdd(a, s, b) }", {}, QAdd());
  ASSERT_FALSE(mixed.ok());
  EXPECT_THAT(mixed.error().message, HasSubstr("int8 and uint8"));
  // Shapes that do not fit leave the result unknown; the operator's own rules may allow them.
  const Model odd =
      Parse("g (int8[3] a, int8[4] b) => (c) <float s = {1.0}> { c = com.microsoft.QAdd(a, s, b) }", QAdd());
  EXPECT_EQ(TypeText(*odd.graph, "c"), "int8");
}

FormalDim NamedDim(const std::string& name, int64_t factor = 1, bool rest = false) {
  FormalDim dim;
  dim.kind = FormalDim::Kind::kName;
  dim.name = name;
  dim.number = factor;
  dim.rest = rest;
  return dim;
}

FormalDim AttributeDim(const std::string& name, std::optional<int64_t> element = std::nullopt) {
  FormalDim dim;
  dim.kind = FormalDim::Kind::kAttribute;
  dim.name = name;
  dim.listed = element.has_value();
  dim.number = element.value_or(1);
  return dim;
}

// x[D..., _], b[3 * H]? -> y[D..., @sizes[1] | H], n[@count, 7]?
ExternalSchemas WrittenShapes() {
  OpSchema schema;
  schema.op_type = "Fuse";
  schema.domain = "com.microsoft";
  schema.inputs = {Formal("x", "T"), Formal("b", "T")};
  schema.inputs[0].shape = FormalShape{{NamedDim("D", 1, true)}, {FormalDim{}}};
  schema.inputs[1].shape = FormalShape{{NamedDim("H", 3)}};
  schema.inputs[1].optional = true;
  schema.outputs = {Formal("y", "T"), Formal("n", "int32")};
  schema.outputs[0].shape = FormalShape{{NamedDim("D", 1, true)}, {AttributeDim("sizes", 1), NamedDim("H")}};
  FormalDim seven;
  seven.kind = FormalDim::Kind::kSize;
  seven.number = 7;
  schema.outputs[1].shape = FormalShape{{AttributeDim("count")}, {seven}};
  schema.outputs[1].optional = true;
  schema.min_inputs = 1;
  schema.min_outputs = 1;
  schema.types["T"] = {DataType::kFloat};
  for (const auto& [name, kind] :
       {std::pair("sizes", AttributeSchema::Kind::kInts), std::pair("count", AttributeSchema::Kind::kInt)}) {
    schema.attributes[name].kind = kind;
  }
  ExternalSchemas schemas;
  schemas.Add(schema);
  return schemas;
}

TEST(Resolve, ExternalSchemasWriteShapesDown) {
  const auto shape_of_y = [](const std::string& text) { return TypeText(*Parse(text, WrittenShapes()).graph, "y"); };
  EXPECT_EQ(shape_of_y("g (float[N,2,4] x, float[6] b) => (y) { y = com.microsoft.Fuse(x, b) }"), "float[N, 2, 2]");
  EXPECT_EQ(shape_of_y("g (float[4] x, float[6] b) => (y) { y = com.microsoft.Fuse(x, b) }"), "float[2]");
  EXPECT_EQ(shape_of_y("g (float[4] x) => (y) { y = com.microsoft.Fuse<sizes = [1, 5]>(x) }"), "float[5]");
  // No multiple of three: how much is a third of it?
  EXPECT_EQ(shape_of_y("g (float[3,4] x, float[5] b) => (y) { y = com.microsoft.Fuse(x, b) }"), "float[3, ?]");
  // Nothing says how long the last dimension is; a scalar has none to leave out.
  EXPECT_EQ(shape_of_y("g (float[3,4] x) => (y) { y = com.microsoft.Fuse(x) }"), "float");
  EXPECT_EQ(shape_of_y("g (float[3,4] x) => (y) { y = com.microsoft.Fuse<sizes = [1]>(x) }"), "float");
  EXPECT_EQ(shape_of_y("g (float x, float[6] b) => (y) { y = com.microsoft.Fuse(x, b) }"), "float");
  const Model two = Parse("g (float[4] x) => (y, n) { y, n = com.microsoft.Fuse<count = 2>(x) }", WrittenShapes());
  EXPECT_EQ(TypeText(*two.graph, "n"), "int32[2, 7]");
}

TEST(Resolve, DeprecatedOperatorsWithABodyAreLetPass) {
  const auto model = ParseModelText(
      "g (float[1,4,3] x, float[2] s, float[2] b) => (y) { y = GroupNormalization<num_groups = 2>(x, s, b) }",
      {{"", 18}}, {});
  ASSERT_TRUE(model.ok()) << ToString(model.error());
  EXPECT_EQ(TypeText(*model->graph, "y"), "float");
  EXPECT_FALSE(ParseModelText("g (float[1,4] x, float[2] s) => (y) { y = Upsample(x, s) }", {{"", 10}}, {}).ok());
}

TEST(Resolve, ExternalSchemasMayFillGapsOfOnnx) {
  OpSchema old;
  old.op_type = "LayerNormalization";  // ONNX has it since 17 only
  old.inputs = {Formal("X", "T"), Formal("Scale", "T")};
  old.outputs = {Formal("Y", "T")};
  old.min_inputs = 2;
  old.min_outputs = 1;
  old.types["T"] = {DataType::kFloat};
  old.unchecked_attributes = true;
  old.like = "Identity";
  old.like_inputs = {0};
  ExternalSchemas schemas;
  schemas.Add(old);
  const std::string text = "g (float[N,4] x, float[4] s) => (y) { [l] y = LayerNormalization<epsion = 0.5>(x, s) }";
  EXPECT_EQ(TypeText(*Parse(text, schemas, 12).graph, "y"), "float[N, 4]");
  EXPECT_FALSE(ParseModelText(text, {{"", 17}}, schemas).ok());  // ONNX's own, which knows no "epsion"
}

TEST(ResolveNode, GivesANewNodeItsTypes) {
  Model model = Parse("g (float[N,2] x) => (y) { y = Relu(x) }");
  Graph& graph = *model.graph;
  Node node;
  node.name = "new";
  node.op_type = "Transpose";
  node.inputs = {*graph.Find("x")};
  node.outputs = {graph.AddValue("t")};
  const NodeIndex index = graph.AddNode(std::move(node)).index;
  ASSERT_TRUE(ResolveNode(graph, index, {}).ok());
  EXPECT_EQ(TypeText(graph, "t"), "float[2, N]");
  EXPECT_EQ(graph.node(index)->since_version, 13);
}

TEST(Resolve, FindsCyclesThatARewriteMade) {
  Model model = Parse("g (float[2] x) => (y) { [a] t = Add(x, x)  [b] y = Relu(t) }");
  Graph& graph = *model.graph;
  graph.SetInput(NodeNamed(graph, "a").index, 1, *graph.Find("y"));
  const Status status = Resolve(graph, {});
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("depend on their own outputs"));
}

}  // namespace
}  // namespace rulerun
