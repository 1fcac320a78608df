#include "kernels/executor/executor.h"

#include <gtest/gtest.h>

#include <set>

#include <map>

#include "engine/graph/load.h"
#include "kernels/executor/random_inputs.h"

namespace rulerun {
namespace {

Model Parse(std::string_view text) {
  Result<Model> model = ParseModelText(text, {{"", 17}}, ExternalSchemas());
  if (!model.ok()) {
    ADD_FAILURE() << ToString(model.error());
    return {};
  }
  return std::move(model).value();
}

Tensor Floats(Dims dims, const std::vector<float>& values) { return Tensor::Of(std::move(dims), values); }

std::vector<double> RunToDoubles(Executor& executor, const TensorMap& inputs, const std::string& output) {
  Result<TensorMap> outputs = executor.Run(inputs);
  if (!outputs.ok()) {
    ADD_FAILURE() << ToString(outputs.error());
    return {};
  }
  return ToDoubles(outputs->at(output));
}

std::unique_ptr<Executor> Prepare(const Model& model, int threads = 1) {
  ExecutorOptions options;
  options.threads = threads;
  Result<std::unique_ptr<Executor>> executor = Executor::Prepare(*model.graph, options);
  if (!executor.ok()) {
    ADD_FAILURE() << ToString(executor.error());
    return nullptr;
  }
  return std::move(executor).value();
}

TEST(Executor, RunsAChainAgainAndAgain) {
  const Model model = Parse(R"(g (float[2] x) => (float[2] y) <float[2] w = {1, -3}> {
    a = Add(x, w)
    b = Relu(a)
    y = Mul(b, b)
  })");
  for (const int threads : {1, 2}) {
    const std::unique_ptr<Executor> executor = Prepare(model, threads);
    ASSERT_NE(executor, nullptr);
    EXPECT_EQ(RunToDoubles(*executor, {{"x", Floats({2}, {1, 2})}}, "y"), (std::vector<double>{4, 0}));
    EXPECT_EQ(RunToDoubles(*executor, {{"x", Floats({2}, {2, 7})}}, "y"), (std::vector<double>{9, 16}));
  }
}

TEST(Executor, ReusesBuffersOfDeadValues) {
  const Model model = Parse(R"(g (float[1000] x) => (float[1000] y) {
    a = Neg(x)
    b = Neg(a)
    c = Neg(b)
    d = Neg(c)
    y = Neg(d)
  })");
  const std::unique_ptr<Executor> executor = Prepare(model);
  ASSERT_NE(executor, nullptr);
  const Tensor x(DataType::kFloat, {1000});
  ASSERT_TRUE(executor->Run({{"x", x}}).ok());
  const size_t once = executor->buffer_bytes();
  EXPECT_LE(once, size_t{3} * 4096);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(executor->Run({{"x", x}}).ok());
  EXPECT_EQ(executor->buffer_bytes(), once);
}

TEST(Executor, OutputsOutliveIt) {
  const Model model = Parse("g (float[2] x) => (float[2] y) { y = Neg(x) }");
  Tensor y;
  {
    const std::unique_ptr<Executor> executor = Prepare(model);
    ASSERT_NE(executor, nullptr);
    Result<TensorMap> outputs = executor->Run({{"x", Floats({2}, {1, 2})}});
    ASSERT_TRUE(outputs.ok());
    y = outputs->at("y");
  }
  EXPECT_EQ(ToDoubles(y), (std::vector<double>{-1, -2}));
}

TEST(Executor, RefusesWrongInputs) {
  const Model model = Parse("g (float[N, 2] input) => (float[N, 2] y) { y = Neg(input) }");
  const std::unique_ptr<Executor> executor = Prepare(model);
  ASSERT_NE(executor, nullptr);
  const auto error = [&](const TensorMap& inputs) {
    const Result<TensorMap> outputs = executor->Run(inputs);
    EXPECT_FALSE(outputs.ok());
    return outputs.ok() ? "" : outputs.error().message + "; " + outputs.error().remedy;
  };
  EXPECT_EQ(error({}), "input 'input' is missing; give every input that has no initializer a value");
  EXPECT_EQ(error({{"inputs", Floats({1, 2}, {1, 2})}}),
            "the model has no input 'inputs', did you mean 'input'?; its inputs are: input");
  EXPECT_EQ(error({{"input", Tensor::Of<int32_t>({1, 2}, {1, 2})}}),
            "input 'input' has type int32; convert it to float");
  EXPECT_EQ(error({{"input", Floats({2}, {1, 2})}}), "input 'input' has shape [2]; give it the shape [N, 2]");
  EXPECT_EQ(error({{"input", Floats({1, 3}, {1, 2, 3})}}), "input 'input' has shape [1, 3]; give it the shape [N, 2]");
  EXPECT_TRUE(executor->Run({{"input", Floats({3, 2}, {1, 2, 3, 4, 5, 6})}}).ok());
}

