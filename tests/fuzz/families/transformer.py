"""Pieces of transformers as exporters write them out, with small variations."""

import math

import numpy as np
from onnx import TensorProto

import operators as ops
from builder import Unfit


def linear(b, x, out, bias=True):
    y = b.node("MatMul", [x, b.quantizer.weight((x.shape[-1], out), 1)])
    if bias and b.chance(0.9):
        y = b.node("Add", [y, b.floats((out,), y)][::b.choose(1, 1, 1, -1)])
    return b.quantizer.after(y)


def layer_norm(b, x, odd=0.1):
    """LayerNormalization, as an operator or in its parts."""
    h = x.shape[-1]
    scale, bias = b.floats((h,), x), b.floats((h,), x)
    if b.opset >= 17 and b.chance(0.5):
        return b.node("LayerNormalization", [x, scale] + ([bias] if b.chance(0.9) else []), axis=b.choose(None, -1, x.rank - 1), epsilon=b.choose(None, 1e-6))
    axis = b.choose(-1, -1, -1, x.rank - 1)
    source = ops.cast(b, x, TensorProto.FLOAT) if b.chance(0.1) else x
    mean = ops.reduce(b, "ReduceMean", source, [axis])
    d = b.node("Sub", [source, mean])
    again = b.node("Sub", [source, mean]) if b.chance(0.15) else d
    square = b.node("Pow", [again, b.scalar(2, again)]) if b.chance(0.85) else b.node("Mul", [again, again])
    variance = ops.reduce(b, "ReduceMean", square, [axis])
    root = b.node("Sqrt", [b.node("Add", [variance, b.scalar(b.choose(1e-5, 1e-12, 1e-2), variance)][::b.choose(1, 1, -1)])])
    y = b.node("Div", [d, root])
    y = ops.cast(b, y, x.type) if y.type != x.type or b.chance(0.05) else y
    if b.chance(odd):
        b.offer(b.choose(mean, root, d))
    y = b.node("Mul", [y, scale][::b.choose(1, -1)])
    return b.node("Add", [y, bias][::b.choose(1, -1)]) if b.chance(0.9) else y


def rms_norm(b, x):
    if b.opset >= 23 and b.chance(0.5):
        return b.node("RMSNormalization", [x, b.floats(x.shape[-1:], x)], axis=-1)
    f = ops.cast(b, x, TensorProto.FLOAT) if x.type != TensorProto.FLOAT and b.chance(0.6) else x
    square = b.node("Pow", [f, b.scalar(2, f)]) if b.chance(0.8) else b.node("Mul", [f, f])
    mean = ops.reduce(b, "ReduceMean", square, [b.choose(-1, x.rank - 1)])
    root = b.node("Sqrt", [b.node("Add", [mean, b.scalar(1e-6, mean)])])
    y = b.node("Div", [f, root]) if b.chance(0.6) else b.node("Mul", [f, b.node("Reciprocal", [root])]) if b.chance(0.5) else \
        b.node("Mul", [f, b.node("Div", [b.scalar(1, root), root])])
    y = ops.cast(b, y, x.type) if y.type != x.type else y
    return b.node("Mul", [y, b.floats(x.shape[-1:], y)][::b.choose(1, -1)])


def norms(b):
    x = b.pick(b.choose(2, 3, 3, 3))
    if b.chance(0.6):
        other = b.pick(x.rank, lambda v: v.shape == x.shape)
        if b.chance(0.4):
            other = b.node("Add", [other, b.floats(x.shape[-1:], x)][::b.choose(1, -1)])
        if b.chance(0.3):
            other = linear(b, other, x.shape[-1])
        x = b.node("Add", [x, other][::b.choose(1, -1)])
        if b.chance(0.2):
            b.offer(x)
    b.put(b.choose(layer_norm, layer_norm, rms_norm)(b, x))


