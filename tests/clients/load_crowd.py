"""Many clients, and many requests one after another."""

import random
import string
import time
from concurrent.futures import ThreadPoolExecutor

from conversation import require
from server import Server
from streams import Stream, read_all, summary_ms


def crowd(options):
    """1,000 idle keep-alive connections and 200 concurrent streams: no error, all still answered"""
    idle, streams, tokens = (200, 50, 40) if options.short else (1000, 200, 400)
    with Server(["--rows", "32", "--max-queue", "512"], options.tiny) as server:
        held = [server.connect() for _ in range(idle)]
        for connection in held:
            require(server.request("GET", "/health", connection=connection)[0] == 200, "a connection was refused")
        began = time.monotonic()
        running = [Stream(server, [number + 1, 6, 7], tokens) for number in range(streams)]
        read_all(running)
        seconds = time.monotonic() - began
        for stream in running:
            require(stream.ended_well(), f"a stream ended with {stream.status} {stream.events[-2:]}")
        for connection in held:
            require(server.request("GET", "/health", connection=connection)[0] == 200, "a connection was lost")
        memory = server.memory()
        require(server.is_idle(), "something is still held")
        for connection in held:
            connection.close()
        require(files_become(server, memory[2] - idle), f"files stay open: {server.memory()[2]} of {memory[2]}")
    return {"idle": idle, "streams": streams, "tokens_per_second": round(streams * tokens / seconds),
            "gaps": summary_ms([gap for stream in running for gap in stream.gaps()]), "rss_anon_kib": memory[0]}


def files_become(server, count):
    end = time.monotonic() + 5
    while time.monotonic() < end and server.memory()[2] > count:
        time.sleep(0.05)
    return server.memory()[2] <= count


def soak(options):
    """5,000 unique prompts, then idle: memory within 1 % of its floor; no thread, file or block is left"""
    total, parts = (600, 2) if options.short else (5000, 5)
    words = random.Random(1)
    with Server(["--kv-memory", "16MiB"], options.tiny) as server:  # prompts stay cached: the warm-up fills this

        def one(_):
            text = "".join(words.choice(string.ascii_letters) for _ in range(words.randrange(20, 400)))
            status, body = server.complete(text, 8)
            require(status == 200, body)

        def run(count):
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(one, range(count)))
            require(server.is_idle(), "something is still held")
            time.sleep(3)  # idle: the pool gives free memory back after a second
            return server.memory()

        measured = [run(total // parts) for _ in range(parts + 1)]
        floor, after = measured[0], measured[-1]
        kv = server.status()["models"][0]["kv"]
        require(kv["blocks_used"] == kv["blocks_cached"], f"blocks are still used: {kv}")
    require(after[0] <= floor[0] * (1.05 if options.short else 1.01), f"memory grew: {[kib for kib, _, _ in measured]} KiB")
    require(after[1:] == floor[1:], f"threads and files were {floor[1:]}, are {after[1:]}")
    return {"requests": total, "rss_anon_kib": [kib for kib, _, _ in measured], "threads": after[1], "files": after[2]}
