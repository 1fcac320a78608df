// QLinearSoftmax and the 8-bit pools against the reference, to the bit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/kernels/int8/harness.h"
#include "tests/kernels/int8/reference.h"

namespace rulerun::int8_test {
namespace {

using reference::Quant;

const std::vector<DataType> kTypes = {DataType::kUint8, DataType::kInt8};

TEST(QLinearSoftmax, AxesAndLengths) {
  Random random(61);
  const std::vector<Dims> shapes = {{3, 17}, {4, 100}, {2, 5, 7}, {2, 1000}, {3, 1}, {6, 2}, {2, 3, 4, 5}, {0, 4}};
  for (const DataType type : kTypes) {
    for (const Dims& dims : shapes) {
      for (size_t axis = 0; axis < dims.size(); ++axis) {
        const float x_scale = random.Scale(5e-3f, 1.0f);
        const float y_scale = random.Chance(50) ? 1.0f / 256 : random.Scale(2e-3f, 0.01f);
        const Quant qy{y_scale, ElementAsInt(random.Ints(type, {}), 0)};
        const Tensor x = random.Ints(type, dims);
        Node node{"QLinearSoftmax", "com.microsoft", 1, {}, {}, 1};
        node.inputs = {x, Tensor::Scalar(x_scale), random.Ints(type, {}), Tensor::Scalar(y_scale),
                       ScalarInt(type, qy.zero)};
        node.attributes = {{"axis", static_cast<int64_t>(axis)}, {"opset", int64_t{13}}};
        ExpectOutputs(node, {reference::SoftmaxAlong(x, x_scale, qy, axis)}, "along " + std::to_string(axis));
        node.attributes = {{"axis", static_cast<int64_t>(axis) - static_cast<int64_t>(dims.size())},
                           {"opset", int64_t{11}}};
        ExpectOutputs(node, {reference::SoftmaxFrom(x, x_scale, qy, axis)}, "from " + std::to_string(axis));
      }
    }
  }
}

TEST(QLinearSoftmax, Errors) {
  const Tensor x(DataType::kUint8, {2, 3});
  const Tensor s = Tensor::Scalar(1.0f);
  const Tensor z = ScalarInt(DataType::kUint8, 0);
  ExpectError({"QLinearSoftmax", "com.microsoft", 1, {}, {x, s, z, s, z}, 1}, "'opset' is missing");
  ExpectError(
      {"QLinearSoftmax", "com.microsoft", 1, {{"opset", int64_t{13}}, {"axis", int64_t{2}}}, {x, s, z, s, z}, 1},
      "axis 2 is outside [2, 3]");
}

struct PoolCase {
  Dims x;
  reference::Pool pool;
};

std::vector<PoolCase> PoolCases() {
  return {
      {{2, 5, 7, 8}, {{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}}},
      {{2, 5, 7, 8}, {{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, true, true}},
      {{1, 70, 6, 5}, {{2, 3}, {1, 2}, {1, 1}, {0, 1, 1, 2}, true, false}},
      {{1, 3, 5, 5}, {{1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}}},
      {{2, 4, 11}, {{3}, {2}, {1}, {2, 0}, true, false}},
      {{1, 2, 4, 5, 6}, {{2, 2, 3}, {1, 2, 1}, {1, 1, 1}, {1, 0, 1, 0, 1, 1}, false, true}},
      {{1, 130, 30, 30}, {{3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}}},
      {{0, 4, 5, 5}, {{3, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}}},
  };
}

AttributeMap Attributes(const reference::Pool& pool) {
  return {{"kernel_shape", pool.kernel},
          {"strides", pool.strides},
          {"pads", pool.pads},
          {"ceil_mode", int64_t{pool.ceil_mode}}};
}

TEST(QLinearAveragePool, EveryCase) {
  Random random(62);
  for (const PoolCase& c : PoolCases()) {
    for (const DataType type : kTypes) {
      const bool ties = random.Chance(50);
      const Quant qx{ties ? 0.5f : random.Scale(1e-3f, 0.1f), ElementAsInt(random.Ints(type, {}), 0)};
      const Quant qy{ties ? 0.25f : random.Scale(1e-3f, 0.1f), ElementAsInt(random.Ints(type, {}), 0)};
      const Tensor x = random.Ints(type, c.x);
      const Tensor expected = reference::AveragePool(x, qx, qy, c.pool);
      Node node{"QLinearAveragePool", "com.microsoft", 1, Attributes(c.pool), {}, 1};
      node.attributes["count_include_pad"] = int64_t{c.pool.count_include_pad};
      node.inputs = {x, Tensor::Scalar(qx.scale), ScalarInt(type, qx.zero), Tensor::Scalar(qy.scale),
                     ScalarInt(type, qy.zero)};
      ExpectOutputs(node, {expected}, "channels first");
      node.attributes["channels_last"] = int64_t{1};
      node.inputs[0] = reference::ChannelsLast(x);
      ExpectOutputs(node, {reference::ChannelsLast(expected)}, "channels last");
    }
  }
}

TEST(QLinearGlobalAveragePool, AndAWindowOverTheWholeImage) {
  Random random(63);
  for (const Dims& dims : {Dims{2, 5, 7, 7}, Dims{1, 130, 3, 20}, Dims{3, 4, 9}, Dims{1, 2, 3, 4, 5}, Dims{1, 2, 1, 1},
                           Dims{1, 3, 120, 130}}) {
    for (const DataType type : kTypes) {
      const Quant qx{random.Chance(50) ? 0.5f : random.Scale(1e-3f, 0.1f), ElementAsInt(random.Ints(type, {}), 0)};
      const Quant qy{random.Chance(50) ? 0.25f : random.Scale(1e-3f, 0.1f), ElementAsInt(random.Ints(type, {}), 0)};
      const Tensor x = random.Ints(type, dims);
      const Tensor expected = reference::GlobalAveragePool(x, qx, qy);
      Node node{"QLinearGlobalAveragePool", "com.microsoft", 1, {}, {}, 1};
      node.inputs = {x, Tensor::Scalar(qx.scale), ScalarInt(type, qx.zero), Tensor::Scalar(qy.scale),
                     ScalarInt(type, qy.zero)};
      ExpectOutputs(node, {expected}, "channels first");
      Node window = node;
      window.op = "QLinearAveragePool";
      window.attributes["kernel_shape"] = std::vector<int64_t>(dims.begin() + 2, dims.end());
      ExpectOutputs(window, {expected}, "as a window");
      node.attributes["channels_last"] = int64_t{1};
      node.inputs[0] = reference::ChannelsLast(x);
      ExpectOutputs(node, {reference::ChannelsLast(expected)}, "channels last");
    }
  }
}

TEST(NhwcMaxPool, EveryCase) {
  Random random(64);
  for (PoolCase c : PoolCases()) {
    for (const DataType type : kTypes) {
      if (c.pool.kernel.size() == 2 && random.Chance(50)) {
        c.pool.dilations = {2, 1};
        c.pool.ceil_mode = false;
        if (c.pool.kernel == std::vector<int64_t>{1, 1}) c.pool.kernel = {2, 1};
      }
      const Tensor x = random.Ints(type, c.x);
      Node node{"NhwcMaxPool", "com.microsoft", 1, Attributes(c.pool), {reference::ChannelsLast(x)}, 1};
      node.attributes["dilations"] = c.pool.dilations;
      ExpectOutputs(node, {reference::ChannelsLast(reference::MaxPool(x, c.pool))}, "max");
    }
  }
}

TEST(Int8Pools, Errors) {
  const Tensor s = Tensor::Scalar(1.0f);
  const Tensor z = ScalarInt(DataType::kUint8, 0);
  const Tensor x(DataType::kUint8, {1, 2, 4, 4});
  ExpectError({"QLinearAveragePool", "com.microsoft", 1, {}, {x, s, z, s, z}, 1}, "'kernel_shape' is missing");
  ExpectError({"QLinearGlobalAveragePool", "com.microsoft", 1, {}, {x.Reshaped({8, 4}), s, z, s, z}, 1},
              "at least 3 axes");
  ExpectError({"QLinearGlobalAveragePool", "com.microsoft", 1, {}, {x, Tensor::Scalar(1e5f), z, s, z}, 1},
              "the multiplier is outside");
  const std::vector<int64_t> big = {9, 9};
  ExpectError({"NhwcMaxPool", "com.microsoft", 1, {{"kernel_shape", big}}, {x}, 1}, "does not fit");
}

}  // namespace
}  // namespace rulerun::int8_test
