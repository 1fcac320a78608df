#include "engine/graph/load.h"

#include <gmock/gmock.h>

#include "tests/engine/graph/graph_test_util.h"

namespace rulerun {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LoadTest : public FileTest {};

constexpr char kRelu[] = "g (float[2] x) => (float[2] y) { [r] y = Relu(x) }";

TEST_F(LoadTest, ReadsNodesValuesAndEdges) {
  const Model model =
      Loaded(Proto("g (float[N,2] x, float[2] b) => (float[N,2] y) <float[2] w = {1.0, 2.0}>"
                   "{ [a] t = Add(x, w)  [m] y = Mul(t, b) }"));
  const Graph& graph = *model.graph;
  EXPECT_EQ(graph.name(), "g");
  EXPECT_EQ(graph.node_count(), 2U);
  EXPECT_EQ(graph.Opset(""), 17);
  EXPECT_FALSE(graph.modified());
  EXPECT_EQ(ValueOf(graph, "t").producer, NodeNamed(graph, "a").index);
  EXPECT_EQ(ValueOf(graph, "t").uses, (std::vector<Use>{{NodeNamed(graph, "m").index, 0}}));
  EXPECT_EQ(TypeText(graph, "y"), "float[N, 2]");
  EXPECT_THAT(ToDoubles(*ValueOf(graph, "w").initializer), ElementsAre(1, 2));
  EXPECT_THAT(NodeNamed(graph, "a").origins, ElementsAre("a"));
}

TEST_F(LoadTest, EveryFormOfDataBecomesRawBytes) {
  onnx::ModelProto proto = Proto(
      "g (float[1] x) => (float[1] y) <int8[3] a = {1,-2,3}, float16[2] h = {15360, 16384},"
      "bool[2] b = {1, 0}, uint64[1] u = {7}, double[1] d = {0.5}, int64[2] l = {-1, 5}>"
      "{ y = Relu(x) }",
      17, 3);  // as inputs they are kept
  auto* packed = proto.mutable_graph()->add_initializer();
  packed->set_name("p");
  packed->set_data_type(onnx::TensorProto::INT4);
  packed->add_dims(3);
  packed->add_int32_data(0x21);
  packed->add_int32_data(0x0f);
  for (const auto& initializer : proto.graph().initializer()) {
    auto* output = proto.mutable_graph()->add_output();
    output->set_name(initializer.name());
  }
  const Model model = Loaded(proto);
  const auto ints = [&](const std::string& name) { return ToInts(*ValueOf(*model.graph, name).initializer); };
  EXPECT_THAT(ints("a"), ElementsAre(1, -2, 3));
  EXPECT_THAT(ints("b"), ElementsAre(1, 0));
  EXPECT_THAT(ints("u"), ElementsAre(7));
  EXPECT_THAT(ints("l"), ElementsAre(-1, 5));
  EXPECT_THAT(ints("p"), ElementsAre(1, 2, -1));
  EXPECT_THAT(ToDoubles(*ValueOf(*model.graph, "d").initializer), ElementsAre(0.5));
  EXPECT_THAT(ToDoubles(*ValueOf(*model.graph, "h").initializer), ElementsAre(1, 2));
}

TEST_F(LoadTest, ConstantNodesBecomeInitializers) {
  const Model model = Loaded(Proto(R"(g (float[2] x) => (float[2] y, string[1] z, int64 i, float[3] f) {
      c = Constant<value = float[2] {1.0, 2.0}>()
      z = Constant<value_strings = ["a"]>()
      i = Constant<value_int = 4>()
      f = Constant<value_floats = [0.5, 1.5, 2.5]>()
      y = Add(x, c) })"));
  const Graph& graph = *model.graph;
  EXPECT_EQ(graph.node_count(), 1U);
  EXPECT_TRUE(model.constants_moved);
  EXPECT_THAT(ToDoubles(*ValueOf(graph, "c").initializer), ElementsAre(1, 2));
  EXPECT_THAT(ValueOf(graph, "z").initializer->strings(), ElementsAre("a"));
  EXPECT_EQ(ValueOf(graph, "i").initializer->rank(), 0);
  EXPECT_THAT(ToInts(*ValueOf(graph, "i").initializer), ElementsAre(4));
  EXPECT_THAT(ToDoubles(*ValueOf(graph, "f").initializer), ElementsAre(0.5, 1.5, 2.5));
}

TEST_F(LoadTest, SparseInitializersBecomeDense) {
  onnx::ModelProto proto = Proto("g (float[2,2] x) => (float[2,2] y) { y = Add(x, s) }");
  auto* sparse = proto.mutable_graph()->add_sparse_initializer();
  sparse->add_dims(2);
  sparse->add_dims(2);
  auto* values = sparse->mutable_values();
  values->set_name("s");
  values->set_data_type(onnx::TensorProto::FLOAT);
  values->add_dims(1);
  values->add_float_data(5);
  auto* indices = sparse->mutable_indices();
  indices->set_data_type(onnx::TensorProto::INT64);
  indices->add_dims(1);
  indices->add_int64_data(2);
  EXPECT_THAT(ToDoubles(*ValueOf(*Loaded(proto).graph, "s").initializer), ElementsAre(0, 0, 5, 0));
  indices->set_int64_data(0, 4);
  EXPECT_THAT(Refused(proto).message, HasSubstr("outside"));
  sparse->set_dims(0, int64_t{1} << 40);
  EXPECT_THAT(Refused(proto).message, HasSubstr("too large"));
}

TEST_F(LoadTest, SubgraphsReadOuterValues) {
  const Model model = Loaded(Proto(R"(g (bool c, float[2] x) => (float[2] y) {
      t = Relu(x)
      [if] y = If(c) <then_branch = a () => (float[2] p) { p = Neg(t) },
                      else_branch = b () => (float[2] q) { k = Constant<value = float[2] {1.0, 2.0}>()  q = Add(t, k) }> })"));
  const Graph& graph = *model.graph;
  const Node& node = NodeNamed(graph, "if");
  ASSERT_EQ(node.implicit.size(), 1U);
  EXPECT_EQ(graph.value(node.implicit[0]).name, "t");
  ASSERT_EQ(graph.Subgraphs(node).size(), 2U);
  EXPECT_EQ(graph.Subgraphs(node)[0]->parent(), &graph);
  EXPECT_FALSE(model.constants_moved);  // of the main graph
  EXPECT_EQ(TypeText(graph, "y"), "float[2]");
}

TEST_F(LoadTest, InlinesLocalFunctions) {
  onnx::ModelProto proto;
  const auto status = onnx::OnnxParser::Parse(proto, R"(
      <ir_version: 8, opset_import: ["" : 17, "local" : 1]>
      g (float[2] x) => (float[2] y) { t = local.twice(x)  y = local.twice(t) }
      <domain: "local", opset_import: ["" : 17]> twice (a) => (b) { b = Add(a, a) })");
  ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
  const Model model = Loaded(proto);
  EXPECT_EQ(model.graph->node_count(), 2U);
  EXPECT_TRUE(model.graph->modified());
  EXPECT_EQ(TypeText(*model.graph, "y"), "float[2]");
}

TEST_F(LoadTest, FunctionsThatExplodeAreRefused) {
  std::string text = R"(<ir_version: 8, opset_import: ["" : 17, "l" : 1]>
      g (float[2] x) => (float[2] y) { y = l.f40(x) }
      <domain: "l", opset_import: ["" : 17]> f0 (a) => (b) { b = Relu(a) })";
  for (int i = 1; i <= 40; ++i) {
    const std::string inner = "l.f" + std::to_string(i - 1);
    text += "<domain: \"l\", opset_import: [\"\" : 17, \"l\" : 1]> f" + std::to_string(i) +
            " (a) => (b) { t = " + inner + "(a)  b = " + inner + "(t) }\n";
  }
  onnx::ModelProto proto;
  ASSERT_TRUE(onnx::OnnxParser::Parse(proto, text.c_str()).IsOK());
  EXPECT_THAT(Refused(proto).message, HasSubstr("too many nodes"));
  proto.mutable_functions(0)->mutable_node(0)->set_op_type("f40");
  proto.mutable_functions(0)->mutable_node(0)->set_domain("l");
  EXPECT_THAT(Refused(proto).message, HasSubstr("circle"));
}

