"""Unary and binary operators, activations, casts, comparisons, and what the elimination rules look for."""

import numpy as np
from onnx import TensorProto

import operators as ops
from builder import FLOATS, Unfit

UNARY = ["Relu", "Relu", "Sigmoid", "Tanh", "LeakyRelu", "Elu", "Abs", "Neg", "Exp", "Sqrt", "Floor", "Ceil", "Erf", "Softplus", "Softsign",
         "HardSigmoid", "HardSwish", "Mish", "Selu", "Celu", "ThresholdedRelu", "Reciprocal", "Log", "Sin", "Cos", "Round", "Sign",
         "Identity", "Softmax", "LogSoftmax", "Hardmax", "Gelu", "IsNaN", "LpNormalization", "MeanVarianceNormalization", "Not"]


def unary(b):
    x = b.pick()
    op = b.random.choice(UNARY)
    more = {}
    if op in ("Softmax", "LogSoftmax", "Hardmax", "LpNormalization"):
        more = {"axis": b.choose(None, -1, 1 if x.rank > 1 else 0, 0)}
    elif op in ("LeakyRelu", "Elu"):
        more = {"alpha": b.choose(None, 0.1, 0.2)}
    elif op == "HardSigmoid":
        more = b.choose({}, {"alpha": 1 / 6}, {"alpha": 0.1, "beta": 0.4})
    elif op == "Gelu":
        more = {"approximate": b.choose(None, "tanh", "none")}
    elif op == "Not":
        x = b.pick(of=TensorProto.BOOL, where=lambda v: True) if any(v.type == TensorProto.BOOL for v in b.scope.values) else None
        if x is None:
            raise Unfit("no bool")
    b.put(b.node(op, [x], **more))


def clip(b):
    x = b.pick()
    low, high = b.choose((0, 6), (0, None), (None, 6), (-1, 1), (0, 1), (None, None), (-3, 3))
    x = b.node(b.choose("Relu", "Identity", "Clip"), [x]) if b.chance(0.3) else x
    y = ops.clip(b, x, low, high)
    b.put(b.node("Relu", [y]) if b.chance(0.2) else y)


def partner(b, x):
    """A second operand: another value, x, or a constant of some shape that broadcasts."""
    same = [v for v in b.scope.values if v.shape == x.shape and v.type == x.type]
    kind = b.random.choice(["value", "value", "number", "one", "channel", "row", "full", "input"])
    if kind == "value":
        return b.random.choice(same)
    if kind == "number":
        return b.scalar(b.choose(0, 1, 0.5, 2), x, b.choose((), (), (1,), (1,) * max(1, x.rank)))
    if kind == "channel" and x.rank >= 3:
        return b.floats((1, x.shape[1]) + (1,) * (x.rank - 2), x)
    if kind == "row" and x.rank:
        return b.floats(x.shape[-1:], x)
    if kind == "full":
        return b.floats(x.shape, x)
    if kind == "input" and x.rank > 1:
        return b.new_input(x.rank, x.type, x.shape[:-1] + (1,))
    return b.scalar(1, x, (1,) * b.random.randrange(3))


def binary(b):
    x = b.pick()
    op = b.choose("Add", "Add", "Mul", "Mul", "Sub", "Div", "Max", "Min", "Pow", "PRelu", "Sum", "Mean", "Mod")
    if op == "Pow":
        y = b.node(op, [x, b.scalar(b.choose(2, 0.5, 3, 1), x)])
    elif op == "PRelu":
        y = b.node(op, [x, b.floats((x.shape[1],) + (1,) * (x.rank - 2) if x.rank > 1 else (1,), x)])
    elif op in ("Sum", "Mean", "Max", "Min"):
        y = b.node(op, [x] + [partner(b, x) for _ in range(b.choose(0, 1, 1, 2))])
    else:
        operands = [x, partner(b, x)]
        if b.quantizer and b.chance(0.2):
            operands[1] = b.quantizer.operand(operands[1])
        if b.chance(0.35):
            operands.reverse()
        y = b.node(op, operands, fmod=1 if op == "Mod" else None)
    b.put(y)


