#!/usr/bin/env python3
"""Makes a model that rulerun and ONNX Runtime disagree on as small as it gets, and prints it as text.

  tests/fuzz/reduce.py /tmp/models/0000041.onnx --level extended --output /tmp/small.onnx

Outputs are dropped, values become inputs or outputs in place of what makes or reads them, and nodes are bypassed, as long
as the verdict (see compare.py) stays what it was. Options are those of compare.py.
"""

import argparse
import pathlib
import re
import sys
import tempfile

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import compare
from finish import names_read


class Judge:
    """Tells the verdict on a model at one level."""

    def __init__(self, options, level, folder):
        sys.path.insert(0, str(options.oracle))
        import canon
        import ort_levels
        self.canon, self.levels, self.options, self.level, self.folder = canon, ort_levels, options, level, folder
        self.asked = 0

    def __call__(self, model):
        self.asked += 1
        path, theirs, ours = (pathlib.Path(self.folder, n) for n in ("m.onnx", "theirs.onnx", "ours.onnx"))
        onnx.save(model, path)
        try:
            self.levels.optimize(str(path), self.level, str(theirs), [tuple(o.split("=", 1)) for o in self.options.option])
            wanted = self.canon.load(str(theirs))
        except Exception as error:  # of many kinds: the oracle refuses this model
            wanted = {"error": str(error)[:300]}
        return compare.judge(self.options, self.canon, wanted, path, self.level, ours)


def pruned(model, types):
    """The model without what leads to no output; a value that nothing makes becomes an input."""
    g = model.graph
    wanted, kept = {o.name for o in g.output}, []
    for n in reversed(g.node):
        if wanted & set(n.output):
            kept.append(n)
            wanted |= set(names_read(n))
    kept.reverse()
    made = {o for n in kept for o in n.output}
    constants = [t for t in g.initializer if t.name in wanted]
    names = {t.name for t in constants}
    inner = {o for n in kept for a in n.attribute if a.type == onnx.AttributeProto.GRAPH for o in inner_names(a.g)}
    inputs = [i for i in g.input if i.name in wanted]
    have = made | names | {i.name for i in inputs} | inner | {""}
    for name in sorted(wanted - have):
        if name not in types:
            return None
        inputs.append(types[name])
    if not kept or not inputs:
        return None
    result = onnx.ModelProto()
    result.CopyFrom(model)
    for field, items in (("node", kept), ("initializer", constants), ("input", inputs)):
        result.graph.ClearField(field)
        getattr(result.graph, field).extend(items)
    called = {n.op_type for n in kept}
    functions = [f for f in model.functions if f.name in called]
    result.ClearField("functions")
    result.functions.extend(functions)
    result.graph.ClearField("value_info")
    return result


def inner_names(graph):
    yield from (i.name for i in graph.input)
    yield from (t.name for t in graph.initializer)
    for n in graph.node:
        yield from n.output
        for a in n.attribute:
            if a.type == onnx.AttributeProto.GRAPH:
                yield from inner_names(a.g)


def candidates(model, types):
    """Smaller models, the boldest first."""
    g = model.graph
    if len(g.output) > 1:
        for o in g.output:
            yield with_outputs(model, [o])
        for o in g.output:
            yield with_outputs(model, [p for p in g.output if p.name != o.name])
    outputs = {o.name for o in g.output}
    for n in list(g.node)[::-1]:
        for o in n.output:
            if o in types and o not in outputs:
                yield with_outputs(model, [types[o]])
    for index, n in enumerate(g.node):
        if len(n.output) == 1 and n.output[0] in types and n.op_type != "Constant":
            yield without_node(model, index)
    for index, n in enumerate(g.node):
        if n.output[0] not in outputs and len(n.output) == 1:
            for i in n.input:
                yield bypassed(model, index, i)
    for index, n in enumerate(g.node):
        if n.output[0] in outputs and len(n.input) and n.input[0] in types:
            rest = [p for p in g.output if p.name not in n.output]
            yield with_outputs(model, rest + [types[i] for i in dict.fromkeys(n.input) if i in types and i not in {p.name for p in rest}])


def with_outputs(model, outputs):
    result = onnx.ModelProto()
    result.CopyFrom(model)
    outputs = list(outputs)
    result.graph.ClearField("output")
    result.graph.output.extend(outputs)
    return result


def without_node(model, index):
    """What the node makes comes in from outside."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    del result.graph.node[index]
    return result


def bypassed(model, index, name):
    """Readers of the node's result read one of its operands."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    gone = result.graph.node[index].output[0]
    del result.graph.node[index]
    for n in result.graph.node:
        for k, i in enumerate(n.input):
            if i == gone:
                n.input[k] = name
    return result


def value_types(model):
    """Name → ValueInfoProto of what is typed; shapes that are not known are left out of the answer."""
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=False)
    found = list(inferred.graph.value_info) + list(inferred.graph.output) + list(inferred.graph.input)
    return {v.name: v for v in found if v.type.tensor_type.elem_type and v.type.tensor_type.HasField("shape")}


def is_valid(model):
    try:
        onnx.checker.check_model(model)
        onnx.shape_inference.infer_shapes(model, strict_mode=True)
        return True
    except Exception:  # of many kinds, each of which says no
        return False


def as_text(model):
    """ONNX's text, with long constants cut short."""
    return re.sub(r"\{([^{}]{60})[^{}]*\}", r"{\1...}", onnx.printer.to_text(model))


def reduced(model, judge):
    """(smallest model found, its verdict, what is different)."""
    verdict, lines = judge(model)
    if verdict == "same":
        return model, verdict, lines
    checked, smaller = is_valid(model), True
    while smaller:
        smaller = False
        types = value_types(model)
        for candidate in candidates(model, types):
            candidate = pruned(candidate, types)
            if candidate is None or len(candidate.graph.node) > len(model.graph.node):
                continue
            if len(candidate.graph.node) == len(model.graph.node) and len(candidate.graph.output) >= len(model.graph.output):
                continue
            if checked and not is_valid(candidate):
                continue
            found, more = judge(candidate)
            if found == verdict:
                model, lines, smaller = candidate, more, True
                break
    return model, verdict, lines


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model", type=pathlib.Path)
    p.add_argument("--level", default="all", choices=compare.LEVELS)
    p.add_argument("--output", type=pathlib.Path)
    compare.add_options(p)
    options = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(options, options.level, folder)
        model, verdict, lines = reduced(onnx.load(options.model), judge)
    if options.output:
        onnx.save(model, options.output)
    print(as_text(model))
    print(f"{verdict} at {options.level}, {len(model.graph.node)} nodes, {judge.asked} models tried")
    print("\n".join("    " + line for line in lines))


if __name__ == "__main__":
    main()
