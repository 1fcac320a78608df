"""Transposes around everything, and graphs that came from channels-last frameworks."""

import numpy as np

import operators as ops
from builder import Unfit

TO_LAST, TO_FIRST = [0, 2, 3, 1], [0, 3, 1, 2]


def one(b, x, permutation=None):
    """An operator that a Transpose may be pushed through."""
    n = x.rank
    if not n:
        raise Unfit("a number")
    kind = b.random.randrange(22)
    axis = b.random.randrange(n)
    if kind < 4:
        return b.node(b.choose("Relu", "Sigmoid", "LeakyRelu", "Tanh", "Neg", "Clip", "HardSwish", "Identity"), [x])
    if kind < 7:
        shape = b.choose(x.shape[-1:], (1,) * n, (), x.shape[-2:], (1,) * (n - 1) + x.shape[-1:], x.shape)
        return b.node(b.choose("Add", "Mul", "Sub", "Max", "PRelu"), [x, b.floats(shape, x)][::b.choose(1, 1, -1)])
    if kind < 9:
        return b.quantizer.after(x)
    if kind == 9:
        return b.node(b.choose("Mul", "Add"), [x, x])
    if kind == 10:
        return b.node(b.choose("Softmax", "LogSoftmax", "Hardmax", "ArgMax") if b.chance(0.9) else "LpNormalization", [x], axis=axis)
    if kind == 11:
        return b.node("Concat", [x, b.node("Relu", [x])], axis=axis)
    if kind == 12:
        return ops.reduce(b, b.choose("ReduceMean", "ReduceMax", "ReduceSum"), x, b.choose([axis], [1, 2] if n > 2 else [0], None), b.choose(0, 1, 1))
    if kind == 13:
        return ops.pad(b, x, [b.choose(0, 1) for _ in range(2 * n)], b.choose("constant", "edge"))
    if kind == 14:
        return b.random.choice(ops.split(b, x, axis, [x.shape[axis] // 2] * 2)) if x.shape[axis] % 2 == 0 else x
    if kind == 15:
        return ops.slices(b, x, [0], [max(1, x.shape[axis] - 1)], [axis])
    if kind == 16:
        return b.node("Gather", [x, b.constant(np.array(b.choose(0, [0], [0, 0], [[0]]), np.int64))], axis=axis)
    if kind == 17:
        return ops.unsqueeze(b, x, axis) if n < 5 else x
    if kind == 18:
        ones = [k for k in range(n) if x.shape[k] == 1]
        return ops.squeeze(b, x, ones[0]) if ones and n > 2 else x
    if kind == 19:
        return b.node("Where", [b.node("Greater", [x, b.scalar(0, x)]), x, b.scalar(0, x)])
    if kind == 20:
        return b.node("Tile", [x, b.ints(*[b.choose(1, 1, 2) for _ in range(n)])])
    return ops.reshape(b, x, *b.choose((x.shape[0], -1), x.shape, (-1,), (1,) + x.shape))


def between(b):
    """Transpose, a few operators, the Transpose back or another one."""
    x = b.pick(where=lambda v: v.rank >= 2)
    p = ops.shuffled(b, x.rank)
    y = ops.transpose(b, x, p)
    if b.chance(0.3):
        y = b.quantizer.after(y)
    for _ in range(b.choose(1, 1, 2, 3)):
        y = one(b, y, p)
        if y.type != x.type:
            y = ops.cast(b, y, x.type)
        if b.chance(0.12):
            b.offer(y)
    if not y.rank:
        raise Unfit("a number")
    if y.rank == x.rank and b.chance(0.75):
        y = ops.transpose(b, y, [p.index(k) for k in range(x.rank)])
    elif b.chance(0.5):
        y = ops.transpose(b, y, ops.shuffled(b, y.rank))
    b.put(y)


def two_sides(b):
    """A binary operator or Concat of two transposed values."""
    x = b.pick(where=lambda v: v.rank >= 2)
    p = ops.shuffled(b, x.rank)
    y = b.node(b.choose("Relu", "Sigmoid"), [x]) if b.chance(0.7) else x
    left = ops.transpose(b, x, p)
    right = ops.transpose(b, y, p) if b.chance(0.7) else b.floats(left.shape, x)
    if b.quantizer.types and b.chance(0.4):
        left, right = b.quantizer.pair(left), b.quantizer.pair(right)
    z = b.node(b.choose("Add", "Mul"), [left, right]) if b.chance(0.6) else b.node("Concat", [left, right], axis=b.random.randrange(x.rank))
    z = b.quantizer.after(z)
    b.put(ops.transpose(b, z, [p.index(k) for k in range(x.rank)]) if b.chance(0.7) else z)


def channels_last_network(b):
    """Channels-last outside, each Conv or pool between Transposes, as TensorFlow's exporter leaves them."""
    x = b.pick(4)
    y = ops.transpose(b, x, TO_LAST) if b.chance(0.6) else b.new_input(4, shape=(x.shape[0],) + x.shape[2:] + x.shape[1:2])
    for _ in range(b.choose(1, 2, 2)):
        z = ops.transpose(b, y, TO_FIRST)
        if b.chance(0.7):
            c = z.shape[1]
            z = b.quantizer.operand(z)
            z = b.node("Conv", [z, b.quantizer.weight((b.choose(4, 8, 16), c, 1, 1))])
        else:
            z = b.node(b.choose("MaxPool", "AveragePool"), [z], kernel_shape=[2, 2])
        z = b.quantizer.after(z)
        y = ops.transpose(b, z, TO_LAST)
        kind = b.random.randrange(5)
        if kind == 0:
            y = b.node("Add", [y, b.floats(y.shape[-1:], y)])
        elif kind == 1:
            y = b.node("Relu", [y])
        elif kind == 2:
            y = ops.pad(b, y, [0, 0, 1, 0, 0, 1, 0, 0])
        elif kind == 3:
            y = ops.reduce(b, "ReduceMean", y, [1, 2])
        if min(y.shape) < 1:
            raise Unfit("nothing left")
    b.put(y)


def shuffle(b):
    """Channel shuffle: Reshape, Transpose, Reshape."""
    x = b.pick(4, lambda v: v.shape[1] % 2 == 0)
    n, c, h, w = x.shape
    y = ops.reshape(b, x, n, 2, c // 2, h, w)
    y = b.quantizer.after(ops.transpose(b, y, [0, 2, 1, 3, 4]))
    b.put(ops.reshape(b, y, *b.choose((n, c, h, w), (n, -1, h, w))))


def window(b):
    """Heads or windows split off, moved and put back."""
    x = b.pick(3, lambda v: v.shape[2] % 4 == 0)
    n, s, h = x.shape
    y = ops.reshape(b, x, *b.choose((n, s, 4, h // 4), (0, 0, 4, h // 4), (0, -1, 4, h // 4)))
    y = b.quantizer.after(y)
    y = ops.transpose(b, y, [0, 2, 1, 3])
    for _ in range(b.choose(0, 1, 2)):
        y = one(b, y)
    if y.shape != (n, 4, s, h // 4):
        return b.put(y)
    y = ops.transpose(b, y, b.choose([0, 2, 1, 3], [0, 2, 1, 3], [0, 3, 1, 2]))
    b.put(ops.reshape(b, y, n, -1, h))


def redundant(b):
    """Transposes that cancel, chains of them, a Transpose of dimensions of one (a Reshape)."""
    x = b.pick(where=lambda v: v.rank >= 2)
    kind = b.random.randrange(3)
    if kind == 0:
        p = ops.shuffled(b, x.rank)
        y = ops.transpose(b, ops.transpose(b, x, p), [p.index(k) for k in range(x.rank)])
    elif kind == 1:
        y = ops.transpose(b, x, range(x.rank))
    else:
        y = ops.unsqueeze(b, x, 1) if x.rank < 5 else x
        y = ops.transpose(b, y, ops.swap(range(y.rank), 0, 1))
    b.put(y)


def resized(b):
    """Resize and DepthToSpace between Transposes."""
    x = b.pick(4, lambda v: v.size < 1500)
    y = ops.transpose(b, x, TO_LAST)
    y = b.quantizer.after(y)
    y = ops.resize(b, y, [1, 2, 2, 1], b.choose("nearest", "linear"), **({"coordinate_transformation_mode": "asymmetric"} if b.opset >= 11 else {}))
    y = b.quantizer.after(y)
    b.put(ops.transpose(b, y, TO_FIRST))


STEPS = {between: 6, two_sides: 3, channels_last_network: 3, shuffle: 1, window: 2, redundant: 1, resized: 1}
