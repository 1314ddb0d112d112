"""What the end-to-end scripts share: running the program, the imported packages, the golden cases, the verdict."""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "e2e"
TEXT = GOLDEN / "text.txt"
PACKAGES = {  # folder under build/models/e2e → options of `onnx-genai import`
    "f32": ["--precision", "f32"],
    "int16": ["--precision", "keep", "--activations", "int16"],
    "int8": ["--precision", "keep", "--activations", "int8"],
}
TIE = 1e-3  # two float32 programs may order logits closer than this differently


class Report:
    def __init__(self):
        self.failures = 0

    def __call__(self, ok, text):
        self.failures += not ok
        print(("ok    " if ok else "FAIL  ") + text, flush=True)

    def finish(self):
        sys.exit(1 if self.failures else 0)


def need(path):
    """Without what `./dev test` fetches and builds there is nothing to test; where that must be there, it is a failure."""
    if not pathlib.Path(path).exists():
        print(f"{path} is missing; ./dev test makes it")
        sys.exit(1 if os.environ.get("CI") else 77)
    return str(path)


def run(*command, stdin=None):
    done = subprocess.run([str(c) for c in command], input=stdin, capture_output=True, text=True, timeout=900)
    if done.returncode:
        sys.exit(f"FAIL  {' '.join(str(c)[:60] for c in command)}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def generate(program, model, prompt, tokens, *options):
    """The program's answer to token ids, greedy unless the options say otherwise."""
    ids = ",".join(map(str, prompt))
    command = [program, "generate", model, "--token-ids", ids, "--max-tokens", tokens, "--temperature", 0, "--ignore-eos"]
    return json.loads(run(*command, "--json", *options))


def many_streams(tool, model, requests, together=True, kv_type="auto"):
    job = {"together": together, "kv_type": kv_type, "requests": requests}
    return json.loads(run(tool, model, stdin=json.dumps(job)))


def golden():
    return json.loads((GOLDEN / "hf_greedy.json").read_text())


def golden_cases():
    return golden()["cases"]


def common_prefix(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