def gelu(b, x):
    """The forms of Gelu, exact, by tanh, by sigmoid."""
    k = lambda v: b.scalar(v, x, b.choose((), (), (), (1,)))
    m = lambda p, q: b.node("Mul", [p, q][::b.choose(1, 1, -1)])
    kind = b.random.randrange(8)
    if kind < 3:
        root = b.choose(math.sqrt(2), math.sqrt(2), 1.4142, 1.5)
        d = b.node("Div", [x, k(root)]) if b.chance(0.8) else m(x, k(1 / root))
        e = b.node("Add", [b.node("Erf", [d]), k(1)][::b.choose(1, -1)])
        return m(m(x, k(0.5)), e) if kind == 0 else m(m(x, e), k(0.5)) if kind == 1 else m(x, m(e, k(0.5)))
    if kind == 3:
        inner = m(b.node("Add", [m(m(x, k(0.044715)), x), k(1)]), m(x, k(0.7978845608)))
        return m(b.node("Add", [b.node("Tanh", [inner]), k(1)]), m(x, k(0.5)))
    if kind == 4:
        inner = m(b.node("Add", [m(b.node("Pow", [x, k(3)]), k(0.044715)), x][::b.choose(1, -1)]), k(0.7978845608))
        return m(b.node("Add", [b.node("Tanh", [inner]), k(1)]), m(x, k(0.5)))
    if kind == 5:
        return m(x, b.node("Sigmoid", [m(x, k(b.choose(1.702, 1.0, 2.5)))]))
    if kind == 6:
        return m(x, b.node("Sigmoid", [x]))
    return b.node("Gelu", [x], approximate=b.choose(None, "tanh"))


def feed_forward(b):
    x = b.pick(b.choose(2, 3, 3))
    h = x.shape[-1]
    y = linear(b, x, b.choose(h, 2 * h))
    if b.chance(0.2):
        y = b.node("Mul", [y, b.node("Sigmoid", [linear(b, x, y.shape[-1])])])
    y = gelu(b, y)
    y = linear(b, y, h)
    b.put(layer_norm(b, b.node("Add", [y, x])) if b.chance(0.5) else b.node("Add", [y, x]))


def bare_gelu(b):
    x = b.pick()
    if b.chance(0.4):
        x = b.node("Add", [x, b.floats(x.shape[-1:], x)][::b.choose(1, -1)])
    b.put(gelu(b, x))


