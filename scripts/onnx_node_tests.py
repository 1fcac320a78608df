#!/usr/bin/env python3
"""Writes the node tests of ONNX's backend test suite as files; needs the onnx package, of which they are a part.

  onnx_node_tests.py FOLDER

Per test: FOLDER/NAME/model.onnx, and FOLDER/NAME/test_data_set_0/input_N.pb and output_N.pb, as ONNX's own tool writes
the other kinds of test. Values that are no tensors get a file with the ending .other, and no content. The onnx package
makes the data with seeded random numbers.

A test is written for an opset and IR version that ONNX Runtime 1.30 reads, wherever the model is valid there, too.
"""

import pathlib
import sys
import warnings

import numpy as np
from onnx import ModelProto, TensorProto, checker, numpy_helper, shape_inference
from onnx.backend.test.case.node import collect_testcases


OLDEST_OPSET, NEWEST_OPSET, NEWEST_IR = 7, 26, 13  # of ONNX Runtime 1.30


def fit_versions(model):
    fitted = ModelProto()
    fitted.CopyFrom(model)
    fitted.ir_version = min(model.ir_version, NEWEST_IR)
    for opset in fitted.opset_import:
        if opset.domain == "":
            opset.version = min(max(opset.version, OLDEST_OPSET), NEWEST_OPSET)
    try:
        checker.check_model(fitted)
        shape_inference.infer_shapes(fitted, check_type=True, strict_mode=True)
    except (checker.ValidationError, shape_inference.InferenceError):
        return model
    return fitted


def write_value(folder, stem, name, value):
    if isinstance(value, (np.ndarray, np.generic)):
        value = numpy_helper.from_array(np.asarray(value), name)
    if isinstance(value, TensorProto):
        value.name = name
        (folder / f"{stem}.pb").write_bytes(value.SerializeToString())
    else:
        (folder / f"{stem}.other").touch()


def write_case(folder, case):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(fit_versions(case.model).SerializeToString())
    ((inputs, outputs),) = case.data_sets
    graph = case.model.graph
    for kind, values, declared in (("input", inputs, graph.input), ("output", outputs, graph.output)):
        for index, (value, info) in enumerate(zip(values, declared, strict=True)):
            write_value(data, f"{kind}_{index}", info.name, value)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    warnings.simplefilter("ignore", RuntimeWarning)  # casts and divisions that overflow on purpose
    for case in collect_testcases():
        write_case(pathlib.Path(sys.argv[1]) / case.name, case)


if __name__ == "__main__":
    main()
