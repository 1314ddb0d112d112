#!/usr/bin/env python3
"""Writes tokenizer_cases.json: small tokenizers and what Hugging Face `tokenizers` makes of hard texts with them.

Oracle: tokenizers 0.23. Input: the vocabularies and texts below; the byte-level BPE is trained on make_corpus.py's words.
A row: ids, ids without special tokens, decoded, decoded without special tokens, ids with special tokens read as text.
"""
import json
import pathlib
import random

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import make_corpus

TEXTS = [
    "", " ", "  ", "\n", "hello world", " hello  world ", "Hello, World! It's 2024.", "don't WON'T I'm", "a\tb\r\nc\n\n d",
    "naïve café e\u0301 Å \u212b ﬁ ①", "日本語テキスト と 漢字", "한국어 각", "مرحبا بالعالم", "नमस्ते", "ไทย", "👨‍👩‍👧‍👦👍🏽🇩🇪",
    "x\u0000y\u0001\u200b\u200d\ufeffz", "İstanbul ΣΑΣ ǅ ẞ", "a1b22c333 ٣٤ ½ Ⅷ", "...!?«»“”—_-", "<s>hello</s> <mask> world",
    "a<mask>b <mask>  c", " <left> x <right>  y <word>z <word> w", "<s><s></s>", "HELLO<low>hello", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "▁▁a ▁b", "hello\u00a0world\u3000x\u2028y\u0085z\u180ew", "\U00031350\U0001e4d0\u1c89 \u0ece", "unaffable unknownish ##s",
    "0x7f <0x41> é\U0001f600", "the cat sat on the mat", "\u0301\u0301a \u0323\u0301",
]
SPECIAL = dict(lstrip=False, rstrip=False, single_word=False, normalized=False, special=True)


def added(first):
    tokens = [dict(SPECIAL, content="<s>"), dict(SPECIAL, content="</s>"), dict(SPECIAL, content="<mask>", lstrip=True),
              dict(SPECIAL, content="<left>", lstrip=True, rstrip=True, special=False),
              dict(SPECIAL, content="<right>", rstrip=True), dict(SPECIAL, content="<word>", single_word=True),
              dict(SPECIAL, content="<low>", special=False, normalized=True)]
    return [dict(token, id=first + i) for i, token in enumerate(tokens)]


def byte_level_bpe():
    r = random.Random(1)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=420, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator([" ".join(make_corpus.ENGLISH * 3)] + [make_corpus.line(r) for _ in range(50)], trainer)
    return json.loads(tokenizer.to_str())["model"]


CHARS = " helowrd,.!?'ItsSHELOWRDabcxyzéneïvafiÅ日本語と漢字▁0123456789<>/mk"
PIECES = ["he", "ll", "hell", "hello", "wo", "rl", "worl", "world", "▁w", "▁h", "▁hello", "th", "the", "at", "aa", "aaaa"]
MERGES = [["h", "e"], ["l", "l"], ["he", "ll"], ["hell", "o"], ["w", "o"], ["r", "l"], ["wo", "rl"], ["worl", "d"], ["▁", "w"],
          ["▁", "h"], ["▁", "hello"], ["t", "h"], ["th", "e"], ["a", "t"], ["a", "a"], ["aa", "aa"]]


def char_bpe(byte_fallback, fuse_unk, unknown="<unk>"):
    tokens = ["<unk>"] + ([f"<0x{b:02X}>" for b in range(256)] if byte_fallback else [])
    tokens += list(dict.fromkeys(CHARS + "t")) + PIECES
    return dict(type="BPE", dropout=None, unk_token=unknown, continuing_subword_prefix=None, end_of_word_suffix=None,
                fuse_unk=fuse_unk, byte_fallback=byte_fallback, ignore_merges=False,
                vocab={t: i for i, t in enumerate(tokens)}, merges=MERGES)


def affix_bpe():
    tokens = ["<unk>", "h", "##e", "##l", "##o</w>", "h##e", "he", "##ll", "hell", "hello</w>", "a</w>", "##b</w>", "a", "ab</w>"]
    return dict(type="BPE", dropout=None, unk_token="<unk>", continuing_subword_prefix="##", end_of_word_suffix="</w>",
                fuse_unk=False, byte_fallback=False, ignore_merges=False, vocab={t: i for i, t in enumerate(tokens)},
                merges=["h ##e", "##l ##l", "he ##ll", "hell ##o</w>", "a ##b</w>"])


WORDS = ["[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "hello", "world", "the", "cat", "sat", "on", "mat", "##s", "a", "##b",
         "it", "'", "s", "i", "!", ",", ".", "日", "本", "語", "naive", "cafe", "e", "istanbul", "x", "##y", "##z", "2024", "2", "##2"]


