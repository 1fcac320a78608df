// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear against the reference, to the bit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/adapter.h"
#include "tests/kernels/int8/harness.h"
#include "tests/kernels/int8/reference.h"

namespace rulerun::int8_test {
namespace {

const std::vector<DataType> kIntegers = {DataType::kUint8, DataType::kInt8, DataType::kUint16, DataType::kInt16,
                                         DataType::kUint4, DataType::kInt4, DataType::kUint2,  DataType::kInt2};
const std::vector<DataType> kFloat8 = {DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ, DataType::kFloat8E5M2,
                                       DataType::kFloat8E5M2FNUZ};

// Random floats with the edge values among them.
Tensor Values(Random& random, Dims dims, float range) {
  Tensor x = random.Reals(std::move(dims), -range, range);
  const std::vector<float>& edges = EdgeFloats();
  for (int64_t i = 0; i < x.count(); ++i) {
    if (random.Chance(20))
      x.mutable_data<float>()[i] = edges[static_cast<size_t>(random.Int(0, static_cast<int64_t>(edges.size()) - 1))];
  }
  return x;
}

// One way to lay scales over a tensor.
struct Layout {
  Dims x;
  Dims scale;
  int64_t axis = 1;
  int64_t block = 0;
};
const std::vector<Layout> kLayouts = {
    {{103}, {}},
    {{2, 51}, {1}},
    {{0}, {}},
    {{3, 0, 2}, {0}, 1},
    {{3, 7, 13}, {7}, -2},
    {{5, 37}, {37}, 1},
    {{4, 3}, {4}, 0},
    {{1}, {1}, 0},
    {{4, 10, 9}, {4, 10, 3}, 2, 4},
    {{4, 10, 9}, {4, 3, 9}, 1, 4},
    {{4, 10, 9}, {2, 10, 9}, 0, 2},
    {{3, 33}, {3, 3}, -1, 16},
    {{3, 33}, {3, 1}, 1, 40},
    {{2, 5, 1}, {2, 3, 1}, 1, 2},
    {{7, 37}, {3, 37}, 0, 3},
};

Node QuantizeNode(const Tensor& x, const Tensor& scale, const Tensor& zero, const Layout& layout, int version) {
  Node node{"QuantizeLinear", "", version, {}, {x, scale, zero}, 1};
  if (layout.axis != 1) node.attributes["axis"] = layout.axis;
  if (layout.block != 0) node.attributes["block_size"] = layout.block;
  return node;
}

TEST(QuantizeLinear, EveryTypeAndLayout) {
  Random random(1);
  for (const DataType type : kIntegers) {
    for (const Layout& layout : kLayouts) {
      const Tensor x = Values(random, layout.x, 300.0f);
      const Tensor scale = random.Scales(layout.scale, 1e-3f, 10.0f);
      const Tensor zero = random.Ints(type, layout.scale);
      ExpectOutputs(QuantizeNode(x, scale, zero, layout, 25),
                    {reference::QuantizeLinear(x, scale, zero, type, layout.axis, layout.block, true)},
                    std::string(Name(type)));
    }
  }
}

TEST(QuantizeLinear, OddScales) {
  Random random(2);
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const float s : {1.0f, 0.5f, 0.1f, 3e-39f, 0.0f, -0.25f, kInf, NAN, 1e30f}) {
    for (const DataType type : {DataType::kUint8, DataType::kInt16}) {
      const Tensor x = Values(random, {101}, 200.0f);
      const Tensor zero = random.Ints(type, {});
      ExpectOutputs(QuantizeNode(x, Tensor::Scalar(s), zero, {}, 21),
                    {reference::QuantizeLinear(x, Tensor::Scalar(s), zero, type, 1, 0, true)}, std::to_string(s));
    }
  }
}

TEST(QuantizeLinear, TypeOfTheOutput) {
  Random random(3);
  const Tensor x = Values(random, {40}, 100.0f);
  const Tensor scale = Tensor::Scalar(0.5f);
  Node node{"QuantizeLinear", "", 10, {}, {x, scale}, 1};
  ExpectOutputs(node, {reference::QuantizeLinear(x, scale, {}, DataType::kUint8, 1, 0, true)}, "no zero point");
  node.version = 21;
  node.attributes["output_dtype"] = static_cast<int64_t>(DataType::kInt16);
  ExpectOutputs(node, {reference::QuantizeLinear(x, scale, {}, DataType::kInt16, 1, 0, true)}, "output_dtype");
  node.inputs.push_back(ScalarInt(DataType::kInt8, 3));
  ExpectError(node, "output_dtype is int16, but the zero point is int8");
  Node microsoft{"QuantizeLinear", "com.microsoft", 1, {}, {x, scale, ScalarInt(DataType::kUint16, 9)}, 1};
  ExpectOutputs(microsoft, {reference::QuantizeLinear(x, scale, microsoft.inputs[2], DataType::kUint16, 1, 0, true)},
                "microsoft");
}

TEST(QuantizeLinear, OtherInputTypes) {
  Random random(4);
  const Tensor zero = ScalarInt(DataType::kInt8, -5);
  for (const DataType half : {DataType::kFloat16, DataType::kBfloat16}) {
    const Tensor x = NarrowTensor(Values(random, {3, 700}, 60.0f), half);
    const Tensor scale = NarrowTensor(Tensor::Scalar(0.3f), half);
    ExpectOutputs(QuantizeNode(x, scale, zero, {}, 19),
                  {reference::QuantizeLinear(x, scale, zero, DataType::kInt8, 1, 0, true)}, std::string(Name(half)));
  }
  const Tensor x = random.Ints(DataType::kInt32, {99}, -3000, 3000);
  ExpectOutputs(QuantizeNode(x, Tensor::Scalar(7.0f), zero, {}, 10),
                {reference::QuantizeLinear(x, Tensor::Scalar(7.0f), zero, DataType::kInt8, 1, 0, true)}, "int32");
}

TEST(QuantizeLinear, Float8) {
  Random random(5);
  for (const DataType type : kFloat8) {
    for (const bool saturate : {true, false}) {
      Tensor x = Values(random, {600}, 1.0f);
      for (int64_t i = 0; i < x.count(); ++i) x.mutable_data<float>()[i] *= random.Scale(1e-6f, 1e6f);
      // Around every value and every middle between two.
      Tensor code(type, {1});
      for (int bits = 0; bits < 255; ++bits) {
        code.mutable_data<uint8_t>()[0] = static_cast<uint8_t>(bits);
        const auto low = static_cast<float>(ElementAsDouble(code, 0));
        code.mutable_data<uint8_t>()[0] = static_cast<uint8_t>(bits + 1);
        const auto high = static_cast<float>(ElementAsDouble(code, 0));
        x.mutable_data<float>()[bits] = (low + high) / 2;
      }
      const Tensor zero(type, {});
      for (const float s : {1.0f, 0.37f}) {
        Node node = QuantizeNode(x, Tensor::Scalar(s), zero, {}, 19);
        node.attributes["saturate"] = int64_t{saturate};
        ExpectOutputs(node, {reference::QuantizeLinear(x, Tensor::Scalar(s), zero, type, 1, 0, saturate)},
                      std::string(Name(type)) + (saturate ? " saturate" : ""));
      }
    }
  }
}

TEST(QuantizeLinear, LargeTensorsRunInParallel) {
  Random random(6);
  const Tensor x = Values(random, {70001}, 10.0f);
  const Tensor zero = ScalarInt(DataType::kInt4, -3);
  ExpectOutputs(QuantizeNode(x, Tensor::Scalar(0.7f), zero, {}, 21),
                {reference::QuantizeLinear(x, Tensor::Scalar(0.7f), zero, DataType::kInt4, 1, 0, true)}, "int4");
}

TEST(QuantizeLinear, Errors) {
  const Tensor x(DataType::kFloat, {2, 3});
  const Tensor zero = ScalarInt(DataType::kUint8, 0);
  Node node{"QuantizeLinear", "", 21, {}, {x, Tensor::Scalar(1.0f), ScalarInt(DataType::kInt64, 0)}, 1};
  ExpectError(node, "no kernel for QuantizeLinear(float, float, int64)");
  node.inputs = {x, Tensor(DataType::kFloat, {5}), Tensor(DataType::kUint8, {5})};
  ExpectError(node, "scale[5] does not fit x[2, 3]");
  node.inputs = {x, Tensor(DataType::kFloat, {3}), zero};
  ExpectError(node, "differ in their number of elements");
  node.attributes["axis"] = int64_t{7};
  node.inputs[2] = Tensor(DataType::kUint8, {3});
  ExpectError(node, "axis 7 is outside x[2, 3]");
  node.attributes = {{"axis", int64_t{1}}, {"block_size", int64_t{2}}};
  ExpectError(node, "block_size 2");
  node.attributes["block_size"] = int64_t{-2};
  ExpectError(node, "negative");
  node.inputs = {x};
  node.attributes = {};
  ExpectError(node, "'y_scale' is missing");
}

Node DequantizeNode(const Tensor& x, const Tensor& scale, const Tensor& zero, const Layout& layout) {
  Node node{"DequantizeLinear", "", 25, {}, {x, scale, zero}, 1};
  if (layout.axis != 1) node.attributes["axis"] = layout.axis;
  if (layout.block != 0) node.attributes["block_size"] = layout.block;
  return node;
}

TEST(DequantizeLinear, EveryTypeAndLayout) {
  Random random(11);
  for (const DataType type : kIntegers) {
    for (const Layout& layout : kLayouts) {
      const Tensor x = random.Ints(type, layout.x);
      const Tensor scale = random.Scales(layout.scale, 1e-6f, 10.0f);
      const Tensor zero = random.Chance(80) ? random.Ints(type, layout.scale) : Tensor();
      ExpectOutputs(DequantizeNode(x, scale, zero, layout),
                    {reference::DequantizeLinear(x, scale, zero, DataType::kFloat, layout.axis, layout.block)},
                    std::string(Name(type)));
    }
  }
}

TEST(DequantizeLinear, Int32Wraps) {
  Random random(12);
  const Tensor x = random.Ints(DataType::kInt32, {500});
  for (const Tensor& zero : {Tensor(), ScalarInt(DataType::kInt32, -2000000000)}) {
    ExpectOutputs(DequantizeNode(x, Tensor::Scalar(1e-4f), zero, {}),
                  {reference::DequantizeLinear(x, Tensor::Scalar(1e-4f), zero, DataType::kFloat, 1, 0)}, "int32");
  }
}

TEST(DequantizeLinear, HalfOutputs) {
  Random random(13);
  for (const DataType half : {DataType::kFloat16, DataType::kBfloat16}) {
    const Tensor x = random.Ints(DataType::kUint8, {3, 1500});
    const Tensor scale = NarrowTensor(random.Scales({3}, 1e-6f, 3000.0f), half);
    const Tensor zero = random.Ints(DataType::kUint8, {3});
    ExpectOutputs(DequantizeNode(x, scale, zero, {{}, {}, 0, 0}),
                  {reference::DequantizeLinear(x, scale, zero, half, 0, 0)}, std::string(Name(half)));
  }
}

TEST(DequantizeLinear, Float8) {
  for (const DataType type : kFloat8) {
    Tensor x(type, {256});
    for (int i = 0; i < 256; ++i) x.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i);
    ExpectOutputs(DequantizeNode(x, Tensor::Scalar(0.3f), Tensor(type, {}), {}),
                  {reference::DequantizeLinear(x, Tensor::Scalar(0.3f), {}, DataType::kFloat, 1, 0)},
                  std::string(Name(type)));
  }
}

