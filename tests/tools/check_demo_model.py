"""Runs the program as a user would on an imported model, and compares what it generates with stock onnxruntime-genai.

    python tests/tools/check_demo_model.py PROGRAM MODEL_FOLDER

Exit status 1 when a check fails. Needs: onnxruntime-genai, numpy.
"""
import json
import pathlib
import subprocess
import sys

import numpy as np
import onnxruntime_genai

PROMPTS = ["The capital of France is", "Water boils at", "def add(a, b):\n    return", "Once upon a time, there was a"]
TOKENS = 24
failures = 0


def report(ok, text):
    global failures
    failures += not ok
    print(("ok    " if ok else "FAIL  ") + text, flush=True)


def run(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=300)
    if done.returncode:
        report(False, f"{' '.join(arguments)}: exit {done.returncode}: {done.stderr.strip()}")
        return None
    return done.stdout


def run_json(program, *arguments):
    out = run(program, *arguments, "--json")
    return json.loads(out) if out else None


def peer_tokens(model, ids):
    params = onnxruntime_genai.GeneratorParams(model)
    params.set_search_options(max_length=len(ids) + TOKENS, do_sample=False)
    generator = onnxruntime_genai.Generator(model, params)
    generator.append_tokens(np.array(ids, np.int32))
    while not generator.is_done():
        generator.generate_next_token()
    return [int(t) for t in generator.get_sequence(0)][len(ids) :]


def common_prefix(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def check_tokens(program, folder):
    """Both round activations to 8 bits, each in its own way: near ties may fall differently, so most tokens must agree."""
    peer, agreed, total = onnxruntime_genai.Model(folder), 0, 0
    for prompt in PROMPTS:
        answer = run_json(program, "generate", folder, "--prompt", prompt, "--temperature", "0", "--max-tokens", str(TOKENS))
        if not answer:
            continue
        ours, theirs = answer["token_ids"], peer_tokens(peer, answer["prompt_token_ids"])
        agreed, total = agreed + common_prefix(ours, theirs), total + len(theirs)
        again = run_json(program, "generate", folder, "--prompt", prompt, "--temperature", "0", "--max-tokens", str(TOKENS))
        report(again and again["token_ids"] == ours, f"a second run repeats the {len(ours)} tokens after {prompt!r}")
    report(total and agreed >= 0.5 * total, f"{agreed} of {total} greedy tokens as onnxruntime-genai's, up to the first difference")


def main():
    program, folder = sys.argv[1], sys.argv[2]
    question = ("generate", folder, "--chat", "--prompt", "What is the capital of France?", "--temperature", "0")
    report("Paris" in (run(program, *question, "--max-tokens", "64") or ""), "knows the capital of France")
    check_tokens(program, folder)
    report(bool(run(program, "inspect", folder)), "inspect")
    report(bool(run(program, "check", folder)), "check")
    speed = run_json(program, "bench", folder, "--prompt-tokens", "32", "--decode-tokens", "8", "--repeat", "1")
    report(bool(speed), "bench")
    quality = run_json(program, "perplexity", folder, "--file", str(pathlib.Path(__file__).resolve().parents[2] / "README.md"))
    report(bool(quality) and 1 < quality["perplexity"] < 200, f"perplexity of the README: {quality and quality['perplexity']}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
