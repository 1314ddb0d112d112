#!/usr/bin/env python3
"""Compares our token ids with Hugging Face `tokenizers`, line by line and for the whole file.

    compare_tokenizers.py TOKENIZE_PROGRAM CORPUS TOKENIZER.json...

Exit status 1 when any line differs.
"""
import subprocess
import sys
import time

import os

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import tokenizers  # noqa: E402  (after the environment is set)


def oracle(path, text, lines):
    tokenizer = tokenizers.Tokenizer.from_file(path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    start = time.perf_counter()
    whole = tokenizer.encode(text).ids
    speed = len(text.encode()) / (time.perf_counter() - start) / 1e6
    return [tokenizer.encode(line).ids for line in lines] + [whole], speed


def compare(program, corpus, path):
    with open(corpus, encoding="utf-8", newline="") as file:
        text = file.read()
    lines = text.split("\n")
    lines = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    expected, speed = oracle(path, text, lines)
    run = subprocess.run([program, path, corpus, "3"], capture_output=True, text=True)
    if run.returncode != 0:
        print(f"{path}: {run.stderr.strip()}")
        return False
    actual = [[int(word) for word in row.split()] for row in run.stdout.split("\n")[:-1]]
    wrong = [i for i, (a, b) in enumerate(zip(actual, expected)) if a != b]
    print(f"{path}: {len(expected)} texts, {len(wrong)} differ; ours: {run.stderr.strip()}; tokenizers: {speed:.2f} MB/s")
    for i in wrong[:5]:
        at = next((k for k, (a, b) in enumerate(zip(actual[i], expected[i])) if a != b), 0)
        shown = repr(lines[i][:300]) if i < len(lines) else "(whole file)"
        print(f"  line {i + 1} at token {at}: ours {actual[i][at:at + 8]}, expected {expected[i][at:at + 8]}: {shown}")
    return not wrong and len(actual) == len(expected)


if __name__ == "__main__":
    program, corpus, *paths = sys.argv[1:]
    results = [compare(program, corpus, path) for path in paths]
    sys.exit(0 if all(results) else 1)