// --- what is refused, and how

TEST_F(LoadTest, FilesThatAreNoModel) {
  EXPECT_EQ(LoadModel(Path("none.onnx"), {}).error().kind(), ErrorKind::kSystem);
  EXPECT_FALSE(LoadModel(folder_.string(), {}).ok());
  WriteFile(Path("empty.onnx"), "");
  EXPECT_THAT(LoadModel(Path("empty.onnx"), {}).error().message, HasSubstr("empty"));
  WriteFile(Path("text.onnx"), "this is no model, whatever its name may say");
  EXPECT_THAT(LoadModel(Path("text.onnx"), {}).error().message, HasSubstr("not an ONNX model"));
  const std::string bytes = Proto(kRelu).SerializeAsString();
  WriteFile(Path("cut.onnx"), bytes.substr(0, bytes.size() - 7));
  EXPECT_THAT(LoadModel(Path("cut.onnx"), {}).error().message, HasSubstr("cut short"));
  onnx::ModelProto none = Proto(kRelu);
  none.clear_graph();
  EXPECT_THAT(Refused(none).message, HasSubstr("no ONNX graph"));
}

TEST_F(LoadTest, VersionsOutOfRange) {
  EXPECT_THAT(Refused(Proto(kRelu, 6)).message, HasSubstr("version 6 of ai.onnx"));
  EXPECT_THAT(Refused(Proto(kRelu, 27)).message, HasSubstr("7 to 26"));
  EXPECT_TRUE(Load(Proto(kRelu, 7)).ok());
  EXPECT_TRUE(Load(Proto(kRelu, 26)).ok());
  EXPECT_THAT(Refused(Proto(kRelu, 17, 14)).message, HasSubstr("IR version 14"));
  EXPECT_TRUE(Load(Proto(kRelu, 17, 13)).ok());
  onnx::ModelProto alias = Proto(kRelu);
  alias.mutable_opset_import(0)->set_domain("ai.onnx");
  alias.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  EXPECT_EQ(NodeNamed(*Loaded(alias).graph, "r").domain, "");
}

