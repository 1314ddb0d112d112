#!/usr/bin/env python3
"""Writes a deterministic corpus of mixed text for comparing tokenizers: make_corpus.py OUT [MEGABYTES].

All text is generated from the word lists, code fragments and code point ranges below. Lines end in "\\n"; other line
separators occur inside them.
"""
import random
import sys

ENGLISH = """the of and to in is that it was for on are with they be at one have this from or had by hot but some what
there we can out other were all your when up use word how said an each she which do their time if will way about many
then them would write like so these her long make thing see him two has look more day could go come did my sound no most
number who over know water than call first people may down side been now find any new work part take get place made
language international tokenization don't we'll I'm you've she'd it's THEY'RE can'T CamelCaseWord snake_case_name
naïve café Zürich coöperate 3.14159 2024-02-29 1,000,000 $99.95 user@example.org https://example.org/a?b=c&d=e#f""".split()
CODE = ["def f(x):\n    return x + 1\n", "if (a != b && c >= 0) {\n\t\tx[i++] = *p;\n\t}\n", "#include <vector>\n",
        "SELECT * FROM t WHERE id = 42;\n", "<div class=\"a\">&nbsp;</div>\n", "for i in range(10):\n        pass\n\n\n",
        "const x = `${y}`; // note\r\n", "\\frac{a}{b}^{2}_i", "0xDEADBEEF 1e-10 0b1010", "let mut v: Vec<u8> = vec![];\n",
        "{\"key\": [1, 2.5, null, true], \"k2\": \"v\\n\"}"]
SCRIPTS = [(0x4E00, 0x9FA5), (0x3041, 0x3096), (0x30A1, 0x30FA), (0xAC00, 0xD7A3), (0x0621, 0x064A), (0x064B, 0x0652),
           (0x0905, 0x0939), (0x093E, 0x094D), (0x0E01, 0x0E30), (0x0E31, 0x0E3A), (0x0430, 0x044F), (0x0391, 0x03C9),
           (0x05D0, 0x05EA), (0x10A0, 0x10FF), (0x1200, 0x1248), (0x0B85, 0x0BB9), (0x1780, 0x17B3), (0x0531, 0x0556)]
EMOJI = ["😀", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "❤️", "1️⃣", "🧑🏿‍🚀", "☺", "🫠"]
BLANKS = [" ", "  ", "    ", "\t", "\t\t ", "\n", "\n\n", "\r\n", " \n ", "\u00a0", "\u3000", "\u2003", "\u2028", "\u0085",
          "\u180e", "\u200b", "\u200d", "\ufeff", "\v", "\f"]
MARKS = ["\u0301", "\u0308", "\u0323", "\u0327", "\u20dd", "\ufe0f", "\u0345", "\u3099"]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|begin_of_text|>", "<|eot_id|>", "<bos>", "<eos>", "<pad>", "<unk>",
           "<start_of_turn>", "<think>", "</think>", "<tool_call>", "<0x41>", "<unused1>", "<h1>", "▁", "▁▁", "Ġ", "##ing", "<s>"]


def word(r):
    kind = r.random()
    if kind < 0.55:
        return r.choice(ENGLISH)
    if kind < 0.60:
        return str(r.randrange(10 ** r.randrange(1, 12)))
    if kind < 0.80:
        low, high = r.choice(SCRIPTS)
        return "".join(chr(r.randint(low, high)) for _ in range(r.randrange(1, 9)))
    if kind < 0.84:
        return r.choice(EMOJI) * r.randrange(1, 4)
    if kind < 0.88:
        return "".join(r.choice("aeoucn") + r.choice(MARKS) * r.randrange(3) for _ in range(4))
    if kind < 0.92:
        return "".join(r.choice("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") for _ in range(r.randrange(1, 6)))
    if kind < 0.94:
        return "".join(chr(any_char(r)) for _ in range(r.randrange(1, 6)))
    if kind < 0.96:
        return bytes(r.randrange(256) for _ in range(r.randrange(1, 9))).decode("utf-8", "replace")
    if kind < 0.98:
        return r.choice(SPECIAL)
    return r.choice(CODE)


def any_char(r):
    while True:
        c = r.randrange(0x110000) if r.random() < 0.3 else r.randrange(0x3000)
        if not 0xD800 <= c < 0xE000:
            return c


def line(r):
    out = []
    for _ in range(r.randrange(1, 30)):
        out.append(word(r))
        blank = r.random()
        out.append(" " if blank < 0.8 else "" if blank < 0.9 else "".join(r.choice(BLANKS) for _ in range(r.randrange(1, 6))))
    if r.random() < 0.03:
        out.append(r.choice(" \na.\t") * r.randrange(1, 300))
    return "".join(out)


def main():
    target, size = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    r = random.Random(20240229)
    lines, total = [], 0
    while total < size * 1e6:
        text = line(r) + "\n"
        lines.append(text)
        total += len(text.encode())
    with open(target, "w", encoding="utf-8", newline="") as out:
        out.writelines(lines)


if __name__ == "__main__":
    main()
