"""The reference implementation's wheel on the same ONNX folder. It takes text and answers when all tokens are there,
so decoding is the difference between a long and a short answer to prompts of one length."""
import random
import time

import child
from onnx_genai import Engine

WORDS = "time year people way day man thing woman life child world school state family student group country".split()


def open_model(arguments):
    return Engine.from_dir(arguments["model"])


def text_of(engine, ids):
    """Words that make about as many tokens as asked for: each of these is one."""
    generator = random.Random(ids[0])
    text = "The " + " ".join(generator.choices(WORDS, k=len(ids) - 1))
    assert abs(len(engine.tokenize(text)) - len(ids)) <= len(ids) // 50 + 1, "the words aren't one token each"
    return text


def answer(engine, prompts, new, clock):
    prompt, other = text_of(engine, prompts[0]), text_of(engine, prompts[0][1:] + prompts[0][:1])
    begin = time.monotonic()
    engine.generate(other, max_tokens=1, temperature=0.0)
    short = time.monotonic() - begin
    if new == 1:
        clock.begin, clock.first, clock.end = begin, begin + short, begin + short
        return
    begin = time.monotonic()
    made = len(engine.generate(prompt, max_tokens=new, temperature=0.0).token_ids)
    whole = time.monotonic() - begin
    assert made == new, f"made {made} tokens, expected {new}"
    clock.begin, clock.first, clock.end = begin, begin + short, begin + whole


child.report(open_model, answer)
