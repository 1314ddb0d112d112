"""The pace of running streams while others vanish or come with long prompts."""

import random
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from conversation import require
from server import Server
from streams import Stream, read_all, summary_ms

STREAMS = 4
# Guessed tokens come several at a time, with no gap between them: what is measured here is the pace of steps.
PACE = ["--speculate", "off"]


def prompt_of(context):
    """A prompt that fills the context but for an answer, and that nobody has sent before."""
    chance = random.Random(time.monotonic_ns())
    return [chance.randrange(3, 250) for _ in range(context - 64)]


def vanish(options):
    """100 clients that vanish: the gap between the tokens of four other streams does not change"""
    disturbed, marks, figures = streams_beside(options, vanish_often)
    quiet, _, _ = streams_beside(options, lambda server: {})
    # A gap grows with the context, so tokens of one place in the text are compared, in a run with and one without.
    ratios = []
    for one, other in zip(disturbed, quiet):
        first, last = sum(t <= marks[-1] for t in one.times), min(len(one.times), len(other.times)) - 1
        require(last - first > 50, f"tokens {first} to {last} are too few")
        ratios.append((one.times[last] - one.times[first]) / (other.times[last] - other.times[first]))
    change = statistics.mean(ratios)
    require(options.short or change < 1.15, f"the gap became {change:.2f} times as long")
    before, during, after = ([gap for stream in disturbed for gap in stream.gaps(a, b)]
                             for a, b in ((0, marks[0]), (marks[0], marks[1]), (marks[1], float("inf"))))
    return {"before": summary_ms(before), "during": summary_ms(during), "after": summary_ms(after),
            "after, beside a run without them": round(change, 3), **figures}


def streams_beside(options, disturb):
    """Four streams while `disturb` does its work: the streams, when that began and ended, its figures."""
    lull = 1.0 if options.short else 6.0
    with Server(["--rows", "16", *PACE], options.model) as server:
        streams = [Stream(server, [number + 5], 8000) for number in range(STREAMS)]
        reader = threading.Thread(target=read_all, args=(streams,), daemon=True)
        reader.start()
        time.sleep(lull / 2)
        began = time.monotonic()
        figures = disturb(server)
        ended = time.monotonic()
        time.sleep(lull)
        for stream in streams:
            stream.socket.shutdown(2)
        reader.join()
        require(rows_become(server, 0), "the streams still run")
    return streams, (began, ended), figures


def vanish_often(server):
    for number in range(100):
        gone = Stream(server, [number % 200 + 5], 8000)
        if number % 2:
            gone.read_events(1)
        gone.vanish()
    last = time.monotonic()
    require(rows_become(server, STREAMS), f"they still run: {server.status()}")
    return {"gone_after_ms": round((time.monotonic() - last) * 1000)}


def rows_become(server, count):
    end = time.monotonic() + 5
    while time.monotonic() < end:
        model = server.status()["models"][0]
        if model["rows_running"] + model["rows_waiting"] == count:
            return True
        time.sleep(0.01)
    return False


def neighbour(options):
    """a prompt that fills the context arrives while four streams run: p99 of their gaps stays within --max-step-ms"""
    limit = options.max_step_ms
    with Server(["--max-step-ms", limit, *PACE], options.model) as server:
        context = server.status()["models"][0]["context_length"]
        streams = [Stream(server, [number + 5], context - 8) for number in range(STREAMS)]
        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(read_all, streams)
            time.sleep(0.5 if options.short else 3)
            began = time.monotonic()
            status, body = server.complete(prompt_of(context), 4)
            ended = time.monotonic()
            require(status == 200, body)
            alone = [gap for stream in streams for gap in stream.gaps(0, began)]
            beside = [gap for stream in streams for gap in stream.gaps(began, ended)]
            require(len(beside) > 100, f"the prompt was read before anything could be measured: {len(beside)} gaps")
            for stream in streams:
                stream.socket.shutdown(2)
            reading.result()
    figures = {"prompt": context - 64, "prompt_s": round(ended - began, 1), "limit_ms": limit,
               "alone": summary_ms(alone), "beside": summary_ms(beside)}
    require(options.short or figures["beside"]["p99_ms"] <= limit, figures)
    return figures


def pages(options):
    """/health and /metrics answer within 50 ms while a prompt that fills the context is read"""
    with Server([], options.model) as server:
        context = server.status()["models"][0]["context_length"]
        times = {"/health": [], "/metrics": [], "/v1/status": []}
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(server.complete, prompt_of(context), 1)
            while not answer.done():
                for path, taken in times.items():
                    began = time.monotonic()
                    server.get(path)
                    taken.append(time.monotonic() - began)
                time.sleep(0.005)
            require(answer.result()[0] == 200, answer.result())
    figures = {path: summary_ms(taken) for path, taken in times.items()}
    require(options.short or all(page["max_ms"] <= 50 for page in figures.values()), figures)
    return {"prompt": context - 64, **figures}
