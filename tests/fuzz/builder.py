"""Builds one random model, node by node.

Every node is checked and typed by ONNX's own inference when it is added, so families of operators need not work shapes
out, and a node that does not fit is an `Unfit`, after which the caller goes back to where it was (`attempt`).
Sizes are numbers while a model is built; `finish` may write some of them down as symbols or not at all.
"""

import contextlib
import dataclasses
import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)
MICROSOFT = "com.microsoft"


class Unfit(Exception):
    """What was tried does not fit the model built so far."""


@dataclasses.dataclass(frozen=True)
class Value:
    """A tensor of the graph."""

    name: str
    type: int
    shape: tuple

    @property
    def rank(self):
        return len(self.shape)

    @property
    def size(self):
        return int(np.prod(self.shape))


@dataclasses.dataclass
class Scope:
    """A graph's own parts while it is built; the innermost scope is written to."""

    nodes: list = dataclasses.field(default_factory=list)
    initializers: list = dataclasses.field(default_factory=list)
    values: list = dataclasses.field(default_factory=list)
    constants: dict = dataclasses.field(default_factory=dict)  # by type, shape and bytes
    parameters: list = dataclasses.field(default_factory=list)  # of quantization, for use again


def value_info(value, shape=...):
    """The ValueInfoProto of a value, with another shape if one is given."""
    return helper.make_tensor_value_info(value.name, value.type, value.shape if shape is ... else shape)


def numpy_type(element_type):
    return helper.tensor_dtype_to_np_dtype(element_type)


