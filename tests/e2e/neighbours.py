"""A request's tokens don't depend on its neighbours, nor on what the prefix tree already holds: on the real model.

    python tests/e2e/neighbours.py MODELS MANY_STREAMS

Each of eight prompts, four of which share a beginning, runs alone in a process of its own, then after the others, then
together with them; greedy, and at temperature 1 with a seed.
"""
import sys

import support

TOKENS = 40


def prompts():
    cases = sorted((c["prompt"] for c in support.golden_cases()), key=len)
    shared = next(p for p in cases if len(p) > 250)
    return [shared + tail for tail in cases[:4]] + cases[4:8]


def check(report, model, tool, name, requests):
    alone = [support.many_streams(tool, model, [r])[0]["tokens"] for r in requests]
    for arrangement, together in (("one after the other", False), ("together", True)):
        answers = support.many_streams(tool, model, requests, together)
        same = sum(a["tokens"] == b for a, b in zip(answers, alone))
        cached = sum(a["cached_tokens"] for a in answers)
        report(same == len(requests), f"{name}, {arrangement}: {same} of {len(requests)} answers as alone, {cached} tokens cached")
        if not together:
            report(cached > 0, f"{name}: shared beginnings are computed once")


def main():
    models, tool = sys.argv[1], support.need(sys.argv[2])
    report = support.Report()
    for package in ("int16", "int8"):
        model = support.need(f"{models}/{package}")
        greedy = [{"prompt": p, "max_tokens": TOKENS, "temperature": 0} for p in prompts()]
        check(report, model, tool, f"{package}, greedy", greedy)
        seeded = [r | {"temperature": 1, "seed": 1000 + i} for i, r in enumerate(greedy)]
        check(report, model, tool, f"{package}, temperature 1", seeded)
    report.finish()


if __name__ == "__main__":
    main()
