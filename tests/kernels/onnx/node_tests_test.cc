// ONNX's own node tests. What an operator's kernels claim to do (the registry, `rulerun ops`) is what is tested here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/graph/load.h"
#include "engine/graph/tensor_file.h"
#include "kernels/executor/executor.h"

namespace rulerun {
namespace {

namespace fs = std::filesystem;

// ONNX's test runner has the same two.
constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-7;

enum class Outcome {
  kPassed,
  kUnclaimed,  // an operator has no kernel for its version and types, or a value is no tensor
  kFailed,
};

struct Report {
  Outcome outcome = Outcome::kPassed;
  std::string why;
};

Report Failed(std::string why) { return {Outcome::kFailed, std::move(why)}; }

// Lines "NAME reason" of a file; '#' begins a comment.
std::map<std::string, std::string> ReadReasons(const std::string& name) {
  std::ifstream file(fs::path(RULERUN_SOURCE_DIR) / "tests/data/onnx" / name);
  EXPECT_TRUE(file.is_open()) << name;
  std::map<std::string, std::string> reasons;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    const size_t end = line.find(' ');
    EXPECT_NE(end, std::string::npos) << name << ": no reason: " << line;
    if (end != std::string::npos) reasons[line.substr(0, end)] = line.substr(line.find_first_not_of(' ', end));
  }
  return reasons;
}

KernelRequest RequestFor(const Graph& graph, const Node& node, std::vector<DataType>& types) {
  for (const ValueId input : node.inputs) {
    types.push_back(input == kNoValue ? DataType::kUndefined : graph.TypeOf(input).element);
  }
  KernelRequest request;
  request.op_type = node.op_type;
  request.domain = node.domain;
  request.since_version = node.since_version;
  request.input_types = types;
  return request;
}

// The first thing in the graph that no kernel claims, "" if there is none; adds the operators to `operators`.
std::string Unclaimed(const Graph& graph, std::set<std::string>& operators) {
  for (size_t id = 0; id < graph.value_count(); ++id) {
    const Value& value = graph.value(static_cast<ValueId>(id));
    if (!value.type.other.empty()) return "'" + value.name + "' is no tensor";
  }
  for (const NodeIndex index : TopologicalOrder(graph)) {
    const Node& node = *graph.node(index);
    std::vector<DataType> types;
    if (KernelRegistry::Default().Find(RequestFor(graph, node, types)) == nullptr) return node.Op();
    operators.insert(node.Op());
    for (const Graph* subgraph : graph.Subgraphs(node)) {
      if (std::string inner = Unclaimed(*subgraph, operators); !inner.empty()) return inner;
    }
  }
  return "";
}

// "" where the tensors are alike; NaN equals NaN.
std::string Difference(const Tensor& found, const Tensor& wanted) {
  const auto text = [](const Tensor& tensor) {
    return std::string(Name(tensor.type())) + ToString(ToShape(tensor.dims()));
  };
  if (found.type() != wanted.type() || found.dims() != wanted.dims()) {
    return text(found) + ", wanted " + text(wanted);
  }
  if (SameContent(found, wanted)) return "";
  if (BitWidth(found.type()) == 0 || BitWidth(found.type()) == 128) return "the elements differ";
  for (int64_t i = 0; i < found.count(); ++i) {
    const double a = ElementAsDouble(found, i);
    const double b = ElementAsDouble(wanted, i);
    if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= kAbsolute + kRelative * std::abs(b)) continue;
    return "element " + std::to_string(i) + " is " + FormatDouble(a) + ", wanted " + FormatDouble(b);
  }
  return "";
}

Result<Tensor> ReadValue(const fs::path& folder, const std::string& stem) {
  return ReadTensorFile((folder / "test_data_set_0" / (stem + ".pb")).string());
}

Result<TensorMap> ReadInputs(const fs::path& folder, const Graph& graph) {
  TensorMap inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    RULERUN_ASSIGN(inputs[graph.value(graph.inputs()[i]).name], ReadValue(folder, "input_" + std::to_string(i)));
  }
  return inputs;
}

Report CompareOutputs(const fs::path& folder, const Graph& graph, const TensorMap& outputs) {
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const std::string& name = graph.value(graph.outputs()[i]).name;
    const Result<Tensor> wanted = ReadValue(folder, "output_" + std::to_string(i));
    if (!wanted.ok()) return Failed(ToString(wanted.error()));
    const auto found = outputs.find(name);
    if (found == outputs.end()) return Failed("no output '" + name + "'");
    if (const std::string why = Difference(found->second, *wanted); !why.empty()) return Failed(name + ": " + why);
  }
  return {};
}

