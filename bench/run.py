"""Measures this program beside its peers, in turns, and writes bench/results/*.json, docs/performance.md, docs/plots/*.svg.

    python bench/run.py [--quick] [--only NAME …] [--launches N] [--append] [--tables]

A round launches every program once, our own twice: the second is the null arm. Rounds rotate the order.
"""
import argparse
import datetime
import pathlib
import sys

import machine
import report
import results
import workloads
from arms import make_arms
from job import Unable
from launch import forget_file_pages, wait_for_quiet

ROOT = machine.ROOT


def one_launch(arm, workload):
    if not workload.kind.startswith("start "):
        return getattr(arm, workload.kind)(workload.job)
    if workload.kind == "start cold":
        forget_file_pages(arm.files(workload.job))
    else:
        arm.start(workload.job)  # the first start, not counted
    return arm.start(workload.job)


def quiet_launch(arm, workload):
    """Waits for an idle machine; once more when something else took the processor meanwhile."""
    wait_for_quiet(results.QUIET_CPUS)
    values = one_launch(arm, workload)
    if values["others_cpus"] <= results.QUIET_CPUS:
        return values
    wait_for_quiet(results.QUIET_CPUS)
    return min(values, one_launch(arm, workload), key=lambda v: v["others_cpus"])


def describe(values) -> str:
    units = (("first_ms", "ms"), ("gap_p99_ms", "ms"), ("quiet_gap_ms", "ms"), ("prefill", "tok/s"), ("decode", "tok/s"), ("output", "tok/s"), ("read", "B/s"), ("wall_ms", "ms"), ("others_cpus", ""))
    return "  ".join(f"{field} {values[field]:,.2f} {unit}" for field, unit in units if field in values)


def measure(workload, arms, launches, save=lambda measured: None):
    """`launches` rounds, each saved when it is over; an arm that is unable drops out with its reason."""
    measured, out, build = [], set(), machine.build_of_ours()
    for round_number in range(launches):
        turn = round_number % len(arms)
        for arm in arms[turn:] + arms[:turn]:
            if arm.name in out:
                continue
            record = {"arm": arm.name, "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), "build": build}
            try:
                record["values"] = quiet_launch(arm, workload)
                print(f"{workload.name:14} {arm.name:24} {describe(record['values'])}", flush=True)
            except Unable as reason:
                record["unable"] = str(reason)
                out.add(arm.name)
                print(f"{workload.name:14} {arm.name:24} unable: {reason}", flush=True)
            measured.append(record)
        save(measured)
    return measured


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"one launch of {', '.join(workloads.QUICK)}")
    parser.add_argument("--only", nargs="+", default=[], help="workloads or their groups; without it all")
    parser.add_argument("--arms", nargs="+", default=[], metavar="NAME", help="programs, as the tables name them; without it all")
    parser.add_argument("--launches", type=int, default=5, help="rounds per workload")
    parser.add_argument("--append", action="store_true", help="keep the launches that the results have already")
    parser.add_argument("--tables", action="store_true", help="measure nothing: only tables and plots from the results")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/onnx-genai")
    parser.add_argument("--limits", type=pathlib.Path, default=ROOT / "build/release/bench/machine_limits")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.only, arguments.launches = arguments.only or list(workloads.QUICK), 1
    return arguments


def main():
    arguments = parse()
    if not arguments.tables:
        chosen = workloads.select(arguments.only)
        arms = make_arms(arguments.program, arguments.limits)
        about = machine.describe(arguments.limits, (1, 2), results.read("machine"))
        results.write("machine", about | {"peers": arms.versions, "missing": arms.missing})
        for workload in chosen:
            part = [a for a in arms.taking_part(workload) if not arguments.arms or a.name in arguments.arms]
            known = results.read(workload.name)["launches"] if arguments.append else []
            bytes_per_token = arms.models.bytes_per_token(workload.job.model)
            measure(workload, part, arguments.launches, lambda new: results.keep(workload, bytes_per_token, known + new))
    report.write_all()


if __name__ == "__main__":
    sys.exit(main())