TEST_F(LoadTest, BrokenGraphs) {
  const auto message = [this](const std::string& graph) { return ToString(Refused(Proto(graph))); };
  EXPECT_THAT(message("g (float[2] x) => (float[2] y) { [n] y = Add(x, lost) }"),
              testing::AllOf(HasSubstr("'lost'"), HasSubstr("node 'n'"), HasSubstr("model.onnx")));
  EXPECT_THAT(message("g (float[2] x) => (float[2] z) { y = Relu(x) }"), HasSubstr("output 'z'"));
  EXPECT_THAT(message("g (float[2] x) => (float[2] y) { y = Relu(x)  y = Neg(x) }"), HasSubstr("defined twice"));
  EXPECT_THAT(message("g (float[2] x) => (float[2] x) { x = Relu(x) }"), HasSubstr("defined twice"));
  EXPECT_THAT(message("g (float[2] x, float[2] x) => (float[2] y) { y = Relu(x) }"), HasSubstr("same name"));
  EXPECT_THAT(message("g (float[2] x) => (float[2] y) { [n] t = Relu(x)  [n] y = Neg(t) }"), HasSubstr("same name"));
  EXPECT_THAT(message("g (float[2] x) => (float[2] a) { a = Add(x, b)  b = Neg(a) }"), HasSubstr("cycle"));
  EXPECT_THAT(message("g (float[2] x) => (float[2] y) { y = Reluu(x) }"), HasSubstr("did you mean 'Relu'"));
  EXPECT_THAT(message("g (float[2] x) => (float[2] y) { y = other.Thing(x) }"), HasSubstr("does not import it"));
  EXPECT_THAT(message("g (float[2] x) => (float[2] y) { y = com.microsoft.Thing(x) }"), HasSubstr("registered"));
  EXPECT_THAT(message("g (float[2] x) => (float[2] y) { y = Gelu(x) }"), HasSubstr("since version 20"));
}

TEST_F(LoadTest, BrokenTensors) {
  const auto with = [](auto change) {
    onnx::ModelProto proto = Proto("g (float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}> { y = Add(x, w) }");
    proto.mutable_graph()->clear_value_info();
    change(proto.mutable_graph()->mutable_initializer(0));
    return proto;
  };
  EXPECT_THAT(Refused(with([](auto* w) { w->set_dims(0, -2); })).message, HasSubstr("negative"));
  EXPECT_THAT(Refused(with([](auto* w) { w->set_dims(0, 3); })).message, HasSubstr("takes 12"));
  EXPECT_THAT(Refused(with([](auto* w) { w->set_raw_data("12345"); })).message, HasSubstr("5 bytes"));
  EXPECT_THAT(Refused(with([](auto* w) { w->set_data_type(99); })).message, HasSubstr("99"));
  EXPECT_THAT(Refused(with([](auto* w) { w->clear_float_data(); })).message, HasSubstr("0 elements"));
  const Error huge = Refused(with([](auto* w) {
    for (int i = 0; i < 4; ++i) w->add_dims(int64_t{1} << 31);
  }));
  EXPECT_THAT(huge.message, HasSubstr("cannot exist"));
  EXPECT_THAT(huge.place, HasSubstr("initializer 'w'"));
}

