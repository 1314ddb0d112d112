"""What the scripts beside this one share: they open a model, answer prompts of random tokens, print one JSON object."""
import json
import random
import sys
import time

VOCABULARY = 40000  # ids drawn from [0, this): every model measured has more


class Clock:
    """Times of one run: the prompts go in at `begin`, every first token is there at `first`, the last token at `end`."""

    def __init__(self):
        self.begin = time.monotonic()
        self.first = self.end = self.begin

    def first_tokens(self):
        self.first = time.monotonic()

    def done(self):
        self.end = time.monotonic()


def prompts(streams, length, seed):
    generator = random.Random(seed)
    return [[generator.randrange(VOCABULARY) for _ in range(length)] for _ in range(streams)]


def report(open_model, answer):
    """`open_model(arguments)` gives a model; `answer(model, prompts, new_tokens, clock)` makes so many tokens each."""
    arguments = json.loads(sys.argv[1])
    begin = time.monotonic()
    model = open_model(arguments)
    load_ms = (time.monotonic() - begin) * 1e3
    streams, prompt = arguments["streams"], arguments["prompt"]
    if arguments["what"] == "start":
        answer(model, prompts(1, 5, 0), 1, Clock())
        print(json.dumps({"load_ms": load_ms}))
        return
    new = max(1, arguments["decode"])
    answer(model, prompts(streams, prompt, 1), new, Clock())  # the warm-up
    sequences, clock = prompts(streams, prompt, 2), Clock()
    answer(model, sequences, new, clock)
    measured = {"load_ms": load_ms, "prefill": streams * prompt / (clock.first - clock.begin)}
    if arguments["decode"] > 1:
        measured["decode"] = streams * (new - 1) / (clock.end - clock.first)
        measured["output"] = streams * new / (clock.end - clock.begin)
    print(json.dumps(measured))
