"""Operators whose form depends on the opset: what is an attribute in one is an operand in another."""

import numpy as np
from onnx import TensorProto

from builder import Unfit


def reduce(b, op, x, axes, keepdims=1):
    """A reduction; `axes` is None for all."""
    first = 13 if op == "ReduceSum" else 18
    if axes is None:
        return b.node(op, [x], keepdims=keepdims)
    if b.opset >= first:
        return b.node(op, [x, b.ints(*axes)], keepdims=keepdims)
    return b.node(op, [x], axes=list(axes), keepdims=keepdims)


def with_axes(b, op, x, axes):
    """Squeeze or Unsqueeze."""
    return b.node(op, [x, b.ints(*axes)]) if b.opset >= 13 else b.node(op, [x], axes=list(axes))


def squeeze(b, x, *axes):
    return with_axes(b, "Squeeze", x, axes)


def unsqueeze(b, x, *axes):
    return with_axes(b, "Unsqueeze", x, axes)


def split(b, x, axis, sizes):
    if b.opset < 13:
        return b.node("Split", [x], len(sizes), axis=axis, split=list(sizes))
    if b.opset >= 18 and len(set(sizes)) == 1 and b.chance(0.6):
        return b.node("Split", [x], len(sizes), axis=axis, num_outputs=len(sizes))
    if len(set(sizes)) == 1 and b.chance(0.3) and b.opset < 18:
        return b.node("Split", [x], len(sizes), axis=axis)
    return b.node("Split", [x, b.ints(*sizes)], len(sizes), axis=axis)


def clip(b, x, low=None, high=None):
    if b.opset < 11:
        return b.node("Clip", [x], min=low, max=high)
    shape = b.choose((), (), (), (1,)) if b.chance(0.2) else ()
    bounds = [None if v is None else b.scalar(v, x, shape) for v in (low, high)]
    return b.node("Clip", [x] + (bounds if bounds[1] else bounds[:1] if bounds[0] else []))


def slices(b, x, starts, ends, axes=None, steps=None):
    if b.opset < 10:
        if steps:
            raise Unfit("no steps")
        return b.node("Slice", [x], starts=starts, ends=ends, axes=axes)
    operands = [b.ints(*starts), b.ints(*ends)]
    if axes or steps:
        operands.append(b.ints(*axes) if axes else None)
    return b.node("Slice", [x] + operands + ([b.ints(*steps)] if steps else []))


def pad(b, x, pads, mode="constant", value=None):
    if b.opset < 11:
        return b.node("Pad", [x], pads=pads, mode=mode, value=value)
    more = [] if value is None else [b.scalar(value, x)]
    return b.node("Pad", [x, b.ints(*pads)] + more, mode=mode)


def dropout(b, x, outputs=1, ratio=0.3):
    if b.opset >= 12:
        return b.node("Dropout", [x] + ([b.constant(np.float32(ratio))] if b.chance(0.6) else []), outputs)
    return b.node("Dropout", [x], outputs, ratio=ratio)


def resize(b, x, scales, mode="nearest", **attributes):
    """Resize, or Upsample before opset 10, by constant factors."""
    factors = b.constant(np.array(scales, np.float32))
    if b.opset < 10:
        if b.opset >= 9:
            return b.node("Upsample", [x, factors], mode=mode)
        return b.node("Upsample", [x], mode=mode, scales=[float(v) for v in scales])
    if b.opset == 10:
        return b.node("Resize", [x, factors], mode=mode)
    region = b.constant(np.zeros(0, np.float32)) if b.chance(0.4) else None
    if b.chance(0.25):
        sizes = b.ints(*[int(n * f) for n, f in zip(x.shape, scales)])
        return b.node("Resize", [x, region, None, sizes], mode=mode, **attributes)
    return b.node("Resize", [x, region, factors], mode=mode, **attributes)


def reshape(b, x, *target, **attributes):
    if b.opset < 5:
        raise Unfit("no operand for the shape")
    return b.node("Reshape", [x, b.ints(*target)], **attributes)


def batch_normalization(b, x):
    n = x.shape[1]
    operands = [b.floats((n,), x), b.floats((n,), x, -1), b.floats((n,), x, -1), b.floats((n,), x)]
    return b.node("BatchNormalization", [x] + operands, epsilon=b.choose(None, 1e-3))


def cast(b, x, to):
    if TensorProto.BFLOAT16 in (to, x.type) and b.opset < 13:
        raise Unfit("no bfloat16")
    return b.node("Cast", [x], to=to)


def swap(permutation, i, j):
    result = list(permutation)
    result[i], result[j] = result[j], result[i]
    return result


def transpose(b, x, permutation):
    return b.node("Transpose", [x], perm=list(permutation))


def shuffled(b, rank):
    """A permutation; for rank 4 mostly one that exporters write."""
    if rank == 4 and b.chance(0.6):
        return b.choose([0, 2, 3, 1], [0, 3, 1, 2], [0, 1, 3, 2], [0, 2, 1, 3])
    return b.random.sample(range(rank), rank)