Report RunTest(const fs::path& folder, std::set<std::string>& operators) {
  const Result<Model> model = LoadModel((folder / "model.onnx").string(), ExternalSchemas());
  if (!model.ok()) return Failed(ToString(model.error()));
  const Graph& graph = *model->graph;
  if (std::string what = Unclaimed(graph, operators); !what.empty()) return {Outcome::kUnclaimed, what};
  const Result<std::unique_ptr<Executor>> executor = Executor::Prepare(graph);
  if (!executor.ok()) return Failed(ToString(executor.error()));
  const Result<TensorMap> inputs = ReadInputs(folder, graph);
  if (!inputs.ok()) return Failed(ToString(inputs.error()));
  const Result<TensorMap> outputs = (*executor)->Run(*inputs);
  if (!outputs.ok()) return Failed(ToString(outputs.error()));
  return CompareOutputs(folder, graph, *outputs);
}

// All tests, run once for every check below.
struct Suite {
  std::map<std::string, Report> reports;
  std::set<std::string> passed_operators;
};

const Suite& RunSuite() {
  static const Suite& suite = *[] {
    auto* made = new Suite;
    const fs::path folder = fs::path(RULERUN_SOURCE_DIR) / "build/onnx-node-tests";
    if (!fs::is_directory(folder)) {
      ADD_FAILURE() << folder << " is not there; run scripts/setup --tests";
      return made;
    }
    for (const auto& entry : fs::directory_iterator(folder)) {
      std::set<std::string> operators;
      const Report report = RunTest(entry.path(), operators);
      made->reports[entry.path().filename().string()] = report;
      if (report.outcome == Outcome::kPassed) made->passed_operators.merge(operators);
    }
    return made;
  }();
  return suite;
}

size_t Count(const Suite& suite, Outcome outcome) {
  return static_cast<size_t>(std::count_if(suite.reports.begin(), suite.reports.end(),
                                           [&](const auto& item) { return item.second.outcome == outcome; }));
}

// "name" or "start*".
bool Fits(std::string_view pattern, std::string_view name) {
  return EndsWith(pattern, "*") ? StartsWith(name, pattern.substr(0, pattern.size() - 1)) : pattern == name;
}

TEST(OnnxNodeTests, WhatIsClaimedPasses) {
  const Suite& suite = RunSuite();
  std::map<std::string, std::string> unused = ReadReasons("node-tests-not-passed.txt");
  const std::map<std::string, std::string> known = unused;
  for (const auto& [name, report] : suite.reports) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& k) { return Fits(k.first, name); });
    const bool failed = report.outcome == Outcome::kFailed;
    if (failed && found == known.end()) ADD_FAILURE() << name << ": " << report.why;
    if (failed && found != known.end()) unused.erase(found->first);
  }
  for (const auto& [name, reason] : unused) ADD_FAILURE() << name << " is listed, but no such test fails";
  const size_t passed = Count(suite, Outcome::kPassed);
  const size_t failed = Count(suite, Outcome::kFailed);
  std::cout << passed << " of " << suite.reports.size() << " node tests passed, " << failed << " listed as not passed, "
            << suite.reports.size() - passed - failed << " with an operator or a type that has no kernel\n";
}

// `rulerun ops` promises nothing that no test has seen.
TEST(OnnxNodeTests, EveryClaimedOperatorHasOneThatPasses) {
  const Suite& suite = RunSuite();
  const std::map<std::string, std::string> without = ReadReasons("operators-without-node-test.txt");
  std::set<std::string> claimed;
  for (const KernelDef& def : KernelRegistry::Default().all()) {
    if (def.domain.empty()) claimed.insert(def.op_type);
  }
  EXPECT_GE(claimed.size(), size_t{120});
  for (const std::string& op : claimed) {
    EXPECT_NE(suite.passed_operators.count(op), without.count(op))
        << op << (without.count(op) > 0 ? " is listed as untested, but a test passes" : ": no test of it passes");
  }
  for (const auto& [op, reason] : without) EXPECT_EQ(claimed.count(op), 1u) << op << " is listed, but not claimed";
}

}  // namespace
}  // namespace rulerun
