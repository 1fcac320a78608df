"""Operators of com.microsoft that models bring along already."""

import numpy as np
from onnx import TensorProto

from builder import MICROSOFT, Unfit


def call(b, op, inputs, *results, **attributes):
    """A node of com.microsoft, whose results' (type, shape) are told."""
    return b.node(op, inputs, len(results), MICROSOFT, list(results), **attributes)


def activations(b):
    x = b.pick(of=TensorProto.FLOAT)
    op = b.choose("Gelu", "FastGelu", "QuickGelu", "BiasGelu")
    if op == "BiasGelu":
        return b.put(call(b, op, [x, b.floats(x.shape[-1:], x)], (x.type, x.shape)))
    if b.chance(0.4):
        x = b.node("Add", [x, b.floats(x.shape[-1:], x)][::b.choose(1, -1)])
    b.put(call(b, op, [x], (x.type, x.shape)))


def fused(b):
    x = b.pick(b.choose(2, 4), of=TensorProto.FLOAT)
    if x.rank == 4:
        w = b.floats((4, x.shape[1], 1, 1), x)
        return b.put(call(b, "FusedConv", [x, w, b.floats((4,), x)], (x.type, (x.shape[0], 4) + x.shape[2:]), activation=b.choose("Relu", "Sigmoid")))
    if b.chance(0.5):
        return b.put(call(b, "FusedMatMul", [x, b.floats((4, x.shape[1]), x)], (x.type, (x.shape[0], 4)), transB=1, alpha=b.choose(1.0, 0.5)))
    b.put(call(b, "FusedGemm", [x, b.floats((x.shape[1], 4), x), b.floats((4,), x)], (x.type, (x.shape[0], 4)), activation="Relu"))


def normalizations(b):
    x = b.pick(3, of=TensorProto.FLOAT)
    y = b.node("Relu", [x])
    op = b.choose("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
    weights = [b.floats(x.shape[-1:], x)] * (2 if op == "SkipLayerNormalization" else 1)
    if b.chance(0.5):
        y = b.node("MatMul", [y, b.floats((x.shape[-1],) * 2, x)])
        y = b.node("Add", [y, b.floats(x.shape[-1:], x)])
    b.put(call(b, op, [x, y] + weights, (x.type, x.shape)))


def quantized(b):
    """QLinear operators written by hand."""
    x = b.pick(of=TensorProto.FLOAT)
    p = b.quantizer.fresh(TensorProto.UINT8)
    if p.zero is None:
        raise Unfit("a zero point is needed")
    q = b.quantizer.q(x, p)
    operands = [q, p.scale, p.zero]
    op = b.choose("QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu")
    y = call(b, op, operands * 2 + [p.scale, p.zero] if op in ("QLinearAdd", "QLinearMul") else operands + [p.scale, p.zero], (q.type, q.shape))
    b.put(b.quantizer.dq(y, p))


def nbits(b):
    x = b.pick(b.choose(2, 3), lambda v: v.shape[-1] % 16 == 0, of=TensorProto.FLOAT)
    k, n = x.shape[-1], 8
    w = b.constant(b.numbers.integers(0, 255, (n, k // 16, 8)).astype(np.uint8))
    y = call(b, "MatMulNBits", [x, w, b.floats((n * (k // 16),), x)], (x.type, x.shape[:-1] + (n,)), K=k, N=n, bits=4, block_size=16)
    b.put(b.node("Add", [y, b.floats((n,), x)][::b.choose(1, -1)]) if b.chance(0.6) else y)


def trained(b):
    """Pads and crops, Inverse, Trilu, ExpandDims, Unique: operators of older exporters."""
    x = b.pick(of=TensorProto.FLOAT)
    op = b.choose("Pad", "ExpandDims", "Trilu")
    if op == "Pad":
        pads = [0] * x.rank + [1] * x.rank
        return b.put(call(b, op, [x, b.ints(*pads)], (x.type, tuple(n + 1 for n in x.shape))))
    if op == "ExpandDims":
        return b.put(call(b, op, [x, b.constant(np.array(0, np.int32))], (x.type, (1,) + x.shape)))
    b.put(call(b, op, [x], (x.type, x.shape)))


STEPS = {activations: 3, fused: 2, normalizations: 2, quantized: 2, nbits: 1, trained: 1}