TEST_F(LoadTest, DeepSubgraphsAreRefusedNotFatal) {
  onnx::ModelProto proto = Proto(kRelu);
  onnx::GraphProto* graph = proto.mutable_graph();
  for (int depth = 0; depth < 2000; ++depth) {
    auto* node = graph->add_node();
    node->set_op_type("If");
    auto* attribute = node->add_attribute();
    attribute->set_name("then_branch");
    attribute->set_type(onnx::AttributeProto::GRAPH);
    graph = attribute->mutable_g();
  }
  EXPECT_FALSE(Load(proto).ok());
}

// --- external data

class ExternalDataTest : public FileTest {
 protected:
  onnx::ModelProto Model(const std::string& location, const std::string& offset, const std::string& length) {
    onnx::ModelProto proto = Proto("g (float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}> { y = Add(x, w) }");
    auto* tensor = proto.mutable_graph()->mutable_initializer(0);
    tensor->clear_float_data();
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    const auto add = [tensor](const char* key, const std::string& value) {
      if (value.empty()) return;
      auto* entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    add("location", location);
    add("offset", offset);
    add("length", length);
    return proto;
  }
  void WriteData(const std::string& name, size_t offset) {
    const float values[] = {3, 4};
    WriteFile(Path(name), std::string(offset, 'x') + std::string(reinterpret_cast<const char*>(values), sizeof values));
  }
};

TEST_F(ExternalDataTest, IsMappedFromItsPlace) {
  WriteData("w.bin", 64);
  WriteData("odd.bin", 13);
  for (const auto& [file, offset] : {std::pair("w.bin", "64"), std::pair("odd.bin", "13")}) {
    const auto model = Loaded(Model(file, offset, "8"));
    EXPECT_THAT(ToDoubles(*ValueOf(*model.graph, "w").initializer), ElementsAre(3, 4));
    EXPECT_TRUE(model.external_data);
  }
  EXPECT_TRUE(Load(Model("w.bin", "64", "")).ok());
}

TEST_F(ExternalDataTest, WrongPlacesAreRefused) {
  WriteData("w.bin", 64);
  EXPECT_THAT(Refused(Model("lost.bin", "", "")).message, HasSubstr("does not exist"));
  EXPECT_THAT(Refused(Model(Path("w.bin"), "", "8")).message, HasSubstr("absolute"));
  EXPECT_THAT(Refused(Model("../w.bin", "", "8")).message, HasSubstr("leaves"));
  EXPECT_THAT(Refused(Model("a/../../w.bin", "", "8")).message, HasSubstr("leaves"));
  EXPECT_THAT(Refused(Model("w.bin", "65", "8")).message, HasSubstr("ends before"));
  EXPECT_THAT(Refused(Model("w.bin", "18446744073709551615", "8")).message, HasSubstr("ends before"));
  EXPECT_THAT(Refused(Model("w.bin", "-1", "8")).message, HasSubstr("no number"));
  EXPECT_THAT(Refused(Model("w.bin", "0", "4")).message, HasSubstr("length 4"));
  EXPECT_THAT(Refused(Model("", "", "")).message, HasSubstr("without a location"));
  std::filesystem::create_directory(Path("dir"));
  EXPECT_THAT(Refused(Model("dir", "", "8")).message, HasSubstr("no plain file"));
}

TEST_F(ExternalDataTest, LinksMustStayInside) {
  WriteData("w.bin", 0);
  std::filesystem::create_symlink("w.bin", Path("near.bin"));
  EXPECT_TRUE(Load(Model("near.bin", "", "8")).ok());
  std::filesystem::create_symlink("/etc/passwd", Path("far.bin"));
  EXPECT_THAT(Refused(Model("far.bin", "", "8")).message, HasSubstr("link out"));
  // A model that is a link, with its data beside the real file.
  std::filesystem::create_directory(Path("links"));
  Write(Model("w.bin", "", "8"));
  std::filesystem::create_symlink("../model.onnx", Path("links/model.onnx"));
  std::filesystem::create_symlink("../w.bin", Path("links/w.bin"));
  EXPECT_TRUE(LoadModel(Path("links/model.onnx"), {}).ok());
}

}  // namespace
}  // namespace rulerun
