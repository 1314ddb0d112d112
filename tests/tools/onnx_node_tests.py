"""Runs the ONNX standard's own node tests and compares with the list of those that pass.

    onnx_node_tests.py RUNNER WORK_FOLDER PASS_LIST [--update]

The cases come from the `onnx` package (its backend test collection) and are written once per version into WORK_FOLDER.
A listed case that fails makes the result red; passing cases that are not listed are printed, so that the list can grow;
--update rewrites the list.
"""

import argparse
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases


def tensor(value, name):
    """A TensorProto of a case's value, or None when it is no tensor (a sequence, an optional, strings)."""
    if isinstance(value, onnx.TensorProto):
        copy = onnx.TensorProto()
        copy.CopyFrom(value)
        copy.name = name
        return copy
    if not isinstance(value, (np.ndarray, np.generic)) or np.asarray(value).dtype.kind in "OUS":
        return None
    return numpy_helper.from_array(np.asarray(value), name)


def data_of(case):
    """The initializers of data.onnx, or None when the case needs more than tensors."""
    inputs, outputs = case.data_sets[0]
    pairs = [(f"input/{v.name}", x) for v, x in zip(case.model.graph.input, inputs)]
    pairs += [(f"output/{v.name}", y) for v, y in zip(case.model.graph.output, outputs)]
    tensors = [tensor(value, name) for name, value in pairs]
    if any(t is None for t in tensors):
        return None
    tensors.append(numpy_helper.from_array(np.array([case.rtol], np.float64), "rtol"))
    tensors.append(numpy_helper.from_array(np.array([case.atol], np.float64), "atol"))
    return tensors


def write_cases(folder):
    """Folders of all cases that are tensors in, tensors out; written again when the version of onnx changes."""
    stamp = folder / ".version"
    if stamp.exists() and stamp.read_text() == onnx.__version__:
        return sorted(p for p in folder.iterdir() if p.is_dir())
    folder.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    for case in cases:
        tensors = data_of(case)
        if tensors is None:
            continue
        target = folder / case.name
        target.mkdir(exist_ok=True)
        (target / "model.onnx").write_bytes(case.model.SerializeToString())
        graph = helper.make_graph([], case.name, [], [], initializer=tensors)
        (target / "data.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    stamp.write_text(onnx.__version__)
    return sorted(p for p in folder.iterdir() if p.is_dir())


def run(runner, folders):
    """Case name → "" or the reason of its failure. A crash fails the case it happened in; the others go on."""
    results = {}
    left = list(folders)
    while left:
        batch, left = left[:200], left[200:]
        process = subprocess.run([runner, *map(str, batch)], capture_output=True, text=True, errors="replace")
        done = 0
        for line in process.stdout.splitlines():
            verdict, _, rest = line.partition(" ")
            if verdict not in ("pass", "fail"):
                continue
            name, _, reason = rest.partition(": ")
            results[name] = "" if verdict == "pass" else reason or "failed"
            done += 1
        if done < len(batch):
            results[batch[done].name] = f"the runner died with status {process.returncode}"
            left = batch[done + 1 :] + left
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runner")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("pass_list", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="the reason of every failure")
    arguments = parser.parse_args()

    results = run(arguments.runner, write_cases(arguments.folder))
    passed = {name for name, reason in results.items() if not reason}
    lines = arguments.pass_list.read_text().splitlines() if arguments.pass_list.exists() else []
    listed = {line for line in lines if line and not line.startswith("#")}
    print(f"{len(passed)} of {len(results)} node tests of onnx {onnx.__version__} pass; {len(listed)} are listed")
    if arguments.verbose:
        for name in sorted(set(results) - passed):
            print(f"  {name}: {results[name]}")
    if arguments.update:
        header = "# Node tests of the ONNX standard that pass; written by tests/tools/onnx_node_tests.py --update.\n"
        arguments.pass_list.write_text(header + "".join(f"{name}\n" for name in sorted(passed)))
        return 0
    for name in sorted(passed - listed):
        print(f"  passes and is not listed: {name}")
    broken = sorted(listed - passed)
    for name in broken:
        print(f"  LISTED BUT FAILS: {name}: {results.get(name, 'no such case')}")
    return 1 if broken or not results else 0


if __name__ == "__main__":
    sys.exit(main())
