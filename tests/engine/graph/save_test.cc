#include "engine/graph/save.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>

#include "tests/engine/graph/graph_test_util.h"

namespace rulerun {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SaveTest : public FileTest {
 protected:
  onnx::ModelProto Saved(const Model& model, const SaveOptions& options = {}) {
    const Status status = SaveModel(model, Path("out.onnx"), options);
    EXPECT_TRUE(status.ok()) << ToString(status.error());
    return Read("out.onnx");
  }
};

constexpr char kNet[] = R"(g (float[N,2] x) => (float[N,2] y) <float[2] w = {1.0, 2.0}, float[N,2] t> {
    [a] t = Add(x, w)  [l] y = LeakyRelu(t) })";

onnx::ModelProto Net() {
  onnx::ModelProto proto = Proto(kNet);
  proto.set_producer_name("tests");
  proto.set_model_version(7);
  auto* entry = proto.add_metadata_props();
  entry->set_key("k");
  entry->set_value("v");
  proto.mutable_graph()->mutable_node(0)->set_doc_string("why");
  return proto;
}

TEST_F(SaveTest, UnchangedIsByteForByte) {
  const Model model = Loaded(Net());
  ASSERT_TRUE(SaveModel(model, Path("out.onnx")).ok());
  EXPECT_EQ(ReadFile(Path("out.onnx")), ReadFile(Path("model.onnx")));
}

TEST_F(SaveTest, ChangedIsTheSameModelWithDefaults) {
  const Model model = Loaded(Net());
  model.graph->MarkModified();
  const onnx::ModelProto saved = Saved(model);
  EXPECT_EQ(saved.producer_name(), "tests");
  EXPECT_EQ(saved.model_version(), 7);
  EXPECT_EQ(saved.metadata_props_size(), 1);
  EXPECT_EQ(saved.opset_import_size(), 2);
  ASSERT_EQ(saved.graph().node_size(), 2);
  EXPECT_EQ(saved.graph().node(0).doc_string(), "why");
  ASSERT_EQ(saved.graph().node(1).attribute_size(), 1);
  EXPECT_EQ(saved.graph().node(1).attribute(0).name(), "alpha");
  ASSERT_EQ(saved.graph().initializer_size(), 1);
  EXPECT_EQ(saved.graph().initializer(0).raw_data().size(), 8U);
  ASSERT_EQ(saved.graph().value_info_size(), 1);
  EXPECT_EQ(saved.graph().value_info(0).name(), "t");
  const Model again = Loaded(saved);
  EXPECT_EQ(again.graph->node_count(), 2U);
  EXPECT_THAT(ToDoubles(*ValueOf(*again.graph, "w").initializer), ElementsAre(1, 2));
}

TEST_F(SaveTest, OnlyTheMainGraphsConstantsMoveInAnUnchangedModel) {
  const Model model = Loaded(Proto(R"(g (bool c, float[2] x) => (float[2] y) {
      k = Constant<value = float[2] {1.0, 2.0}>()  [l] t = LeakyRelu(x)  u = Add(t, k)
      [if] y = If(c) <then_branch = a () => (float[2] p) { p = Neg(u) },
                      else_branch = b () => (float[2] q) { q = Constant<value = float[2] {3.0, 4.0}>() }> })"));
  const onnx::ModelProto saved = Saved(model);
  ASSERT_EQ(saved.graph().node_size(), 3);
  EXPECT_EQ(saved.graph().initializer_size(), 1);
  EXPECT_EQ(saved.graph().node(0).attribute_size(), 0);  // no default was written
  model.graph->MarkModified();
  const onnx::ModelProto changed = Saved(model);
  for (const auto& attribute : changed.graph().node(2).attribute()) {
    if (attribute.name() == "else_branch") {
      EXPECT_EQ(attribute.g().initializer_size(), 1);
    }
  }
  EXPECT_TRUE(Load(changed).ok());
}

TEST_F(SaveTest, ImportsDomainsThatCameIn) {
  Model model = Loaded(Net());
  onnx::ModelProto none = Net();
  none.mutable_opset_import()->RemoveLast();
  model = Loaded(none);
  Node node;
  node.op_type = "New";
  node.domain = "com.microsoft";
  node.inputs = {*model.graph->Find("x")};
  node.outputs = {model.graph->AddValue("new")};
  model.graph->AddNode(std::move(node));
  const onnx::ModelProto saved = Saved(model);
  ASSERT_EQ(saved.opset_import_size(), 2);
  EXPECT_EQ(saved.opset_import(1).domain(), "com.microsoft");
  EXPECT_EQ(saved.opset_import(1).version(), 1);
}

