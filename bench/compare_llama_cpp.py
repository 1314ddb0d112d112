"""Our speed beside llama.cpp's on the same GGUF weights, in turns, so that both see the same machine.

    python bench/compare_llama_cpp.py --llama-bench PATH --gguf FILE.gguf PACKAGE … [--rounds 5] [--threads 2]

Each round starts llama-bench and, for each package imported from that file, our program twice: the second launch is the
null arm; a difference below its spread is noise. Prints medians over rounds, ratios of medians to llama.cpp, ranges.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess

PROMPT, DECODE = 512, 128
ROOT = pathlib.Path(__file__).resolve().parents[1]


def run(command, **options):
    return json.loads(subprocess.run(list(map(str, command)), capture_output=True, check=True, text=True, **options).stdout)


def ours(arguments, package):
    result = run([arguments.program, "bench", package, "--prompt-tokens", PROMPT, "--decode-tokens", DECODE,
                  "--threads", arguments.threads, "--repeat", arguments.repeat, "--json"])
    medians = result["medians"]
    return medians["prefill_tokens_per_second"], medians["decode_tokens_per_second"]


def llama_cpp(arguments):
    tool = pathlib.Path(arguments.llama_bench).resolve()
    rows = run([tool, "-m", arguments.gguf.resolve(), "-p", PROMPT, "-n", DECODE, "-t", arguments.threads,
                "-r", arguments.repeat, "-o", "json"],
               cwd=tool.parent, env=os.environ | {"LD_LIBRARY_PATH": str(tool.parent)})
    prefill = next(r["avg_ts"] for r in rows if r["n_prompt"] and not r["n_gen"])
    decode = next(r["avg_ts"] for r in rows if r["n_gen"] and not r["n_prompt"])
    return prefill, decode


def cell(values, base):
    middle = statistics.median(values)
    return f"{middle:.1f} ({min(values):.1f}–{max(values):.1f}) | {middle / statistics.median(base):.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/release/onnx-genai")
    parser.add_argument("--llama-bench", required=True)
    parser.add_argument("--gguf", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=1, help="measured runs within one launch")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("packages", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()

    arms = {"llama.cpp": lambda: llama_cpp(arguments)}
    for package in arguments.packages:
        arms[package.name] = arms[f"{package.name}, again"] = lambda package=package: ours(arguments, package)
    measured = {name: [] for name in arms}
    for _ in range(arguments.rounds):
        for name, arm in arms.items():
            measured[name].append(arm())

    print(f"{arguments.gguf.name}, {arguments.threads} threads, {arguments.rounds} rounds; tokens per second, median (range).\n")
    print(f"| | prefill {PROMPT} | ÷ llama.cpp | decode {DECODE} | ÷ llama.cpp |\n|---|---|---|---|---|")
    columns = {name: list(zip(*runs)) for name, runs in measured.items()}
    for name, (prefill, decode) in columns.items():
        print(f"| {name} | {cell(prefill, columns['llama.cpp'][0])} | {cell(decode, columns['llama.cpp'][1])} |")


if __name__ == "__main__":
    main()
