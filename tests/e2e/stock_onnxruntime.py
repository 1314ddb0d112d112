"""Imported packages are standard ONNX: stock ONNX Runtime and onnxruntime-genai run them and agree with us.

    python tests/e2e/stock_onnxruntime.py PROGRAM MODELS DUMP_LOGITS

Logits are compared for every token of a prompt and every entry of the vocabulary. In float32 they differ by rounding. With
4-bit weights each side rounds activations as the file's accuracy_level permits: ONNX Runtime only at the 8-bit output head of
these files, where it gives what we give; we at every layer. Hence the wider bound. The KV cache is f32 on both sides.
Needs: numpy, onnxruntime, onnxruntime-genai.
"""
import sys
import tempfile

import numpy as np
import onnxruntime
import onnxruntime_genai

import support

LOGITS_OFF = {"f32": 1e-4, "int16": 1e-3, "int8": 1e-1}  # of the largest logit
INT8_OFF = 0.25  # root mean square distance of our logits from float32 with 8-bit activations; 0.20 measured
TOKENS_SAME = {"f32": 1.0, "int16": 0.8, "int8": 0.3}  # of all, up to each prompt's first difference
TOKENS = 24


def onnxruntime_logits(path, ids):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feeds = {"input_ids": np.array([ids], np.int64), "attention_mask": np.ones((1, len(ids)), np.int64)}
    for port in session.get_inputs():
        if port.name.startswith("past_key_values"):
            feeds[port.name] = np.zeros((1, port.shape[1], 0, port.shape[3]), np.float32)
    return session.run(["logits"], feeds)[0][0]


def our_logits(tool, path, ids):
    with tempfile.NamedTemporaryFile() as out:
        support.run(tool, path, out.name, stdin=" ".join(map(str, ids)))
        return np.fromfile(out.name, np.float32).reshape(len(ids), -1)


def peer_tokens(model, prompt):
    params = onnxruntime_genai.GeneratorParams(model)
    total = len(prompt) + TOKENS
    params.set_search_options(max_length=total, min_length=total, do_sample=False)
    generator = onnxruntime_genai.Generator(model, params)
    generator.append_tokens(np.array(prompt, np.int32))
    while not generator.is_done():
        generator.generate_next_token()
    return [int(t) for t in generator.get_sequence(0)][len(prompt) :]


def check_logits(report, name, folder, tool, ids, exact):
    """Answers ONNX Runtime's logits; `exact` are those of the float32 package."""
    path = f"{folder}/model.onnx"
    theirs, ours = onnxruntime_logits(path, ids), our_logits(tool, path, ids)
    off = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    best = float((ours.argmax(1) == theirs.argmax(1)).mean())
    report(off <= LOGITS_OFF[name], f"{name}: logits of {len(ids)} tokens differ by {off:.1e} of the largest at most "
           f"(allowed {LOGITS_OFF[name]:.0e}); the same best token after {best:.1%}")
    if name == "int8":
        error = float(np.sqrt(((ours - exact) ** 2).mean()))
        report(error <= INT8_OFF, f"{name}: {error:.3f} from float32 logits (root mean square, allowed {INT8_OFF})")
    return theirs


def check_tokens(report, name, folder, program, cases):
    peer, same, ties, total = onnxruntime_genai.Model(folder), 0, 0, 0
    for case in cases:
        ours = support.generate(program, folder, case["prompt"], TOKENS, "--kv-type", "f32")["token_ids"]
        theirs = peer_tokens(peer, case["prompt"])
        prefix = support.common_prefix(ours, theirs)
        # Up to there both are the golden text where they are float32, so its margins tell a tie.
        tie = name == "f32" and prefix < TOKENS and case["margins"][prefix] < support.TIE
        same, ties, total = same + (TOKENS if tie else prefix), ties + tie, total + TOKENS
    report(same >= TOKENS_SAME[name] * total, f"{name}: {same} of {total} greedy tokens as onnxruntime-genai's, up to each "
           f"prompt's first difference ({ties} ties)")


def main():
    program, models, tool = support.need(sys.argv[1]), sys.argv[2], support.need(sys.argv[3])
    report, cases = support.Report(), [c for c in support.golden_cases() if len(c["prompt"]) <= 260]
    exact, prompt = None, max((c["prompt"] for c in cases), key=len)
    for name in support.PACKAGES:
        folder = support.need(f"{models}/{name}")
        logits = check_logits(report, name, folder, tool, prompt, exact)
        exact = logits if name == "f32" else exact
        check_tokens(report, name, folder, program, cases)
    report.finish()


if __name__ == "__main__":
    main()
