#!/usr/bin/env python3
"""Writes random ONNX models: valid ones, the same for the same seed.

  tests/fuzz/generate.py --seeds 0:200 --output /tmp/models
  tests/fuzz/generate.py --seeds 0:50 --family layout --family units --output /tmp/models

A model is a chain or a small network of 1 to 16 steps; each step is a few nodes of some family (families/*.py), in an
opset, float type, quantization and form of shapes that are drawn once per model. docs/fuzzing.md says what for.
"""

import argparse
import collections
import pathlib
import random
import sys

import onnx
from onnx import TensorProto

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import finish
from builder import Builder, Unfit
from families import STEPS
from quantize import Quantizer

OPSETS = [7, 8, 9, 10, 11, 11, 12, 12, 13, 13, 13, 14, 15, 16, 17, 17, 17, 18, 18, 19, 20, 20, 21, 21, 21, 22, 23, 24, 26]
TYPES = [(TensorProto.FLOAT, 20), (TensorProto.FLOAT16, 2), (TensorProto.DOUBLE, 1), (TensorProto.BFLOAT16, 0.5)]
SHAPES = [("numbers", 10), ("batch", 4), ("symbols", 2), ("unnamed", 1.5), ("rankless", 0.7)]


def weighted(rng, options):
    return rng.choices([o for o, _ in options], [w for _, w in options])[0]


def ir_version(rng, opset):
    if opset >= 23:
        return 12
    if opset >= 19:
        return 10
    if opset <= 12 and rng.random() < 0.1:
        return 3
    return rng.choice([7, 8, 9])


def model(seed, families=None, opset=None):
    """The model of a seed, or Unfit."""
    rng = random.Random(seed)
    opset = opset or rng.choice(OPSETS)
    element_type = weighted(rng, TYPES)
    if element_type == TensorProto.BFLOAT16 and opset < 13:
        element_type = TensorProto.FLOAT
    b = Builder(seed, opset, element_type)
    b.quantizer = Quantizer(b)
    if families is None:
        families = rng.sample(sorted(STEPS), rng.choice([1, 2, 2, 3, 10]))
    steps = {step: weight for f in families for step, weight in STEPS[f].items()}
    wanted, done = rng.choice([1, 2, 3, 4, 6, 8, 12, 16]), 0
    for _ in range(3 * wanted):
        done += b.attempt(rng.choices(list(steps), list(steps.values()))[0])
        if done == wanted:
            break
    return finish.build(b, ir_version(rng, opset), weighted(rng, SHAPES))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seeds", default="0:100", help="FIRST:BEHIND_LAST, or one seed")
    p.add_argument("--output", required=True, type=pathlib.Path, help="folder; a model is called SEED.onnx")
    p.add_argument("--family", action="append", choices=sorted(STEPS), help="only this family; may be repeated")
    p.add_argument("--opset", type=int)
    p.add_argument("--reasons", type=int, default=0, metavar="N", help="tell the N most frequent reasons why a seed gave no model")
    a = p.parse_args()
    first, _, last = a.seeds.partition(":")
    a.output.mkdir(parents=True, exist_ok=True)
    written, unfit = 0, {}
    seeds = range(int(first), int(last) if last else int(first) + 1)
    for seed in seeds:
        try:
            onnx.save(model(seed, a.family, a.opset), a.output / f"{seed:07}.onnx")
            written += 1
        except Unfit as reason:
            unfit[seed] = str(reason)
    print(f"{written} models of {len(seeds)} seeds; the others gave no valid one")
    reasons = collections.Counter(" ".join(r.split())[:200] for r in unfit.values())
    for reason, count in reasons.most_common(a.reasons):
        print(f"  {count} x {reason}")


if __name__ == "__main__":
    main()
