#!/usr/bin/env python3
"""Writes src/text/normalization_limits.inc: characters that Hugging Face `tokenizers` leaves alone when it normalizes.

Oracle: the normalizers of `tokenizers` (0.23), whose tables are of Unicode 9. Baseline: Python 3.11's unicodedata
(Unicode 14.0, the version of utf8proc 2.8).
"""
import pathlib
import sys
import unicodedata

from tokenizers import normalizers

FORMS = [(name, getattr(normalizers, name)()) for name in ("NFD", "NFKD")]


def differs(c):
    s = chr(c)
    for name, form in FORMS:
        if form.normalize_str(s) != unicodedata.normalize(name, s):
            return True
    if unicodedata.combining(s) == 0:
        return False
    # The order among marks of the lowest, a middle and the highest class shows whether its class is known.
    texts = ["a" + pair for o in "\u0334\u0301\u0345" for pair in (s + o, o + s)]
    return any(FORMS[0][1].normalize_str(t) != unicodedata.normalize("NFD", t) for t in texts)


def main():
    if unicodedata.unidata_version != "14.0.0":
        sys.exit(f"unicodedata is {unicodedata.unidata_version}, expected 14.0.0 (Python 3.11)")
    ranges = []
    for c in range(0x110000):
        if 0xD800 <= c < 0xE000 or not differs(c):
            continue
        if ranges and ranges[-1][1] == c - 1:
            ranges[-1][1] = c
        else:
            ranges.append([c, c])
    target = pathlib.Path(__file__).parent.parent / "src/text/normalization_limits.inc"
    with open(target, "w") as out:
        out.write("// Made by scripts/make_normalization_limits.py: first, last.\n")
        cells = ["{0x%X, 0x%X}," % tuple(r) for r in ranges]
        for i in range(0, len(cells), 6):
            out.write(" ".join(cells[i : i + 6]) + "\n")


if __name__ == "__main__":
    main()