def neutral(b):
    """x + 0, x * 1, x - 0, x / 1, Identity, Dropout, Expand and Cast to what it is, a whole Slice, one operand's Sum or Concat."""
    x = b.pick()
    kind = b.random.randrange(9)
    if kind < 3:
        op, number = b.choose(("Add", 0), ("Mul", 1), ("Sub", 0), ("Div", 1), ("Mul", 0), ("Add", 1))
        operands = [x, b.scalar(number, x, b.choose((), (1,), (1,) * x.rank, (1,) * (x.rank + 1), x.shape[-1:]))]
        y = b.node(op, operands[::-1] if b.chance(0.3) else operands)
    elif kind == 3:
        y = ops.dropout(b, x)
        if b.chance(0.2):
            y, mask = ops.dropout(b, y, 2)
            b.offer(mask)
    elif kind == 4:
        y = b.node("Expand", [x, b.ints(*b.choose(x.shape, (1,), (1,) * x.rank, x.shape[-1:]))])
    elif kind == 5:
        y = ops.cast(b, x, x.type)
    elif kind == 6:
        axis = b.random.randrange(x.rank)
        y = ops.slices(b, x, [0], [b.choose(x.shape[axis], 2**31 - 1, 2**63 - 1)], [axis])
    elif kind == 7:
        y = b.node(b.choose("Sum", "Max", "Concat"), [x], axis=None) if b.chance(0.5) else b.node("Concat", [x], axis=0)
    else:
        y = b.node("Identity", [b.node("Identity", [x])])
    b.put(y)


def casts(b):
    x = b.pick()
    to = [b.choose(*FLOATS, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL, TensorProto.UINT8, TensorProto.INT8)
          for _ in range(b.choose(1, 1, 2, 3))]
    y = x
    for t in to:
        y = ops.cast(b, y, t)
        if b.chance(0.3):
            y = b.node(b.choose("Relu", "Abs", "Neg", "Identity", "Sigmoid"), [y])
        if b.chance(0.2):
            b.offer(y)
    b.put(ops.cast(b, y, x.type) if b.chance(0.85) else y)


def other_float(b):
    """A stretch of the graph in another float type."""
    x = b.pick()
    other = b.choose(*[t for t in FLOATS if t != x.type])
    y = ops.cast(b, x, other)
    for _ in range(b.choose(1, 2, 3)):
        if b.chance(0.5):
            y = b.node(b.choose("Relu", "Sigmoid", "Abs", "Neg", "Tanh", "Softmax", "Erf", "Exp"), [y])
        else:
            y = b.node(b.choose("Add", "Mul", "Sub"), [y, b.floats(y.shape[-1:], y)])
    if b.quantizer and b.quantizer.types and b.chance(0.3):
        y = b.quantizer.pair(y)
    b.put(ops.cast(b, y, x.type))


def integers(b):
    """int32 or int64 arithmetic, as index computations have it."""
    x = b.pick()
    y = b.node("ArgMax", [x], axis=b.random.randrange(x.rank), keepdims=b.choose(0, 1)) if b.chance(0.5) else \
        ops.cast(b, x, b.choose(TensorProto.INT32, TensorProto.INT64))
    kind = np.int32 if y.type == TensorProto.INT32 else np.int64
    for _ in range(b.choose(1, 2, 3)):
        op = b.choose("Add", "Mul", "Sub", "Div", "Mod", "Max", "Min", "Abs", "Neg", "Clip", "Equal")
        c = b.constant(np.full(b.choose((), (1,)), b.choose(0, 1, 2, 5), kind))
        if op in ("Div", "Mod"):
            c = b.constant(np.array(3, kind))
        if op in ("Abs", "Neg"):
            y = b.node(op, [y])
        elif op == "Equal":
            y = b.node("Where", [b.node("Equal", [y, c]), y, b.constant(np.array(7, kind))])
        elif op == "Clip":
            y = b.node("Clip", [y, b.constant(np.array(0, kind))])
        else:
            y = b.node(op, [y, c] if b.chance(0.7) else [c, y])
    b.put(ops.cast(b, y, b.element_type))


