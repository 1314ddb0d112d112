"""Load and soak of a running server: what it holds on this machine, measured from outside.

usage: python tests/clients/load.py hammer|connections|streams|neighbour|restart|soak|all [--seconds N] [--count N] [--model DIR]

hammer       64 clients on 8 sessions: every answer 200 or 409, conversations are the admitted turns, nothing is left
connections  1,000 idle keep-alive connections, all still answered
streams      200 concurrent streams, no error
neighbour    status pages and four streams while long prompts arrive
restart      kill -9 during 50 concurrent turns: every session is at its last finished turn
soak         unique prompts: memory, threads and files come back to their floor
"""

import argparse
import json
import random
import signal
import statistics
import string
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from server import MODEL, Server


def require(good, message):
    if not good:
        raise SystemExit(f"FAILED: {message}")


def complete(server, prompt, tokens, session=None, connection=None, **more):
    headers = {"X-Session-Id": session} if session else {}
    body = {"prompt": prompt, "max_tokens": tokens, "temperature": 0, "ignore_eos": True, **more}
    return server.post("/v1/completions", body, headers, connection)


def hammer(options):
    admitted = [[] for _ in range(8)]
    counts = {200: 0, 409: 0}
    lock = threading.Lock()
    with Server(["--rows", "8"], options.model) as server:
        end = time.monotonic() + options.seconds

        def client(number):
            connection = server.connect()
            chance = random.Random(number)
            while time.monotonic() < end:
                index = chance.randrange(8)
                session = f"hammer-{index}"
                status, body = complete(server, [number + 10], 2, session, connection)
                require(status in (200, 409, 400), f"{status} {body}")
                if status == 400:  # the conversation has filled the context: begin a new one
                    require(body["error"]["code"] == "context_length_exceeded", body)
                    with lock:
                        if server.request("DELETE", f"/v1/sessions/{session}")[0] == 204:
                            admitted[index] = []
                    continue
                with lock:
                    counts[status] += 1
                    if status == 200:
                        admitted[index].append(body["session_token_count"])

        with ThreadPoolExecutor(64) as pool:
            list(pool.map(client, range(64)))
        require(server.is_idle(), "something is still held")
        for index in range(8):
            status, session = server.get(f"/v1/sessions/hammer-{index}")
            if status == 200:
                require(session["token_count"] == session["turns"] * 3, f"turns interleaved: {session}")
    require(counts[200] > 100, f"too few answers: {counts}")
    return counts


def connections(options):
    with Server([], options.model) as server:
        held = [server.connect() for _ in range(options.count or 1000)]
        for round_ in range(2):
            for connection in held:
                require(server.request("GET", "/health", connection=connection)[0] == 200, "a connection was lost")
        before = server.memory()
        for connection in held:
            connection.close()
    return {"connections": len(held), "rss_kib": before[0]}


def read_stream(server, prompt, tokens):
    connection = server.connect()
    body = {"prompt": prompt, "max_tokens": tokens, "temperature": 0, "stream": True, "ignore_eos": True}
    connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    require(response.status == 200, response.read())
    times, events, last = [], 0, None
    for line in response:
        if line.startswith(b"data: "):
            times.append(time.monotonic())
            events += 1
            last = line
    connection.close()
    require(last == b"data: [DONE]\n", f"the stream ended with {last}")
    return times


def streams(options):
    count = options.count or 200
    with Server(["--rows", "32", "--max-queue", "512"], options.model) as server:
        began = time.monotonic()
        with ThreadPoolExecutor(count) as pool:
            results = list(pool.map(lambda i: len(read_stream(server, [i % 200 + 5, 6, 7], 60)), range(count)))
        seconds = time.monotonic() - began
        require(min(results) >= 2, "a stream was empty")
        require(server.is_idle(), "something is still held")
    return {"streams": count, "tokens_per_second": round(count * 60 / seconds)}


def neighbour(options):
    with Server([], options.model) as server:
        context = server.status()["models"][0]["context_length"]
        long = [5] * min(8000, context - 8)
        gaps, pages = [], []

        def stream(number):
            times = read_stream(server, [number + 5], min(200, context - 8))
            gaps.extend(b - a for a, b in zip(times[1:], times[2:]))

        threads = [threading.Thread(target=stream, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        prompt = threading.Thread(target=complete, args=(server, long, 4))
        prompt.start()
        while any(t.is_alive() for t in [*threads, prompt]):
            for path in ("/health", "/metrics"):
                began = time.monotonic()
                server.get(path)
                pages.append(time.monotonic() - began)
        for thread in [*threads, prompt]:
            thread.join()
    return {"gap_p99_ms": round(statistics.quantiles(gaps, n=100)[98] * 1000, 1), "gap_max_ms": round(max(gaps) * 1000, 1),
            "page_max_ms": round(max(pages) * 1000, 1)}


def restart(options):
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--session-dir", folder, "--rows", "16"]
        finished = [0] * 50
        with Server(arguments, options.model) as server:
            stop = threading.Event()

            def turns(number):
                while not stop.is_set():
                    try:
                        status, body = complete(server, [number + 5], 1, f"kept-{number}")
                    except (OSError, ValueError):
                        return
                    if status != 200:
                        return
                    finished[number] = body["session_token_count"]

            threads = [threading.Thread(target=turns, args=(n,)) for n in range(50)]
            for thread in threads:
                thread.start()
            time.sleep(min(options.seconds, 3))
            server.process.send_signal(signal.SIGKILL)
            stop.set()
            for thread in threads:
                thread.join()
        with Server(arguments, options.model) as server:
            for number, seen in enumerate(finished):
                if not seen:
                    continue
                status, session = server.get(f"/v1/sessions/kept-{number}")
                require(status == 200, f"session {number} is lost")
                # The client saw `seen`; a turn whose end it had not read yet may have finished too.
                require(session["token_count"] in (seen, seen + 2), f"{session} after {seen}")
                require(session["token_count"] == 2 * session["turns"], session)
    return {"sessions": sum(1 for f in finished if f)}


def soak(options):
    words = random.Random(1)
    with Server([], options.model) as server:
        context = server.status()["models"][0]["context_length"]

        def one(_):
            text = "".join(words.choice(string.ascii_letters) for _ in range(min(300, context // 2)))
            status, body = complete(server, text[: context // 2], 8)
            require(status == 200, body)

        def run(count):
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(one, range(count)))
            require(server.is_idle(), "something is still held")
            time.sleep(3)
            return server.memory()

        count = options.count or 5000
        floor, after = run(max(count // 10, 200)), run(count)
        require(after[0] <= floor[0] * 1.01 + 512, f"memory grew from {floor[0]} to {after[0]} KiB")
        require(after[1:] == floor[1:], f"threads and files were {floor[1:]}, are {after[1:]}")
    return {"requests": count, "floor_kib": floor[0], "after_kib": after[0]}


def main():
    parts = {f.__name__: f for f in (hammer, connections, streams, neighbour, restart, soak)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*parts, "all"])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--count", type=int)
    parser.add_argument("--model", default=MODEL)
    options = parser.parse_args()
    for name in parts if options.part == "all" else [options.part]:
        print(name, json.dumps(parts[name](options)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
