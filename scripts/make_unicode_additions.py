#!/usr/bin/env python3
"""Writes src/text/unicode_additions.inc: characters whose general category is newer than PCRE2's tables.

Oracle: the regex engine inside Hugging Face `tokenizers` (0.23: Unicode 16). Baseline: Python 3.11's unicodedata
(Unicode 14.0, the version of PCRE2 10.42).
"""
import pathlib
import sys
import unicodedata

from tokenizers import Regex, pre_tokenizers

CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf".split()


def members(category):
    split = pre_tokenizers.Split(Regex(r"\p{%s}" % category), "removed")
    return [c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and not split.pre_tokenize_str(chr(c))]


def main():
    if unicodedata.unidata_version != "14.0.0":
        sys.exit(f"unicodedata is {unicodedata.unidata_version}, expected 14.0.0 (Python 3.11)")
    rows = []
    for category in CATEGORIES:
        for c in members(category):
            if unicodedata.category(chr(c)) != category:
                if rows and rows[-1][1] == c - 1 and rows[-1][2] == category:
                    rows[-1][1] = c
                else:
                    rows.append([c, c, category])
    rows.sort()
    target = pathlib.Path(__file__).parent.parent / "src/text/unicode_additions.inc"
    with open(target, "w") as out:
        out.write("// Made by scripts/make_unicode_additions.py: first, last, general category since Unicode 15 or 16.\n")
        cells = ['{0x%X, 0x%X, "%s"},' % tuple(row) for row in rows]
        for i in range(0, len(cells), 4):
            out.write(" ".join(cells[i : i + 4]) + "\n")


if __name__ == "__main__":
    main()