def word_piece():
    return dict(type="WordPiece", unk_token="[UNK]", continuing_subword_prefix="##", max_input_chars_per_word=20,
                vocab={t: i for i, t in enumerate(WORDS)})


def word_level():
    return dict(type="WordLevel", unk_token="[UNK]", vocab={t: i for i, t in enumerate(WORDS)})


def unigram(byte_fallback):
    pieces = [["<unk>", 0.0], ["▁", -2.0], ["▁hello", -3.5], ["▁world", -3.7], ["he", -4.0], ["llo", -4.1], ["▁the", -2.5], ["▁cat", -4.4],
              ["c", -6.0], ["a", -5.0], ["t", -5.1], ["at", -5.2], ["s", -5.5], ["o", -5.6], ["n", -5.7], ["▁s", -4.9], ["日本", -6.5],
              ["日", -7.0], ["aa", -5.05], ["aaa", -9.0], ["l", -6.1], ["h", -6.2], ["e", -5.9]]
    if byte_fallback:
        pieces += [[f"<0x{b:02X}>", -20.0] for b in range(256)]
    return dict(type="Unigram", unk_id=0, byte_fallback=byte_fallback, vocab=pieces)


def template(before, after):
    single = [{"SpecialToken": {"id": t, "type_id": 0}} for t, _ in before] + [{"Sequence": {"id": "A", "type_id": 0}}]
    single += [{"SpecialToken": {"id": t, "type_id": 0}} for t, _ in after]
    tokens = {t: {"id": t, "ids": [i], "tokens": [t]} for t, i in before + after}
    return dict(type="TemplateProcessing", single=single, pair=single + [{"Sequence": {"id": "B", "type_id": 1}}],
                special_tokens=tokens)


def seq(kind, *items):
    key = {"n": "normalizers", "p": "pretokenizers", "d": "decoders", "o": "processors"}[kind]
    return {"type": "Sequence", key: list(items)}


def split(pattern, behavior, invert=False):
    kind = "Regex" if isinstance(pattern, tuple) else "String"
    return dict(type="Split", pattern={kind: pattern[0] if kind == "Regex" else pattern}, behavior=behavior, invert=invert)


LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",)
QWEN = (LLAMA3[0].replace("{1,3}", ""),)
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?"
         r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+",)
DEEPSEEK = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|"
            r"\s+(?!\S)|\s+",)
BYTES = dict(type="ByteLevel", add_prefix_space=False, trim_offsets=True, use_regex=False)
GPT2 = dict(BYTES, use_regex=True)
SPM_DECODER = seq("d", dict(type="Replace", pattern={"String": "▁"}, content=" "), dict(type="ByteFallback"), dict(type="Fuse"),
                  dict(type="Strip", content=" ", start=1, stop=0))
SPM_NORMALIZER = seq("n", dict(type="Prepend", prepend="▁"), dict(type="Replace", pattern={"String": " "}, content="▁"))
BERT = dict(type="BertNormalizer", clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)


def metaspace(scheme, split_words=True):
    return dict(type="Metaspace", replacement="▁", prepend_scheme=scheme, split=split_words)


