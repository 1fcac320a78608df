// Small models for the tests of engine/graph: written as ONNX text, saved as files.
#ifndef RULERUN_TESTS_ENGINE_GRAPH_GRAPH_TEST_UTIL_H_
#define RULERUN_TESTS_ENGINE_GRAPH_GRAPH_TEST_UTIL_H_

#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "engine/graph/load.h"
#include "engine/graph/resolve.h"
#include "engine/graph/save.h"

namespace rulerun {

inline onnx::ModelProto Proto(const std::string& graph, int opset = 17, int ir_version = 8) {
  const std::string text = "<ir_version: " + std::to_string(ir_version) +
                           ", opset_import: [\"\" : " + std::to_string(opset) + ", \"com.microsoft\" : 1]>\n" + graph;
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, text);
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return model;
}

// What tests go on with after a failure.
inline Model NoModel() {
  Model model;
  model.graph = std::make_unique<Graph>(OpsetMap{}, 8);
  return model;
}

inline std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void WriteFile(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A folder that is gone after the test.
class FileTest : public testing::Test {
 protected:
  FileTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("rulerun_graph_" + std::to_string(::getpid()) + "_" +
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~FileTest() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Write(const onnx::ModelProto& model, const std::string& name = "model.onnx") const {
    WriteFile(Path(name), model.SerializeAsString());
    return Path(name);
  }
  onnx::ModelProto Read(const std::string& name) const {
    onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(ReadFile(Path(name))));
    return model;
  }
  Result<Model> Load(const onnx::ModelProto& model) const { return LoadModel(Write(model), {}); }
  // The model, which must load.
  Model Loaded(const onnx::ModelProto& model) const {
    auto loaded = Load(model);
    EXPECT_TRUE(loaded.ok()) << ToString(loaded.error());
    return loaded.ok() ? std::move(loaded).value() : NoModel();
  }
  // The error, which must come.
  Error Refused(const onnx::ModelProto& model) const {
    auto loaded = Load(model);
    EXPECT_FALSE(loaded.ok());
    return loaded.ok() ? Error{} : loaded.error();
  }
  size_t FileCount() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::filesystem::path folder_;
};

inline const Value& ValueOf(const Graph& graph, const std::string& name) {
  static const Value& none = *new Value;
  const auto id = graph.Find(name);
  EXPECT_TRUE(id.has_value()) << name;
  return id ? graph.value(*id) : none;
}

// "float[N, 3]", "int64" where the rank is unknown.
inline std::string TypeText(const Graph& graph, const std::string& name) {
  const ValueType& type = ValueOf(graph, name).type;
  return std::string(Name(type.element)) + (type.shape ? ToString(*type.shape) : "");
}

inline const Node& NodeNamed(const Graph& graph, const std::string& name) {
  for (NodeIndex index = 0; index < graph.node_limit(); ++index) {
    if (graph.node(index) != nullptr && graph.node(index)->name == name) return *graph.node(index);
  }
  static const Node& none = *new Node;
  ADD_FAILURE() << "no node " << name;
  return none;
}

}  // namespace rulerun

#endif  // RULERUN_TESTS_ENGINE_GRAPH_GRAPH_TEST_UTIL_H_
