#!/usr/bin/env python3
"""Compares rulerun with ONNX Runtime 1.30.0 on the spot, model by model and level by level.

  ../shared/oracle's python tests/fuzz/compare.py /tmp/models --rulerun build/release/rulerun --rules rules/ort130.yaml

Needs the packages onnx and onnxruntime==1.30.0, and the oracle's scripts (--oracle). What a model can come to:
  same      both build the same graph (or both refuse the model)
  differ    the graphs differ                    refuses   rulerun refuses what ONNX Runtime takes
  takes     rulerun takes what ONNX Runtime refuses        crash     rulerun died, or did not answer in 60 s
  oracle    ONNX Runtime itself died: nothing to compare with
Exit status 1 where anything is not the same. docs/fuzzing.md has the whole way from a seed to a repaired rule.
"""

import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

LEVELS = ["disabled", "basic", "extended", "layout", "all"]
ROOT = pathlib.Path(__file__).resolve().parents[2]


def rewritten(options, model, level, output):
    """(state, what it said): whether rulerun wrote the model's graph to `output`."""
    output.unlink(missing_ok=True)
    command = [options.rulerun, "optimize", "--rules", options.rules, "--level", level, "--ep", "cpu", "--platform", options.platform,
               "--output", str(output), str(model)] + [f"--option={o}" for o in options.option]
    try:
        r = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "crash", "no answer in 60 s"
    if r.returncode < 0 or r.returncode >= 128:
        return "crash", f"status {r.returncode}: {r.stderr.strip()[-300:]}"
    return ("graph" if output.exists() and r.returncode == 0 else "refusal"), r.stderr.strip()[-400:]


def judge(options, canon, wanted, model, level, output):
    """(verdict, lines): rulerun's graph beside ONNX Runtime's, which is a canonical graph or has an "error"."""
    state, said = rewritten(options, model, level, output)
    if state == "crash":
        return "crash", [said]
    if "error" in wanted:
        return ("same", []) if state == "refusal" else ("takes", [wanted["error"]])
    if state == "refusal":
        return "refuses", [said]
    lines = canon.compare(wanted, canon.load(str(output)))
    return ("differ", lines) if lines else ("same", [])


def compare_some(options, models, report):
    """One process's share: a line of JSON a model and level in the file `report`, as soon as it is known."""
    sys.path.insert(0, str(options.oracle))
    import canon
    import ort_levels
    configuration = [tuple(o.split("=", 1)) for o in options.option]
    with open(report, "a") as out, tempfile.TemporaryDirectory() as folder:
        theirs, ours = os.path.join(folder, "theirs.onnx"), pathlib.Path(folder, "ours.onnx")
        for model in models:
            out.write(json.dumps({"begins": str(model)}) + "\n")
            out.flush()
            for level in options.level or LEVELS:
                try:
                    ort_levels.optimize(str(model), level, theirs, configuration)
                    wanted = canon.load(theirs)
                except Exception as error:  # of many kinds: the oracle refuses this model
                    wanted = {"error": str(error)[:300]}
                verdict, lines = judge(options, canon, wanted, model, level, ours)
                out.write(json.dumps({"model": str(model), "level": level, "verdict": verdict, "lines": lines[:12]}) + "\n")


def read_report(report):
    """(verdicts, models that were begun)."""
    lines = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    return [l for l in lines if "verdict" in l], [l["begins"] for l in lines if "begins" in l]


def compare_share(options, models, report):
    """Runs a share in processes of their own, since ONNX Runtime aborts on some models."""
    left = [str(m) for m in models]
    while left:
        process = multiprocessing.Process(target=compare_some, args=(options, left, report))
        process.start()
        process.join()
        begun = read_report(report)[1]
        if process.exitcode != 0 and begun:
            with open(report, "a") as out:
                out.write(json.dumps({"model": begun[-1], "level": "-", "verdict": "oracle", "lines": [f"status {process.exitcode}"]}) + "\n")
        elif process.exitcode != 0:
            sys.exit("compare: the oracle does not start")
        left = left[left.index(begun[-1]) + 1:] if process.exitcode != 0 else []


def add_options(p):
    """What reduce.py has in common with this."""
    p.add_argument("--rulerun", default=str(ROOT / "build/release/rulerun"))
    p.add_argument("--rules", default=str(ROOT / "rules/ort130.yaml"))
    p.add_argument("--oracle", type=pathlib.Path, default=ROOT.parent / "shared/oracle", help="folder of canon.py and ort_levels.py")
    p.add_argument("--platform", default="x86-64-avx512", help="what this machine is to ONNX Runtime")
    p.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="a session config entry, for both sides")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", type=pathlib.Path, help="a folder of models, or one model")
    add_options(p)
    p.add_argument("--level", action="append", choices=LEVELS)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--show", type=int, default=5, help="print what is different for so many models")
    p.add_argument("--json", type=pathlib.Path)
    options = p.parse_args()
    models = [options.models] if options.models.is_file() else sorted(options.models.glob("**/*.onnx"))
    with tempfile.TemporaryDirectory() as folder:
        shares = [(models[k::options.jobs], pathlib.Path(folder, f"{k}.json")) for k in range(options.jobs)]
        workers = [multiprocessing.Process(target=compare_share, args=(options, *s)) for s in shares]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        verdicts = [v for _, report in shares for v in read_report(report)[0]]
    sys.exit(tell(options, verdicts))


def tell(options, verdicts):
    """Prints differences and totals; the exit status."""
    if options.json:
        options.json.write_text(json.dumps(verdicts, indent=0))
    wrong = [v for v in verdicts if v["verdict"] != "same"]
    shown = list(dict.fromkeys(v["model"] for v in wrong))[:options.show]
    for model in shown:
        first = next(v for v in wrong if v["model"] == model)
        print(f"--- {model} at {first['level']}: {first['verdict']}")
        print("\n".join("    " + line for line in first["lines"]))
    count = collections.Counter(v["verdict"] for v in verdicts)
    models = {v["model"] for v in verdicts}
    print(f"{count['same']} of {len(verdicts)} the same, {len(models)} models; " +
          ", ".join(f"{name} {count[name]}" for name in ("differ", "refuses", "takes", "crash", "oracle")))
    return 0 if verdicts and not wrong else 1


if __name__ == "__main__":
    main()