def cases():
    bpe = byte_level_bpe()
    n = len(bpe["vocab"])
    bos = template([("<s>", n)], [("</s>", n + 1)])
    yield "gpt2", bpe, None, GPT2, dict(GPT2, trim_offsets=False), GPT2
    yield "gpt2 with prefix space", bpe, None, dict(GPT2, add_prefix_space=True), None, GPT2
    yield "smollm", bpe, None, seq("p", dict(type="Digits", individual_digits=True), GPT2), None, GPT2
    yield "llama3", dict(bpe, ignore_merges=True), None, seq("p", split(LLAMA3, "Isolated"), BYTES), seq("o", GPT2, bos), GPT2
    yield "qwen", bpe, dict(type="NFC"), seq("p", split(QWEN, "Isolated"), BYTES), GPT2, GPT2
    yield "o200k", bpe, None, seq("p", split(O200K, "Removed", True), BYTES), GPT2, GPT2
    yield "deepseek", bpe, seq("n"), seq("p", split((r"[\r\n]",), "Isolated"), split((r"\s?\p{L}+",), "Isolated"),
                                          split(DEEPSEEK, "Isolated"), dict(type="Digits", individual_digits=True), BYTES), None, GPT2
    yield "byte normalizer", bpe, dict(type="ByteLevel"), None, None, GPT2
    yield "nfkc roberta", bpe, dict(type="NFKC"), GPT2, dict(type="RobertaProcessing", sep=["</s>", n + 1], cls=["<s>", n],
                                                          trim_offsets=True, add_prefix_space=False), GPT2
    yield "nfd lowercase", bpe, seq("n", dict(type="NFD"), dict(type="Lowercase")), GPT2, None, GPT2
    yield "nfkd stripaccents", bpe, seq("n", dict(type="NFKD"), dict(type="StripAccents")), GPT2, None, GPT2
    for behavior in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"):
        for invert in (False, True):
            yield f"split {behavior} {invert}", bpe, None, seq("p", split((r"[a-l]|\s",), behavior, invert), BYTES), None, GPT2
    yield "split string", bpe, None, seq("p", split(" ", "MergedWithPrevious"), BYTES), None, GPT2
    yield "split empty matches", bpe, None, seq("p", split((r"\s*|(?=b)",), "Isolated"), BYTES), None, GPT2
    yield "words classes", bpe, None, seq("p", split((r"\w+|[^\w\s]+|\W\d",), "Isolated"), BYTES), None, GPT2
    yield "llama2", char_bpe(True, True), SPM_NORMALIZER, None, template([("<s>", 0)], []), SPM_DECODER
    yield "gemma", char_bpe(True, True), dict(type="Replace", pattern={"String": " "}, content="▁"), split(" ", "MergedWithPrevious"), None, \
        seq("d", *SPM_DECODER["decoders"][:3])
    for scheme in ("first", "always", "never"):
        for words in (True, False):
            yield f"metaspace {scheme} {words}", char_bpe(False, words), None, metaspace(scheme, words), None, metaspace(scheme, words)
    yield "no unknown", char_bpe(False, False, None), None, dict(type="Whitespace"), None, None
    yield "affixes", affix_bpe(), None, dict(type="WhitespaceSplit"), None, None
    wp = dict(type="WordPiece", prefix="##", cleanup=True)
    yield "bert", word_piece(), BERT, dict(type="BertPreTokenizer"), dict(type="BertProcessing", sep=["[SEP]", 2], cls=["[CLS]", 1]), wp
    yield "bert cased", word_piece(), dict(BERT, lowercase=False, handle_chinese_chars=False), dict(type="BertPreTokenizer"), \
        template([("[CLS]", 1)], [("[SEP]", 2)]), dict(wp, cleanup=False)
    yield "word level", word_level(), dict(type="Lowercase"), dict(type="Whitespace"), None, None
    yield "word level split", word_level(), dict(type="Strip", strip_left=True, strip_right=True), dict(type="WhitespaceSplit"), None, None
    yield "punctuation", word_level(), None, seq("p", dict(type="Punctuation", behavior="Isolated"), dict(type="WhitespaceSplit")), None, None
    yield "punctuation contiguous", word_level(), None, seq("p", dict(type="Punctuation", behavior="Contiguous"),
                                                           dict(type="CharDelimiterSplit", delimiter=" ")), None, None
    yield "digits", word_level(), None, seq("p", dict(type="Digits", individual_digits=False), dict(type="Whitespace")), None, None
    for fallback in (False, True):
        yield f"unigram {fallback}", unigram(fallback), dict(type="Replace", pattern={"Regex": " {2,}"}, content=" "), metaspace("always"), \
            None, seq("d", dict(type="ByteFallback"), metaspace("always"))


def main():
    out = []
    for name, model, normalizer, pre, post, decoder in cases():
        spec = dict(version="1.0", truncation=None, padding=None, added_tokens=added(len(model["vocab"])), normalizer=normalizer,
                    pre_tokenizer=pre, post_processor=post, decoder=decoder, model=model)
        tokenizer = Tokenizer.from_str(json.dumps(spec))
        rows = [[tokenizer.encode(text).ids, tokenizer.encode(text, add_special_tokens=False).ids] for text in TEXTS]
        for row in rows:
            row += [tokenizer.decode(row[0], skip_special_tokens=False), tokenizer.decode(row[0])]
        tokenizer.encode_special_tokens = True
        for row, text in zip(rows, TEXTS):
            row.append(tokenizer.encode(text, add_special_tokens=False).ids)
            for column, same_as in ((4, 1), (3, 2), (1, 0)):  # null: as the column before
                if row[column] == row[same_as]:
                    row[column] = None
        out.append(dict(name=name, tokenizer=spec, rows=rows))
    target = pathlib.Path(__file__).parent / "tokenizer_cases.json"
    models_seen = []
    for case in out:  # equal models are stored once
        model = case["tokenizer"].pop("model")
        if model not in models_seen:
            models_seen.append(model)
        case["model"] = models_seen.index(model)
    with open(target, "w") as file:
        file.write('{"models": [\n' + ",\n".join(json.dumps(m, ensure_ascii=False, separators=(",", ":")) for m in models_seen))
        file.write('\n],\n"texts": ' + json.dumps(TEXTS) + ',\n"cases": [\n')
        file.write(",\n".join(json.dumps(c, ensure_ascii=False, separators=(",", ":")) for c in out))
        file.write("\n]}\n")


if __name__ == "__main__":
    main()
