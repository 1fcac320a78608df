"""From a builder to a ModelProto: which values go out, what is written down about shapes, and what exporters do besides."""

import onnx
from onnx import TensorProto, helper

from builder import MICROSOFT, Unfit, Value, value_info


def written_shape(value, style):
    """A shape as the model writes it: numbers, symbols, or nothing."""
    shape = list(value.shape)
    if style == "batch" and shape:
        shape[0] = "N"
    elif style == "symbols":
        shape = [f"d{n}" for n in shape]
    elif style in ("unnamed", "rankless"):
        shape = [None] * len(shape)
    return shape


def outputs_of(b):
    """What nobody reads, and now and then something that is read, an input or a constant."""
    scope = b.scopes[0]
    read = {name for n in scope.nodes for name in names_read(n)}
    made = {name for n in scope.nodes for name in n.output}
    chosen = [v for v in scope.values if v.name in made and (v.name not in read or b.chance(0.06))]
    chosen += [v for v in b.extra_outputs if v.name in made]
    if b.chance(0.02):
        chosen.append(b.choose(*b.inputs))
    if b.chance(0.02) and scope.initializers:
        t = b.choose(*scope.initializers)
        chosen.append(Value(t.name, t.data_type, tuple(t.dims)))
    unique = list({v.name: v for v in chosen}.values())
    dropped = [v for v in unique if len(unique) > 1 and b.chance(0.04)]
    return [v for v in unique if v not in dropped or len(unique) == 1]


def names_read(node):
    yield from node.input
    for a in node.attribute:
        if a.type == onnx.AttributeProto.GRAPH:
            for inner in a.g.node:
                yield from names_read(inner)
            yield from (o.name for o in a.g.output)


def build(b, ir_version, shapes):
    """The model; Unfit where the checker or strict inference has something against it."""
    scope = b.scopes[0]
    if not scope.nodes:
        raise Unfit("empty")
    inputs = [value_info(v, written_shape(v, shapes)) for v in b.inputs]
    if ir_version < 4:
        inputs += [helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in scope.initializers]
    else:
        inputs += [value_info(v) for v in b.overridable]
    outputs = outputs_of(b)
    if not outputs or not inputs:
        raise Unfit("nothing goes in or out")
    imports = [helper.make_opsetid("", b.opset), helper.make_opsetid(MICROSOFT, 1)]
    imports += [helper.make_opsetid(f.domain, 1) for f in b.functions]
    graph = helper.make_graph(scope.nodes, "g", inputs, [value_info(v, [None] * v.rank) for v in outputs], scope.initializers)
    unique = list({(i.domain): i for i in imports}.values())
    model = helper.make_model(graph, opset_imports=unique, ir_version=ir_version, functions=b.functions)
    try:
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=False)
    except Exception as error:  # of many kinds: the model is not valid
        raise Unfit(str(error)) from error
    declare_outputs(b, model, inferred)
    if b.chance(0.2):
        model.graph.value_info.extend(inferred.graph.value_info)
    try:
        onnx.checker.check_model(model)
        onnx.shape_inference.infer_shapes(model, strict_mode=True)
    except Exception as error:
        raise Unfit(str(error)) from error
    if shapes == "rankless":  # the checker wants shapes, ONNX Runtime does not
        for v in model.graph.input:
            v.type.tensor_type.ClearField("shape")
    return model


def declare_outputs(b, model, inferred):
    """Outputs with the shapes that inference found, or with none."""
    found = {o.name: o for o in list(inferred.graph.output)}
    bare = b.chance(0.1)
    for o in model.graph.output:
        if not bare and found[o.name].type.tensor_type.HasField("shape") and found[o.name].type.tensor_type.elem_type != TensorProto.UNDEFINED:
            o.CopyFrom(found[o.name])
