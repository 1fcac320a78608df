"""An operator between DequantizeLinear and QuantizeLinear, as it should be or with something wrong about it."""

import dataclasses

import numpy as np
from onnx import TensorProto

import operators as ops
from builder import MICROSOFT, Unfit

OPERATORS = ["Conv", "Conv", "ConvTranspose", "MatMul", "MatMul", "Gemm", "Gemm", "Add", "Mul", "Concat", "Split", "Where", "Resize", "MaxPool", "AveragePool",
             "GlobalAveragePool", "ReduceMean", "ReduceMax", "Softmax", "Sigmoid", "LeakyRelu", "Relu", "Clip", "HardSwish", "Reshape", "Transpose", "Squeeze",
             "Unsqueeze", "Flatten", "Gather", "Slice", "Expand", "Tile", "DepthToSpace", "SpaceToDepth", "Pad", "ArgMax", "TopK", "Identity",
             "GatherElements", "InstanceNormalization", "LayerNormalization", "BatchNormalization", "PRelu", "Sub", "Div", "Pow", "Sqrt", "Neg", "Erf", "Gelu",
             "Tanh", "Elu", "Max", "Min", "Cast", "Dropout", "Equal", "CumSum", "LogSoftmax", "ReduceSum", "ReduceMin", "Sign", "Abs", "Upsample"]
MOVING = {"Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Gather", "Slice", "Expand", "Tile", "DepthToSpace", "SpaceToDepth", "MaxPool",
          "Split", "Identity", "Resize", "ReduceMax", "ReduceMin", "TopK", "GatherElements", "ArgMax"}
RANK4 = {"Conv", "ConvTranspose", "Resize", "MaxPool", "AveragePool", "GlobalAveragePool", "DepthToSpace", "SpaceToDepth", "BatchNormalization", "Upsample"}


