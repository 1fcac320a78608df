"""Reshape, Squeeze, Slice, Concat, Split, Gather and what computes shapes."""

import numpy as np
from onnx import TensorProto

import operators as ops
from builder import Unfit


def reshape(b):
    x = b.pick()
    n = x.size
    last = x.shape[-1]
    targets = [(n,), (1, n), (-1,), (x.shape[0], -1), (-1, last), x.shape + (1,), (1,) + x.shape, (0, -1), (2, -1)]
    if x.rank > 2:
        targets += [(0, 0, -1), x.shape[:2] + (-1,), (x.shape[0] * x.shape[1],) + x.shape[2:], (0, x.shape[2], x.shape[1]) + x.shape[3:]]
    if x.rank == 3 and last % 4 == 0:
        targets += [(0, 0, 4, last // 4)] * 3
    y = ops.reshape(b, x, *b.random.choice(targets), allowzero=0 if b.opset >= 14 and b.chance(0.2) else None)
    for _ in range(b.choose(0, 0, 1, 2)):
        y = b.choose(lambda: ops.reshape(b, y, *x.shape), lambda: ops.reshape(b, y, -1), lambda: ops.unsqueeze(b, y, 0),
                     lambda: ops.squeeze(b, ops.unsqueeze(b, y, y.rank), -1), lambda: b.node("Flatten", [y], axis=b.choose(0, 1)))()
    b.put(y)


def axes(b):
    x = b.pick()
    if b.chance(0.5) and x.rank < 5:
        y = ops.unsqueeze(b, x, *b.choose((0,), (x.rank,), (-1,), (1,), (0, x.rank + 1)))
        if b.chance(0.4):
            y = ops.squeeze(b, b.node(b.choose("Relu", "Identity"), [y]), *[k for k in range(y.rank) if y.shape[k] == 1][:1])
    else:
        ones = [k for k in range(x.rank) if x.shape[k] == 1]
        if not ones or x.rank < 2:
            raise Unfit("no dimension of one")
        if b.chance(0.2):
            y = b.node("Squeeze", [x])
        else:
            k = b.random.choice(ones)
            y = ops.squeeze(b, x, b.choose(k, k - x.rank) if b.opset >= 11 else k)
    if not y.rank:
        raise Unfit("nothing left")
    b.put(y)


def flatten(b):
    x = b.pick()
    b.put(b.node("Flatten", [x], axis=b.choose(None, 0, 1, x.rank, -1 if b.opset >= 11 else 1)))


def slicing(b):
    x = b.pick()
    axis = b.random.randrange(x.rank)
    n = x.shape[axis]
    if n < 2:
        raise Unfit("nothing to cut")
    start, end = b.choose((1, n), (0, n - 1), (1, 2**31 - 1), (-1, 2**63 - 1), (0, n), (n // 2, n), (0, -1))
    y = ops.slices(b, x, [start], [end], [b.choose(axis, axis - x.rank)] if axis or b.chance(0.8) else None, b.choose(None, None, [1], [2]))
    if b.chance(0.2) and y.shape[axis] > 1:
        y = ops.slices(b, y, [1], [y.shape[axis]], [axis])
    b.put(y)


def space_to_depth(b):
    """Focus of YOLO models: every other pixel in four slices, put together again."""
    x = b.pick(4, lambda v: min(v.shape[2:]) >= 2 and v.shape[2] % 2 == 0 and v.shape[3] % 2 == 0)
    parts = []
    for k in b.choose([0, 1, 2, 3], [0, 2, 1, 3], [0, 2, 1, 3]):
        rows = ops.slices(b, x, [k // 2], [b.choose(2**31 - 1, x.shape[2])], [2], [2])
        parts.append(ops.slices(b, rows, [k % 2], [2**31 - 1], [3], [2]))
    y = b.node("Concat", parts, axis=b.choose(1, 1, 1, -3))
    if b.chance(0.5):
        y = b.node("Conv", [y, b.floats((4, y.shape[1], 1, 1))])
    b.put(y)


def concat(b):
    x = b.pick()
    axis = b.random.randrange(x.rank)
    others = [v for v in b.scope.values if v.type == x.type and v.rank == x.rank and
              all(i == axis or m == n for i, (m, n) in enumerate(zip(v.shape, x.shape)))]
    operands = [x] + [b.random.choice(others) for _ in range(b.choose(1, 1, 2))]
    if b.quantizer and b.chance(0.3):
        operands = [b.quantizer.operand(v) for v in operands]
    if b.chance(0.2):
        operands.append(b.floats(x.shape, x))
    b.put(b.node("Concat", operands, axis=b.choose(axis, axis - x.rank) if b.opset >= 11 else axis))


def split(b):
    x = b.pick(where=lambda v: any(n % 2 == 0 for n in v.shape))
    axis = b.random.choice([k for k, n in enumerate(x.shape) if n % 2 == 0])
    n = x.shape[axis]
    sizes = [n // 2] * 2 if b.chance(0.7) else [n // 4] * 4 if n % 4 == 0 else [1, n - 1]
    parts = ops.split(b, x, b.choose(axis, axis - x.rank) if b.opset >= 11 else axis, sizes)
    if b.chance(0.3):
        y = b.node("Concat", parts[::b.choose(1, -1)], axis=axis)
        return b.put(y)
    for p in parts:
        if b.chance(0.7):
            b.put(p)


def gather(b):
    x = b.pick()
    axis = b.random.randrange(x.rank)
    n = x.shape[axis]
    kind = b.random.randrange(6)
    if kind == 0:
        y = b.node("Gather", [x, b.constant(np.array(b.choose(0, n - 1, -1), b.choose(np.int64, np.int32)))], axis=b.choose(axis, axis - x.rank))
    elif kind == 1:
        y = b.node("Gather", [x, b.constant(np.array(b.choose([0], [0, n - 1], list(range(n)), [[0], [n - 1]]), np.int64))], axis=axis)
    elif kind == 2 and n <= 8:
        parts = [b.node("Gather", [x, b.constant(np.array(k if b.chance(0.9) else 0, np.int64))], axis=axis) for k in range(b.choose(n, n, min(n, 3)))]
        if b.chance(0.5) and parts[0].rank:
            parts[0] = b.node("Relu", [parts[0]])
        for p in parts[:4]:
            if p.rank:
                b.put(p)
        return
    elif kind == 3:
        rows = b.node("Shape", [x])
        return b.put(ops.cast(b, b.node("Gather", [rows, b.ints(0)], axis=0), x.type))
    elif kind == 4:
        table = b.quantizer.weight((6, 8)) if b.quantizer and b.chance(0.7) else b.floats((6, 8))
        ids = b.new_input(2, b.choose(TensorProto.INT64, TensorProto.INT32), (2, 4))
        y = b.node("Gather", [table, ids])
    else:
        y = b.node(b.choose("GatherElements", "GatherND"), [x, b.constant(np.zeros(b.choose(x.shape, (1,), (2, 1)), np.int64))])
    if not y.rank:
        raise Unfit("a number")
    b.put(y)


def enlarge(b):
    x = b.pick(where=lambda v: v.size <= 2000)
    kind = b.random.randrange(4)
    if kind == 0:
        y = b.node("Tile", [x, b.ints(*[b.choose(1, 2) for _ in x.shape])])
    elif kind == 1:
        y = b.node("Expand", [x, b.ints(*b.choose((2,) + x.shape, x.shape, (1,), (2,) + (1,) * x.rank))])
    elif kind == 2:
        pads = [b.choose(0, 0, 1) for _ in range(2 * x.rank)]
        y = ops.pad(b, x, pads, b.choose("constant", "constant", "edge", "reflect"), b.choose(None, 0, 0, 1))
    else:
        y = b.node("Concat", [x, x], axis=0)
    if y.rank > 5:
        raise Unfit("many dimensions")
    b.put(y)


def blocks(b):
    x = b.pick(4)
    if b.chance(0.5):
        y = b.node("DepthToSpace", [x], blocksize=2, mode=b.choose(None, "CRD", "DCR") if b.opset >= 11 else None)
    else:
        y = b.node("SpaceToDepth", [x], blocksize=2)
    b.put(y)


def computed_shape(b):
    """Reshape to what Shape, Gather and Concat work out, as PyTorch writes `view(x.size(0), -1)`."""
    x = b.pick(where=lambda v: v.rank >= 2)
    rest = int(np.prod(x.shape[1:]))
    source = ops.cast(b, x, TensorProto.FLOAT16) if b.chance(0.1) else x
    shape = b.node("Shape", [source], start=0 if b.opset >= 15 and b.chance(0.2) else None)
    if b.chance(0.3):
        dim = ops.slices(b, shape, [0], [1], [0])
    elif b.chance(0.7):
        dim = ops.unsqueeze(b, b.node("Gather", [shape, b.constant(np.array(0))], axis=0), 0)
    else:
        dim = b.node("Gather", [shape, b.ints(0)], axis=0)
    if b.chance(0.15):
        dim = ops.cast(b, ops.cast(b, dim, b.choose(TensorProto.INT32, TensorProto.FLOAT)), TensorProto.INT64)
    tail, result = b.choose(([-1], (x.shape[0], rest)), ([rest], (x.shape[0], rest)), (list(x.shape[1:]), x.shape))
    parts = [dim] + [b.ints(n) for n in tail] if b.chance(0.6) else [dim, b.ints(*tail)]
    target = b.node("Concat", parts, axis=0)
    if -1 not in tail and b.chance(0.2):
        expand = b.node("ConstantOfShape", [target], like=[(TensorProto.FLOAT, result)])
        return b.put(b.node("Add", [b.node("Reshape", [x, target], like=[(x.type, result)]), ops.cast(b, expand, x.type)]))
    b.put(b.node("Reshape", [x, target], like=[(x.type, result)]))


def shape_arithmetic(b):
    """Sizes multiplied, divided, compared, made floats and back; Size, Range, NonZero."""
    x = b.pick()
    shape = b.node("Shape", [x])
    kind = b.random.randrange(5)
    if kind == 0:
        half = b.node("Div", [b.node("Gather", [shape, b.constant(np.array(-1))], axis=0), b.constant(np.array(2))])
        y = b.node("Slice", [x, b.ints(0), ops.unsqueeze(b, half, 0), b.ints(x.rank - 1)],
                   like=[(x.type, x.shape[:-1] + (x.shape[-1] // 2,))])
        if not y.shape[-1]:
            raise Unfit("nothing left")
    elif kind == 1:
        y = b.node("Div", [x, b.node("Sqrt", [ops.cast(b, b.node("Gather", [shape, b.constant(np.array(-1))], axis=0), x.type)])])
    elif kind == 2:
        count = b.node("Gather", [shape, b.constant(np.array(x.rank - 1))], axis=0)
        row = b.node("Range", [b.constant(np.array(0)), count, b.constant(np.array(1))], like=[(TensorProto.INT64, (x.shape[-1],))])
        y = b.node("Add", [x, ops.cast(b, row, x.type)])
    elif kind == 3:
        y = b.node("Mul", [x, ops.cast(b, b.node("Size", [x]), x.type)])
    else:
        y = b.node("Mul", [b.node("ConstantOfShape", [shape], like=[(TensorProto.FLOAT, x.shape)]), x]) if x.type == TensorProto.FLOAT else \
            b.node("Expand", [x, shape], like=[(x.type, x.shape)])
    b.put(y)


STEPS = {reshape: 5, axes: 3, flatten: 1, slicing: 3, space_to_depth: 1, concat: 3, split: 3, gather: 3, enlarge: 3, blocks: 1,
         computed_shape: 3, shape_arithmetic: 2}
