#!/usr/bin/env python3
"""Makes the sample models of tests and README: tests/data/models/*.onnx (pip install onnx numpy).

convnet-qdq.onnx   a small QDQ network: per-channel weights, int32 biases, a residual Add, a ReduceMean that stays float
convnet-fp32.onnx  the same in float, with a BatchNormalization
refusals-qdq.onnx  operators that stay float, each for another reason, and one that hits a known fault of ONNX Runtime
names.onnx         an output whose name is no file's name
hostile-names.onnx names that a page, a terminal or another tool could take for its own language
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parent / "models"
RNG = np.random.default_rng(1)


class Builder:
    def __init__(self):
        self.nodes, self.initializers = [], []

    def constant(self, name, array):
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def q(self, x, scale, zero, kind=np.uint8):
        """x -> Q; the value that DQs read."""
        s = self.constant(x + "_scale", np.float32(scale))
        z = self.constant(x + "_zero", kind(zero))
        return self.node("QuantizeLinear", [x, s, z], x + "_q")

    def dq(self, quantized, name=None):
        base = quantized.removesuffix("_q")
        return self.node("DequantizeLinear", [quantized, base + "_scale", base + "_zero"], name or base + "_dq")

    def qdq(self, x, scale, zero, kind=np.uint8):
        return self.dq(self.q(x, scale, zero, kind))

    def weight(self, name, shape, axis=0):
        """int8, one scale per output channel. Returns the value and the scales."""
        scales = RNG.uniform(0.004, 0.008, shape[axis]).astype(np.float32)
        w = self.constant(name, RNG.integers(-64, 64, shape).astype(np.int8))
        s = self.constant(name + "_scale", scales)
        z = self.constant(name + "_zero", np.zeros(shape[axis], np.int8))
        return self.node("DequantizeLinear", [w, s, z], name + "_dq", axis=axis), scales

    def bias(self, name, scales, input_scale):
        """int32, scaled as ONNX Runtime wants it."""
        b = self.constant(name, RNG.integers(-1000, 1000, len(scales)).astype(np.int32))
        s = self.constant(name + "_scale", (scales * np.float32(input_scale)).astype(np.float32))
        z = self.constant(name + "_zero", np.zeros(len(scales), np.int32))
        return self.node("DequantizeLinear", [b, s, z], name + "_dq", axis=0)

    def save(self, name, inputs, outputs, opset=21):
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10,
                                  producer_name="tests/data/make_models.py")
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, FOLDER / f"{name}.onnx")


def image(name="image", shape=("batch", 3, 16, 16)):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def convnet_qdq():
    b = Builder()
    x = b.qdq("image", 1 / 64, 128)
    w1, s1 = b.weight("conv1_weight", (8, 3, 3, 3))
    b.node("Conv", [x, w1, b.bias("conv1_bias", s1, 1 / 64)], "conv1", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    b.node("Relu", ["conv1"], "relu1")
    shared = b.qdq("relu1", 1 / 32, 0)  # one DQ for Conv and Add
    w2, s2 = b.weight("conv2_weight", (8, 8, 3, 3))
    b.node("Conv", [shared, w2, b.bias("conv2_bias", s2, 1 / 32)], "conv2", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    b.node("Add", [b.qdq("conv2", 1 / 16, 128), shared], "add")
    pooled_in = b.qdq("add", 1 / 16, 120)
    b.node("MaxPool", [pooled_in], "pool", kernel_shape=[2, 2], strides=[2, 2])
    pooled = b.q("pool", 1 / 16, 120)
    axes = b.constant("mean_axes", np.array([2, 3], np.int64))
    b.node("ReduceMean", [b.dq(pooled), axes], "mean", keepdims=0)
    w3, s3 = b.weight("linear_weight", (4, 8))
    features = b.qdq("mean", 1 / 32, 120)
    b.node("Gemm", [features, w3, b.bias("linear_bias", s3, 1 / 32)], "linear", transB=1)
    b.qdq("linear", 1 / 16, 128)
    b.save("convnet-qdq", [image()], [helper.make_tensor_value_info("linear_dq", TensorProto.FLOAT, ["batch", 4])])


def convnet_fp32():
    b = Builder()
    normal = lambda name, *shape: b.constant(name, RNG.normal(0, 0.2, shape).astype(np.float32))
    b.node("Conv", ["image", normal("conv1_weight", 8, 3, 3, 3)], "conv1", pads=[1, 1, 1, 1])
    ones = lambda name: b.constant(name, RNG.uniform(0.5, 1.5, 8).astype(np.float32))
    b.node("BatchNormalization", ["conv1", ones("gamma"), ones("beta"), ones("mean"), ones("var")], "norm")
    b.node("Relu", ["norm"], "relu1")
    b.node("MaxPool", ["relu1"], "pool", kernel_shape=[2, 2], strides=[2, 2])
    axes = b.constant("mean_axes", np.array([2, 3], np.int64))
    b.node("ReduceMean", ["pool", axes], "features", keepdims=0)
    b.node("Gemm", ["features", normal("linear_weight", 4, 8), normal("linear_bias", 4)], "linear", transB=1)
    b.save("convnet-fp32", [image()], [helper.make_tensor_value_info("linear", TensorProto.FLOAT, ["batch", 4])])


def refusals_qdq():
    b = Builder()
    x = b.q("image", 1 / 64, 128)
    w, scales = b.weight("conv_weight", (4, 4, 3, 3))
    wrong = b.bias("conv_bias", scales, 1 / 16)  # four times too large
    b.node("Conv", [b.dq(x, "conv_in"), w, wrong], "conv_wrong_bias", pads=[1, 1, 1, 1])
    left = b.q("conv_wrong_bias", 1 / 16, 128)
    b.node("Sigmoid", [b.dq(left, "sigmoid_in")], "sigmoid")
    right = b.q("sigmoid", 1 / 256, -128, np.int8)
    b.node("Add", [b.dq(left, "add_left"), b.dq(right, "add_right")], "add_mixed_types")
    total = b.q("add_mixed_types", 1 / 16, 128)
    b.node("Elu", [b.dq(total, "elu_in")], "elu")
    last = b.q("elu", -1 / 16, 128)
    b.node("Softmax", [b.dq(last, "softmax_in")], "softmax_negative_scale")
    b.qdq("softmax_negative_scale", 1 / 256, 0)
    b.save("refusals-qdq", [image(shape=("batch", 4, 8, 8))],
           [helper.make_tensor_value_info("softmax_negative_scale_dq", TensorProto.FLOAT, ["batch", 4, 8, 8])])


def names():
    b = Builder()
    b.node("Neg", ["x"], "和/1")
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])
    b.save("names", [value("x")], [value("和/1")])


def hostile_names():
    b = Builder()
    names = ["</script><script>document.title='taken'</script>", "<img src=x onerror=\"document.title='taken'\">",
             "a,b:c%d\nend", "{{data}} ]]> &amp; 'single' \"double\"", "\u00fc\u4e2d\u2028"]
    value = b.qdq("image", 1 / 64, 128)
    for i, name in enumerate(names):
        b.nodes.append(helper.make_node("Elu" if i % 2 else "Sigmoid", [value], [f"t{i}"], name=name))
        value = b.qdq(f"t{i}", 1 / 256, 0)
    b.save("hostile-names", [image(shape=("batch", 4))],
           [helper.make_tensor_value_info(value, TensorProto.FLOAT, ["batch", 4])])


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    convnet_qdq()
    convnet_fp32()
    refusals_qdq()
    names()
    hostile_names()
