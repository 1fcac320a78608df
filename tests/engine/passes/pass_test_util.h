// Runs one pass over a graph in ONNX text and shows what came out, node by node.
#ifndef RULERUN_TESTS_ENGINE_PASSES_PASS_TEST_UTIL_H_
#define RULERUN_TESTS_ENGINE_PASSES_PASS_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/model.h"
#include "engine/passes/pass.h"

namespace rulerun {

struct RunOptions {
  int opset = 17;
  std::string platform = "x86-64-avx2";
  std::vector<std::string> options = {};  // "disable_quant_qdq=1"
  std::string provider = {};              // every node's; "": none
};

// A graph with what a pass makes of it. Without `after` the pass must leave it alone.
struct PassCase {
  std::string name;
  std::string before;
  std::string after;
  RunOptions run = {};
};
void PrintTo(const PassCase& tested, std::ostream* out);
std::string NameOfCase(const testing::TestParamInfo<PassCase>& tested);
// Runs the pass and compares.
void Check(const std::string& pass, const PassCase& tested);

// The model; stops the test program where the text is wrong.
Model ParseGraph(const std::string& text, const RunOptions& run = {});
// With the table of rules/ort130, followed by Resolve.
Result<PassResult> RunPass(const std::string& pass, Model& model, const RunOptions& run = {});

// A line per node in the order of a walk: "[name] y = Relu(x)", attributes that are not the default, "-" for an omitted
// operand, subgraphs in braces. Behind it initializers that some node made: "name = {1, 2}".
std::string ShowNodes(const Graph& graph);
std::string ShowInitializers(const Graph& graph);

}  // namespace rulerun

#endif  // RULERUN_TESTS_ENGINE_PASSES_PASS_TEST_UTIL_H_
