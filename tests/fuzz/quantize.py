"""QuantizeLinear and DequantizeLinear in every form that tools write, with the defects that they come with."""

import dataclasses

import numpy as np
from onnx import TensorProto

from builder import MICROSOFT, Unfit, Value, numpy_type

ACTIVATIONS = {
    "u8": [TensorProto.UINT8], "s8": [TensorProto.INT8], "mixed": [TensorProto.UINT8, TensorProto.INT8],
    "16": [TensorProto.UINT16, TensorProto.INT16, TensorProto.UINT8], "4": [TensorProto.UINT4, TensorProto.INT4, TensorProto.UINT8]}
RANGES = {TensorProto.UINT8: (0, 255), TensorProto.INT8: (-128, 127), TensorProto.UINT16: (0, 65535), TensorProto.INT16: (-32768, 32767),
          TensorProto.UINT4: (0, 15), TensorProto.INT4: (-8, 7), TensorProto.INT32: (-2**31, 2**31 - 1)}


@dataclasses.dataclass(frozen=True)
class Parameters:
    """Scale and zero point; `numbers` is the scale as an array, or None where it is not constant."""

    scale: Value
    zero: Value | None
    type: int
    numbers: object
    axis: int | None = None
    block: int | None = None


class Quantizer:
    """The quantization of one model: its types, how dense it is, and how often something is odd about a pair."""

    def __init__(self, b):
        self.b = b
        low = b.opset < 10
        style = b.random.choices(["none", "u8", "s8", "mixed", "16", "4"], [3, 6, 3, 2, 1.5, 0.5])[0]
        self.domain = MICROSOFT if low or b.chance(0.1) else ""
        if (style == "4" and b.opset < 21) or (style == "16" and b.opset < 21 and not self.domain) or (style != "none" and low and b.chance(0.8)):
            style = "none"
        if style == "4" and self.domain:
            style = "u8"
        self.types = ACTIVATIONS.get(style)
        self.density = 0 if style == "none" else b.choose(0.3, 0.6, 0.9)
        self.oddness = b.choose(0, 0, 0.05, 0.15)
        self.no_zero_points = b.chance(0.1)
        self.per_axis_weights = b.opset >= 13 and b.chance(0.5)
        self.made = {}

    def odd(self):
        return self.b.chance(self.oddness)

    # Scales and zero points.

    def number(self):
        return self.b.choose(0.02, 0.05, 0.1, 1 / 256, 1 / 128, 0.5)

    def zero_number(self, element_type):
        low, high = RANGES[element_type]
        return self.b.choose(0, 0, low, (low + high + 1) // 2, min(high, max(low, 5)))

    def zero_point(self, element_type, shape, number=None):
        if (self.no_zero_points and element_type == TensorProto.UINT8) or (self.odd() and element_type == TensorProto.UINT8):
            return None
        number = self.zero_number(element_type) if number is None else number
        return self.b.constant(np.full(shape, number).astype(numpy_type(element_type)))

    def fresh(self, element_type, float_type=TensorProto.FLOAT):
        """New parameters for a whole tensor."""
        b = self.b
        number = np.float32(-self.number() if b.chance(0.01) else self.number())
        shape = (1,) if self.odd() else ()
        scale = b.scalar(number, Value("", float_type, None), shape)
        if self.odd() and b.chance(0.3) and float_type == TensorProto.FLOAT:
            if len(b.inputs) < 5 and b.chance(0.5):
                scale = b.new_input(0, TensorProto.FLOAT)
            else:
                scale = b.node("Abs", [scale])
            return Parameters(scale, self.zero_point(element_type, shape), element_type, None)
        return Parameters(scale, self.zero_point(element_type, shape), element_type, number)

    def parameters(self, x, element_type=None):
        """Parameters for an activation, shared with others now and then."""
        b = self.b
        float_type = x.type if x.type in (TensorProto.FLOAT16, TensorProto.BFLOAT16) else TensorProto.FLOAT
        fit = [p for p in b.scope.parameters if p.scale.type == float_type and (element_type is None or p.type == element_type)]
        if fit and b.chance(0.4):
            return b.random.choice(fit[-4:])
        made = self.fresh(element_type or b.random.choice(self.types), float_type)
        b.scope.parameters.append(made)
        return made

    def per_axis(self, x, element_type, axis, number=None):
        """Parameters with a scale for each slice along an axis."""
        b, n = self.b, x.shape[axis]
        scales = (np.full(n, number or 0.01) * b.numbers.uniform(0.5, 1.5, n)).astype(np.float32)
        zero = self.zero_point(element_type, (n,), 0 if b.chance(0.8) else None)
        written = axis - x.rank if b.chance(0.2) else axis
        return Parameters(b.constant(scales), zero, element_type, scales, written)

    # The nodes.

    def attributes(self, p):
        found = {}
        if p.axis is not None:
            found["axis"] = p.axis
        if p.block:
            found["block_size"] = p.block
        return found

    def q(self, x, p, domain=None):
        domain = self.domain if domain is None else domain
        if x.type not in (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16):
            raise Unfit("nothing to quantize")
        more = {"saturate": 1} if domain == "" and self.b.opset >= 19 and self.b.chance(0.05) else {}
        if p.zero is None and domain == "" and self.b.opset >= 21 and self.b.chance(0.3):
            more["output_dtype"] = p.type
        return self.b.node("QuantizeLinear", [x, p.scale, p.zero], domain=domain, like=[(p.type, x.shape)] if domain else None,
                           **self.attributes(p), **more)

    def dq(self, x, p, domain=None):
        domain = self.domain if domain is None else domain
        result = self.b.node("DequantizeLinear", [x, p.scale, p.zero], domain=domain,
                             like=[(p.scale.type, x.shape)] if domain else None, **self.attributes(p))
        self.made[result.name] = p
        return result

    def pair(self, x, element_type=None):
        """x between a Q and a DQ, and sometimes what tools get wrong there."""
        b, p = self.b, self.parameters(x, element_type)
        if self.odd() and x.rank > 1 and b.opset >= 13 and not self.domain:
            p = self.per_axis(x, p.type, b.random.randrange(x.rank), 0.05)
        q = self.q(x, p)
        other = p
        if self.odd():
            other = self.fresh(p.type, p.scale.type)
        elif self.odd() and p.zero and not p.axis:
            other = dataclasses.replace(p, zero=self.zero_point(p.type, ()))
        result = self.dq(q, other)
        if self.odd():
            b.offer(self.dq(q, p))
        if self.odd() and len(b.scopes) == 1:
            b.extra_outputs.append(b.choose(q, result, x))
        if self.odd():
            again = self.fresh(p.type, p.scale.type)
            result = self.dq(self.q(result, again), again)
        return result

    def after(self, x):
        if self.types is None or not self.b.chance(self.density):
            return x
        return self.pair(x)

    def operand(self, x):
        """x as what a quantized operator reads: behind a DQ, unless it is one's result."""
        if self.types is None or x.name in self.made or self.b.chance(0.1):
            return x
        return self.pair(x)

    def quantized_input(self, rank):
        """A DQ at a graph input that is quantized already."""
        b = self.b
        x = b.pick(rank)
        p = self.parameters(x)
        entry = b.new_input(rank, p.type, x.shape)
        return b.offer(self.dq(entry, p))

    # Weights and biases.

    def weight(self, shape, axis=0):
        """Float weights, or integers behind a DQ for the whole tensor, an axis or blocks."""
        b = self.b
        if self.types is None or b.chance(0.1):
            return b.floats(shape, low=-0.3, high=0.3)
        kinds = [TensorProto.INT8] * 4 + [TensorProto.UINT8] * 2
        if b.opset >= 21 and not self.domain:
            kinds += [TensorProto.INT4, TensorProto.UINT4, TensorProto.INT16]
        kind = b.random.choice(kinds)
        low, high = RANGES[kind]
        stored = b.constant(b.numbers.integers(max(low, -100), min(high, 100), shape).astype(numpy_type(kind)), "initializer")
        if b.element_type not in (TensorProto.FLOAT,):
            p = self.fresh(kind, b.element_type if b.element_type != TensorProto.DOUBLE else TensorProto.FLOAT)
        elif b.opset >= 21 and not self.domain and len(shape) == 2 and b.chance(0.25):
            p = self.blocked(stored, shape, kind)
        elif self.per_axis_weights and len(shape) > 1:
            p = self.per_axis(stored, kind, axis if b.chance(0.9) else 0)
        else:
            p = self.fresh(kind)
        if self.odd() and kind in (TensorProto.INT8, TensorProto.UINT8) and p.axis is None:
            return self.dq(self.q(b.floats(shape), p), p)
        return self.dq(stored, p)

    def blocked(self, stored, shape, kind):
        b = self.b
        axis = b.choose(0, 1)
        block = b.choose(*[n for n in (2, 4, 8, 16, 32) if n <= shape[axis]] or [1])
        counts = list(shape)
        counts[axis] = -(-shape[axis] // block)
        scales = b.numbers.uniform(0.005, 0.02, counts).astype(np.float32)
        return Parameters(b.constant(scales), self.zero_point(kind, counts), kind, scales, axis, block)

    def bias(self, n, x, w):
        """No bias, a float one, or int32 behind a DQ whose scale mostly is the product of the others'."""
        b = self.b
        if b.chance(0.25):
            return None
        if self.types is None or b.chance(0.25) or b.element_type != TensorProto.FLOAT:
            return b.floats((n,), low=-1)
        left, right = self.made.get(x.name), self.made.get(w.name)
        scale = np.float32(0.0002)
        if left and right and left.numbers is not None and right.numbers is not None and np.size(left.numbers) == 1 and not self.odd():
            if np.size(right.numbers) in (1, n):
                scale = (np.float32(left.numbers) * right.numbers).astype(np.float32)
        stored = b.constant(b.numbers.integers(-900, 900, n).astype(np.int32))
        zero = None if b.chance(0.4) else b.constant(np.zeros(np.shape(scale), np.int32))
        return self.dq(stored, Parameters(b.constant(scale), zero, TensorProto.INT32, None, 0 if np.ndim(scale) else None))
