#include "tests/kernels/int8/harness.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "engine/base/codes.h"
#include "kernels/buffer.h"
#include "kernels/int8/targets.h"
#include "kernels/kernel.h"

namespace rulerun::int8_test {
namespace {

class Context : public KernelContext {
 public:
  Context(const Node& node, ThreadPool& pool) : node_(node), pool_(pool), outputs_(node.outputs) {}

  const Tensor* Input(size_t slot) const override {
    return slot < node_.inputs.size() && !node_.inputs[slot].empty() ? &node_.inputs[slot] : nullptr;
  }
  size_t InputCount() const override { return node_.inputs.size(); }
  Result<Tensor*> Output(size_t slot, DataType type, Dims dims) override {
    RULERUN_ASSIGN(outputs_.at(slot), AllocateTensor(type, std::move(dims)));
    // A kernel that leaves elements unwritten must not look right by accident.
    std::fill_n(outputs_[slot].mutable_raw(), outputs_[slot].bytes(), std::byte{0xa5});
    return &outputs_[slot];
  }
  void SetOutput(size_t slot, Tensor tensor) override { outputs_.at(slot) = std::move(tensor); }
  bool Wanted(size_t) const override { return true; }
  ThreadPool& pool() override { return pool_; }
  Result<std::vector<Tensor>> RunSubgraph(std::string_view, std::vector<Tensor>) override {
    return Error{Code::kKernelLimit, "no subgraphs here", "", ""};
  }
  std::vector<Tensor> outputs() { return std::move(outputs_); }

 private:
  const Node& node_;
  ThreadPool& pool_;
  std::vector<Tensor> outputs_;
};

ThreadPool& PoolOf(int threads) {
  static ThreadPool one(1);
  static ThreadPool two(2);
  static ThreadPool three(3);
  return threads == 1 ? one : threads == 2 ? two : three;
}

bool SameElement(const Tensor& a, const Tensor& b, int64_t i) {
  if (a.type() == DataType::kFloat) {
    const float x = a.data<float>()[i];
    const float y = b.data<float>()[i];
    return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y) || (std::isnan(x) && std::isnan(y));
  }
  if (IsInteger(a.type())) return ElementAsInt(a, i) == ElementAsInt(b, i);
  const double x = ElementAsDouble(a, i);
  const double y = ElementAsDouble(b, i);
  return (x == y && std::signbit(x) == std::signbit(y)) || (std::isnan(x) && std::isnan(y));
}

// What is different, or nothing.
std::string Difference(const Tensor& expected, const Tensor& actual) {
  if (expected.type() != actual.type()) return "type " + std::string(Name(actual.type()));
  if (expected.dims() != actual.dims()) {
    std::string dims;
    for (const int64_t dim : actual.dims()) dims += " " + std::to_string(dim);
    return "dims" + dims;
  }
  int64_t count = 0;
  std::string first;
  for (int64_t i = 0; i < expected.count(); ++i) {
    if (SameElement(expected, actual, i)) continue;
    if (count++ == 0) {
      first = "element " + std::to_string(i) + " is " + std::to_string(ElementAsDouble(actual, i)) + ", not " +
              std::to_string(ElementAsDouble(expected, i));
    }
  }
  return count == 0 ? ""
                    : first + " (" + std::to_string(count) + " of " + std::to_string(expected.count()) + " differ)";
}

}  // namespace

Result<std::vector<Tensor>> Run(const Node& node, int threads, bool constant) {
  std::vector<DataType> types;
  std::vector<const Tensor*> constants;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Tensor& input = node.inputs[i];
    types.push_back(input.type());
    constants.push_back(constant && i > 0 && !input.empty() ? &input : nullptr);
  }
  KernelRequest request;
  request.op_type = node.op;
  request.domain = node.domain;
  request.since_version = node.version;
  request.attributes = &node.attributes;
  request.input_types = types;
  request.constants = constants;
  request.output_count = node.outputs;
  RULERUN_ASSIGN(const std::unique_ptr<Kernel> kernel, KernelRegistry::Default().Make(request));
  Context context(node, PoolOf(threads));
  RULERUN_RETURN_IF_ERROR(kernel->Run(context));
  return context.outputs();
}

void ExpectOutputs(const Node& node, const std::vector<Tensor>& expected, const std::string& what) {
  for (const std::string& target : SupportedTargets()) {
    ASSERT_TRUE(ForceTarget(target).ok());
    for (int threads = 1; threads <= 3; ++threads) {
      const bool constant = threads != 2;
      const std::string how = what + " (" + node.op + ", " + target + ", " + std::to_string(threads) + " threads" +
                              (constant ? ", constant inputs)" : ")");
      const Result<std::vector<Tensor>> outputs = Run(node, threads, constant);
      ASSERT_TRUE(outputs.ok()) << how << ": " << ToString(outputs.error());
      ASSERT_EQ(outputs->size(), expected.size()) << how;
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(Difference(expected[i], (*outputs)[i]), "") << how << ", output " << i;
      }
    }
  }
  ASSERT_TRUE(ForceTarget("auto").ok());
}

void ExpectError(const Node& node, const std::string& part) {
  for (const bool constant : {false, true}) {
    const Result<std::vector<Tensor>> outputs = Run(node, 1, constant);
    ASSERT_FALSE(outputs.ok()) << node.op << ": no error with '" << part << "'";
    EXPECT_NE(outputs.error().message.find(part), std::string::npos) << outputs.error().message;
  }
}

int64_t Random::Int(int64_t min, int64_t max) {
  const uint64_t range = static_cast<uint64_t>(max - min) + 1;
  const uint64_t bits = (static_cast<uint64_t>(engine_()) << 32) | engine_();
  return min + static_cast<int64_t>(bits % range);
}

float Random::Real(float min, float max) { return min + (max - min) * (static_cast<float>(engine_() >> 8) * 0x1p-24f); }

float Random::Scale(float min, float max) { return std::exp(Real(std::log(min), std::log(max))); }

Tensor Random::Ints(DataType type, Dims dims, int64_t min, int64_t max) {
  const IntegerRange range = *RangeOf(type);
  Tensor tensor(type, std::move(dims));
  for (int64_t i = 0; i < tensor.count(); ++i) {
    SetInt(tensor, i, Int(std::max(min, range.min), std::min(max, range.max)));
  }
  return tensor;
}

Tensor Random::Reals(Dims dims, float min, float max) {
  Tensor tensor(DataType::kFloat, std::move(dims));
  for (int64_t i = 0; i < tensor.count(); ++i) tensor.mutable_data<float>()[i] = Real(min, max);
  return tensor;
}

Tensor Random::Scales(Dims dims, float min, float max) {
  Tensor tensor(DataType::kFloat, std::move(dims));
  for (int64_t i = 0; i < tensor.count(); ++i) tensor.mutable_data<float>()[i] = Scale(min, max);
  return tensor;
}

Tensor ScalarInt(DataType type, int64_t value) {
  Tensor tensor(type, {});
  SetInt(tensor, 0, value);
  return tensor;
}

const std::vector<float>& EdgeFloats() {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  static const auto& values = *new std::vector<float>{
      0.0f,  -0.0f,  0.5f,          1.5f,  2.5f,        -0.5f,        -1.5f,      -2.5f,     1e-45f, -1e-45f,
      1e30f, -1e30f, kInf,          -kInf, NAN,         127.5f,       128.5f,     -128.5f,   254.5f, 255.5f,
      3e9f,  -3e9f,  2147483520.0f, 1.0f,  0.49999997f, -0.49999997f, 1.4999999f, 2.5000002f};
  return values;
}

}  // namespace rulerun::int8_test
