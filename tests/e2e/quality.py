"""How far the quantized packages are from float32 on the same weights: prints the table of docs/quality.md.

    python tests/e2e/quality.py PROGRAM MODELS MANY_STREAMS [--check]

- perplexity of tests/golden/e2e/text.txt, windows of 512 tokens, beside the oracle's;
- the next token is the oracle's: each prompt and the oracle's own continuation are read, and the most likely token at each
  place of the continuation is compared (2,048 places);
- tokens until the first difference: greedy continuations, each compared with the oracle's up to where they part.
The oracle is transformers in float32 (hf_greedy.json). --check: exit status 1 when a package is below its bound.
"""
import json
import statistics
import sys

import support

BOUNDS = {  # package, type of its KV cache → share of next tokens that are the oracle's, perplexity relative to it
    ("f32", "f32"): (0.999, 1.0005),
    ("int16", "f32"): (0.998, 1.001),
    ("int16", "f16"): (0.998, 1.001),
    ("int8", "f32"): (0.97, 1.01),
    ("int8", "f16"): (0.97, 1.01),
}
KINDS = {"f32": ("float32", "float32"), "int16": ("4 bits", "int16"), "int8": ("4 bits", "int8")}


def next_tokens_same(tool, model, kv_type, cases):
    requests = [{"prompt": c["prompt"] + c["tokens"], "predict": True} for c in cases]
    same = 0
    for case, answer in zip(cases, support.many_streams(tool, model, requests, together=False, kv_type=kv_type)):
        places = answer["predicted"][-len(case["tokens"]) :]
        same += sum(place["best"] == token for place, token in zip(places, case["tokens"], strict=True))
    return same


def prefixes(tool, model, kv_type, cases):
    requests = [{"prompt": c["prompt"], "max_tokens": len(c["tokens"])} for c in cases]
    answers = support.many_streams(tool, model, requests, kv_type=kv_type)
    return [support.common_prefix(a["tokens"], c["tokens"]) for a, c in zip(answers, cases)]


def measure(program, tool, model, kv_type, cases):
    options = ["--context", 512, "--kv-type", kv_type, "--json"]
    text = json.loads(support.run(program, "perplexity", model, "--file", support.TEXT, *options))
    return {
        "perplexity": text["perplexity"],
        "text_tokens": text["tokens"],
        "same": next_tokens_same(tool, model, kv_type, cases),
        "prefixes": prefixes(tool, model, kv_type, cases),
    }


def row(package, kv_type, result, total, oracle_perplexity):
    weights, activations = KINDS[package]
    prefix = result["prefixes"]
    longest = max(prefix)
    whole = sum(p == longest == total // len(prefix) for p in prefix)
    return (f"| {weights} | {activations} | {kv_type} | {result['perplexity']:.4f} ({result['perplexity'] / oracle_perplexity - 1:+.3%}) | "
            f"{result['same']} of {total} ({result['same'] / total:.2%}) | {sum(prefix)} of {total} | {whole} of {len(prefix)} | "
            f"{statistics.median(prefix):.0f} |")


def main():
    program, models, tool = support.need(sys.argv[1]), sys.argv[2], support.need(sys.argv[3])
    cases, report = support.golden_cases(), support.Report()
    total = sum(len(c["tokens"]) for c in cases)
    results = {(p, kv): measure(program, tool, support.need(f"{models}/{p}"), kv, cases) for p, kv in BOUNDS}
    base = support.golden()["perplexity"]
    print(f"Perplexity over {results['f32', 'f32']['text_tokens']} tokens; the oracle's is {base:.4f}.\n")
    print("| weights | activations | KV cache | perplexity | next token is the oracle's | tokens before the first difference | whole "
          "continuations | median tokens before it |\n|---|---|---|---|---|---|---|---|")
    for (package, kv_type), result in results.items():
        print(row(package, kv_type, result, total, base), flush=True)
    if "--check" in sys.argv:
        for (package, kv_type), (agreement, perplexity) in BOUNDS.items():
            name, result = f"{package}, KV cache {kv_type}", results[package, kv_type]
            report(result["same"] >= agreement * total, f"{name}: at least {agreement:.1%} of next tokens")
            report(result["perplexity"] <= perplexity * base, f"{name}: perplexity at most × {perplexity}")
    report.finish()


if __name__ == "__main__":
    main()