def core(b, op, x, d):
    """The operator itself on dequantized operands; `d` dequantizes another value of x's shape."""
    n, axis = x.rank, b.random.randrange(x.rank)
    if op == "Conv":
        k = b.choose(1, 3)
        w = b.quantizer.weight((8, x.shape[1], k, k))
        bias = b.quantizer.bias(8, x, w)
        return b.node(op, [x, w] + ([bias] if bias else []), pads=[k // 2] * 4)
    if op == "ConvTranspose":
        return b.node(op, [x, b.quantizer.weight((x.shape[1], 4, 2, 2), 1)], strides=[2, 2])
    if op == "Gemm":
        w = b.quantizer.weight((8, x.shape[1]))
        bias = b.quantizer.bias(8, x, w) or (None if b.opset >= 11 else b.floats((8,), x))
        return b.node(op, [x, w] + ([bias] if bias else []), transB=1)
    if op == "MatMul":
        w = b.quantizer.weight((x.shape[-1], 8), 1) if b.chance(0.7) else d(ops.transpose(b, x, ops.swap(range(n), -1, -2)))
        return b.node(op, [x, w])
    if op in ("Add", "Mul", "Sub", "Div", "Max", "Min", "Equal", "Pow"):
        if op == "Equal" and b.opset < 11:
            raise Unfit("no floats")
        other = b.choose(lambda: d(b.node("Abs", [x])), lambda: x, lambda: d(b.floats(x.shape[-1:], x)), lambda: d(b.scalar(0.5, x)), lambda: b.scalar(2, x))()
        return b.node(op, [x, other][::b.choose(1, -1)])
    if op == "Concat":
        return b.node(op, [x] + [b.choose(lambda: d(b.node("Abs", [x])), lambda: x)() for _ in range(b.choose(0, 1, 2))], axis=axis)
    if op == "Split":
        if x.shape[axis] % 2:
            raise Unfit("odd")
        return ops.split(b, x, axis, [x.shape[axis] // 2] * 2)
    if op == "Where":
        return b.node(op, [b.node("Greater", [x, b.scalar(0, x)]), x, d(b.node("Abs", [x])) if b.chance(0.6) else d(b.scalar(b.choose(0, -1e4), x))])
    if op in ("Resize", "Upsample"):
        if x.size > 2000 or (op == "Upsample" and b.opset > 9):
            raise Unfit("too large")
        more = b.choose({}, {"coordinate_transformation_mode": "asymmetric"}) if b.opset >= 11 else {}
        return ops.resize(b, x, [1, 1, 2, 2], b.choose("nearest", "nearest", "linear"), **more)
    if op in ("MaxPool", "AveragePool"):
        return b.node(op, [x], kernel_shape=[2, 2], strides=b.choose([1, 1], [2, 2]))
    if op in ("ReduceMean", "ReduceMax", "ReduceSum", "ReduceMin"):
        return ops.reduce(b, op, x, b.choose([axis], [axis - n], [2, 3] if n == 4 else [axis], None), b.choose(0, 1))
    if op in ("Softmax", "LogSoftmax"):
        return b.node(op, [x], axis=b.choose(None, -1, axis))
    if op == "Clip":
        if b.quantizer.types and b.opset >= 11 and b.chance(0.3):
            return b.node(op, [x, d(b.scalar(0, x)), d(b.scalar(6, x))])
        return ops.clip(b, x, b.choose(0, 0, -1, None), b.choose(6, 6, 1, 2.55, None))
    if op == "Reshape":
        return ops.reshape(b, x, *b.choose((x.shape[0], -1), (-1,), x.shape, (1,) + x.shape))
    if op == "Transpose":
        return ops.transpose(b, x, ops.shuffled(b, n))
    if op == "Squeeze":
        ones = [k for k in range(n) if x.shape[k] == 1]
        if not ones or n < 2:
            raise Unfit("no ones")
        return ops.squeeze(b, x, b.random.choice(ones))
    if op == "Unsqueeze":
        return ops.unsqueeze(b, x, b.choose(0, n, 1))
    if op == "Gather":
        return b.node(op, [x, b.constant(np.array(b.choose(0, [0], [0, 0]), np.int64))], axis=axis)
    if op == "GatherElements":
        return b.node(op, [x, b.constant(np.zeros(x.shape, np.int64))], axis=axis)
    if op == "Slice":
        return ops.slices(b, x, [0], [b.choose(max(1, x.shape[axis] - 1), 2**31 - 1)], [axis])
    if op == "Expand":
        return b.node(op, [x, b.ints(*b.choose(x.shape, (2,) + x.shape))])
    if op == "Tile":
        return b.node(op, [x, b.ints(*[b.choose(1, 2) for _ in range(n)])])
    if op in ("DepthToSpace", "SpaceToDepth"):
        return b.node(op, [x], blocksize=2)
    if op == "Pad":
        value = d(b.scalar(0, x)) if b.opset >= 11 and b.chance(0.3) else None
        if value:
            return b.node(op, [x, b.ints(*[b.choose(0, 1) for _ in range(2 * n)]), value])
        return ops.pad(b, x, [b.choose(0, 1) for _ in range(2 * n)], b.choose("constant", "reflect"))
    if op == "ArgMax":
        return b.node(op, [x], axis=axis)
    if op == "TopK":
        return b.node(op, [x, b.ints(1)], 2, axis=axis)[0]
    if op in ("InstanceNormalization", "LayerNormalization"):
        c = x.shape[1] if op[0] == "I" else x.shape[-1]
        s = b.quantizer.weight((c,)) if b.chance(0.5) else b.floats((c,), x)
        return b.node(op, [x, s, b.floats((c,), x)])
    if op == "BatchNormalization":
        return ops.batch_normalization(b, x)
    if op == "PRelu":
        return b.node(op, [x, b.quantizer.weight((x.shape[1],) + (1,) * (n - 2))]) if n > 1 else b.node("Relu", [x])
    if op == "Cast":
        return ops.cast(b, x, b.choose(TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT32))
    if op == "Dropout":
        return ops.dropout(b, x)
    if op == "CumSum":
        return b.node(op, [x, b.constant(np.array(0, np.int32))])
    return b.node(op, [x], alpha=0.1 if op == "LeakyRelu" else None)


def unit(b):
    """DQ, operator, Q, DQ; then one thing changed."""
    q = b.quantizer
    if q.types is None:
        raise Unfit("a float model")
    op = b.random.choice(OPERATORS)
    defect = b.random.choice([None, None, None, "type", "float operand", "no Q", "two Qs", "float read", "float output", "activation", "activation",
                              "other parameters", "shared DQ", "DQ output", "axis", "chain", "Q output", "input"])
    p = q.parameters(b.pick())
    wanted = p.type
    x = (q.quantized_input(4 if op in RANK4 else b.choose(2, 3, 4)) if defect == "input" else
         b.pick(4 if op in RANK4 else 2 if op == "Gemm" else None))
    if defect == "axis" and b.opset >= 13 and x.rank > 1 and not q.domain:
        p = q.per_axis(x, wanted, b.random.randrange(x.rank), 0.05)
    if x.name not in q.made and defect != "float operand":
        x = q.dq(q.q(x, p), p)
    if defect == "shared DQ":
        b.offer(b.node("Neg", [x]))
    if defect == "DQ output" and len(b.scopes) == 1:
        b.extra_outputs.append(x)

    def other(v):
        o = q.parameters(v, q.types[-1] if defect == "type" else wanted)
        return q.dq(q.q(v, o), o)

    results = core(b, op, x, other)
    for y in results if isinstance(results, list) else [results]:
        behind(b, y, op, defect, p, wanted)


def behind(b, y, op, defect, p, wanted):
    """The Q and DQ behind the unit's operator."""
    q = b.quantizer
    if y.type not in (TensorProto.FLOAT, TensorProto.FLOAT16) or defect == "no Q":
        return b.offer(y)
    if defect == "float read":
        b.offer(b.node("Neg", [y]))
    if defect == "float output" and len(b.scopes) == 1:
        b.extra_outputs.append(y)
    if defect == "activation":
        y = b.node("Relu", [y]) if b.chance(0.6) else ops.clip(b, y, b.choose(0, -1), b.choose(6, 1))
    same = p if op in MOVING and p.axis is None and defect != "other parameters" and b.chance(0.8) else q.parameters(y, q.types[0] if defect == "type" else wanted)
    if same.scale.type != y.type:
        same = q.parameters(y)
    stored = q.q(y, same)
    result = q.dq(stored, same)
    if defect == "two Qs":
        again = q.parameters(y)
        b.offer(q.dq(q.q(y, again), again))
    if defect == "Q output" and len(b.scopes) == 1:
        b.extra_outputs.append(stored)
    if defect == "chain":
        for _ in range(b.choose(1, 2)):
            next_one = q.parameters(result) if b.chance(0.5) else same
            result = q.dq(q.q(result, next_one), next_one)
    b.offer(result)


def moved_q(b):
    """A Q or a DQ apart from its operator by Reshape, Transpose, Squeeze, Slice, MaxPool and the like (propagation)."""
    q = b.quantizer
    if q.types is None:
        raise Unfit("a float model")
    x = b.pick()
    p = q.parameters(x)
    y = q.dq(q.q(x, p), p) if b.chance(0.7) else x
    for _ in range(b.choose(1, 2, 3)):
        y = core(b, b.choose("Reshape", "Transpose", "Unsqueeze", "Squeeze", "Slice", "Gather", "Flatten", "Identity", "MaxPool" if y.rank == 4 else "Expand"), y, q.operand)
        if b.chance(0.15):
            b.offer(y)
    if b.chance(0.5):
        y = q.dq(q.q(y, p), p) if y.type == x.type else y
    b.put(b.node("Relu", [y]) if b.chance(0.3) else y)


def several_readers(b):
    """One Q read by several DQs, or one DQ by several operators."""
    q = b.quantizer
    if q.types is None:
        raise Unfit("a float model")
    x = b.pick()
    p = q.parameters(x)
    stored = q.q(x, p)
    first = q.dq(stored, p)
    for k in range(b.choose(2, 3)):
        d = first if b.chance(0.5) else q.dq(stored, p)
        results = core(b, b.random.choice([o for o in OPERATORS if o not in RANK4 and o != "Gemm"]), d, q.operand)
        for y in results if isinstance(results, list) else [results]:
            b.put(y)


def bare(b):
    """Q alone to an output, a DQ alone from an input, integers passed through."""
    q = b.quantizer
    if q.types is None:
        raise Unfit("a float model")
    x = b.pick()
    p = q.parameters(x)
    kind = b.random.randrange(3)
    if kind == 0:
        return b.offer(q.q(b.node(b.choose("Relu", "Sigmoid"), [x]), p))
    if kind == 1:
        return b.put(b.node("Relu", [q.quantized_input(b.choose(2, 4))]))
    y = q.q(x, p)
    y = core(b, b.choose("Reshape", "Transpose", "Unsqueeze", "Slice", "Identity"), y, q.operand)
    b.put(q.dq(y, p))


def double_domain(b):
    """Pairs of com.microsoft beside pairs of ai.onnx."""
    q = b.quantizer
    if q.types is None or b.opset < 10:
        raise Unfit("a float model")
    x = b.pick(of=TensorProto.FLOAT)
    kinds = [t for t in q.types if t in (TensorProto.UINT8, TensorProto.INT8)]
    if not kinds:
        raise Unfit("types")
    p = dataclasses.replace(q.fresh(b.random.choice(kinds)), axis=None)
    y = q.dq(q.q(x, p, MICROSOFT), p, b.choose("", MICROSOFT))
    b.put(b.node(b.choose("Sigmoid", "Relu", "Softmax", "LeakyRelu"), [y]))


STEPS = {unit: 10, moved_q: 3, several_readers: 2, bare: 1, double_domain: 0.5}
