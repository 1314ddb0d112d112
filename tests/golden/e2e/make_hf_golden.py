"""Greedy continuations and the perplexity of a text by transformers in float32: tests/golden/e2e/hf_greedy.json.

    python tests/golden/e2e/make_hf_golden.py MODEL.gguf TOKENIZER.json

Oracle: transformers 5.24.0 with torch 2.15.0 (and accelerate, gguf), which dequantizes the GGUF file by itself.
Input: SmolLM2-135M-Instruct, the demo's GGUF file; prompts of our own and pieces of text.txt beside this script, which is
a frozen copy of the project's documents.

The loop is ours because `generate` guesses an attention mask: it would hide every prompt token that is also the padding.
"""
import json
import math
import pathlib
import sys

import tokenizers
import torch
import transformers

HERE = pathlib.Path(__file__).resolve().parent
TOKENS = 128
WINDOW = 512
SENTENCES = [
    "Once",
    "Dear Sir",
    "The quick brown fox jumps over the lazy dog because",
    "def fibonacci(n):\n    if n < 2:\n        return n\n    return",
    "Ein Bäcker in der Stadt verkauft jeden Morgen frisches Brot. Translated into English:",
    "1, 1, 2, 3, 5, 8, 13, 21, 34,",
    "<|im_start|>user\nWhat do bees make?<|im_end|>\n<|im_start|>assistant\n",
]
PIECES = [(0, 64), (500, 65), (100, 127), (1300, 257), (2100, 400), (900, 513), (3000, 640), (250, 900), (0, 1500)]


def prompts(tokenizer, text):
    return [tokenizer.encode(s, add_special_tokens=False).ids for s in SENTENCES] + [text[a : a + n] for a, n in PIECES]


@torch.no_grad()
def greedy(model, prompt):
    """The tokens, and by how much each was more likely (in logits) than the second."""
    tokens, margins, past, ids = [], [], None, prompt
    while len(tokens) < TOKENS:
        out = model(torch.tensor([ids]), past_key_values=past, use_cache=True, logits_to_keep=1)
        (first, second), (token, _) = (x.tolist() for x in out.logits[0, -1].topk(2))
        tokens.append(token)
        margins.append(float(f"{first - second:.3g}"))
        past, ids = out.past_key_values, [token]
    return {"prompt": prompt, "tokens": tokens, "margins": margins}


@torch.no_grad()
def perplexity(model, text):
    """Of windows that stand alone: the first token of each is context only."""
    nll, predicted = 0.0, 0
    for begin in range(0, len(text) - 1, WINDOW):
        ids = torch.tensor(text[begin : begin + WINDOW])
        logits = model(ids[None]).logits[0, :-1].double()
        nll += float(torch.nn.functional.cross_entropy(logits, ids[1:], reduction="sum"))
        predicted += len(ids) - 1
    return math.exp(nll / predicted)


def main():
    gguf, tokenizer = pathlib.Path(sys.argv[1]), tokenizers.Tokenizer.from_file(sys.argv[2])
    text = tokenizer.encode((HERE / "text.txt").read_text(), add_special_tokens=False).ids
    model = transformers.AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    cases = [greedy(model, p) for p in prompts(tokenizer, text)]
    oracle = f"transformers {transformers.__version__}, torch {torch.__version__}, float32"
    known = {"oracle": oracle, "model": gguf.name, "perplexity": perplexity(model, text)}
    head = json.dumps(known)[:-1] + ', "cases": [\n'
    (HERE / "hf_greedy.json").write_text(head + ",\n".join(json.dumps(c) for c in cases) + "\n]}\n")


if __name__ == "__main__":
    main()
