"""Networks of convolutions: blocks with normalization and activation, residuals, pools, Concat, upsampling, padding."""

import operators as ops
from builder import Unfit

ACTIVATIONS = ["Relu", "Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "HardSwish", "Elu", "Softplus", "silu", "hswish", "clip", "relu6", "PRelu", "Gelu"]


def activate(b, x):
    kind = b.random.choice(ACTIVATIONS)
    if kind == "silu":
        return b.node("Mul", [x, b.node("Sigmoid", [x])])
    if kind == "hswish":
        return b.node("Mul", [x, b.node("HardSigmoid", [x], alpha=1 / 6, beta=0.5)])
    if kind == "clip":
        return ops.clip(b, x, b.choose(0, -1), b.choose(6, 1))
    if kind == "relu6":
        return ops.clip(b, b.node("Relu", [x]), None if b.chance(0.5) else 0, 6)
    if kind == "PRelu":
        return b.node("PRelu", [x, b.floats((x.shape[1], 1, 1), x)])
    return b.node(kind, [x], alpha=0.1 if kind == "LeakyRelu" else None)


def convolve(b, x, channels=None, kernel=None):
    """A Conv of some kernel, group, stride and padding, with the model's kind of weights."""
    n = x.rank - 2
    c = x.shape[1]
    groups = b.choose(1, 1, 1, 1, c, 2 if c % 2 == 0 else 1)
    out = channels or (c if groups == c else b.choose(c, 2 * c, 8, 16, 4, 32, 6))
    if out % groups:
        groups = 1
    k = kernel or b.choose(1, 1, 3, 3, 2, 5)
    w = b.quantizer.weight((out, c // groups) + (k,) * n)
    x = b.quantizer.operand(x) if b.chance(0.8) else x
    bias = b.quantizer.bias(out, x, w)
    more = {}
    style = b.random.randrange(6)
    if style < 3:
        more["pads"] = [k // 2] * (2 * n)
    elif style == 3:
        more["auto_pad"] = b.choose("SAME_UPPER", "SAME_LOWER", "VALID")
    if b.chance(0.5):
        more["kernel_shape"] = [k] * n
    if b.chance(0.2):
        more["strides"] = [2] * n
    if b.chance(0.1) and "auto_pad" not in more:
        more["dilations"] = [2] * n
        if "pads" in more:
            more["pads"] = [k // 2 * 2] * (2 * n)
    if b.chance(0.08):
        x = ops.pad(b, x, [0, 0] + [1] * n + [0, 0] + [1] * n, b.choose("constant", "constant", "edge"), b.choose(None, 0, 1))
    y = b.node("Conv", [x, w] + ([bias] if bias else []), group=groups, **more)
    if min(y.shape) < 1:
        raise Unfit("nothing left")
    return y


def block(b):
    """Conv, then a BatchNormalization, Mul, Add, a residual, an activation, in the orders that networks have."""
    x = b.pick(b.random.choice([4, 4, 4, 4, 3, 5]), lambda v: min(v.shape) >= 1)
    y = convolve(b, x)
    for _ in range(b.choose(0, 1, 1, 2, 3)):
        kind = b.random.choice(["bn", "act", "act", "act", "residual", "mul", "add", "put"])
        if kind == "bn":
            y = ops.batch_normalization(b, y)
        elif kind == "act":
            y = activate(b, y)
        elif kind == "residual":
            y = residual(b, y)
        elif kind == "put":
            y = b.put(y)
        else:
            n = y.shape[1]
            shape = b.choose((), (1,), (n,) + (1,) * (y.rank - 2), (1, n) + (1,) * (y.rank - 2), (1,) * y.rank)
            operands = [y, b.floats(shape, y)]
            y = b.node("Mul" if kind == "mul" else "Add", operands if b.chance(0.8) else operands[::-1])
    b.put(y)


def residual(b, y):
    same = [v for v in b.scope.values if v.shape == y.shape and v.type == y.type]
    other = b.random.choice(same) if same else convolve_alike(b, y)
    if b.quantizer and b.chance(0.4):
        y, other = b.quantizer.operand(y), b.quantizer.operand(other)
    return b.node(b.choose("Add", "Add", "Add", "Sum"), [y, other] if b.chance(0.6) else [other, y])


def convolve_alike(b, y):
    return b.node("Conv", [y, b.floats((y.shape[1], y.shape[1]) + (1,) * (y.rank - 2), y)])


def transposed(b):
    x = b.pick(4, lambda v: v.size <= 1500)
    groups = b.choose(1, 1, x.shape[1])
    out = b.choose(4, 8)
    w = b.quantizer.weight((x.shape[1], out if groups == 1 else 1, 2, 2), 1)
    bias = b.quantizer.bias(out if groups == 1 else groups, x, w) if b.chance(0.5) else None
    y = b.node("ConvTranspose", [x, w] + ([bias] if bias else []), strides=[2, 2], group=groups,
               output_padding=b.choose(None, None, [1, 1]))
    if b.chance(0.3):
        y = ops.batch_normalization(b, y)
    b.put(activate(b, y) if b.chance(0.3) else y)


def pool(b):
    x = b.pick(b.random.choice([4, 4, 4, 3]))
    n = x.rank - 2
    op = b.choose("MaxPool", "MaxPool", "AveragePool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "LpPool")
    if op.startswith("Global"):
        return b.put(b.node(op, [x]))
    more = {"kernel_shape": [b.choose(2, 3)] * n, "strides": b.choose(None, [2] * n, [1] * n)}
    if b.chance(0.4):
        more["pads"] = [1] * (2 * n)
    elif b.chance(0.2):
        more["auto_pad"] = b.choose("SAME_UPPER", "VALID")
    if b.opset >= 10 and op != "LpPool" and b.chance(0.2):
        more["ceil_mode"] = 1
    if op == "AveragePool" and b.chance(0.3):
        more["count_include_pad"] = 1
    if op == "MaxPool" and b.chance(0.1):
        y, indices = b.node(op, [x], 2, **more)
        b.offer(indices)
    else:
        y = b.node(op, [x], **more)
    if min(y.shape) < 1:
        raise Unfit("nothing left")
    b.put(y)


def upsample(b):
    x = b.pick(4, lambda v: v.size <= 2500)
    mode = b.choose("nearest", "nearest", "linear", "cubic" if b.opset >= 11 else "linear")
    more = {}
    if b.opset >= 11:
        more = b.choose({}, {"coordinate_transformation_mode": "asymmetric"}, {"coordinate_transformation_mode": "align_corners"},
                        {"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}, {"coordinate_transformation_mode": "pytorch_half_pixel"})
    y = ops.resize(b, x, b.choose([1, 1, 2, 2], [1, 1, 2, 2], [1, 1, 2, 3], [1, 1, 1.5, 1.5], [1, 1, 1, 1]), mode, **more)
    b.put(y)


def inception(b):
    """Branches of convolutions and pools of one value, put together again."""
    x = b.pick(4, lambda v: v.shape[2] == v.shape[3] and v.shape[2] > 1)
    parts = []
    for _ in range(b.choose(2, 3)):
        k = b.choose(1, 3)
        y = b.node("Conv", [x, b.quantizer.weight((b.choose(4, 8, 16), x.shape[1], k, k))], pads=[k // 2] * 4)
        parts.append(activate(b, y) if b.chance(0.6) else y)
    if b.chance(0.3):
        parts.append(b.node("MaxPool", [x], kernel_shape=[3, 3], pads=[1] * 4, strides=[1, 1]))
    if b.quantizer and b.chance(0.5):
        parts = [b.quantizer.after(p) for p in parts]
    b.put(b.node("Concat", parts, axis=1))


def squeeze_excite(b):
    x = b.pick(4)
    s = b.node("GlobalAveragePool", [x]) if b.chance(0.5) else ops.reduce(b, "ReduceMean", x, b.choose([2, 3], [-1, -2], [3, 2]))
    if b.quantizer:
        s = b.quantizer.after(s)
    s = b.node("Relu", [b.node("Conv", [s, b.quantizer.weight((4, x.shape[1], 1, 1)), b.floats((4,))])])
    s = b.node(b.choose("Sigmoid", "HardSigmoid"), [b.node("Conv", [s, b.quantizer.weight((x.shape[1], 4, 1, 1))])])
    if b.quantizer:
        s = b.quantizer.after(s)
    b.put(b.node("Mul", [x, s] if b.chance(0.6) else [s, x]))


def padded(b):
    """A Pad before Conv or MaxPool, as TensorFlow's exporter writes it."""
    x = b.pick(4)
    pads = b.choose([0, 0, 0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1], [0, 0, 1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 0, 0, 0, 0], [0, 0, -1, 0, 0, 0, 0, 0])
    y = ops.pad(b, x, pads, b.choose("constant", "constant", "constant", "reflect"), b.choose(None, 0, 0, 0.5, -1e4))
    op = b.choose("Conv", "Conv", "MaxPool", "AveragePool")
    more = {"strides": [2, 2]}
    if b.chance(0.3):
        more.update(b.choose({"pads": [0, 0, 1, 1]}, {"auto_pad": "SAME_UPPER"}, {"auto_pad": "VALID"}, {"auto_pad": "NOTSET"}))
    if op == "Conv":
        y = b.node(op, [y, b.quantizer.weight((4, y.shape[1], 3, 3))], **more)
    else:
        y = b.node(op, [y], kernel_shape=[3, 3], **more)
    if min(y.shape) < 1:
        raise Unfit("nothing left")
    b.put(y)


def normalization(b):
    x = b.pick(where=lambda v: v.rank >= 2)
    op = b.choose("BatchNormalization", "InstanceNormalization", "LRN", "GroupNormalization")
    c = x.shape[1]
    if op == "BatchNormalization":
        y = ops.batch_normalization(b, x)
    elif op == "LRN":
        y = b.node(op, [x], size=3)
    elif op == "GroupNormalization":
        n = 2 if b.opset < 21 else c
        y = b.node(op, [x, b.floats((n,), x), b.floats((n,), x)], num_groups=2)
    else:
        y = b.node(op, [x, b.floats((c,), x), b.floats((c,), x)])
    b.put(y)


STEPS = {block: 8, transposed: 1, pool: 3, upsample: 2, inception: 2, squeeze_excite: 1, padded: 2, normalization: 2}
