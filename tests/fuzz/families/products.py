"""Matrix products: MatMul and Gemm with biases, scales, transposes, activations; dynamic quantization."""

import numpy as np
from onnx import TensorProto

import operators as ops
from builder import Unfit


def gemm(b):
    x = b.pick(2)
    rows, out = x.shape[1], b.choose(4, 8, 16)
    trans_b = b.choose(0, 1)
    w = b.quantizer.weight((out, rows) if trans_b else (rows, out), 0 if trans_b else 1)
    x = b.quantizer.operand(x) if b.chance(0.8) else x
    bias = b.quantizer.bias(out, x, w)
    if bias is not None and b.chance(0.1):
        bias = b.floats(b.choose((), (1,), (1, out), (x.shape[0], out), (x.shape[0], 1)), x)
    if bias is None and b.opset < 11:
        bias = b.floats((out,), x)
    y = b.node("Gemm", [x, w] + ([bias] if bias else []), transB=trans_b, alpha=b.choose(None, None, None, 0.5), beta=b.choose(None, None, None, 2.0))
    after(b, y)


def after(b, y):
    """What usually stands behind a product."""
    kind = b.random.randrange(7)
    if kind == 0:
        y = b.node(b.choose("Relu", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "Softplus", "HardSigmoid"), [y])
    elif kind == 1:
        y = b.node(b.choose("Mul", "Div"), [y, b.scalar(b.choose(8, 0.125), y, b.choose((), (1,)))])
    elif kind == 2 and y.rank == 2:
        y = b.node("Sum", [y, b.floats(b.choose((y.shape[1],), y.shape), y)][::b.choose(1, -1)])
    elif kind == 3 and y.rank >= 2:
        y = ops.transpose(b, y, ops.swap(range(y.rank), -1, -2))
    elif kind == 4 and y.rank == 2:
        y = ops.batch_normalization(b, y)
    b.put(y)


def gemm_transposed(b):
    """Transposes around a Gemm of two values."""
    x = b.pick(2)
    y = b.pick(2, lambda v: v.shape[1] == x.shape[1] or v.shape[0] == x.shape[1] or v.shape == x.shape)
    left = ops.transpose(b, x, [1, 0]) if b.chance(0.6) else x
    right = ops.transpose(b, y, b.choose([1, 0], [1, 0], [0, 1])) if b.chance(0.6) else y
    if b.chance(0.2):
        b.offer(left)
    for a in ((0, 0), (1, 0), (0, 1), (1, 1)):
        m, n = left.shape[::-1] if a[0] else left.shape, right.shape[::-1] if a[1] else right.shape
        if m[1] == n[0]:
            third = [b.floats((n[1],), x)] if b.chance(0.3) or b.opset < 11 else []
            z = b.node("Gemm", [left, right] + third, transA=a[0], transB=a[1])
            return b.put(ops.transpose(b, z, [1, 0]) if b.chance(0.4) else z)
    raise Unfit("sizes")


def matmul(b):
    x = b.pick(b.random.choice([2, 3, 3, 4]))
    out = b.choose(4, 8, x.shape[-1])
    w = b.quantizer.weight((x.shape[-1], out), 1)
    x = b.quantizer.operand(x) if b.chance(0.8) else x
    y = b.node("MatMul", [x, w])
    if b.chance(0.6):
        bias = b.floats(b.choose((out,), (out,), (1, out), (1, 1, out), ()), y)
        y = b.node("Add", [y, bias][::b.choose(1, -1)])
    after(b, y)


def scaled(b):
    """Scales before and behind a MatMul, constant or not."""
    x = b.pick(where=lambda v: v.rank >= 2)
    k = lambda: b.scalar(b.choose(0.5, 2, 8), x, b.choose((), (), (1,), (1, 1)))
    left = b.node(b.choose("Mul", "Div"), [x, k()]) if b.chance(0.5) else x
    right = ops.transpose(b, x, ops.swap(range(x.rank), -1, -2)) if b.chance(0.8) else b.floats(x.shape[:-2] + (x.shape[-1], 4), x)
    right = b.node(b.choose("Mul", "Div"), [right, k()]) if b.chance(0.3) else right
    y = b.node("MatMul", [left, right])
    if b.chance(0.5):
        y = b.node(b.choose("Mul", "Div"), [y, k()] if b.chance(0.8) else [k(), y])
    b.put(b.node("Softmax", [y], axis=-1) if b.chance(0.4) else y)


