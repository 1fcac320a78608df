"""What constant folding, sharing and elimination look at: computations of constants, large and odd ones."""

import numpy as np
from onnx import TensorProto, numpy_helper

import operators as ops
from builder import Unfit


def expression(b):
    """A few operators on constants only."""
    x = b.pick()
    shape = b.choose(x.shape[-1:], (), (1,) * x.rank)
    c = b.node(b.choose("Add", "Mul", "Sub", "Div", "Max", "Pow"), [b.floats(shape, x), b.floats(shape, x)])
    for _ in range(b.choose(0, 1, 2)):
        c = b.choose(lambda: b.node(b.choose("Sqrt", "Exp", "Neg", "Identity", "Relu", "Abs", "Tanh", "Reciprocal", "Erf", "Sigmoid"), [c]),
                     lambda: ops.cast(b, ops.cast(b, c, TensorProto.DOUBLE), x.type), lambda: ops.dropout(b, c),
                     lambda: ops.unsqueeze(b, c, 0), lambda: b.node("Expand", [c, b.ints(*(shape or (1,)))]))()
    b.put(b.node(b.choose("Add", "Mul"), [x, c]))


def made_tensor(b):
    """ConstantOfShape, Range, NonZero, EyeLike, OneHot, Trilu, random numbers: constants that are or are not folded."""
    x = b.pick(where=lambda v: v.rank >= 1)
    n = x.shape[-1]
    kind = b.random.randrange(9)
    if kind == 0:
        value = None if b.chance(0.3) else numpy_helper.from_array(np.array([0.5], np.float32))
        c = b.node("ConstantOfShape", [b.ints(n)], value=value)
    elif kind == 1:
        c = b.node("Range", [b.constant(np.array(v, np.float32)) for v in (0, n, 1)], like=[(TensorProto.FLOAT, (n,))])
    elif kind == 2:
        flat = b.node("NonZero", [b.constant(np.ones(n, b.choose(np.int64, np.float32)))], like=[(TensorProto.INT64, (1, n))])
        c = ops.reshape(b, ops.transpose(b, flat, [1, 0]), -1)
    elif kind == 3:
        c = b.node("EyeLike", [b.floats((n, n))])
    elif kind == 4:
        c = b.node("OneHot", [b.constant(np.arange(n)), b.constant(np.array(n)), b.constant(np.array([0, 1], np.float32))], like=[(TensorProto.FLOAT, (n, n))])
    elif kind == 5:
        c = b.node(b.choose("RandomNormal", "RandomUniform"), [], shape=[n], seed=b.choose(None, 1.0))
    elif kind == 6:
        c = b.node(b.choose("RandomNormalLike", "RandomUniformLike", "Bernoulli"), [b.floats((n,))], seed=1.0)
    elif kind == 7:
        c = b.node("Trilu", [b.floats((n, n))], upper=b.choose(0, 1))
    else:
        c = b.node("Tile", [b.floats((1,)), b.ints(n)])
    if c.type != x.type:
        c = ops.cast(b, c, x.type)
    if c.rank > 1 and x.rank < 2:
        raise Unfit("rank")
    if c.rank > 1:
        return b.put(b.node("MatMul", [x, c]))
    b.put(b.node("Add", [x, c]))


def large(b):
    """Constants that grow when they are folded."""
    x = b.pick(where=lambda v: v.size <= 600)
    rows = b.choose(40, 300)
    c = b.node("Expand", [b.floats((1, x.shape[-1]), x), b.ints(rows, x.shape[-1])])
    if b.chance(0.5):
        c = b.node("Neg", [c])
    c = ops.reduce(b, "ReduceMax", c, [0], b.choose(0, 1)) if b.chance(0.7) else ops.slices(b, c, [0], [1], [0])
    b.put(b.node("Mul", [x, c]))


def known_shape(b):
    """Shape, Size and what is computed of them where the shape may be known."""
    x = b.pick()
    shape = b.node("Shape", [b.node("Relu", [x]) if b.chance(0.5) else x])
    kind = b.random.randrange(4)
    if kind == 0:
        y = b.node("Mul", [x, ops.cast(b, ops.reduce(b, "ReduceProd", shape, [0], 0), x.type)])
    elif kind == 1:
        y = b.node("Reshape", [x, shape], like=[(x.type, x.shape)])
    elif kind == 2:
        same = b.node("Equal", [shape, b.ints(*x.shape)])
        y = b.node("Add", [x, ops.cast(b, b.node("Gather", [ops.cast(b, same, TensorProto.INT32), b.constant(np.array(0))], axis=0), x.type)])
    else:
        y = b.node("Expand", [b.scalar(1, x), shape], like=[(x.type, x.shape)])
    b.put(y)


def quantized_constant(b):
    """A constant behind Q and DQ, or a DQ of an integer constant read by Transpose, Reshape or Slice."""
    q = b.quantizer
    if q.types is None:
        raise Unfit("a float model")
    x = b.pick()
    c = q.weight((x.shape[-1], x.shape[-1])) if b.chance(0.6) else q.pair(b.floats((x.shape[-1], x.shape[-1]), x))
    c = b.choose(lambda: ops.transpose(b, c, [1, 0]), lambda: c, lambda: ops.reshape(b, c, -1, x.shape[-1]),
                 lambda: q.pair(ops.transpose(b, c, [1, 0])), lambda: b.node("Relu", [c]))()
    y = b.node("MatMul", [q.operand(x), c]) if x.rank > 1 else b.node("Mul", [x, ops.slices(b, c, [0], [1], [0])])
    b.put(y)


def shared_scalars(b):
    """The same number in several initializers, of several shapes and types."""
    x = b.pick()
    number = b.choose(2, 0.5, 3)
    for _ in range(b.choose(2, 3)):
        c = b.constant(np.full(b.choose((), (), (1,)), number).astype(np.float32), "initializer")
        if x.type != TensorProto.FLOAT:
            c = ops.cast(b, c, x.type)
        x = b.node(b.choose("Mul", "Add", "Pow", "Max"), [b.node("Abs", [x]), c])
    b.put(x)


def unused(b):
    """Nodes and initializers that lead nowhere."""
    x = b.pick()
    b.floats((3,), x)
    y = b.node("Relu", [x])
    b.node(b.choose("Neg", "Abs"), [y])
    b.put(b.node("Sigmoid", [y]))


STEPS = {expression: 3, made_tensor: 2, large: 1, known_shape: 2, quantized_constant: 3, shared_scalars: 1, unused: 1}