def logic(b):
    x = b.pick()
    c = b.node(b.choose("Greater", "Less", "Equal"), [x, b.scalar(b.choose(0, 0.5), x)])
    if b.chance(0.5):
        c = b.node("Not", [c])
    if b.chance(0.3):
        c = b.node(b.choose("And", "Or", "Xor"), [c, b.node("Less", [x, b.scalar(1, x)])])
    b.offer(c)
    if b.chance(0.7):
        branches = [x, b.scalar(b.choose(0, -1e4, 1), x) if b.chance(0.6) else partner(b, x)]
        if b.chance(0.4):
            branches.reverse()
        y = b.node("Where", [c] + branches)
        if b.chance(0.2):
            b.put(b.node("Where", [c] + branches[::-1]))
        b.put(y)
    else:
        b.put(ops.cast(b, c, x.type))


def repeated(b):
    """The same subexpression two or three times, once perhaps with another attribute or order of operands."""
    x = b.pick()
    other = partner(b, x)
    op = b.choose("Add", "Mul", "Sub", "LeakyRelu", "Softmax", "Transpose", "ReduceMax", "Dropout", "Cast")
    made = []
    for k in range(b.choose(2, 2, 3)):
        if op in ("Add", "Mul", "Sub"):
            y = b.node(op, [x, other] if k == 0 or b.chance(0.7) else [other, x])
        elif op == "LeakyRelu":
            y = b.node(op, [x], alpha=b.choose(None, 0.01, 0.1))
        elif op == "Softmax":
            y = b.node(op, [x], axis=b.choose(None, -1, x.rank - 1))
        elif op == "Transpose":
            y = b.node(op, [x], perm=b.choose(None, list(range(x.rank))[::-1]))
        elif op == "ReduceMax":
            y = ops.reduce(b, op, x, [b.choose(-1, x.rank - 1)])
        elif op == "Dropout":
            y = ops.dropout(b, x)
        else:
            y = ops.cast(b, ops.cast(b, x, TensorProto.FLOAT16), x.type)
        made.append(b.node(b.choose("Relu", "Neg"), [y]) if b.chance(0.5) else y)
        if b.chance(0.4):
            b.put(made[-1])
    if made[0].shape == made[1].shape:
        b.put(b.node("Add", made[:2]))
    for y in made[2:]:
        b.put(y)


def quotient(b):
    """1 / b * a, a * Reciprocal(b), and products of constants."""
    x, y = b.pick(), None
    one = b.scalar(1, x, b.choose((), (1,)))
    d = b.node("Abs", [x])
    t = b.node("Div", [one, d]) if b.chance(0.6) else b.node("Reciprocal", [d])
    y = b.node("Mul", [t, partner(b, x)] if b.chance(0.5) else [partner(b, x), t])
    b.put(y)


def reductions(b):
    x = b.pick()
    op = b.choose("ReduceMean", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceProd", "ReduceSumSquare", "ReduceLogSumExp",
                  "ArgMax", "ArgMin", "TopK", "CumSum")
    axis = b.random.randrange(x.rank)
    if op in ("ArgMax", "ArgMin"):
        y = ops.cast(b, b.node(op, [x], axis=axis, keepdims=b.choose(0, 1)), x.type)
    elif op == "TopK":
        y, index = b.node(op, [x, b.ints(1)], 2, axis=axis)
        b.offer(index)
    elif op == "CumSum":
        y = b.node(op, [x, b.constant(np.array(axis, np.int32))])
    else:
        axes = b.choose([axis], [axis - x.rank], list(range(1, x.rank)) or [0], [x.rank - 2, x.rank - 1] if x.rank > 1 else [0], None)
        y = ops.reduce(b, op, x, axes, b.choose(0, 1, 1))
    b.put(y)


STEPS = {unary: 5, clip: 2, binary: 5, neutral: 3, casts: 2, other_float: 2, integers: 1, logic: 2, repeated: 2, quotient: 1, reductions: 3}