class Builder:
    """Holds the model, the random state, and the model-wide choices that give a model its character."""

    def __init__(self, seed, opset, element_type=TensorProto.FLOAT):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.opset = opset
        self.element_type = element_type
        self.scopes = [Scope()]
        self.inputs = []
        self.functions = []
        self.extra_outputs = []
        self.types = {}
        self.overridable = []
        self.named_nodes = self.random.random() < 0.8
        self.count = 0
        self.quantizer = None

    # Random choices.

    def chance(self, probability):
        return self.random.random() < probability

    def choose(self, *options):
        return self.random.choice(options)

    # Names, values, scopes.

    @property
    def scope(self):
        return self.scopes[-1]

    def name(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def remember(self, name, element_type, shape):
        self.types[name] = helper.make_tensor_type_proto(element_type, shape)
        return Value(name, element_type, tuple(shape))

    def pick(self, rank=None, where=lambda value: True, of=None):
        """One of the latest values that fit, or a new input of the graph."""
        wanted = self.element_type if of is None else of
        fit = [v for v in self.scope.values[-10:]
               if v.type == wanted and (v.rank > 0 if rank is None else v.rank == rank) and where(v)]
        if fit and not (len(self.inputs) < 3 and self.chance(0.08)):
            return self.random.choice(fit)
        if rank is None and fit:
            return self.random.choice(fit)
        new = self.new_input(rank or self.random.choice([2, 3, 4]), wanted)
        if not where(new):
            raise Unfit("no value fits")
        return new

    def new_input(self, rank, element_type=None, shape=None):
        if len(self.inputs) >= 5:
            raise Unfit("inputs enough")
        if shape is None:
            shape = self.random.choice({0: [()], 1: [(8,), (4,)], 2: [(2, 8), (1, 16), (4, 8)], 3: [(1, 4, 8), (2, 6, 8), (1, 8, 16)],
                                        4: [(1, 8, 6, 6), (2, 4, 8, 8), (1, 16, 4, 4), (1, 3, 8, 8), (1, 8, 8, 8)],
                                        5: [(1, 4, 2, 4, 4)]}[rank])
        value = self.remember(self.name("x"), element_type or self.element_type, shape)
        self.inputs.append(value)
        self.scopes[0].values.append(value)
        if len(self.scopes) > 1:
            self.scope.values.append(value)
        return value

    def offer(self, value):
        """Makes a value one that later steps may read."""
        self.scope.values.append(value)
        return value

    def put(self, value):
        """Offers the result of a step, perhaps between a QuantizeLinear and a DequantizeLinear."""
        if self.quantizer and value.type == self.element_type:
            value = self.quantizer.after(value)
        return self.offer(value)

    @contextlib.contextmanager
    def inner(self, values=None):
        """A scope for a subgraph (sees all values outside) or for a function's body (sees `values` only)."""
        outside = Scope(values=values) if values is not None else self.scope
        self.scopes.append(Scope([], [], list(outside.values), dict(outside.constants), list(outside.parameters)))
        try:
            yield self.scope
        finally:
            self.scopes.pop()

    def attempt(self, step):
        """Runs a step; where it does not fit the model is as it was before. Returns whether it fitted."""
        depth, inputs, functions, extra = len(self.scopes), len(self.inputs), len(self.functions), len(self.extra_outputs)
        marks = [(len(s.nodes), len(s.initializers), len(s.values), len(s.parameters)) for s in self.scopes]
        constants, overridable = [dict(s.constants) for s in self.scopes], len(self.overridable)
        try:
            step(self)
            return True
        except Unfit:
            del self.scopes[depth:], self.inputs[inputs:], self.functions[functions:]
            del self.extra_outputs[extra:], self.overridable[overridable:]
            for s, (nodes, initializers, values, parameters), before in zip(self.scopes, marks, constants):
                del s.nodes[nodes:], s.initializers[initializers:], s.values[values:], s.parameters[parameters:]
                s.constants = before
            return False

    # Constants.

    def constant(self, array, form=None):
        """An initializer, mostly; also a Constant node, an Identity of an initializer, one that a caller may override."""
        array = np.asarray(array)
        element_type = helper.np_dtype_to_tensor_dtype(array.dtype)
        key = (element_type, array.shape, array.tobytes())
        if form is None and key in self.scope.constants and self.chance(0.5):
            return self.scope.constants[key]
        form = form or self.random.choices(["initializer", "node", "identity", "overridable"], [92, 5, 2, 1])[0]
        value = self.remember(self.name("c"), element_type, array.shape)
        tensor = numpy_helper.from_array(array, value.name)
        if form == "node" or (form == "overridable" and len(self.scopes) > 1):
            self.scope.nodes.append(helper.make_node("Constant", [], [value.name], name=self.node_name("Constant"), value=tensor))
            return value
        self.scope.initializers.append(tensor)
        if form == "overridable":
            self.overridable.append(value)
        elif form == "identity":
            return self.node("Identity", [value])
        else:
            self.scope.constants[key] = value
        return value

    def floats(self, shape, like=None, low=0.1, high=1.0, **keywords):
        """A constant of random numbers of the model's element type (or of `like`'s)."""
        wanted = numpy_type(like.type if like else self.element_type)
        return self.constant(self.numbers.uniform(low, high, shape).astype(np.float32).astype(wanted), **keywords)

    def scalar(self, number, like=None, shape=()):
        wanted = like.type if like else self.element_type
        if wanted == TensorProto.FLOAT16:
            number = max(-65504, min(65504, number))
        return self.constant(np.full(shape, number, np.float32).astype(numpy_type(wanted)))

    def ints(self, *numbers):
        return self.constant(np.array(numbers, np.int64))

    # Nodes.

    def node_name(self, op):
        return self.name(op) if self.named_nodes else ""

    def node(self, op, inputs, outputs=1, domain="", like=None, **attributes):
        """Adds a node and returns its result, a list for several. `inputs` are values, or None for one left out.

        `like` is a list of (element type, shape) for results that ONNX cannot infer, or that are known better here."""
        names = [i.name if i else "" for i in inputs]
        while names and not names[-1] and not self.chance(0.02):
            names.pop()
        attributes = {k: v for k, v in attributes.items() if v is not None}
        results = [self.name("v") for _ in range(outputs)]
        try:
            node = helper.make_node(op, names, results, name=self.node_name(op), domain=domain, **attributes)
        except (TypeError, ValueError) as error:
            raise Unfit(str(error)) from error
        found = self.infer(node) if domain == "" else {}
        if any(v and v.type == TensorProto.UNDEFINED for v in inputs):
            raise Unfit("operand of no known type")
        self.scope.nodes.append(node)
        values = []
        for k, name in enumerate(results):
            if like:
                values.append(self.remember(name, *like[k]))
            elif name in found and found[name].HasField("tensor_type"):
                t = found[name].tensor_type
                dims = [d.dim_value if d.HasField("dim_value") else None for d in t.shape.dim]
                if not t.HasField("shape") or None in dims:
                    raise Unfit(f"{op} has no known shape")
                values.append(self.remember(name, t.elem_type, dims))
            else:
                raise Unfit(f"{op} has no known type")
        if any(v.shape and int(np.prod(v.shape)) > 60000 for v in values):
            raise Unfit("too large")
        return values[0] if outputs == 1 else values

    def infer(self, node):
        """Name → type of a node's results; Unfit where the node is not valid here."""
        try:
            schema = onnx.defs.get_schema(node.op_type, self.opset, "")
            data = {t.name: t for s in self.scopes for t in s.initializers}
            nested = any(a.type == onnx.AttributeProto.GRAPH for a in node.attribute)
            types = self.types if nested else {n: self.types[n] for n in node.input if n}
            if not nested:
                context = onnx.checker.C.CheckerContext()
                context.ir_version, context.opset_imports = 10, {"": self.opset, MICROSOFT: 1}
                onnx.checker.check_node(node, context)
            return onnx.shape_inference.infer_node_outputs(
                schema, node, types, {n: data[n] for n in node.input if n in data},
                opset_imports=[helper.make_opsetid("", self.opset)])
        except Exception as error:  # ONNX has many kinds of errors here, and each says that the node does not fit
            raise Unfit(f"{node.op_type}: {error}") from error