def transposed(b):
    """MatMul of transposed operands, of batches too, with Casts between."""
    x = b.pick(where=lambda v: v.rank >= 2)
    n = x.rank
    last = ops.swap(range(n), -1, -2)
    first = list(range(1, n - 1)) + [0, n - 1] if n > 2 else [1, 0]
    moved = list(range(1, n - 1)) + [n - 1, 0] if n > 2 else [0, 1]
    sides = []
    for _ in range(2):
        y = x
        if b.chance(0.2):
            y = ops.cast(b, y, TensorProto.FLOAT16)
        if b.chance(0.8):
            y = ops.transpose(b, y, b.choose(last, last, last, first, moved))
        if y.type != x.type or b.chance(0.15):
            y = ops.cast(b, y, x.type)
        if b.chance(0.1):
            b.offer(y)
        sides.append(y)
    b.put(b.node("MatMul", sides))


def batched(b):
    """Two activations, perhaps quantized."""
    x = b.pick(where=lambda v: v.rank >= 2)
    y = b.node(b.choose("Relu", "Sigmoid"), [x])
    left, right = b.quantizer.operand(x), b.quantizer.operand(ops.transpose(b, y, ops.swap(range(x.rank), -1, -2)))
    b.put(b.node("MatMul", [left, right]))


def einsum(b):
    x = b.pick(3)
    text, shape = b.choose(("abc,cd->abd", (x.shape[2], 4)), ("abc,abd->acd", x.shape[:2] + (4,)), ("abc->acb", None), ("abc,abc->ab", x.shape))
    b.put(b.node("Einsum", [x] + ([b.floats(shape, x)] if shape else []), equation=text))


def dynamic(b):
    """Activations quantized on the fly: DynamicQuantizeLinear, MatMulInteger or ConvInteger, Cast, scales, bias."""
    x = b.pick(b.random.choice([2, 3, 3, 4]), of=TensorProto.FLOAT)
    q, scale, zero = b.node("DynamicQuantizeLinear", [x], 3)
    kind = b.choose(np.int8, np.uint8)
    convolution = x.rank == 4 and b.chance(0.6)
    out = b.choose(4, 8)
    shape = (out, x.shape[1], 1, 1) if convolution else (x.shape[-1], out)
    numbers = b.numbers.integers(-60, 60, shape).astype(np.int8) if kind is np.int8 else b.numbers.integers(0, 255, shape).astype(np.uint8)
    per_channel = b.chance(0.3) and not convolution
    w = b.constant(numbers)
    zeros = b.constant(np.full((out,) if per_channel else (), 0 if kind is np.int8 else 128, kind)) if b.chance(0.8) else None
    y = b.node("ConvInteger" if convolution else "MatMulInteger", [q, w, zero if b.chance(0.9) or zeros else None] + ([zeros] if zeros else []))
    y = ops.cast(b, y, TensorProto.FLOAT)
    factor = b.constant(np.full((out,) if per_channel else (), 0.01, np.float32)) if b.chance(0.9) else b.new_input(0, TensorProto.FLOAT)
    factors = b.node("Mul", [scale, factor][::b.choose(1, 1, -1)])
    y = b.node("Mul", [y, factors][::b.choose(1, 1, 1, -1)])
    if b.chance(0.5):
        y = b.node("Add", [y, b.constant(np.full(b.choose((out,), (1, out)), 0.5, np.float32)) if not convolution else b.floats((out, 1, 1), y)][::b.choose(1, -1)])
    if b.chance(0.2):
        b.offer(factors)
    b.put(b.node("Relu", [y]) if b.chance(0.3) else y)


def reshaped_gemm(b):
    """Flatten or Reshape, Gemm, Reshape back: what classifiers and some exporters of linear layers write."""
    x = b.pick(where=lambda v: v.rank >= 3)
    y = b.node("Flatten", [x], axis=1) if b.chance(0.5) else ops.reshape(b, x, -1, x.shape[-1])
    y = b.quantizer.after(y)
    w = b.quantizer.weight((8, y.shape[1]))
    bias = b.quantizer.bias(8, y, w) or b.floats((8,), y)
    y = b.node("Gemm", [y, w, bias], transB=1)
    if y.shape[0] == x.size // x.shape[-1] and b.chance(0.7):
        y = ops.reshape(b, y, *x.shape[:-1], 8)
    b.put(y)


STEPS = {gemm: 4, gemm_transposed: 2, matmul: 5, scaled: 2, transposed: 2, batched: 2, einsum: 0.5, dynamic: 2, reshaped_gemm: 1}
