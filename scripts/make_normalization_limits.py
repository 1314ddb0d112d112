#!/usr/bin/env python3
"""Writes src/text/normalization_limits.inc: characters that Hugging Face `tokenizers` leaves alone when it normalizes.

Oracle: the normalizers of `tokenizers` (0.23), whose tables are of Unicode 9. Baseline: utf8proc 2.8 (Unicode 15).
"""
import ctypes
import ctypes.util
import pathlib

from tokenizers import normalizers

UTF8PROC = ctypes.CDLL(ctypes.util.find_library("utf8proc"))
UTF8PROC.utf8proc_NFD.restype = UTF8PROC.utf8proc_NFKD.restype = ctypes.c_char_p
FORMS = [(getattr(UTF8PROC, "utf8proc_" + name), getattr(normalizers, name)()) for name in ("NFD", "NFKD")]


def same(form, text):
    baseline, oracle = form
    return oracle.normalize_str(text) == baseline(text.encode()).decode()


def differs(c):
    s = chr(c)
    # The order among marks of the lowest, a middle and the highest class shows whether its class is known.
    texts = ["a" + pair for o in "\u0334\u0301\u0345" for pair in (s + o, o + s)]
    return not (all(same(form, s) for form in FORMS) and all(same(FORMS[0], t) for t in texts))


def main():
    ranges = []
    for c in range(1, 0x110000):
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