TEST(Executor, NamesTheNodeThatHasNoKernelOrFails) {
  const Model no_kernel = Parse("g (float[2, 2] x) => (int32[2, 1] y) { y = Multinomial(x) }");
  const Result<std::unique_ptr<Executor>> refused = Executor::Prepare(*no_kernel.graph);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind(), ErrorKind::kUnsupported);
  EXPECT_NE(ToString(refused.error()).find("(Multinomial)"), std::string::npos);

  const Model fails = Parse("g (float[A] x, float[B] z) => (float[C] y) { y = Add(x, z) }");
  const std::unique_ptr<Executor> executor = Prepare(fails);
  ASSERT_NE(executor, nullptr);
  const Result<TensorMap> outputs = executor->Run({{"x", Floats({2}, {1, 2})}, {"z", Floats({3}, {1, 2, 3})}});
  ASSERT_FALSE(outputs.ok());
  EXPECT_NE(outputs.error().place.find("(Add)"), std::string::npos);
}

TEST(Executor, SubgraphsSeeOuterValues) {
  const Model model = Parse(R"(g (bool c, float[1] x) => (float[1] y) {
    outer = Add(x, x)
    y = If (c) <
      then_branch = yes () => (float[1] t) { t = Neg(outer) },
      else_branch = no () => (float[1] e) { e = Mul(outer, x) }
    >
  })");
  const std::unique_ptr<Executor> executor = Prepare(model);
  ASSERT_NE(executor, nullptr);
  const Tensor x = Floats({1}, {3});
  EXPECT_EQ(RunToDoubles(*executor, {{"c", Tensor::Scalar(true)}, {"x", x}}, "y"), (std::vector<double>{-6}));
  EXPECT_EQ(RunToDoubles(*executor, {{"c", Tensor::Scalar(false)}, {"x", x}}, "y"), (std::vector<double>{18}));
}

TEST(Executor, LoopsCarryAndCollect) {
  const Model model = Parse(R"(g (int64 n, float[1] x) => (float[1] last, float[k, 1] all) {
    last, all = Loop (n, , x) <
      body = b (int64 i, bool go, float[1] v) => (bool again, float[1] next, float[1] seen) {
        again = Identity(go)
        next = Add(v, x)
        seen = Identity(v)
      }
    >
  })");
  const std::unique_ptr<Executor> executor = Prepare(model);
  ASSERT_NE(executor, nullptr);
  const TensorMap inputs = {{"n", Tensor::Scalar<int64_t>(3)}, {"x", Floats({1}, {2})}};
  EXPECT_EQ(RunToDoubles(*executor, inputs, "last"), (std::vector<double>{8}));
  EXPECT_EQ(RunToDoubles(*executor, inputs, "all"), (std::vector<double>{2, 4, 6}));
}

TEST(Executor, ObserversSeeEveryNode) {
  const Model model = Parse("g (float[2] x) => (float[2] y) { a = Neg(x) y = Relu(a) }");
  const std::unique_ptr<Executor> executor = Prepare(model);
  ASSERT_NE(executor, nullptr);
  std::vector<std::string> ops, values;
  executor->ObserveNodes([&](const Node& node, int64_t nanoseconds) {
    EXPECT_GE(nanoseconds, 0);
    ops.push_back(node.op_type);
  });
  executor->ObserveValues([&](const Value& value, const Tensor&) { values.push_back(value.name); });
  ASSERT_TRUE(executor->Run({{"x", Floats({2}, {1, -2})}}).ok());
  EXPECT_EQ(ops, (std::vector<std::string>{"Neg", "Relu"}));
  EXPECT_EQ(values, (std::vector<std::string>{"a", "y"}));
}

TEST(RandomInputs, AreTheSameForASeed) {
  const Model model = Parse("g (float[N, 3] x, int64[2] i, bool[4] b, int8[300] c) => (float[N, 3] y) { y = Neg(x) }");
  const Result<TensorMap> one = RandomInputs(*model.graph, 7, {{"N", 2}}),
                          same = RandomInputs(*model.graph, 7, {{"N", 2}});
  ASSERT_TRUE(one.ok() && same.ok());
  EXPECT_EQ(one->at("x").dims(), (Dims{2, 3}));
  EXPECT_TRUE(SameContent(one->at("x"), same->at("x")));
  for (const double value : ToDoubles(one->at("x"))) EXPECT_TRUE(value >= -1 && value < 1);
  for (const int64_t value : ToInts(one->at("i"))) EXPECT_TRUE(value >= 0 && value <= 3);
  std::set<int64_t> codes;
  for (const int64_t code : ToInts(one->at("c"))) codes.insert(code);
  EXPECT_GT(codes.size(), 100U);
  EXPECT_TRUE(*codes.begin() < -100 && *codes.rbegin() > 100 && *codes.begin() >= -128 && *codes.rbegin() <= 127);
  const Result<TensorMap> other = RandomInputs(*model.graph, 8, {});
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->at("x").dims(), (Dims{1, 3}));
}

}  // namespace
}  // namespace rulerun