def view(b, x, heads):
    """Rows as heads, in a Reshape whose numbers are written in one of the usual ways."""
    n, s, h = x.shape
    shape = b.choose((0, 0, heads, h // heads), (0, 0, heads, h // heads), (0, -1, heads, h // heads), (n, s, heads, h // heads))
    return ops.reshape(b, x, *shape)


def mask(b, scores, n, s):
    """An additive mask made of a graph input of ones and zeros, or nothing, or a constant."""
    kind = b.random.randrange(6)
    if kind == 0 or kind == 1:
        return scores
    if kind == 2:
        return b.node("Add", [scores, b.floats((1, 1, s, s), scores)])
    given = next((v for v in b.inputs if v.shape == (n, s) and v.type in (TensorProto.INT64, TensorProto.INT32)), None) or \
        b.new_input(2, b.choose(TensorProto.INT64, TensorProto.INT64, TensorProto.INT32, TensorProto.FLOAT), (n, s))
    m = ops.unsqueeze(b, ops.unsqueeze(b, given, 1), 2) if b.chance(0.8) else ops.unsqueeze(b, given, 1, 2)
    if given.type != scores.type:
        m = ops.cast(b, m, scores.type)
    m = b.node("Mul", [b.node("Sub", [b.scalar(1, scores), m]), b.scalar(b.choose(-10000, -1e9, -65504), scores)])
    return b.node("Add", [scores, m][::b.choose(1, 1, 1, -1)])


def attention(b):
    """Self-attention in BERT's order, sometimes with its LayerNormalization, residual and projection."""
    x = b.pick(3, lambda v: v.shape[2] % 4 == 0 and v.shape[2] >= 8)
    n, s, h = x.shape
    heads, size = b.choose((2, h // 2), (4, h // 4))
    if b.chance(0.7):
        x = layer_norm(b, x, 0)
    sides = [ops.transpose(b, view(b, linear(b, x, h), heads), [0, 2, 1, 3] if k != 1 or b.chance(0.15) else [0, 2, 3, 1]) for k in range(3)]
    query, key, value = sides
    if key.shape[2] == s and key.shape[3] == size and size != s:
        key = ops.transpose(b, key, [0, 1, 3, 2])
    root = b.scalar(math.sqrt(size) if b.chance(0.9) else 3, x)
    if b.chance(0.3):
        query = b.node("Div", [query, root])
        scores = b.node("MatMul", [query, key])
    else:
        scores = b.node("MatMul", [query, key])
        scores = b.node("Div", [scores, root]) if b.chance(0.8) else b.node("Mul", [scores, b.scalar(1 / math.sqrt(size), x)])
    scores = mask(b, scores, n, s)
    p = b.node("Softmax", [scores], axis=b.choose(-1, 3, 3))
    if b.chance(0.1):
        p = ops.dropout(b, p)
    y = ops.transpose(b, b.node("MatMul", [p, value]), [0, 2, 1, 3])
    y = ops.reshape(b, y, *b.choose((0, 0, h), (0, 0, h), (n, s, h), (0, 0, -1)))
    y = linear(b, y, h)
    if b.chance(0.8):
        y = b.node("Add", [y, x][::b.choose(1, 1, -1)])
    b.put(layer_norm(b, y, 0) if b.chance(0.6) else y)


def joined_attention(b):
    """Attention with one product for query, key and value, split by Split or Slices (GPT-2, ViT)."""
    x = b.pick(3, lambda v: v.shape[2] % 4 == 0 and v.shape[2] >= 8)
    n, s, h = x.shape
    heads = b.choose(2, 4)
    x = layer_norm(b, x, 0)
    joined = linear(b, x, 3 * h)
    if b.chance(0.5):
        parts = [ops.transpose(b, view(b, p, heads), [0, 2, 1, 3]) for p in ops.split(b, joined, 2, [h] * 3)]
    else:
        y = ops.transpose(b, ops.reshape(b, joined, n, s, 3, heads, h // heads), [2, 0, 3, 1, 4])
        parts = [b.node("Gather", [y, b.constant(np.array(k))], axis=0) for k in range(3)]
    key = ops.transpose(b, parts[1], [0, 1, 3, 2])
    scores = b.node("Div", [b.node("MatMul", [parts[0], key]), b.scalar(math.sqrt(h // heads), x)]) if b.chance(0.5) else \
        b.node("MatMul", [b.node("Mul", [parts[0], b.scalar(1 / math.sqrt(h // heads), x)]), key])
    p = b.node("Softmax", [mask(b, scores, n, s)], axis=-1)
    y = ops.reshape(b, ops.transpose(b, b.node("MatMul", [p, parts[2]]), [0, 2, 1, 3]), n, s, h)
    b.put(b.node("Add", [x, linear(b, y, h)]))


def embedding(b):
    """Word, position and segment embeddings, added and normalized."""
    n, s, h = b.choose((1, 4, 8), (2, 6, 8))
    kind = b.choose(TensorProto.INT64, TensorProto.INT32)
    ids = b.new_input(2, kind, (n, s))
    y = b.node("Gather", [b.floats((12, h)), ids])
    if b.chance(0.5):
        positions = b.constant(np.arange(s, dtype=np.int64)[None, :])
        rows = b.node("Gather", [b.floats((16, h)), positions])
    else:
        rows = b.floats((1, s, h))
    y = b.node("Add", [y, rows][::b.choose(1, 1, -1)])
    if b.chance(0.7):
        segments = b.new_input(2, kind, (n, s))
        y = b.node("Add", [y, b.node("Gather", [b.floats((2, h)), segments])])
    b.put(layer_norm(b, y, 0))


def rotary(b):
    """x * cos + rotate_half(x) * sin."""
    x = b.pick(b.choose(3, 4), lambda v: v.shape[-1] % 2 == 0)
    half = x.shape[-1] // 2
    left = ops.slices(b, x, [0], [half], [x.rank - 1])
    right = ops.slices(b, x, [half], [2**63 - 1], [x.rank - 1])
    turned = b.node("Concat", [b.node("Neg", [right]), left], axis=-1)
    cos, sin = b.floats(x.shape[-2:], x), b.floats(x.shape[-2:], x)
    b.put(b.node("Add", [b.node("Mul", [x, cos]), b.node("Mul", [turned, sin])]))


def softmax_parts(b):
    """Softmax in its parts, and one with a mask by Where."""
    x = b.pick(where=lambda v: v.rank >= 2)
    if b.chance(0.5):
        e = b.node("Exp", [b.node("Sub", [x, ops.reduce(b, "ReduceMax", x, [-1])])])
        return b.put(b.node("Div", [e, ops.reduce(b, "ReduceSum", e, [-1])]))
    hidden = b.new_input(x.rank, TensorProto.BOOL, (1,) * (x.rank - 1) + x.shape[-1:])
    y = b.node("Where", [hidden, b.scalar(-1e4, x), x] if b.chance(0.5) else [b.node("Not", [hidden]), x, b.scalar(-1e4, x)])
    b.put(b.node("Softmax", [y], axis=-1))


STEPS = {norms: 4, feed_forward: 2, bare_gelu: 2, attention: 4, joined_attention: 2, embedding: 1, rotary: 1, softmax_parts: 1}
