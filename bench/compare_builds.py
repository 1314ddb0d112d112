"""Compares builds of this program with each other, in turns: what a change brought.

    python bench/compare_builds.py --launches 8 old/onnx-genai new/onnx-genai -- MODEL --prompt-tokens 16 --threads 1

Everything behind `--` goes to `onnx-genai bench`. Prints the median, smallest and largest launch of each build; naming one
build twice shows what launches differ by without a change.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

FIGURES = {"prefill_tokens_per_second": "prefill, tok/s", "decode_tokens_per_second": "decode, tok/s"}


def launch(program, arguments):
    done = subprocess.run([program, "bench", *arguments, "--repeat", "1", "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["medians"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    parser.add_argument("--launches", type=int, default=8)
    ours, arguments = sys.argv[1:], []
    if "--" in ours:
        ours, arguments = ours[: ours.index("--")], ours[ours.index("--") + 1 :]
    options = parser.parse_args(ours)
    measured = [[] for _ in options.programs]
    for _ in range(options.launches):
        for program, launches in zip(options.programs, measured):
            launches.append(launch(program, arguments))
    for program, launches in zip(options.programs, measured):
        for figure, title in FIGURES.items():
            values = [medians[figure] for medians in launches]
            print(f"{program}: {title}: {statistics.median(values):,.1f} ({min(values):,.1f}–{max(values):,.1f})")


if __name__ == "__main__":
    main()
