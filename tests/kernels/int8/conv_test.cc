// QLinearConv and ConvInteger against the reference, to the bit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/kernels/int8/harness.h"
#include "tests/kernels/int8/reference.h"

namespace rulerun::int8_test {
namespace {

struct Shape {
  Dims x;
  Dims w;
  std::vector<int64_t> strides, dilations, pads;
  int64_t group = 1;
};

// Fills in what is left out.
Shape Complete(Shape shape) {
  const size_t spatial = shape.x.size() - 2;
  if (shape.strides.empty()) shape.strides.assign(spatial, 1);
  if (shape.dilations.empty()) shape.dilations.assign(spatial, 1);
  if (shape.pads.empty()) shape.pads.assign(2 * spatial, 0);
  return shape;
}

const std::vector<Shape> kShapes = {
    {{2, 3, 7, 8}, {5, 3, 3, 3}, {2, 1}, {}, {1, 0, 1, 2}},        // odd K, asymmetric padding
    {{1, 8, 9, 9}, {16, 8, 3, 3}, {}, {}, {1, 1, 1, 1}},           //
    {{1, 5, 6, 7}, {70, 5, 2, 2}, {}, {2, 1}, {}},                 // more than a panel of columns, dilation in height
    {{1, 4, 6, 9}, {33, 4, 3, 3}, {}, {1, 2}, {2, 2, 2, 2}},       // dilation in width
    {{2, 13, 5, 20}, {19, 13, 1, 1}, {}, {}, {}},                  // pointwise
    {{1, 16, 12, 11}, {24, 16, 1, 1}, {2, 2}, {}, {}},             // strided pointwise
    {{1, 1, 1, 1}, {1, 1, 1, 1}, {}, {}, {}},                      // K = 1
    {{1, 6, 7, 8}, {8, 3, 3, 2}, {}, {}, {1, 1, 0, 0}, 2},         // grouped
    {{1, 12, 5, 5}, {4, 3, 2, 2}, {}, {}, {}, 4},                  // one column a group
    {{1, 4, 5, 5}, {8, 1, 3, 3}, {}, {}, {1, 1, 1, 1}, 4},         // two columns a group, one channel
    {{2, 40, 9, 7}, {40, 1, 3, 3}, {1, 2}, {}, {1, 1, 1, 1}, 40},  // depthwise
    {{1, 67, 6, 6}, {67, 1, 2, 2}, {}, {2, 1}, {0, 1, 2, 0}, 67},  // depthwise, even number of taps
    {{1, 3, 6, 6}, {3, 1, 1, 1}, {}, {}, {}, 3},                   // depthwise pointwise
    {{2, 5, 17}, {6, 5, 4}, {2}, {}, {1, 2}},                      // 1-D
    {{1, 9, 15}, {9, 1, 5}, {}, {2}, {4, 4}, 9},                   // 1-D depthwise
    {{1, 3, 4, 5, 6}, {7, 3, 2, 2, 3}, {1, 2, 1}, {2, 1, 1}, {1, 0, 1, 0, 1, 1}},  // 3-D
    {{1, 6, 3, 4, 5}, {6, 3, 1, 1, 1}, {}, {}, {}, 2},                             // 3-D pointwise
    {{1, 2, 40, 40}, {3, 2, 3, 3}, {}, {}, {1, 1, 1, 1}},                          // many blocks of pixels
    {{1, 3, 2, 150}, {4, 3, 1, 3}, {}, {}, {0, 1, 0, 1}},                          // rows longer than a strip
    {{0, 3, 7, 8}, {5, 3, 3, 3}, {}, {}, {}},                                      // no image
    {{1, 0, 5, 5}, {3, 0, 2, 2}, {}, {}, {}},                                      // no channels: only the bias is left
    {{1, 3, 4, 4}, {0, 3, 2, 2}, {}, {}, {}},                                      // no output channels
};

struct Types {
  DataType x, w;
};
const std::vector<Types> kTypes = {{DataType::kUint8, DataType::kUint8},
                                   {DataType::kUint8, DataType::kInt8},
                                   {DataType::kInt8, DataType::kInt8},
                                   {DataType::kInt8, DataType::kUint8}};

AttributeMap Attributes(const Shape& shape) {
  return {{"strides", shape.strides}, {"dilations", shape.dilations}, {"pads", shape.pads}, {"group", shape.group}};
}

// How extreme a case is.
enum class Kind { kPlain, kPerChannel, kPerChannelZero, kSaturated, kTies };

void CheckQLinearConv(Random& random, const Shape& raw, Types types, Kind kind, bool channels_last) {
  const Shape shape = Complete(raw);
  const int64_t channels = shape.w[0];
  const bool extreme = kind == Kind::kSaturated;
  Tensor x = random.Ints(types.x, shape.x);
  Tensor w = random.Ints(types.w, shape.w);
  if (extreme) {  // the largest products, all of one sign
    x = random.Ints(types.x, shape.x, types.x == DataType::kUint8 ? 255 : -128,
                    types.x == DataType::kUint8 ? 255 : -128);
    w = random.Ints(types.w, shape.w, types.w == DataType::kUint8 ? 255 : -128,
                    types.w == DataType::kUint8 ? 255 : -127);
  }
  const bool per_channel = kind == Kind::kPerChannel || kind == Kind::kPerChannelZero;
  const Dims per = per_channel ? Dims{channels} : Dims{};
  reference::Quant qx{random.Scale(1e-3f, 0.1f), random.Ints(types.x, {1}).data<uint8_t>()[0]};
  if (types.x == DataType::kInt8) qx.zero = static_cast<int8_t>(qx.zero);
  if (extreme) qx.zero = types.x == DataType::kUint8 ? 0 : 127;
  reference::Quant qy{random.Scale(0.1f, 3.0f), random.Int(types.x == DataType::kInt8 ? -128 : 0, 127)};
  Tensor w_scale = random.Scales(per);
  Tensor w_zero(types.w, per);
  if (kind == Kind::kPerChannelZero || (kind == Kind::kPlain && types.w == DataType::kUint8)) {
    w_zero = random.Ints(types.w, per);
  }
  if (kind == Kind::kTies) {
    qx.scale = 1;
    qy.scale = 4096;
    w_scale = Tensor::Scalar(1.0f);
    w = random.Ints(types.w, shape.w, -64, 64);
  }
  const Tensor bias = random.Chance(70) ? random.Ints(DataType::kInt32, {channels}, -9000, 9000) : Tensor();
  Tensor expected = reference::QLinearConv(x, qx, w, w_scale, w_zero, qy, types.x, bias,
                                           {shape.strides, shape.dilations, shape.pads, shape.group});
  Node node{"QLinearConv", channels_last ? "com.microsoft" : "", channels_last ? 1 : 10, Attributes(shape), {}, 1};
  if (channels_last) {
    node.attributes["channels_last"] = int64_t{1};
    x = reference::ChannelsLast(x);
    expected = reference::ChannelsLast(expected);
  }
  node.inputs = {x,      Tensor::Scalar(qx.scale), ScalarInt(types.x, qx.zero), w,   w_scale,
                 w_zero, Tensor::Scalar(qy.scale), ScalarInt(types.x, qy.zero), bias};
  std::string what = "x";
  for (const int64_t dim : shape.x) what += " " + std::to_string(dim);
  what += ", w";
  for (const int64_t dim : shape.w) what += " " + std::to_string(dim);
  ExpectOutputs(node, {expected}, what + ", kind " + std::to_string(static_cast<int>(kind)));
}

TEST(QLinearConv, EveryShapeAndType) {
  Random random(31);
  for (const Shape& shape : kShapes) {
    for (const Types types : kTypes) {
      for (const bool channels_last : {false, true}) {
        const auto kind = static_cast<Kind>(random.Int(0, 4));
        CheckQLinearConv(random, shape, types, kind, channels_last);
      }
    }
  }
}

TEST(QLinearConv, EveryKind) {
  Random random(32);
  for (const Kind kind : {Kind::kPlain, Kind::kPerChannel, Kind::kPerChannelZero, Kind::kSaturated, Kind::kTies}) {
    for (const size_t i : {size_t{1}, size_t{7}, size_t{10}}) {
      for (const Types types : kTypes) CheckQLinearConv(random, kShapes[i], types, kind, false);
    }
  }
}

TEST(QLinearConv, AutoPad) {
  Random random(33);
  const Tensor x = random.Ints(DataType::kUint8, {1, 3, 8, 7});
  const Tensor w = random.Ints(DataType::kInt8, {4, 3, 3, 2});
  const struct {
    const char* name;
    std::vector<int64_t> pads;
  } cases[] = {{"SAME_UPPER", {0, 0, 1, 1}}, {"SAME_LOWER", {1, 1, 0, 0}}, {"VALID", {0, 0, 0, 0}}};
  for (const auto& [name, pads] : cases) {
    const reference::Quant qx{0.1f, 30};
    const reference::Quant qy{9.0f, 100};
    const Tensor expected = reference::QLinearConv(x, qx, w, Tensor::Scalar(0.2f), ScalarInt(DataType::kInt8, 0), qy,
                                                   DataType::kUint8, {}, {{2, 2}, {1, 1}, pads, 1});
    Node node{"QLinearConv", "", 10, {{"auto_pad", std::string(name)}, {"strides", std::vector<int64_t>{2, 2}}}, {}, 1};
    node.inputs = {x,
                   Tensor::Scalar(0.1f),
                   ScalarInt(DataType::kUint8, 30),
                   w,
                   Tensor::Scalar(0.2f),
                   ScalarInt(DataType::kInt8, 0),
                   Tensor::Scalar(9.0f),
                   ScalarInt(DataType::kUint8, 100)};
    ExpectOutputs(node, {expected}, name);
  }
}

TEST(ConvInteger, EveryShapeAndType) {
  Random random(34);
  for (const Shape& raw : kShapes) {
    const Shape shape = Complete(raw);
    const Types types = kTypes[static_cast<size_t>(random.Int(0, 3))];
    const Tensor x = random.Ints(types.x, shape.x);
    const Tensor w = random.Ints(types.w, shape.w);
    const Tensor x_zero = random.Chance(80) ? random.Ints(types.x, {}) : Tensor();
    const Tensor w_zero =
        random.Chance(80) ? random.Ints(types.w, random.Chance(50) ? Dims{} : Dims{shape.w[0]}) : Tensor();
    const Tensor expected = reference::ConvInteger(x, w, x_zero.empty() ? 0 : ElementAsInt(x_zero, 0), w_zero,
                                                   {shape.strides, shape.dilations, shape.pads, shape.group});
    ExpectOutputs({"ConvInteger", "", 10, Attributes(shape), {x, w, x_zero, w_zero}, 1}, {expected}, "shape");
  }
}

TEST(QLinearConv, Errors) {
  const Tensor scale = Tensor::Scalar(1.0f);
  const Tensor zero = ScalarInt(DataType::kUint8, 0);
  const Tensor x(DataType::kUint8, {1, 4, 5, 5});
  const Tensor w(DataType::kUint8, {6, 4, 3, 3});
  const Node good{"QLinearConv", "", 10, {}, {x, scale, zero, w, scale, zero, scale, zero}, 1};
  Node node = good;
  node.attributes["group"] = int64_t{3};
  ExpectError(node, "group 3 do not fit together");
  node.attributes["group"] = int64_t{0};
  ExpectError(node, "group 0 is not positive");
  node = good;
  node.inputs[3] = Tensor(DataType::kUint8, {6, 4, 3});
  ExpectError(node, "same rank");
  node = good;
  node.inputs[4] = Tensor(DataType::kFloat, {5});
  ExpectError(node, "'w_scale' is float[5], but must be 1 or 6 floats");
  node = good;
  node.inputs.push_back(Tensor(DataType::kInt32, {7}));
  ExpectError(node, "bias is int32[7], but must be int32[6]");
  node = good;
  node.attributes["pads"] = std::vector<int64_t>{1, 1};
  ExpectError(node, "pads");
  node = good;  // a padding that would need a terabyte
  node.attributes["pads"] = std::vector<int64_t>{1 << 20, 1 << 20, 1 << 20, 1 << 20};
  node.attributes["strides"] = std::vector<int64_t>{1 << 20, 1 << 20};
  ExpectError(node, "no memory for an image padded to");
}

}  // namespace
}  // namespace rulerun::int8_test