TEST_F(SaveTest, LargeModelsGetADataFile) {
  onnx::ModelProto proto = Proto(
      "g (float[1024] x) => (float[1024] y) <float[1024] w = {0.0}, float[1] b = {5.0}> { t = Add(x, w)  y = Mul(t, b) "
      "}");
  auto* tensor = proto.mutable_graph()->mutable_initializer(0);
  tensor->clear_float_data();
  std::string bytes(4096, '\0');
  bytes[4095] = '\x3f';
  tensor->set_raw_data(bytes);
  const Model model = Loaded(proto);
  model.graph->MarkModified();
  SaveOptions options;
  options.largest_file = 2000;
  const onnx::ModelProto saved = Saved(model, options);
  EXPECT_EQ(saved.graph().initializer(0).data_location(), onnx::TensorProto::EXTERNAL);
  EXPECT_EQ(saved.graph().initializer(0).external_data(0).value(), "out.onnx.data");
  EXPECT_FALSE(saved.graph().initializer(1).has_data_location());
  EXPECT_EQ(ReadFile(Path("out.onnx.data")), bytes);
  const auto again = LoadModel(Path("out.onnx"), {});
  ASSERT_TRUE(again.ok()) << ToString(again.error());
  EXPECT_TRUE(SameContent(*ValueOf(*again->graph, "w").initializer, *ValueOf(*model.graph, "w").initializer));
  // A copy in another folder must not point at data that is not there.
  std::filesystem::create_directory(Path("sub"));
  ASSERT_TRUE(SaveModel(*again, Path("sub/copy.onnx")).ok());
  EXPECT_TRUE(LoadModel(Path("sub/copy.onnx"), {}).ok());
  // Over the file itself, whose data is still mapped.
  again->graph->MarkModified();
  ASSERT_TRUE(SaveModel(*again, Path("out.onnx"), options).ok());
  EXPECT_TRUE(LoadModel(Path("out.onnx"), {}).ok());
}

TEST_F(SaveTest, FailureLeavesNothing) {
  const Model model = Loaded(Net());
  const size_t files = FileCount();
  const Status no_folder = SaveModel(model, Path("none/out.onnx"));
  ASSERT_FALSE(no_folder.ok());
  EXPECT_THAT(no_folder.error().remedy, HasSubstr("Make the folder"));
  EXPECT_FALSE(SaveModel(model, folder_.string()).ok());
  // A file may not grow beyond a limit: as on a full disk, the write fails half way.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{50, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  model.graph->MarkModified();
  const Status full = SaveModel(model, Path("out.onnx"));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(full.ok());
  EXPECT_EQ(FileCount(), files);
}

TEST_F(SaveTest, OverwritesInPlace) {
  const Model model = Loaded(Net());
  model.graph->MarkModified();
  ASSERT_TRUE(SaveModel(model, Path("model.onnx")).ok());
  EXPECT_EQ(FileCount(), 1U);
  EXPECT_TRUE(LoadModel(Path("model.onnx"), {}).ok());
  // The file has changed since it was read: the model is written from memory, not copied.
  const Model stale = Loaded(Net());
  WriteFile(Path("model.onnx"), "something else");
  EXPECT_EQ(Saved(stale).graph().node_size(), 2);
}

TEST_F(SaveTest, BeforeIr4InitializersAreInputs) {
  Model model = Loaded(Proto("g (float[2] x, float[2] w = {1.0, 2.0}) => (float[2] y) { y = Add(x, w) }", 8, 3));
  EXPECT_NE(model.graph->Constant(*model.graph->Find("w")), nullptr);
  model.graph->SetInput(0, 0, model.graph->AddInitializer("new", Tensor::Vector<float>({1, 2})));
  EXPECT_EQ(Saved(model).graph().input_size(), 3);
}

TEST_F(SaveTest, MeasuresAsPythonDoes) {
  onnx::ModelProto proto = Net();
  auto* entry = proto.mutable_graph()->mutable_node(1)->add_metadata_props();
  entry->set_key("namespace");
  entry->set_value("model/layer");
  const auto sizes = MeasureModel(Write(proto));
  ASSERT_TRUE(sizes.ok());
  EXPECT_EQ(sizes->total, proto.ByteSizeLong());
  EXPECT_EQ(sizes->initializers, proto.graph().initializer(0).ByteSizeLong());
  EXPECT_EQ(sizes->nodes, proto.graph().node(0).ByteSizeLong() + proto.graph().node(1).ByteSizeLong());
  EXPECT_EQ(sizes->metadata, entry->ByteSizeLong() + 2);
}

TEST_F(SaveTest, CloneIsIndependentAndSharesData) {
  const Model model = Loaded(Proto(R"(g (bool c, float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}> {
      t = Add(x, w)
      [if] y = If(c) <then_branch = a () => (float[2] p) { p = Neg(t) }, else_branch = b () => (float[2] q) { q = Exp(t) }> })"));
  const Model copy = CloneModel(model);
  EXPECT_EQ(ValueOf(*copy.graph, "w").initializer->raw(), ValueOf(*model.graph, "w").initializer->raw());
  EXPECT_FALSE(copy.graph->modified());
  const Node& node = NodeNamed(*copy.graph, "if");
  EXPECT_EQ(copy.graph->Subgraphs(node)[0]->parent(), copy.graph.get());
  EXPECT_EQ(copy.graph->Subgraphs(node)[0]->parent_node(), node.index);
  copy.graph->RemoveNode(node.index);
  EXPECT_EQ(model.graph->node_count(), 2U);
  EXPECT_TRUE(Resolve(*model.graph, {}).ok());
}

}  // namespace
}  // namespace rulerun