TEST(DequantizeLinear, Errors) {
  Node node{"DequantizeLinear", "", 21, {}, {}, 1};
  node.inputs = {Tensor(DataType::kInt64, {2}), Tensor::Scalar(1.0f)};
  ExpectError(node, "no kernel for DequantizeLinear(int64, float)");
  node.inputs = {Tensor(DataType::kInt8, {2}), Tensor::Scalar(1.0f), ScalarInt(DataType::kUint8, 0)};
  ExpectError(node, "x is int8, but the zero point is uint8");
}

TEST(DynamicQuantizeLinear, Everything) {
  Random random(21);
  const auto expect = [](const Tensor& x, const std::string& what) {
    ExpectOutputs({"DynamicQuantizeLinear", "", 11, {}, {x}, 3}, reference::DynamicQuantizeLinear(x), what);
  };
  for (const int64_t count : {1, 2, 17, 64, 257, 50000}) {
    expect(random.Reals({count}, -3.0f, 7.0f), "both signs");
    expect(random.Reals({count}, 1.0f, 2.0f), "positive");
    expect(random.Reals({count}, -2.0f, -1.0f), "negative");
    expect(random.Reals({count}, 0.0f, 0.0f), "zeros");
  }
  expect(Tensor(DataType::kFloat, {0, 3}), "empty");
  expect(Tensor::Of<float>({3}, {1e-45f, 0.0f, -0.0f}), "the scale underflows");
  expect(Tensor::Of<float>({5}, {NAN, 3.0f, NAN, -1.0f, 2.0f}), "NaN is passed over");
}

}  // namespace
}  // namespace rulerun::int8_test
