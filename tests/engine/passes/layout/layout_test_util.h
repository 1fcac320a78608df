// Runs a layout pass over a graph in ONNX text and shows what came out as one expression per graph output.
#ifndef RULERUN_TESTS_ENGINE_PASSES_LAYOUT_LAYOUT_TEST_UTIL_H_
#define RULERUN_TESTS_ENGINE_PASSES_LAYOUT_LAYOUT_TEST_UTIL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/graph/model.h"
#include "engine/passes/pass.h"

namespace rulerun {

struct PassRun {
  int opset = 17;
  std::string provider;  // of the stage and of every node; "": level 1
  int64_t block = 8;     // of channels
  bool fp16 = false;     // the platform's fp16_vector
};

// The model, as the text gives it.
Model ParseGraph(const std::string& text, int opset = 17);

// Runs the pass of that name with the table of rules/ort130.yaml, and Resolve after it. A failure is told in place of
// the result: "error: ...".
std::string Run(const std::string& pass, const std::string& text, const PassRun& run = {});
Result<PassResult> RunOn(const std::string& pass, Model& model, const PassRun& run = {});

// "float[2,1] name = {0, 0}": an initializer of zeros, as the text wants it.
std::string Zeros(const std::string& type, const std::vector<int64_t>& dims, const std::string& name);

// "y = Relu(Transpose<perm=[1, 0]>(x)); z = ...": attributes that are not the default, small constants as their
// numbers.
std::string Show(const Graph& graph);

}  // namespace rulerun

#endif  // RULERUN_TESTS_ENGINE_PASSES_LAYOUT_LAYOUT_TEST_UTIL_H_
