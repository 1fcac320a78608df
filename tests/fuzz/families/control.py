"""If, Loop, Scan with values from outside, and local functions."""

import numpy as np
from onnx import TensorProto, helper

import operators as ops
from builder import Unfit, Value, value_info

DOMAIN = "local"


def chain(b, x):
    """A few operators that keep the shape, for a body."""
    for _ in range(b.choose(1, 2, 3)):
        kind = b.random.randrange(8)
        if kind < 3:
            x = b.node(b.choose("Relu", "Neg", "Sigmoid", "Identity", "Tanh"), [x])
        elif kind == 3:
            x = b.node(b.choose("Add", "Mul"), [x, b.scalar(b.choose(0, 1, 2), x)])
        elif kind == 4:
            x = b.node("Mul", [x, b.node("Add", [b.floats(x.shape[-1:], x), b.floats(x.shape[-1:], x)])])
        elif kind == 5 and b.quantizer and b.quantizer.types:
            x = b.quantizer.pair(x)
        elif kind == 6 and x.rank > 1:
            p = ops.shuffled(b, x.rank)
            x = ops.transpose(b, b.node("Relu", [ops.transpose(b, x, p)]), [p.index(k) for k in range(x.rank)])
        elif kind == 7 and x.rank > 1:
            w = b.quantizer.weight((x.shape[-1], x.shape[-1]), 1)
            x = b.node("MatMul", [x, w])
            x = b.node("Add", [x, b.floats(x.shape[-1:], x)]) if b.chance(0.6) else x
    return x


def body_graph(b, scope, name, inputs, outputs):
    return helper.make_graph(scope.nodes, name, [value_info(v) for v in inputs], [value_info(v, v.shape if b.chance(0.5) else None) for v in outputs],
                             scope.initializers)


def branch(b, x):
    with b.inner() as scope:
        y = chain(b, x)
        if y.name == x.name:
            y = b.node("Identity", [x])
        return body_graph(b, scope, b.name("branch"), [], [y])


def condition(b, x):
    kind = b.random.randrange(4)
    if kind == 0:
        return b.constant(np.array(b.choose(True, False)))
    if kind == 1:
        return b.new_input(0, TensorProto.BOOL)
    if kind == 2:
        size = b.node("Gather", [b.node("Shape", [x]), b.constant(np.array(0))], axis=0)
        return b.node("Equal", [size, b.constant(np.array(1))])
    return b.node("Less", [b.node("ReduceSum", [x], keepdims=0), b.scalar(0, x)])


def if_node(b):
    x = b.pick()
    if len(b.scopes) > 2:
        raise Unfit("deep enough")
    c = condition(b, x)
    b.put(b.node("If", [c], like=[(x.type, x.shape)], then_branch=branch(b, x), else_branch=branch(b, x)))


def loop_node(b):
    x = b.pick()
    if len(b.scopes) > 2:
        raise Unfit("deep enough")
    outer = b.pick(where=lambda v: v.shape == x.shape) if b.chance(0.5) else None
    with b.inner() as scope:
        step = b.remember(b.name("i"), TensorProto.INT64, ())
        going = b.remember(b.name("c"), TensorProto.BOOL, ())
        state = b.remember(b.name("s"), x.type, x.shape)
        y = chain(b, state)
        if outer and b.chance(0.8):
            y = b.node("Add", [y, outer])
        if y.name == state.name:
            y = b.node("Identity", [y])
        again = b.node("Identity", [going])
        body = body_graph(b, scope, b.name("body"), [step, going, state], [again, y])
    trip = b.constant(np.array(b.choose(1, 3))) if b.chance(0.8) else None
    going_on = b.constant(np.array(True)) if trip is None or b.chance(0.7) else None
    if trip is None:
        trip = b.new_input(0, TensorProto.INT64)
    b.put(b.node("Loop", [trip, going_on, x], like=[(x.type, x.shape)], body=body))


def scan_node(b):
    x = b.pick(where=lambda v: v.rank >= 2)
    if len(b.scopes) > 2 or b.opset < 9:
        raise Unfit("deep enough")
    with b.inner() as scope:
        row = b.remember(b.name("row"), x.type, x.shape[1:])
        total = b.remember(b.name("sum"), x.type, x.shape[1:])
        y = chain(b, row)
        more = b.node("Add", [total, y])
        out = b.node("Identity", [more])
        body = body_graph(b, scope, b.name("body"), [total, row], [more, out])
    start = b.floats(x.shape[1:], x)
    last, rows = b.node("Scan", [start, x], 2, like=[(x.type, x.shape[1:]), (x.type, x.shape)], body=body, num_scan_inputs=1)
    b.put(rows)
    b.offer(last)


def function(b):
    """A local function, called once or twice."""
    if b.opset < 15 or len(b.functions) > 2 or len(b.scopes) > 1:
        raise Unfit("no functions")
    x = b.pick()
    with b.inner([]) as scope:
        entry = b.remember(b.name("p"), x.type, x.shape)
        y = chain(b, entry)
        if y.name == entry.name:
            y = b.node("Identity", [y])
        constants = [helper.make_node("Constant", [], [t.name], value=t) for t in scope.initializers]
        nodes = constants + list(scope.nodes)
    name = b.name("Block")
    imports = [helper.make_opsetid("", b.opset), helper.make_opsetid("com.microsoft", 1)]
    b.functions.append(helper.make_function(DOMAIN, name, [entry.name], [y.name], nodes, imports))
    result = b.node(name, [x], domain=DOMAIN, like=[(y.type, y.shape)])
    if y.shape == x.shape and b.chance(0.4):
        result = b.node(name, [result], domain=DOMAIN, like=[(y.type, y.shape)])
    b.put(result)


def sequence(b):
    x = b.pick(where=lambda v: v.shape[0] > 1)
    kind = b.random.randrange(2)
    name = "LSTM" if kind else "GRU"
    x = b.pick(3)
    gates = 4 if kind else 3
    w, r = b.floats((1, gates * 4, x.shape[2]), x), b.floats((1, gates * 4, 4), x)
    if b.quantizer.types and b.chance(0.4):
        w = b.quantizer.operand(w)
    y = b.node(name, [x, w, r], 3 if kind else 2, hidden_size=4)[0]
    b.put(ops.squeeze(b, y, 1))


STEPS = {if_node: 3, loop_node: 2, scan_node: 1, function: 2, sequence: 1}
