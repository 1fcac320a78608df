#!/usr/bin/env python3
"""Is the coverage report right? Compares `rulerun coverage --json` with graphs that ONNX Runtime itself saved.

  scripts/check_coverage.py CORPUS --golden GOLDEN.json.gz --platform PLATFORM [--rulerun BIN] [--level LEVEL ...] [--show N]
  scripts/check_coverage.py ../shared/corpus/seed --golden ../shared/golden/arm64/seed.json.gz --platform arm64

CORPUS is a folder of models, GOLDEN what ../shared/oracle saved of them: {model: {level: {nodes: [{op, text}]} or {error}}}.
For each model and level: every operator of ONNX Runtime's graph is in the report as often as it is there (what nodes
became, nodes that were inserted, Qs and DQs left); as many nodes are on int8 as ONNX Runtime has int8 operators of that
kind; what the report calls moved does not read a DequantizeLinear there; what ONNX Runtime refuses, the report refuses.
Models with subgraphs are left out, since the golden files hold digests of those. Exit status 1 where anything differs.
"""
import argparse
import collections
import gzip
import json
import os
import re
import subprocess
import sys

LEVELS = ["disabled", "basic", "extended", "layout", "all"]
ON_INT8 = ("int8", "moved", "dq-dropped")
INT8 = re.compile(r"(^|[.:])(QLinear\w+|QGemm|MatMulIntegerToFloat|QAttention|QEmbedLayerNormalization"
                  r"|DynamicQuantizeMatMul|MatMulInteger|ConvInteger)$")


def short(op):
    return op.replace("com.microsoft.nchwc.", "nchwc:").replace("com.microsoft.", "ms:")


def reported(report):
    """Operators of the final graph as the report tells them, and those of them on int8."""
    final = {}
    for node in report["nodes"]:
        if node["fate"] in ("removed", "conversion") or "into" not in node:
            continue
        key = (node["into"], node["now"])
        final[key] = final.get(key, False) or node["fate"] in ON_INT8
    ops, int8 = collections.Counter(), collections.Counter()
    for (op, _), on_int8 in final.items():
        ops[short(op)] += 1
        int8[short(op)] += on_int8
    for op, count in report["inserted"].items():
        ops[short(op)] += count
    for conversion in report["conversions"]:
        ops[short(conversion["op"])] += conversion["after"]
    return +ops, +int8


def differences(nodes, report):
    """What the report has otherwise than ONNX Runtime's graph, as sentences."""
    ops, int8 = reported(report)
    wanted = collections.Counter(short(node["op"]) for node in nodes)
    found = [f"{op}: {wanted[op]} in ONNX Runtime's graph, {ops[op]} in the report"
             for op in sorted(set(wanted) | set(ops)) if wanted[op] != ops[op]]
    for op in sorted(op for op in wanted if INT8.search(op)):
        if wanted[op] != int8[op]:
            found.append(f"{op}: {wanted[op]} on int8 in ONNX Runtime's graph, {int8[op]} in the report")
    for op in sorted(op for op in int8 if not INT8.search(op)):
        free = sum(short(node["op"]) == op and not node["text"].split("(", 1)[1].startswith("DequantizeLinear")
                   for node in nodes)
        if free < int8[op]:
            found.append(f"{op}: {int8[op]} are said to work on int8, only {free} read no DequantizeLinear")
    return found


def check(arguments, level, golden, counts):
    command = [arguments.rulerun, "coverage", "--json", "--quiet", "--level", level, "--platform", arguments.platform]
    if arguments.rules:
        command += ["--rules", arguments.rules]
    document = json.loads(subprocess.run(command + [arguments.corpus], capture_output=True, text=True).stdout)
    reports = {os.path.relpath(report["model"], arguments.corpus): report for report in document["reports"]}
    for model, levels in golden.items():
        graph = levels.get(level, levels)
        report = reports.get(model)
        if "error" not in graph and any("=graph#" in node["text"] for node in graph["nodes"]):
            counts["with subgraphs, left out"] += 1
            continue
        if "error" in graph and graph["error"].startswith("canon "):
            counts["that the oracle could not read, left out"] += 1
            continue
        if "error" in graph:
            found = [] if report is None else ["ONNX Runtime refuses it: " + graph["error"][:120]]
        elif report is None:
            found = ["ONNX Runtime takes it, the report does not"]
        else:
            found = differences(graph["nodes"], report)
        counts["wrong" if found else "right"] += 1
        if found and counts["wrong"] <= arguments.show:
            print(f"{model}, {level}, {arguments.platform}:")
            for sentence in found:
                print("  " + sentence)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--golden", required=True)
    parser.add_argument("--platform", required=True)
    parser.add_argument("--rulerun", default="build/release/rulerun")
    parser.add_argument("--rules")
    parser.add_argument("--level", action="append")
    parser.add_argument("--show", type=int, default=20, help="models to tell of, at most")
    arguments = parser.parse_args()
    with gzip.open(arguments.golden) as file:
        golden = json.load(file)
    counts = collections.Counter()
    for level in arguments.level or LEVELS:
        check(arguments, level, golden, counts)
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
