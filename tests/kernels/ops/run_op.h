// Runs one operator on tensors written in a line, for the tests of kernels.
#ifndef RULERUN_TESTS_KERNELS_OPS_RUN_OP_H_
#define RULERUN_TESTS_KERNELS_OPS_RUN_OP_H_

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"

namespace rulerun {

inline Tensor Floats(Dims dims, const std::vector<float>& values) { return Tensor::Of(std::move(dims), values); }
inline Tensor Ints(const std::vector<int64_t>& values) { return Tensor::Vector(values); }

struct OpCall {
  std::string_view op_type;
  std::vector<Tensor> inputs;  // empty ones are omitted
  AttributeMap attributes = {};
  int version = 13;
  size_t outputs = 1;
  std::string_view domain = "";
};

inline Result<std::vector<Tensor>> RunOp(const OpCall& call) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& input : call.inputs) pointers.push_back(input.empty() ? nullptr : &input);
  return RunOnce(KernelRegistry::Default(), call.domain, call.op_type, call.version, call.attributes, pointers,
                 call.outputs);
}

// The first output; a failed test and an empty tensor where there is none.
inline Tensor RunToTensor(const OpCall& call) {
  Result<std::vector<Tensor>> outputs = RunOp(call);
  if (!outputs.ok()) {
    ADD_FAILURE() << call.op_type << ": " << ToString(outputs.error());
    return {};
  }
  return outputs->at(0);
}

inline std::string ErrorOf(const OpCall& call) {
  const Result<std::vector<Tensor>> outputs = RunOp(call);
  return outputs.ok() ? "" : outputs.error().message;
}

// The output has this shape and these values, each within `tolerance`.
inline void ExpectOutput(const OpCall& call, const Dims& dims, const std::vector<double>& values,
                         double tolerance = 0) {
  SCOPED_TRACE(call.op_type);
  const Tensor output = RunToTensor(call);
  ASSERT_EQ(output.dims(), dims);
  const std::vector<double> found = ToDoubles(output);
  ASSERT_EQ(found.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(found[i], values[i], tolerance) << "element " << i;
}

}  // namespace rulerun

#endif  // RULERUN_TESTS_KERNELS_OPS_RUN_OP_H_
