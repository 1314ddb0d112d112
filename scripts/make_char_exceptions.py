#!/usr/bin/env python3
"""Writes src/text/char_exceptions.inc: where character classes of Hugging Face `tokenizers` differ from utf8proc's.

Each class of `tokenizers` (0.23) comes from another library with tables of another year: StripAccents and Bert from
Unicode 8 or 9, Digits, Whitespace and Lowercase from Unicode 16 or 17. Baseline: utf8proc 2.8 (Unicode 15). A class
of ours is the baseline's with the characters below flipped.
"""
import ctypes
import ctypes.util
import pathlib
import sys

from tokenizers import normalizers, pre_tokenizers

CHARS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
ASCII_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
UTF8PROC = ctypes.CDLL(ctypes.util.find_library("utf8proc"))
for _function in (UTF8PROC.utf8proc_category_string, UTF8PROC.utf8proc_unicode_version):
    _function.restype = ctypes.c_char_p
LETTER_SYMBOLS = [(0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189)]


def bert(**options):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**off, **options})


def is_word(category, c):
    symbol = any(a <= c <= b for a, b in LETTER_SYMBOLS) or c in (0x200C, 0x200D)
    return category[0] in "LM" or category in ("Nd", "Nl", "Pc") or symbol


def classes():
    strip, nonspacing, clean = normalizers.StripAccents(), bert(strip_accents=True), bert(clean_text=True)
    punctuation, digits, words = pre_tokenizers.Punctuation("removed"), pre_tokenizers.Digits(), pre_tokenizers.Whitespace()
    yield "Mark", lambda s: not strip.normalize_str(s), lambda k, c: k[0] == "M"
    yield "NonspacingMark", lambda s: not nonspacing.normalize_str(s), lambda k, c: k == "Mn"
    yield "Other", lambda s: not clean.normalize_str(s), \
        lambda k, c: (k in ("Cc", "Cf", "Co") and c not in (9, 10, 13)) or c == 0xFFFD
    yield "Punctuation", lambda s: not punctuation.pre_tokenize_str(s), lambda k, c: k[0] == "P" or chr(c) in ASCII_PUNCTUATION
    yield "Numeric", lambda s: len(digits.pre_tokenize_str("x" + s)) == 2, lambda k, c: k[0] == "N"
    yield "Word", lambda s: len(words.pre_tokenize_str("x" + s)) == 1 and bool(words.pre_tokenize_str(s)), is_word


def ranges(chars, continues):
    rows = []
    for c in chars:
        if rows and rows[-1][1] == c - 1 and continues(rows[-1][0], c):
            rows[-1][1] = c
        else:
            rows.append([c, c])
    return rows


def main():
    if UTF8PROC.utf8proc_unicode_version() != b"15.0.0":
        sys.exit(f"utf8proc has Unicode {UTF8PROC.utf8proc_unicode_version()}, expected 15.0.0 (utf8proc 2.8)")
    out = ["// Made by scripts/make_char_exceptions.py.\n"]

    def table(head, cells):
        out.append(f"constexpr {head}[] = {{\n")
        out.extend(" ".join(cells[i : i + 6]) + "\n" for i in range(0, len(cells), 6))
        out.append("};\n")

    for name, oracle, base in classes():
        flipped = [c for c in CHARS if oracle(chr(c)) != base(UTF8PROC.utf8proc_category_string(c).decode(), c)]
        table(f"Range k{name}Exceptions", ["{0x%X, 0x%X}," % tuple(r) for r in ranges(flipped, lambda a, b: True)])
    lower = {c: normalizers.Lowercase().normalize_str(chr(c)) for c in CHARS}
    newer = {c: ord(t) - c for c, t in lower.items() if len(t) == 1 and ord(t) != UTF8PROC.utf8proc_tolower(c)}
    rows = ranges(newer, lambda a, b: newer[a] == newer[b])
    table("Shift kLowercaseExceptions", ["{0x%X, 0x%X, %d}," % (a, b, newer[a]) for a, b in rows])
    (pathlib.Path(__file__).parent.parent / "src/text/char_exceptions.inc").write_text("".join(out))


if __name__ == "__main__":
    main()
