// Runs one node with the project's kernels on every SIMD target of the machine and with 1, 2 and 3 threads.
#ifndef RULERUN_TESTS_KERNELS_INT8_HARNESS_H_
#define RULERUN_TESTS_KERNELS_INT8_HARNESS_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/graph/attribute.h"
#include "engine/graph/tensor.h"

namespace rulerun::int8_test {

// A node. An input that is an empty Tensor is omitted.
struct Node {
  std::string op;
  std::string domain;
  int version = 1;
  AttributeMap attributes;
  std::vector<Tensor> inputs;
  size_t outputs = 1;
};

// One run on the current target. With `constant`, the kernel is prepared knowing all inputs but the first.
Result<std::vector<Tensor>> Run(const Node& node, int threads, bool constant);

// Runs `node` in every way and expects outputs that equal `expected` to the bit (any NaN equals any other).
void ExpectOutputs(const Node& node, const std::vector<Tensor>& expected, const std::string& what);

// Expects an error whose message has `part` in it.
void ExpectError(const Node& node, const std::string& part);

// Random numbers that are the same everywhere.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t Int(int64_t min, int64_t max);  // both included
  float Real(float min, float max);
  float Scale(float min, float max);  // evenly distributed logarithm
  bool Chance(int percent) { return Int(1, 100) <= percent; }

  // Integers within [min, max] and within the type; by default all of the type.
  Tensor Ints(DataType type, Dims dims, int64_t min = INT64_MIN, int64_t max = INT64_MAX);
  Tensor Reals(Dims dims, float min, float max);
  Tensor Scales(Dims dims, float min = 1e-3f, float max = 0.1f);

 private:
  std::mt19937 engine_;
};

// A scalar of an integer type.
Tensor ScalarInt(DataType type, int64_t value);

// Values that quantizers treat specially: ties, signed zeros, subnormals, infinities, NaN, beyond int32.
const std::vector<float>& EdgeFloats();

}  // namespace rulerun::int8_test

#endif  // RULERUN_TESTS_KERNELS_INT8_HARNESS_H_
