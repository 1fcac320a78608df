// The operators on blocks of channels, against the plain ones.
#include "engine/graph/load.h"
#include "engine/graph/schema.h"
#include "kernels/executor/executor.h"
#include "tests/kernels/ops/run_op.h"

namespace rulerun {
namespace {

Tensor Small(Dims dims, int seed) {
  Tensor tensor(DataType::kFloat, std::move(dims));
  for (int64_t i = 0; i < tensor.count(); ++i) {
    tensor.mutable_data<float>()[i] = static_cast<float>((i * 7 + seed) % 11 - 5) / 4;
  }
  return tensor;
}

// Any attributes; up to four inputs and one output of floats.
ExternalSchemas NchwcSchemas() {
  ExternalSchemas schemas;
  for (const char* op : {"ReorderInput", "ReorderOutput", "Conv", "MaxPool", "AveragePool", "GlobalMaxPool",
                         "GlobalAveragePool", "Upsample"}) {
    OpSchema schema;
    schema.op_type = op;
    schema.domain = "com.microsoft.nchwc";
    schema.inputs.assign(4, {"x", "float", true, false, {}});
    schema.outputs.push_back({"y", "float", false, false, {}});
    schema.min_outputs = 1;
    schema.unchecked_attributes = true;
    schemas.Add(std::move(schema));
  }
  return schemas;
}

// Runs nodes written in ONNX text on inputs x, w, b and z; the result is y.
Result<Tensor> RunNodes(const std::string& nodes, TensorMap inputs, int block) {
  const std::string text =
      "g (float[x0,x1,x2,x3] x, float[w0,w1,w2,w3] w, float[b0] b, float[z0,z1,z2,z3] z) => (float[y0,y1,y2,y3] y) {" +
      nodes + "}";
  RULERUN_ASSIGN(const Model model, ParseModelText(text, {{"", 17}, {"com.microsoft.nchwc", 1}}, NchwcSchemas()));
  for (const char* name : {"w", "z"}) inputs.try_emplace(name, Tensor(DataType::kFloat, {1, 1, 1, 1}));
  inputs.try_emplace("b", Tensor(DataType::kFloat, {1}));
  ExecutorOptions options;
  options.channel_block = block;
  RULERUN_ASSIGN(const auto executor, Executor::Prepare(*model.graph, options));
  RULERUN_ASSIGN(const TensorMap outputs, executor->Run(inputs));
  return outputs.at("y");
}

void ExpectNear(const Result<Tensor>& found, const Tensor& expected, double tolerance = 1e-5) {
  ASSERT_TRUE(found.ok()) << ToString(found.error());
  ASSERT_EQ(found->dims(), expected.dims());
  const std::vector<double> a = ToDoubles(*found), b = ToDoubles(expected);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << "element " << i;
}

// [O, I, h, w] in the memory order [O / block, I / inner, h, w, inner, block], filled up with zeros.
Tensor Blocked(const Tensor& w, int64_t block, int64_t inner) {
  const auto up = [](int64_t n, int64_t to) { return (n + to - 1) / to * to; };
  const int64_t inputs = w.dims()[1], taps = w.dims()[2] * w.dims()[3];
  Tensor blocked(DataType::kFloat, {up(w.dims()[0], block), up(inputs, inner), w.dims()[2], w.dims()[3]});
  for (int64_t o = 0; o < w.dims()[0]; ++o) {
    for (int64_t i = 0; i < inputs; ++i) {
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t at =
            (((o / block * (blocked.dims()[1] / inner) + i / inner) * taps + t) * inner + i % inner) * block +
            o % block;
        blocked.mutable_data<float>()[at] = w.data<float>()[(o * inputs + i) * taps + t];
      }
    }
  }
  return blocked;
}

Tensor Padded(const Tensor& bias, int64_t size) {
  Tensor padded(DataType::kFloat, {size});
  std::copy(bias.data<float>(), bias.data<float>() + bias.count(), padded.mutable_data<float>());
  return padded;
}

constexpr char kIn[] = "r = com.microsoft.nchwc.ReorderInput(x) ";

std::string Out(int64_t channels) {
  return " y = com.microsoft.nchwc.ReorderOutput<channels=" + std::to_string(channels) + ">(c)";
}

TEST(Nchwc, ReordersThereAndBack) {
  for (const int block : {8, 16}) {
    const Tensor x = Small({2, 12, 3, 5}, 1);
    ExpectNear(RunNodes("c = com.microsoft.nchwc.ReorderInput(x)" + Out(12), {{"x", x}}, block), x, 0);
    const Result<Tensor> blocked = RunNodes("y = com.microsoft.nchwc.ReorderInput(x)", {{"x", x}}, block);
    ASSERT_TRUE(blocked.ok());
    ASSERT_EQ(blocked->dims(), (Dims{2, 16, 3, 5}));
    // Pixel 4 of the first image: channel 1 stands next to channel 0.
    EXPECT_EQ(blocked->data<float>()[4 * block + 1], x.data<float>()[15 + 4]);
    EXPECT_EQ(blocked->data<float>()[15 * 16 - 1], 0);
    const Tensor last = RunToTensor({"Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}}});
    ExpectNear(RunNodes("c = com.microsoft.nchwc.ReorderInput<channels_last=1>(x)" + Out(12), {{"x", last}}, block), x,
               0);
    ExpectNear(RunNodes(std::string(kIn) + "y = com.microsoft.nchwc.ReorderOutput<channels=12, channels_last=1>(r)",
                        {{"x", x}}, block),
               last, 0);
  }
}

TEST(Nchwc, ConvEqualsThePlainOne) {
  struct Case {
    int64_t in, out, group, kernel, stride, dilation, pad, size;
  };
  const std::vector<Case> cases = {
      {32, 40, 1, 3, 1, 1, 1, 9}, {3, 20, 1, 3, 2, 1, 1, 10}, {16, 16, 16, 3, 1, 1, 1, 8}, {32, 64, 2, 3, 1, 2, 2, 9},
      {160, 8, 1, 1, 1, 1, 0, 4}, {20, 80, 1, 5, 1, 1, 2, 3}, {16, 16, 1, 1, 2, 1, 0, 7},
  };
  for (const int block : {8, 16}) {
    for (const Case& c : cases) {
      SCOPED_TRACE(testing::Message() << c.in << " to " << c.out << " in " << c.group << " groups, blocks of "
                                      << block);
      const Tensor x = Small({2, c.in, c.size, c.size}, 1);
      const Tensor w = Small({c.out, c.in / c.group, c.kernel, c.kernel}, 3), b = Small({c.out}, 5);
      const AttributeMap attributes = {{"group", c.group},
                                       {"strides", std::vector<int64_t>{c.stride, c.stride}},
                                       {"dilations", std::vector<int64_t>{c.dilation, c.dilation}},
                                       {"pads", std::vector<int64_t>(4, c.pad)}};
      Tensor y = RunToTensor({"Conv", {x, w, b}, attributes});
      const Tensor sum = Small(y.dims(), 7);
      y = RunToTensor({"Relu", {RunToTensor({"Add", {y, sum}})}});

      const bool plain = c.group == 1 && c.in < block;
      const bool depthwise = c.group == c.in;
      const Tensor blocked = Blocked(w, block, plain || depthwise ? 1 : block);
      const auto pair = [](int64_t n) { return "[" + std::to_string(n) + "," + std::to_string(n) + "]"; };
      const std::string pad = std::to_string(c.pad);
      const std::string conv = "c = com.microsoft.nchwc.Conv<activation=\"Relu\", group=" + std::to_string(c.group) +
                               ", strides=" + pair(c.stride) + ", dilations=" + pair(c.dilation) + ", pads=[" + pad +
                               "," + pad + "," + pad + "," + pad + "]>(" + (plain ? "x" : "r") + ", w, b, s)";
      // The summand may have any number of channels here, so it goes through its own reordering by hand.
      const Result<Tensor> z = RunNodes("y = com.microsoft.nchwc.ReorderInput(x)", {{"x", sum}}, block);
      ASSERT_TRUE(z.ok());
      const std::string nodes = (plain ? "" : std::string(kIn)) + "s = Identity(z) " + conv + Out(c.out);
      ExpectNear(RunNodes(nodes, {{"x", x}, {"w", blocked}, {"b", Padded(b, blocked.dims()[0])}, {"z", *z}}, block), y,
                 1e-4);
    }
  }
}

TEST(Nchwc, PoolsEqualThePlainOnes) {
  const Tensor x = Small({2, 32, 7, 9}, 2);
  const std::vector<std::pair<std::string, AttributeMap>> pools = {
      {"MaxPool", {{"kernel_shape", std::vector<int64_t>{3, 2}}, {"strides", std::vector<int64_t>{2, 1}}}},
      {"AveragePool", {{"kernel_shape", std::vector<int64_t>{3, 3}}, {"pads", std::vector<int64_t>{1, 1, 1, 1}}}},
      {"AveragePool",
       {{"kernel_shape", std::vector<int64_t>{3, 3}},
        {"pads", std::vector<int64_t>{1, 1, 1, 1}},
        {"count_include_pad", int64_t{1}}}},
      {"GlobalMaxPool", {}},
      {"GlobalAveragePool", {}},
  };
  for (const int block : {8, 16}) {
    for (const auto& [op, attributes] : pools) {
      SCOPED_TRACE(op);
      std::string list;
      for (const auto& [name, value] : attributes) list += (list.empty() ? "<" : ", ") + name + "=" + ToString(value);
      const std::string node = "c = com.microsoft.nchwc." + op + (list.empty() ? "" : list + ">") + "(r)";
      ExpectNear(RunNodes(kIn + node + Out(32), {{"x", x}}, block), RunToTensor({op, {x}, attributes}));
    }
  }
}

TEST(Nchwc, UpsamplesByWholeFactors) {
  const Tensor x = Small({1, 16, 3, 4}, 2);
  const Tensor scales = Floats({4}, {1, 1, 2, 3});
  const auto resize = [&](const std::string& mode, const std::string& coordinates) {
    return RunToTensor({"Resize",
                        {x, Tensor(), scales},
                        {{"mode", mode}, {"coordinate_transformation_mode", coordinates}, {"nearest_mode", "floor"}}});
  };
  for (const int block : {8, 16}) {
    const std::string node = std::string(kIn) + "c = com.microsoft.nchwc.Upsample<scales=[1,1,2,3]";
    ExpectNear(RunNodes(node + ">(r)" + Out(16), {{"x", x}}, block), resize("nearest", "asymmetric"), 0);
    for (const std::string coordinates : {"asymmetric", "half_pixel", "align_corners"}) {
      const std::string linear = ", mode=\"linear\", coordinate_transformation_mode=\"" + coordinates + "\">(r)";
      ExpectNear(RunNodes(node + linear + Out(16), {{"x", x}}, block), resize("linear", coordinates));
    }
  }
}

TEST(Nchwc, RefusesWhatDoesNotFit) {
  const Tensor x = Small({1, 12, 3, 3}, 1);
  const Result<Tensor> pooled = RunNodes("y = com.microsoft.nchwc.GlobalMaxPool(x)", {{"x", x}}, 8);
  ASSERT_FALSE(pooled.ok());
  EXPECT_NE(pooled.error().message.find("12 channels"), std::string::npos) << pooled.error().message;
  EXPECT_FALSE(RunNodes("y = com.microsoft.nchwc.ReorderInput(x)", {{"x", x}}, 4).ok());
  EXPECT_FALSE(RunNodes("y = com.microsoft.nchwc.ReorderOutput<channels=3>(x)", {{"x", x}}, 16).ok());
  EXPECT_FALSE(RunNodes("y = com.microsoft.nchwc.Conv(x, w)", {{"x", x}, {"w", x}}, 8).ok());
}

}  // namespace
}  // namespace rulerun
