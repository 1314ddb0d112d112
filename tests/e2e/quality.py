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

BOUNDS = {  # share of next tokens that are the oracle's, perplexity relative to it
    "f32": (0.999, 1.0005),
    "int16": (0.998, 1.001),
    "int8": (0.97, 1.01),
}
KINDS = {"f32": ("float32", "float32"), "int16": ("4 bits", "int16"), "int8": ("4 bits", "int8")}


def next_tokens_same(tool, model, cases):
    requests = [{"prompt": c["prompt"] + c["tokens"], "predict": True} for c in cases]
    same = 0
    for case, answer in zip(cases, support.many_streams(tool, model, requests, together=False)):
        places = answer["predicted"][-len(case["tokens"]) :]
        same += sum(place["best"] == token for place, token in zip(places, case["tokens"], strict=True))
    return same


def prefixes(tool, model, cases):
    requests = [{"prompt": c["prompt"], "max_tokens": len(c["tokens"])} for c in cases]
    answers = support.many_streams(tool, model, requests)
    return [support.common_prefix(a["tokens"], c["tokens"]) for a, c in zip(answers, cases)]


def measure(program, tool, model, cases):
    text = json.loads(support.run(program, "perplexity", model, "--file", support.TEXT, "--context", 512, "--json"))
    return {
        "perplexity": text["perplexity"],
        "text_tokens": text["tokens"],
        "same": next_tokens_same(tool, model, cases),
        "prefixes": prefixes(tool, model, cases),
    }


def row(name, result, total, oracle_perplexity):
    weights, activations = KINDS[name]
    prefix = result["prefixes"]
    longest = max(prefix)
    whole = sum(p == longest == total // len(prefix) for p in prefix)
    return (f"| {weights} | {activations} | {result['perplexity']:.4f} ({result['perplexity'] / oracle_perplexity - 1:+.3%}) | "
            f"{result['same']} of {total} ({result['same'] / total:.2%}) | {sum(prefix)} of {total} | {whole} of {len(prefix)} | "
            f"{statistics.median(prefix):.0f} |")


def main():
    program, models, tool = support.need(sys.argv[1]), sys.argv[2], support.need(sys.argv[3])
    cases, report = support.golden_cases(), support.Report()
    total = sum(len(c["tokens"]) for c in cases)
    results = {n: measure(program, tool, support.need(f"{models}/{n}"), cases) for n in support.PACKAGES}
    base = support.golden()["perplexity"]
    print(f"Perplexity over {results['f32']['text_tokens']} tokens; the oracle's is {base:.4f}.\n")
    print("| weights | activations | perplexity | next token is the oracle's | tokens before the first difference | whole "
          "continuations | median tokens before it |\n|---|---|---|---|---|---|---|")
    for name, result in results.items():
        print(row(name, result, total, base), flush=True)
    if "--check" in sys.argv:
        for name, (agreement, perplexity) in BOUNDS.items():
            report(results[name]["same"] >= agreement * total, f"{name}: at least {agreement:.1%} of next tokens")
            report(results[name]["perplexity"] <= perplexity * base, f"{name}: perplexity at most × {perplexity}")
    report.finish()


if __name__ == "__main__":
    main()
